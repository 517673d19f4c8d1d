"""Compiles a processing element: its parts and the links among them."""

from __future__ import annotations

from collections.abc import Mapping

from kernbench.kinds import PE_PARTS, TRANSLATORS
from kernbench.pgraph import Properties
from kernbench.topology import names
from kernbench.topology.builder import Builder
from kernbench.topology.fields import Section
from kernbench.topology.pe_spec import PeGemm, PeMath

INTERNAL_LINKS = (
    ("pe_cpu", "pe_scheduler"),
    ("pe_scheduler", "pe_dma"),
    ("pe_scheduler", "pe_fetch_store"),
    ("pe_scheduler", "pe_gemm"),
    ("pe_scheduler", "pe_math"),
    ("pe_dma", "pe_fetch_store"),
    ("pe_dma", "pe_tcm"),
    ("pe_dma", "pe_mmu"),
    ("pe_dma", "pe_ipcq"),
    ("pe_fetch_store", "pe_gemm"),
    ("pe_fetch_store", "pe_math"),
    ("pe_fetch_store", "pe_tcm"),
    ("pe_gemm", "pe_math"),
    ("pe_cpu", "pe_ipcq"),
)
"""Pairs of parts that are wired to each other (ADR-0014)."""


def add_pe(build: Builder, sip: int, cube: int, pe: int) -> None:
    """Add PE ``pe`` with its parts and wire it to its router."""
    spec, layout = build.spec, build.layout
    parts, mm = add_pe_parts(build, sip, cube, pe), layout.pe_positions[pe]
    cell = layout.pe_cells[pe]
    router = names.router(sip, cube, *cell)
    router_x, router_y = layout.position(cell)
    distance = round(abs(router_x - mm[0]) + abs(router_y - mm[1]), 6)
    build.link(parts["pe_dma"], router, "pe_to_router", spec.pe.links.dma_gbs, distance)
    build.link(router, parts["pe_cpu"], "command", spec.pe.links.command_gbs)
    build.link(router, parts["pe_mmu"], "command", spec.pe.links.command_gbs)


def worked_out(section: Section) -> Properties:
    """Properties of an engine that are not what its section says, word for word."""
    if isinstance(section, PeMath):
        return {"passes": _passes_table(section.passes)}
    if isinstance(section, PeGemm) and section.dataflow != "tile":
        return {"macs_per_cycle": float(section.rows * section.cols)}
    return {}


def _passes_table(passes: Mapping[str, int]) -> str:
    """``softmax=5 tanh=2``: the table of passes as one property."""
    return " ".join(f"{name}={count}" for name, count in sorted(passes.items()) if count > 1)


def add_pe_parts(build: Builder, sip: int, cube: int, pe: int) -> dict[str, str]:
    """Add PE ``pe`` with its parts, wired to each other, and return their names by part."""
    spec, origin, at = build.spec, build.cube_origin(cube), (sip, cube, pe)
    mm = build.layout.pe_positions[pe]
    x, y = origin[0] + mm[0], origin[1] + mm[1]
    parent = build.add_group("pe", names.pe(sip, cube, pe), names.cube(sip, cube), at=at, x=x, y=y)
    parts = {}
    translator = TRANSLATORS[spec.system.address_model]
    for part in PE_PARTS:
        kind = translator if part == "pe_mmu" else part
        name, section = names.pe_part(sip, cube, pe, kind), getattr(spec.pe, kind)
        parts[part] = build.add(kind, name, parent, section, worked_out(section), at=at, x=x, y=y)
    internal = spec.pe.links.internal_gbs
    for a, b in INTERNAL_LINKS:
        build.link(parts[a], parts[b], "pe_internal", internal)
    return parts
