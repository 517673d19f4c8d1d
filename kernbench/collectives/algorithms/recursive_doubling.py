"""Recursive doubling: in round k every rank exchanges its vector with the rank whose number differs in bit k.

log2 N rounds of n bytes for N ranks: fewer steps than a ring, more bytes; good where vectors are short. Where
N is no power of two, the ranks past the largest one send theirs to a partner first and get the result back.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kernbench.collectives import steps
from kernbench.collectives.algorithm import Algorithm, Call
from kernbench.collectives.algorithms.pairs import pairs
from kernbench.collectives.steps import Limits, Tree, Vector
from kernbench.topology.neighbours import Neighbours

if TYPE_CHECKING:
    from kernbench.kernels import Pointer, TensorHandle


def _rounds(size: int) -> int:
    """Rounds over the largest power of two of ranks."""
    return size.bit_length() - 1


def _neighbours(call: Call) -> Neighbours:
    full = 1 << _rounds(call.size)
    swaps = [(a, a ^ (1 << k)) for a in range(full) for k in range(_rounds(call.size))]
    return pairs(call, [*swaps, *((a, a - full) for a in range(full, call.size))])


def _arguments(call: Call) -> tuple[Any, ...]:
    return f"{call.tag}to_", call.rank, call.size, call.op, call.limits


def _kernel(to: str, rank: int, size: int, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    vector = steps.local(x)
    full = 1 << _rounds(size)
    extra = Tree((f"{to}{rank + full}",), None) if rank + full < size else Tree((), None)
    if rank >= full:
        extra = Tree((), f"{to}{rank - full}")
    steps.tree_reduce(tl, vector, extra, op, limits)
    if rank < full:
        for k in range(_rounds(size)):
            peer = f"{to}{rank ^ (1 << k)}"
            steps.swap(tl, peer, vector, peer, partial(_reduce, tl, op), vector, limits)
        steps.divide(tl, vector, size if op == "avg" else 1, limits)
    steps.tree_broadcast(tl, vector, extra, limits)


def _reduce(tl: Any, op: str, value: TensorHandle, piece: Vector) -> None:
    tl.store(piece.address, steps.combine(tl, op, steps.load(tl, piece), value))


ALGORITHMS = (Algorithm("all_reduce", _kernel, _neighbours, _arguments),)
