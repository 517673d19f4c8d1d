"""Machines of several SIPs for tests of ranks and collectives, and a short way to run ranks on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from kernbench.engine.machine.machine import Machine
from kernbench.hardware.address import address_bits
from kernbench.hardware.topology import compile_topology, load
from kernbench.host import Context
from kernbench.support.pgraph import PropertyGraph
from kernbench.values import DataPlane


@cache
def machine(
    sips: int,
    pattern: str = "ring_1d",
    grid: tuple[int, int] | None = None,
    cubes: tuple[int, int] = (1, 1),
    pes: int = 1,
    **overrides: Any,
) -> PropertyGraph:
    """A machine of small SIPs: ``cubes`` (w, h) cubes of ``pes`` PEs each."""
    wanted: dict[str, Any] = {
        "system.sips": sips,
        "system.inter_sip.pattern": pattern,
        "sip.cube_mesh.w": cubes[0],
        "sip.cube_mesh.h": cubes[1],
        "cube.pes.count": pes,
        "cube.pes.corners": ["NW", "NE", "SW", "SE"] if pes % 4 == 0 else ["NW"],
    }
    if grid is not None:
        wanted |= {"system.inter_sip.w": grid[0], "system.inter_sip.h": grid[1]}
    return compile_topology(load(None, overrides=wanted | overrides))


def context(graph: PropertyGraph, *, verify: bool = True, check: bool = True) -> Context:
    """A context on ``graph``, its machine checked for invariants."""
    data = DataPlane(verify=verify, address_bits=address_bits(int(graph.properties["sips"])))
    return Context(Machine(graph, [data], check=check), data, device="all")


def run_ranks(
    graph: PropertyGraph, program: Callable[..., Any], *, config: Any = None, **options: Any
) -> Any:
    """Run ``program(rank, torch)`` on every SIP; returns what each rank returned and the context."""
    torch = context(graph, **options)
    torch.distributed.init_process_group("ahbm", config=config)
    results: dict[int, Any] = {}

    def rank(number: int) -> None:
        torch.ahbm.set_device(number)
        results[number] = program(number, torch)

    torch.multiprocessing.spawn(rank, nprocs=torch.distributed.get_world_size())
    torch._driver.machine.drain()
    return [results[number] for number in sorted(results)], torch
