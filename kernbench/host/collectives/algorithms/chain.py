"""Chains along a ring of ranks, pipelined piece by piece: broadcast, reduce, gather and scatter.

Ranks are numbered from the root on, against the direction in which data flow. A rank hears from one neighbour
and sends to the other; nothing crosses the gap of the ring, so that no two stages wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.algorithms.ring import neighbours, part
from kernbench.host.collectives.steps import Limits, Ring, Tree, Vector

if TYPE_CHECKING:
    from kernbench.language import Pointer


def _arguments(call: Call) -> tuple[Any, ...]:
    return part(call), (call.rank - call.root) % call.size, call.op, call.limits


def _broadcast(ring: Ring, behind: int, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    """``behind``: steps from the root along the ring, here and below."""
    tree = Tree((ring.forward,) if behind < ring.size - 1 else (), ring.back if behind else None)
    steps.tree_broadcast(tl, steps.local(x), tree, limits)


def _reduce(ring: Ring, behind: int, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    # From the last rank of the chain back to the root.
    tree = Tree((ring.forward,) if behind < ring.size - 1 else (), ring.back if behind else None)
    divisor = ring.size if op == "avg" else 1
    steps.tree_reduce(tl, steps.local(x), tree, op, limits, divisor)


def _gather(
    ring: Ring, behind: int, op: str, limits: Limits, own: Pointer, *outputs: Pointer, tl: Any
) -> None:
    """Every rank sends its own towards the root, then passes on what comes from behind it."""
    mine = steps.local(own)
    if behind == 0:
        for rank in range(ring.size):
            target = steps.local(outputs[(ring.number + rank) % ring.size])
            if rank == 0:
                steps.copy(tl, mine, target, limits)
            else:
                _receive(tl, ring.forward, target, limits)
        return
    _send(tl, ring.back, mine, limits)
    for _ in range(ring.size - 1 - behind):
        for _ in mine.pieces(limits.piece):
            tl.send(ring.back, tl.recv(ring.forward))


def _scatter(
    ring: Ring, behind: int, op: str, limits: Limits, own: Pointer, *inputs: Pointer, tl: Any
) -> None:
    """The root sends the farthest rank's first; every rank passes on all that come but the last."""
    mine = steps.local(own)
    if behind == 0:
        for rank in reversed(range(ring.size)):
            source = steps.local(inputs[(ring.number + rank) % ring.size])
            if rank == 0:
                steps.copy(tl, source, mine, limits)
            else:
                _send(tl, ring.forward, source, limits)
        return
    for _ in range(ring.size - 1 - behind):
        for _ in mine.pieces(limits.piece):
            tl.send(ring.forward, tl.recv(ring.back))
    _receive(tl, ring.back, mine, limits)


def _send(tl: Any, to: str, vector: Vector, limits: Limits) -> None:
    for piece in vector.pieces(limits.piece):
        tl.send(to, steps.load(tl, piece))


def _receive(tl: Any, back: str, vector: Vector, limits: Limits) -> None:
    for piece in vector.pieces(limits.piece):
        tl.store(piece.address, tl.recv(back))


ALGORITHMS = (
    Algorithm("broadcast", _broadcast, neighbours, _arguments),
    Algorithm("reduce", _reduce, neighbours, _arguments),
    Algorithm("gather", _gather, neighbours, _arguments),
    Algorithm("scatter", _scatter, neighbours, _arguments),
)
