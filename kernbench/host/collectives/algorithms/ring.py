"""Flat rings: every rank sends to the next one and hears from the one before (all_reduce, all_gather ...).

With N ranks and S bytes, all_reduce takes 2 (N - 1) steps of S / N bytes: N - 1 that reduce, after which
rank i has the i-th chunk, and N - 1 that pass the chunks on. all_gather and reduce_scatter are the two
halves.

With a latency of L and b bytes a ns, c = S / N bytes in one piece take

    2 (N - 1) (L + c / b)

In pieces of p bytes a rank passes the first one on while the others come:

    (2 (N - 1) - 1) max(c / b, L + p / b) + L + c / b

Option of all_reduce: ``by_steps`` passes a chunk on only when all of it is there, as in the first formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernbench.hardware.topology.neighbours import Neighbours, merge, ring
from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.steps import Limits, Ring

if TYPE_CHECKING:
    from kernbench.language import Pointer


def neighbours(call: Call) -> Neighbours:
    """Each lane of the group in a ring over its ranks."""
    return call.named(merge(*(ring(members, "ring_E", "ring_W") for members in call.members)))


def part(call: Call) -> Ring:
    """The calling rank's part in the ring."""
    return Ring(f"{call.tag}ring_E", f"{call.tag}ring_W", call.rank, call.size)


def _arguments(call: Call) -> tuple[Any, ...]:
    return part(call), call.op, call.limits


def _all_reduce_arguments(call: Call) -> tuple[Any, ...]:
    return call.options.get("by_steps", False), *_arguments(call)


def _all_reduce(by_steps: bool, around: Ring, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    divisor = around.size if op == "avg" else 1
    all_reduce = steps.ring_all_reduce_by_steps if by_steps else steps.ring_all_reduce
    all_reduce(tl, steps.local(x), around, op, limits, divisor)


def _refuses(call: Call) -> str | None:
    by_steps = call.options.get("by_steps", False)
    return None if isinstance(by_steps, bool) else f"its option by_steps is {by_steps!r}; give true or false"


def _turns(call: Call, x: steps.Vector) -> Sequence[Sequence[steps.Vector]] | None:
    if not call.options.get("by_steps", False):
        return steps.blocks(x, call.size, call.limits)
    return None if call.op == "avg" else [x.chunks(call.size)]  # the mean divides all chunks in one order


def _reduce_scatter(
    around: Ring, op: str, limits: Limits, output: Pointer, *inputs: Pointer, tl: Any
) -> None:
    result = steps.local(output)
    chunks = chunks_of(inputs, result, around.size)
    divisor = around.size if op == "avg" else 1
    steps.ring_reduce_scatter(tl, chunks, result, around, op, limits, divisor)


def _all_gather(around: Ring, op: str, limits: Limits, own: Pointer, *outputs: Pointer, tl: Any) -> None:
    mine = steps.local(own)
    steps.ring_all_gather(tl, chunks_of(outputs, mine, around.size), mine, around, limits)


def chunks_of(tensors: tuple[Pointer, ...], one: steps.Vector, count: int) -> list[steps.Vector]:
    """The vector of each rank: a tensor each, or all in one tensor, rank by rank."""
    if len(tensors) == count:
        return [steps.local(x) for x in tensors]
    whole = steps.local(tensors[0])
    return [whole.part(i * one.elements, (i + 1) * one.elements) for i in range(count)]


ALGORITHMS = (
    Algorithm("all_reduce", _all_reduce, neighbours, _all_reduce_arguments, refuses=_refuses, turns=_turns),
    Algorithm("reduce_scatter", _reduce_scatter, neighbours, _arguments),
    Algorithm("all_gather", _all_gather, neighbours, _arguments),
)
