"""Hierarchical all-reduce with the root cube in the centre.

Within each SIP the contributions of its cubes converge from both sides: along the rows to the root's column,
along that column to the root, (h // 2) * w + w // 2, which is 4 hops on a mesh of 4 x 4. The roots then
reduce over the SIPs, and the result goes back the same way. A SIP with one cube begins with the exchange.

Between SIPs: ``ring_1d``, ``torus_2d`` and ``torus_3d`` (along one axis after the other) are rings; on
``mesh_2d_no_wrap`` it is a tree again, from both sides to the middle and back.

Over ranks (without ``group=CUBES``) a tensor's shards are different elements: each is reduced over the SIPs
by the PE that holds it.

Options: ``root`` is the number of another root cube, for comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernbench.hardware.topology.neighbours import AXES, Neighbours, merge, neighbours
from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.meshes import Mesh, contributions, cube_mesh
from kernbench.host.collectives.steps import Limits, Ring, Vector

if TYPE_CHECKING:
    from kernbench.language import Pointer


@dataclass(frozen=True, slots=True)
class Between:
    """The exchange between SIPs: their pattern, its grid, and which of them this is."""

    pattern: str
    grid: tuple[int, ...]
    place: tuple[int, ...]
    number: int
    size: int
    tag: str

    @classmethod
    def of(cls, call: Call) -> Between:
        """As the calling rank takes part."""
        shape = call.shape
        place = shape.sip_places[call.sips[call.rank]] if shape.inter_sip != "ring_1d" else (call.rank, 0)
        return cls(shape.inter_sip, shape.sip_grid, place, call.rank, call.size, call.tag)

    def reduce(self, tl: Any, vector: Vector, op: str, limits: Limits, divisor: int) -> None:
        """Reduce ``vector`` over the SIPs, in place on each."""
        along = [(f"{self.tag}global_{a}", f"{self.tag}global_{b}") for a, b in AXES]
        if self.pattern == "ring_1d" or self.size == 1:
            steps.ring_all_reduce(tl, vector, Ring(*along[0], self.number, self.size), op, limits, divisor)
            return
        if self.pattern != "mesh_2d_no_wrap":
            first, last = steps.divisors(vector.dtype, divisor)
            final = len(self.grid) - 1
            for axis, (number, size) in enumerate(zip(self.place, self.grid, strict=True)):
                divided = (first if axis == 0 else 1) * (last if axis == final else 1)
                steps.ring_all_reduce(tl, vector, Ring(*along[axis], number, size), op, limits, divided)
            return
        columns, rows = self.grid
        x, y = self.place
        tree = Mesh.centred(columns, rows).tree(y * columns + x, f"{self.tag}global_")
        steps.tree_reduce(tl, vector, tree, op, limits, divisor)
        steps.tree_broadcast(tl, vector, tree, limits)


def between_refused(call: Call) -> str | None:
    """Why the pattern between SIPs does not serve the ranks of a call, or None."""
    if call.size > 1 and call.shape.inter_sip != "ring_1d" and len(call.sips) != call.shape.sips:
        return (
            f"{call.shape.inter_sip} joins all {call.shape.sips} SIPs, and the group has {call.size}; use a "
            "ring algorithm for it"
        )
    return None


def between(call: Call, lanes: list[tuple[int, int]]) -> Neighbours:
    """The queues between SIPs of these PEs."""
    among = [(sip, cube, pe) for sip in call.sips for cube, pe in lanes]
    return call.named(neighbours("inter_sip", call.shape, among))


def _mesh(call: Call) -> Mesh | str:
    if call.over == "ranks":
        return Mesh(1, 1, 0)
    mesh = cube_mesh(call)
    root = call.options.get("root")
    if isinstance(mesh, str) or root is None:
        return mesh
    if not isinstance(root, int) or not 0 <= root < mesh.w * mesh.h:
        return f"its option root is {root!r}; give the number of one of the {mesh.w * mesh.h} cubes"
    return Mesh(mesh.w, mesh.h, root)


def _refuses(call: Call) -> str | None:
    mesh = _mesh(call)
    if isinstance(mesh, str):
        return mesh
    wrong = contributions(call.tensors[0], "cubes") if call.over == "cubes" else None
    return wrong or between_refused(call)


def _neighbours(call: Call) -> Neighbours:
    if call.over == "ranks":
        return between(call, list(call.lanes))
    mesh = _mesh(call)
    assert isinstance(mesh, Mesh)
    roots = [(cube, pe) for cube, pe in call.lanes if cube == mesh.root]
    everyone = [(sip, cube, pe) for sip in call.sips for cube, pe in call.lanes]
    return merge(call.named(neighbours("intercube_mesh", call.shape, everyone)), between(call, roots))


def _arguments(call: Call) -> tuple[Any, ...]:
    mesh = _mesh(call)
    assert isinstance(mesh, Mesh)
    divisor = call.size * mesh.w * mesh.h if call.op == "avg" else 1
    return mesh, Between.of(call), call.op, divisor, call.limits


def _turns(call: Call, x: Vector) -> Sequence[Sequence[Vector]] | None:
    """Over ranks in one ring it is the flat one."""
    flat = call.over == "ranks" and call.shape.inter_sip == "ring_1d"
    return steps.blocks(x, call.size, call.limits) if flat else None


def _kernel(mesh: Mesh, sips: Between, op: str, divisor: int, limits: Limits, x: Pointer, tl: Any) -> None:
    vector = steps.local(x)
    if mesh.w * mesh.h == 1:
        sips.reduce(tl, vector, op, limits, divisor)
        return
    tree = mesh.tree(tl.program_id(1), sips.tag)
    first, last = steps.divisors(x.dtype, divisor)
    steps.tree_reduce(tl, vector, tree, op, limits, first)
    if tree.parent is None:
        sips.reduce(tl, vector, op, limits, last)
    steps.tree_broadcast(tl, vector, tree, limits)


ALGORITHMS = (
    Algorithm(
        "all_reduce",
        _kernel,
        _neighbours,
        _arguments,
        over=("ranks", "cubes"),
        refuses=_refuses,
        turns=_turns,
    ),
)
