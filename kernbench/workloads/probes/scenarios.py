"""Transfers by name: the cases of ``kernbench probe``, and patterns of many at once."""

from __future__ import annotations

from typing import Any

from kernbench.hardware.topology.places import SLICE, places
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.cases import Case, CaseCatalogue

MOST = 8
"""PEs onto one hot target at most."""
Flows = list[dict[str, Any]]


def scenarios(graph: PropertyGraph, nbytes: int) -> list[tuple[str, str, Flows, Case | None]]:
    """``(name, read or write, flows, case)`` that the machine is large enough for.

    Single transfers are the cases of ``kernbench probe``; patterns of many have no case. Transfers onto one
    slice lie one behind the other in it.
    """
    cubes, pes = (int(graph.properties[key]) for key in ("cubes_per_sip", "pes_per_cube"))
    known = places(graph)
    slices = 0
    while known.find(SLICE, 0, 0, slices):
        slices += 1

    def flow(op: str, cube: int, pe: int, to_cube: int, to: int, place: int = 0) -> dict[str, Any]:
        ends = {"src": known.pe(0, cube, pe), "dst": known.part(SLICE, 0, to_cube, to)}
        return {**ends, "bytes": nbytes, "op": op, "offset": place * nbytes}

    found: list[tuple[str, str, Flows, Case | None]] = []
    for case in CaseCatalogue(graph).cases:
        at = graph.node(case.src).properties
        src = (
            known.pe(*(int(at[key]) for key in ("sip", "cube", "pe")))
            if case.category == "pe-dma"
            else "host"
        )
        one = {"src": src, "dst": case.dst, "bytes": nbytes, "op": case.op, "offset": 0}
        found.append((case.name, case.op, [one], case))
    every = [(cube, pe) for cube in range(cubes) for pe in range(pes)]
    for op in ("read", "write"):
        patterns = {
            f"hot target, {count} PEs": [flow(op, 0, pe, 0, 0, pe) for pe in range(count)]
            for count in range(2, min(pes, MOST) + 1)
        }
        if pes > 1 and int(graph.properties["cube_mesh_w"]) > 1:
            patterns[f"{pes} PEs eastbound"] = [
                flow(op, 0, pe, 1, pe % slices, pe // slices) for pe in range(pes)
            ]
        if len(every) > 1:
            patterns[f"{len(every)} PEs, all local"] = [
                flow(op, cube, pe, cube, pe % slices, pe // slices) for cube, pe in every
            ]
            patterns[f"{len(every)} PEs, one slice"] = [
                flow(op, *at, 0, 0, place) for place, at in enumerate(every)
            ]
        found += [(name, op, flows, None) for name, flows in patterns.items()]
    return found
