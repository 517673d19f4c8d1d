"""Compiles a processing element: its parts and the links among them."""

from __future__ import annotations

from kernbench.pgraph import Properties
from kernbench.topology import names
from kernbench.topology.builder import Builder
from kernbench.topology.properties import component, group
from kernbench.topology.spec import TopologySpec

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


def part_properties(spec: TopologySpec) -> dict[str, Properties]:
    """Own properties of each kind of part; the same for all PEs."""
    pe = spec.pe
    return {
        "pe_cpu": {"clock_ghz": pe.pe_cpu.clock_ghz, "dispatch_cycles": pe.pe_cpu.dispatch_cycles},
        "pe_scheduler": {},
        "pe_dma": {"read_engines": pe.pe_dma.read_engines, "write_engines": pe.pe_dma.write_engines},
        "pe_fetch_store": {},
        "pe_gemm": {
            "clock_ghz": pe.pe_gemm.clock_ghz,
            "tile_m": pe.pe_gemm.tile.m,
            "tile_k": pe.pe_gemm.tile.k,
            "tile_n": pe.pe_gemm.tile.n,
            "macs_per_ns": pe.pe_gemm.macs_per_ns,
        },
        "pe_math": {"clock_ghz": pe.pe_math.clock_ghz, "lanes": pe.pe_math.lanes},
        "pe_tcm": {
            "size_bytes": pe.pe_tcm.size_bytes,
            "read_gbs": pe.pe_tcm.read_gbs,
            "write_gbs": pe.pe_tcm.write_gbs,
            "scheduler_reserved_bytes": pe.pe_tcm.scheduler_reserved_bytes,
            "scratch_bytes": pe.pe_tcm.scratch_bytes,
        },
        "pe_mmu": {"page_bytes": pe.pe_mmu.page_bytes, "tlb_overhead_ns": pe.pe_mmu.tlb_overhead_ns},
        "pe_baaw": {"lookup_ns": pe.pe_baaw.lookup_ns},
        "pe_ipcq": {
            "slots": pe.pe_ipcq.slots,
            "slot_bytes": pe.pe_ipcq.slot_bytes,
            "credit_bytes": pe.pe_ipcq.credit_bytes,
        },
    }


def add_pe(build: Builder, own: dict[str, Properties], sip: int, cube: int, pe: int) -> None:
    """Add PE ``pe`` with its parts and wire it to its router. ``own`` is of :func:`part_properties`."""
    spec, layout = build.spec, build.layout
    origin = build.cube_origin(cube)
    at = layout.pe_positions[pe]
    x, y = origin[0] + at[0], origin[1] + at[1]
    parent = build.add(group(names.pe(sip, cube, pe), "pe", sip, cube, pe, x, y), names.cube(sip, cube))
    parts = {}
    translator = names.TRANSLATORS[spec.system.address_model]
    for part in names.PE_PARTS:
        kind = translator if part == "pe_mmu" else part
        name = names.pe_part(sip, cube, pe, kind)
        node = component(name, kind, getattr(spec.pe, kind), own[kind], sip, cube, pe, x, y)
        parts[part] = build.add(node, parent)

    internal = spec.pe.links.internal_gbs
    for a, b in INTERNAL_LINKS:
        build.link(parts[a], parts[b], "pe_internal", internal)

    cell = layout.pe_cells[pe]
    router = names.router(sip, cube, *cell)
    router_x, router_y = layout.position(cell)
    distance = round(abs(router_x - at[0]) + abs(router_y - at[1]), 6)
    build.link(parts["pe_dma"], router, "pe_to_router", spec.pe.links.dma_gbs, distance)
    build.link(router, parts["pe_cpu"], "command", spec.pe.links.command_gbs)
    build.link(router, parts["pe_mmu"], "command", spec.pe.links.command_gbs)
