"""Exchanges between pairs of ranks over queues of their own: all_to_all, send and recv, barrier.

all_to_all takes N - 1 rounds; in round k rank i sends to i + k and hears from i - k. The barrier is by
dissemination: ceil(log2 N) rounds of signals without bytes, over distances 1, 2, 4 ...
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kernbench.hardware.topology.neighbours import Neighbours
from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.steps import Limits

if TYPE_CHECKING:
    from kernbench.language import Pointer


def pairs(call: Call, of: Iterable[tuple[int, int]]) -> Neighbours:
    """Queues between the pairs of ranks, both ways: direction ``to_j`` leads to rank j."""
    found: Neighbours = {}
    for members in call.members:
        for a, b in of:
            found.setdefault(members[a], {})[f"to_{b}"] = members[b]
            found.setdefault(members[b], {})[f"to_{a}"] = members[a]
    return call.named(found)


def _everyone(call: Call) -> Neighbours:
    return pairs(call, [(a, b) for a in range(call.size) for b in range(a)])


def distances(size: int) -> list[int]:
    """1, 2, 4 ... below ``size``."""
    return [1 << k for k in range((size - 1).bit_length())]


def powers(call: Call) -> Neighbours:
    """Queues between ranks that are 1, 2, 4 ... apart, around the ring of all ranks."""
    n = call.size
    return pairs(call, [(a, (a + d) % n) for a in range(n) for d in distances(n)])


def arguments(call: Call) -> tuple[Any, ...]:
    """Of kernels whose queues lead to the ranks that they name."""
    return f"{call.tag}to_", call.rank, call.size, call.limits


def _all_to_all(to: str, rank: int, size: int, limits: Limits, *tensors: Pointer, tl: Any) -> None:
    """``tensors``: an output for each rank, then an input for each rank."""
    outputs, inputs = [steps.local(x) for x in tensors[:size]], [steps.local(x) for x in tensors[size:]]
    steps.copy(tl, inputs[rank], outputs[rank], limits)

    for k in range(1, size):
        a, b = (rank + k) % size, (rank - k) % size
        steps.swap(tl, f"{to}{a}", [inputs[a]], f"{to}{b}", [outputs[b]], limits)


def _send(to: str, rank: int, peer: int, sends: bool, limits: Limits, x: Pointer, tl: Any) -> None:
    for piece in steps.local(x).pieces(limits.piece):
        if sends:
            tl.send(f"{to}{peer}", steps.load(tl, piece))
        else:
            tl.store(piece.address, tl.recv(f"{to}{peer}"))


def _send_arguments(call: Call) -> tuple[Any, ...]:
    return f"{call.tag}to_", call.rank, call.root, bool(call.options["sends"]), call.limits


def _barrier(to: str, rank: int, size: int, limits: Limits, x: Pointer, tl: Any) -> None:
    """``x`` says on which PE this runs; it is neither read nor written."""
    for distance in distances(size):
        tl.send(f"{to}{(rank + distance) % size}")
        tl.recv(f"{to}{(rank - distance) % size}")


ALGORITHMS = (
    Algorithm("all_to_all", _all_to_all, _everyone, arguments),
    Algorithm("send", _send, lambda call: pairs(call, [(call.rank, call.root)]), _send_arguments),
    Algorithm("barrier", _barrier, powers, arguments),
)
