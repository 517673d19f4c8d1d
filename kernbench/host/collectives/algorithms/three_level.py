"""All-reduce over every PE of every SIP in three levels: PEs of a cube, cubes of a SIP, SIPs.

Every PE contributes its own rows (``group=PES``). Within a cube they converge along both arms of the PE ring
to PE 0, from there as in the hierarchical algorithm over cubes; the result goes back the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.hardware.topology.neighbours import Neighbours, merge, neighbours
from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.algorithms.lrab_hierarchical_allreduce import (
    Between,
    between,
    between_refused,
)
from kernbench.host.collectives.meshes import Mesh, contributions, cube_mesh, line, together
from kernbench.host.collectives.steps import Limits

if TYPE_CHECKING:
    from kernbench.language import Pointer


def _refuses(call: Call) -> str | None:
    mesh = cube_mesh(call)
    if isinstance(mesh, str):
        return mesh
    return contributions(call.tensors[0], "pes") or between_refused(call)


def _neighbours(call: Call) -> Neighbours:
    mesh = cube_mesh(call)
    assert isinstance(mesh, Mesh)
    everyone = [(sip, cube, pe) for sip in call.sips for cube, pe in call.lanes]
    leaders = [location for location in everyone if location[2] == 0]
    return merge(
        call.named(neighbours("intracube_pe_ring", call.shape, everyone)),
        call.named(neighbours("intercube_mesh", call.shape, leaders)),
        between(call, [(mesh.root, 0)]),
    )


def _arguments(call: Call) -> tuple[Any, ...]:
    mesh = cube_mesh(call)
    assert isinstance(mesh, Mesh)
    divisor = call.size * len(call.lanes) if call.op == "avg" else 1
    return mesh, Between.of(call), call.op, divisor, call.limits


def _kernel(mesh: Mesh, sips: Between, op: str, divisor: int, limits: Limits, x: Pointer, tl: Any) -> None:
    vector = steps.local(x)
    tree = line(tl.program_id(0), tl.num_programs(0), f"{sips.tag}pe_E", f"{sips.tag}pe_W")
    if tree.parent is None:
        tree = together(tree, mesh.tree(tl.program_id(1), sips.tag))
    first, last = steps.divisors(x.dtype, divisor)
    steps.tree_reduce(tl, vector, tree, op, limits, first)
    if tree.parent is None:
        sips.reduce(tl, vector, op, limits, last)
    steps.tree_broadcast(tl, vector, tree, limits)


ALGORITHMS = (Algorithm("all_reduce", _kernel, _neighbours, _arguments, over=("pes",), refuses=_refuses),)
