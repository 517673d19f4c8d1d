"""Binary trees of ranks, pipelined piece by piece: all_reduce, broadcast and reduce.

Numbered from the root on, rank i has the children 2 i + 1 and 2 i + 2. all_reduce goes up to rank 0 and
down again. Few steps, but a rank with two children takes and gives every byte twice: good where vectors are
short and ranks many.

With N ranks, d = floor(log2 N) levels, S bytes in pieces of p, a latency of L and b bytes a ns, a way up or
down takes d (L + p / b) + c (S - p) / b, where c is 2 from three ranks on and else 1; all_reduce takes
both. Pieces of two siblings that meet on their parent's link add up to d p / b to a way.
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


def _neighbours(call: Call) -> Neighbours:
    n = call.size
    return pairs(call, [((i + call.root) % n, ((i - 1) // 2 + call.root) % n) for i in range(1, n)])


def _arguments(call: Call) -> tuple[Any, ...]:
    n, root = call.size, call.root
    number = (call.rank - root) % n

    def direction(i: int) -> str:
        return f"{call.tag}to_{(i + root) % n}"

    children = tuple(direction(i) for i in (2 * number + 1, 2 * number + 2) if i < n)
    divisor = n if call.op == "avg" else 1
    return Tree(children, direction((number - 1) // 2) if number else None), call.op, divisor, call.limits


def _broadcast(tree: Tree, op: str, divisor: int, limits: Limits, x: Pointer, tl: Any) -> None:
    steps.tree_broadcast(tl, steps.local(x), tree, limits)


def _reduce(tree: Tree, op: str, divisor: int, limits: Limits, x: Pointer, tl: Any) -> None:
    steps.tree_reduce(tl, steps.local(x), tree, op, limits, divisor)


def _all_reduce(tree: Tree, op: str, divisor: int, limits: Limits, x: Pointer, tl: Any) -> None:
    _reduce(tree, op, divisor, limits, x, tl)
    _broadcast(tree, op, divisor, limits, x, tl)


ALGORITHMS = (
    Algorithm("all_reduce", _all_reduce, _neighbours, _arguments),
    Algorithm("broadcast", _broadcast, _neighbours, _arguments),
    Algorithm("reduce", _reduce, _neighbours, _arguments),
)
