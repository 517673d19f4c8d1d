"""The built-in blocks ``pe`` and ``chiplet``: router mesh, memories, M_CPU, UCIe ports and PEs."""

from __future__ import annotations

import json

from kernbench.hardware.kinds import COMPONENT_KINDS, PE_PARTS, TRANSLATORS
from kernbench.hardware.topology.cube_spec import Hbm
from kernbench.hardware.topology.dram import table
from kernbench.hardware.topology.mesh import Cell
from kernbench.hardware.topology.part_keys import flat
from kernbench.hardware.topology.pe_spec import clocked
from kernbench.hardware.topology.shapes.rows import Rows, Sort
from kernbench.hardware.topology.shapes.sections import ORIGIN, SIDES, Sections, group, varied
from kernbench.support.pgraph import Properties

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
"""Pairs of parts that are wired to each other."""


def pe(file: Sections) -> Rows:
    """A PE: its parts, wired to each other."""
    made, spec = Rows(level="pe"), file.spec.pe
    record = COMPONENT_KINDS["pe"]
    said = flat(spec) | {"operands": "" if spec.operands == "tcm" else spec.operands}
    said = {key: said[key] for key in record.switches if said[key]}
    made.add("", Sort(record, {**group("pe").properties, **said}), ORIGIN)
    kinds = {part: part for part in PE_PARTS} | {"pe_mmu": TRANSLATORS[file.spec.system.address_model]}
    parts = {
        part: made.add(kind, file.sort(kind, clocked(getattr(spec, kind), spec.clock.ghz)), ORIGIN)
        for part, kind in kinds.items()
    }
    internal = file.link("pe_internal", spec.links.internal_gbs)
    for a, b in INTERNAL_LINKS:
        made.join(parts[a], parts[b], internal)
    made.ports = "pe_dma", "pe_cpu", kinds["pe_mmu"]
    made.close()
    return made


def chiplet(file: Sections) -> Rows:
    """A chiplet, with its location at its north-west corner."""
    size = file.spec.cube.size_mm
    made = Rows(level="chiplet", size=(size.w, size.h))
    made.add("", group("cube"), ORIGIN)
    routers = _add_routers(made, file)
    _add_attached(made, file, routers)
    _add_hbm(made, file, routers)
    for side in SIDES:
        _add_port(made, file, routers, side)
    _add_pes(made, file, routers)
    made.close()
    return made


def _add_routers(made: Rows, file: Sections) -> dict[Cell, int]:
    section, layout = file.spec.cube.router, file.layout
    sort = file.sort("router", section, {"row": 0, "col": 0})
    rows = {
        (row, col): made.add(f"r{row}c{col}", varied(sort, row=row, col=col), layout.position((row, col)))
        for row, col in layout.cells()
    }
    for a, b, distance in layout.neighbours():
        made.join(rows[a], rows[b], file.link("router_mesh", section.link_gbs, distance))
    return rows


def _add_attached(made: Rows, file: Sections, routers: dict[Cell, int]) -> None:
    """M_CPU and SRAM, each at the router nearest to it."""
    spec, layout = file.spec.cube, file.layout
    mm = spec.m_cpu.position_mm
    m_cpu = made.add("m_cpu", file.sort("m_cpu", spec.m_cpu), (mm.x, mm.y))
    made.join(m_cpu, routers[layout.m_cpu], file.link("command", spec.m_cpu.link_gbs))
    mm = spec.sram.position_mm
    sram = made.add("sram", file.sort("sram", spec.sram), (mm.x, mm.y))
    made.join(routers[layout.sram], sram, file.link("router_to_sram", spec.sram.link_gbs))


def _add_hbm(made: Rows, file: Sections, routers: dict[Cell, int]) -> None:
    """One controller per slice, at its PE's router, behind channel routers if channels are mapped one to one.

    A channel router is a part of its PE's router, so as wide; behind it is the channel's share of the slice.
    """
    spec, layout = file.spec, file.layout
    hbm, slices = spec.cube.hbm, spec.hbm_slices
    channels = hbm.pseudo_channels // slices
    dram = dram_properties(hbm)
    slice_gbs = channels * float(dram.get("channel_gbs", hbm.channel_gbs)) * hbm.efficiency
    own: Properties = {
        "slice": 0,
        "n_channels": channels,
        "burst_bytes": spec.system.flit_bytes,
        "slice_gbs": slice_gbs,
        "slice_bytes": hbm.capacity_bytes // slices,
        **dram,
    }
    if hbm.mapping == "one_to_one":  # the slice's one wire has its efficiency otherwise
        own["channel_gbs"] = hbm.channel_gbs * hbm.efficiency
    sort = file.sort("hbm_ctrl", hbm, own)
    entrance = file.sort("channel_router", spec.cube.channel_router, {"slice": 0, "channel": 0})
    for number in range(slices):
        cell = layout.pe_cells[number]
        at, router = layout.position(cell), routers[cell]
        ctrl = made.add(f"hbm_ctrl.pe{number}", sort, at)
        if hbm.mapping == "n_to_one":
            made.join(router, ctrl, file.link("router_to_hbm", slice_gbs))
            continue
        for channel in range(channels):
            there = varied(entrance, slice=number, channel=channel)
            way_in = made.add(f"pe{number}.ch_r{channel}", there, at)
            made.join(router, way_in, file.link("router_to_channel", slice_gbs))
            # The channel serves a burst at its own rate; a wire of that rate would charge it twice.
            made.join(way_in, ctrl, file.link("channel_to_hbm", slice_gbs))


def dram_properties(hbm: Hbm) -> Properties:
    """What a controller has with ``model: dram`` alone: its DRAM in one text, and the rate of that."""
    if hbm.model != "dram":
        return {}
    timing = table(hbm.dram.timing)
    described = json.dumps(hbm.dram.described(), sort_keys=True, separators=(",", ":"))
    return {
        "impl": hbm.impl or "builtin.hbm_dram",
        "channel_gbs": timing.gbs,
        "dram_tck_ns": timing.tck_ps / 1000.0,
        "dram": described,
    }


def _add_port(made: Rows, file: Sections, routers: dict[Cell, int], side: str) -> None:
    """A UCIe port and its connections."""
    spec, layout = file.spec.cube, file.layout
    size, gbs = spec.size_mm, spec.ucie.connection_gbs
    at = {"W": 0.0, "E": size.w}.get(side, size.w / 2), {"N": 0.0, "S": size.h}.get(side, size.h / 2)
    port = made.add(f"ucie-{side}", file.sort("ucie_port", spec.ucie, {"side": side}), at)
    sort = file.sort("ucie_conn", spec.ucie_conn, {"side": side, "index": 0})
    inner = file.link("ucie_internal", gbs, weight_mm=file.crossing_weights()[0])
    for index, cell in enumerate(layout.ports[side]):
        conn = made.add(f"ucie-{side}.conn{index}", varied(sort, index=index), layout.position(cell))
        made.join(conn, port, inner)
        made.join(conn, routers[cell], file.link("ucie_to_router", gbs))


def _add_pes(made: Rows, file: Sections, routers: dict[Cell, int]) -> None:
    """All PEs, each wired to its router."""
    layout, links, block = file.layout, file.spec.pe.links, pe(file)
    for number, mm in enumerate(layout.pe_positions):
        first = made.place(block, f"pe{number}", mm)
        parts = {name: first + row for row, name in enumerate(block.names)}
        cell = layout.pe_cells[number]
        router, (x, y) = routers[cell], layout.position(cell)
        distance = round(abs(x - mm[0]) + abs(y - mm[1]), 6)
        made.join(parts["pe_dma"], router, file.link("pe_to_router", links.dma_gbs, distance))
        for end in block.ports[1:]:
            made.join(router, parts[end], file.link("command", links.command_gbs))
