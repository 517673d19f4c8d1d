"""Recursive doubling: in round k every rank exchanges its vector with the rank whose number differs in bit k.

Fewer steps than a ring, more bytes; good where vectors are short. Where N is not a power of two, the ranks
past the largest one send theirs to a partner first and get the result back.

With N ranks, S bytes, a latency of L and b bytes a ns it takes log2 N (L + S / b), and for other N two
steps more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.hardware.topology.neighbours import Neighbours
from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.algorithms.pairs import pairs
from kernbench.host.collectives.steps import Limits, Tree

if TYPE_CHECKING:
    from kernbench.language import Pointer


def rounds(size: int) -> int:
    """Rounds over the largest power of two of ranks."""
    return size.bit_length() - 1


def neighbours(call: Call) -> Neighbours:
    """Queues between ranks whose numbers differ in one bit, and to those past the largest power of two."""
    full = 1 << rounds(call.size)
    swaps = [(a, a ^ (1 << k)) for a in range(full) for k in range(rounds(call.size))]
    return pairs(call, [*swaps, *((a, a - full) for a in range(full, call.size))])


def arguments(call: Call) -> tuple[Any, ...]:
    """What directions begin with, the rank, their number, how values are reduced, and the limits."""
    return f"{call.tag}to_", call.rank, call.size, call.op, call.limits


def partner(to: str, rank: int, size: int) -> Tree:
    """A rank past the largest power of two is a leaf below its partner; all others are roots."""
    full = 1 << rounds(size)
    if rank >= full:
        return Tree((), f"{to}{rank - full}")
    return Tree((f"{to}{rank + full}",) if rank + full < size else (), None)


def _kernel(to: str, rank: int, size: int, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    vector = steps.local(x)
    extra = partner(to, rank, size)
    first, last = steps.divisors(x.dtype, size if op == "avg" else 1)
    steps.tree_reduce(tl, vector, extra, op, limits, first)
    if extra.parent is None:
        for k in range(rounds(size)):
            peer = f"{to}{rank ^ (1 << k)}"
            steps.swap(tl, peer, [vector], peer, [vector], limits, op)
        steps.divide(tl, vector, last, limits)
    steps.tree_broadcast(tl, vector, extra, limits)


ALGORITHMS = (Algorithm("all_reduce", _kernel, neighbours, arguments),)
