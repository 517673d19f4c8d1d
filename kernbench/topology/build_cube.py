"""Compiles a cube: router mesh, memories, M_CPU, UCIe ports and PEs; and the seams between cubes."""

from __future__ import annotations

from kernbench.pgraph import Properties
from kernbench.topology import names
from kernbench.topology.build_pe import add_pe
from kernbench.topology.builder import Builder
from kernbench.topology.properties import component, group


def add_cube(build: Builder, pe_own: dict[str, Properties], sip: int, cube: int) -> None:
    """Add cube ``cube`` of package ``sip`` with everything in it."""
    origin_x, origin_y = build.cube_origin(cube)
    node = group(names.cube(sip, cube), "cube", sip, cube, x=origin_x, y=origin_y)
    build.add(node, names.sip(sip))
    _add_routers(build, sip, cube)
    _add_attached(build, sip, cube)
    _add_hbm(build, sip, cube)
    for side in names.SIDES:
        _add_port(build, sip, cube, side)
    for pe in range(build.spec.cube.pes.count):
        add_pe(build, pe_own, sip, cube, pe)


def add_seams(build: Builder, sip: int) -> None:
    """Join the UCIe ports of neighbouring cubes."""
    mesh, ucie = build.spec.sip.cube_mesh, build.spec.cube.ucie
    for cube in range(mesh.w * mesh.h):
        y, x = divmod(cube, mesh.w)
        for side, other, there in (("E", cube + 1, x + 1 < mesh.w), ("S", cube + mesh.w, y + 1 < mesh.h)):
            if there:
                a = names.ucie_port(sip, cube, side)
                b = names.ucie_port(sip, other, names.OPPOSITE[side])
                build.link(a, b, "ucie_mesh", ucie.seam_gbs, ucie.seam_mm)


def _add_routers(build: Builder, sip: int, cube: int) -> None:
    part, layout, parent = build.spec.cube.router, build.layout, names.cube(sip, cube)
    origin_x, origin_y = build.cube_origin(cube)
    for row, col in layout.cells():
        x, y = layout.position((row, col))
        own: Properties = {"row": row, "col": col}
        name = names.router(sip, cube, row, col)
        build.add(component(name, "router", part, own, sip, cube, x=origin_x + x, y=origin_y + y), parent)
    for a, b, distance in layout.neighbours():
        build.link(
            names.router(sip, cube, *a), names.router(sip, cube, *b), "router_mesh", part.link_gbs, distance
        )


def _add_attached(build: Builder, sip: int, cube: int) -> None:
    """M_CPU and SRAM, each at the router nearest to it."""
    spec, layout, parent = build.spec.cube, build.layout, names.cube(sip, cube)
    origin_x, origin_y = build.cube_origin(cube)

    at = spec.m_cpu.position_mm
    node = component(
        names.m_cpu(sip, cube), "m_cpu", spec.m_cpu, {}, sip, cube, x=origin_x + at.x, y=origin_y + at.y
    )
    build.add(node, parent)
    build.link(node.id, names.router(sip, cube, *layout.m_cpu), "command", spec.m_cpu.link_gbs)

    at = spec.sram.position_mm
    own: Properties = {"size_bytes": spec.sram.size_bytes}
    node = component(
        names.sram(sip, cube), "sram", spec.sram, own, sip, cube, x=origin_x + at.x, y=origin_y + at.y
    )
    build.add(node, parent)
    build.link(names.router(sip, cube, *layout.sram), node.id, "router_to_sram", spec.sram.link_gbs)


def _add_hbm(build: Builder, sip: int, cube: int) -> None:
    """One controller per slice, at its PE's router, behind channel routers if channels are mapped one to one.

    A channel router is a part of its PE's router, so as wide; behind it is the channel's share of the slice
    (ADR-0017 D4, D8).
    """
    spec, layout, parent = build.spec, build.layout, names.cube(sip, cube)
    hbm, slices = spec.cube.hbm, spec.hbm_slices
    origin_x, origin_y = build.cube_origin(cube)
    channels = hbm.pseudo_channels // slices
    slice_gbs = channels * hbm.channel_gbs * hbm.efficiency
    for number in range(slices):
        cell = layout.pe_cells[number]
        x, y = layout.position(cell)
        own: Properties = {
            "slice": number,
            "n_channels": channels,
            "burst_bytes": spec.system.flit_bytes,
            "slice_gbs": slice_gbs,
            "channel_gbs": hbm.channel_gbs,
            "switch_penalty_ns": hbm.switch_penalty_ns,
            "slice_bytes": hbm.capacity_bytes // slices,
        }
        name = names.hbm(sip, cube, number)
        build.add(component(name, "hbm_ctrl", hbm, own, sip, cube, x=origin_x + x, y=origin_y + y), parent)
        router = names.router(sip, cube, *cell)
        if hbm.mapping == "n_to_one":
            build.link(router, name, "router_to_hbm", slice_gbs)
            continue
        for channel in range(channels):
            own = {"slice": number, "channel": channel}
            way = names.channel_router(sip, cube, number, channel)
            part = spec.cube.channel_router
            node = component(way, "channel_router", part, own, sip, cube, x=origin_x + x, y=origin_y + y)
            build.add(node, parent)
            build.link(router, way, "router_to_channel", slice_gbs)
            build.link(way, name, "channel_to_hbm", slice_gbs / channels)


def _add_port(build: Builder, sip: int, cube: int, side: str) -> None:
    """A UCIe port and its connections (ADR-0017 D6)."""
    spec, layout, parent = build.spec.cube, build.layout, names.cube(sip, cube)
    origin_x, origin_y = build.cube_origin(cube)
    size = spec.size_mm
    port_x = {"W": 0.0, "E": size.w}.get(side, size.w / 2)
    port_y = {"N": 0.0, "S": size.h}.get(side, size.h / 2)
    port = names.ucie_port(sip, cube, side)
    own: Properties = {"side": side}
    build.add(
        component(port, "ucie_port", spec.ucie, own, sip, cube, x=origin_x + port_x, y=origin_y + port_y),
        parent,
    )
    gbs = spec.ucie.connection_gbs
    for index, cell in enumerate(layout.ports[side]):
        x, y = layout.position(cell)
        name = names.ucie_conn(sip, cube, side, index)
        own = {"side": side, "index": index}
        node = component(name, "ucie_conn", spec.ucie_conn, own, sip, cube, x=origin_x + x, y=origin_y + y)
        build.add(node, parent)
        build.link(name, port, "ucie_internal", gbs, weight_mm=build.port_weight_mm)
        build.link(name, names.router(sip, cube, *cell), "ucie_to_router", gbs)
