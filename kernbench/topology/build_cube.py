"""Compiles a cube: router mesh, memories, M_CPU, UCIe ports and PEs."""

from __future__ import annotations

import json

from kernbench.pgraph import Properties, PropertyGraph
from kernbench.topology import names
from kernbench.topology.build_pe import add_pe
from kernbench.topology.builder import Builder, add_part
from kernbench.topology.cube_spec import Hbm
from kernbench.topology.dram import table


def add_cube(build: Builder, sip: int, cube: int) -> None:
    """Add cube ``cube`` of package ``sip`` with everything in it."""
    x, y = build.cube_origin(cube)
    build.add_group("cube", names.cube(sip, cube), names.sip(sip), at=(sip, cube, -1), x=x, y=y)
    _add_routers(build, sip, cube)
    _add_attached(build, sip, cube)
    _add_hbm(build, sip, cube)
    for side in names.SIDES:
        _add_port(build, sip, cube, side)
    for pe in range(build.spec.cube.pes.count):
        add_pe(build, sip, cube, pe)


def _add_routers(build: Builder, sip: int, cube: int) -> None:
    section, layout, parent = build.spec.cube.router, build.layout, names.cube(sip, cube)
    origin_x, origin_y = build.cube_origin(cube)
    for row, col in layout.cells():
        x, y = layout.position((row, col))
        own: Properties = {"row": row, "col": col}
        build.add(
            "router", names.router(sip, cube, row, col), parent, section, own,
            at=(sip, cube, -1), x=origin_x + x, y=origin_y + y,
        )  # fmt: skip
    for a, b, distance in layout.neighbours():
        one, other = names.router(sip, cube, *a), names.router(sip, cube, *b)
        build.link(one, other, "router_mesh", section.link_gbs, distance)


def _add_attached(build: Builder, sip: int, cube: int) -> None:
    """M_CPU and SRAM, each at the router nearest to it."""
    spec, layout, parent = build.spec.cube, build.layout, names.cube(sip, cube)
    x, y = build.cube_origin(cube)
    at = (sip, cube, -1)

    mm = spec.m_cpu.position_mm
    m_cpu = build.add("m_cpu", names.m_cpu(sip, cube), parent, spec.m_cpu, at=at, x=x + mm.x, y=y + mm.y)
    build.link(m_cpu, names.router(sip, cube, *layout.m_cpu), "command", spec.m_cpu.link_gbs)

    mm = spec.sram.position_mm
    sram = build.add("sram", names.sram(sip, cube), parent, spec.sram, at=at, x=x + mm.x, y=y + mm.y)
    build.link(names.router(sip, cube, *layout.sram), sram, "router_to_sram", spec.sram.link_gbs)


def _add_hbm(build: Builder, sip: int, cube: int) -> None:
    """One controller per slice, at its PE's router, behind channel routers if channels are mapped one to one.

    A channel router is a part of its PE's router, so as wide; behind it is the channel's share of the slice
    (ADR-0017 D4, D8).
    """
    spec, layout, parent = build.spec, build.layout, names.cube(sip, cube)
    hbm, slices = spec.cube.hbm, spec.hbm_slices
    origin_x, origin_y = build.cube_origin(cube)
    channels = hbm.pseudo_channels // slices
    dram = dram_properties(hbm)
    channel_gbs = dram.get("channel_gbs", hbm.channel_gbs)
    slice_gbs = channels * float(channel_gbs) * hbm.efficiency
    at = (sip, cube, -1)
    for number in range(slices):
        cell = layout.pe_cells[number]
        mm = layout.position(cell)
        x, y = origin_x + mm[0], origin_y + mm[1]
        own: Properties = {
            "slice": number,
            "n_channels": channels,
            "burst_bytes": spec.system.flit_bytes,
            "slice_gbs": slice_gbs,
            "slice_bytes": hbm.capacity_bytes // slices,
            **dram,
        }
        if hbm.mapping == "one_to_one":  # the slice's one wire has its efficiency otherwise
            own["channel_gbs"] = hbm.channel_gbs * hbm.efficiency
        ctrl = build.add("hbm_ctrl", names.hbm(sip, cube, number), parent, hbm, own, at=at, x=x, y=y)
        router = names.router(sip, cube, *cell)
        if hbm.mapping == "n_to_one":
            build.link(router, ctrl, "router_to_hbm", slice_gbs)
            continue
        for channel in range(channels):
            entrance = build.add(
                "channel_router", names.channel_router(sip, cube, number, channel), parent,
                spec.cube.channel_router, {"slice": number, "channel": channel}, at=at, x=x, y=y,
            )  # fmt: skip
            build.link(router, entrance, "router_to_channel", slice_gbs)
            # The channel serves a burst at its own rate; a wire of that rate would charge it twice.
            build.link(entrance, ctrl, "channel_to_hbm", slice_gbs)


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


def _add_port(build: Builder, sip: int, cube: int, side: str) -> None:
    """A UCIe port and its connections (ADR-0017 D6)."""
    spec, layout, parent = build.spec.cube, build.layout, names.cube(sip, cube)
    origin_x, origin_y = build.cube_origin(cube)
    size, at = spec.size_mm, (sip, cube, -1)
    x = origin_x + {"W": 0.0, "E": size.w}.get(side, size.w / 2)
    y = origin_y + {"N": 0.0, "S": size.h}.get(side, size.h / 2)
    port = build.add(
        "ucie_port", names.ucie_port(sip, cube, side), parent, spec.ucie, {"side": side}, at=at, x=x, y=y
    )
    gbs = spec.ucie.connection_gbs
    for index, cell in enumerate(layout.ports[side]):
        mm = layout.position(cell)
        conn = build.add(
            "ucie_conn", names.ucie_conn(sip, cube, side, index), parent, spec.ucie_conn,
            {"side": side, "index": index}, at=at, x=origin_x + mm[0], y=origin_y + mm[1],
        )  # fmt: skip
        build.link(conn, port, "ucie_internal", gbs, weight_mm=build.port_weight_mm)
        build.link(conn, names.router(sip, cube, *cell), "ucie_to_router", gbs)


def add_channels(graph: PropertyGraph) -> None:
    """Add the pseudo-channels of every HBM slice: parts of it, for use to be counted at.

    They are made from the properties of the slice, so overrides must have been applied before. Slices that
    have theirs are left as they are.
    """
    for slice_ in [node for node in graph.nodes() if node.properties["kind"] == "hbm_ctrl"]:
        if next(graph.out_edges(slice_.id, "CONTAINS"), None) is not None:
            continue
        p = slice_.properties
        for channel in range(int(p["n_channels"])):
            name = names.pseudo_channel(slice_.id, channel)
            own = {"slice": p["slice"], "channel": channel, "bw_gbs": p["channel_gbs"]}
            add_part(graph, "pseudo_channel", name, slice_, own)
