"""Compiles the IO chiplets of a package (ADR-0016)."""

from __future__ import annotations

from kernbench.topology import names
from kernbench.topology.builder import Builder
from kernbench.topology.checks import side_cubes
from kernbench.topology.properties import component
from kernbench.topology.spec import IoChiplet


def add_io_chiplet(build: Builder, sip: int, io: IoChiplet) -> str:
    """Add an IO chiplet, join its PHYs to their cubes, and return the name of its PCIe endpoint.

    The cubes must be there already.
    """
    parent = names.sip(sip)
    served = side_cubes(build.spec, io.side) if io.cubes is None else io.cubes
    places = [_phy_place(build, io, cube) for cube in served]
    x = sum(p[0] for p in places) / len(places)
    y = sum(p[1] for p in places) / len(places)

    ep, noc = names.pcie_ep(sip, io.name), names.io_noc(sip, io.name)
    cut_through = {"cut_through": io.pcie_ep.cut_through}
    build.add(component(ep, "pcie_ep", io.pcie_ep, {**cut_through}, sip, x=x, y=y), parent)
    cpu = build.add(component(names.io_cpu(sip, io.name), "io_cpu", io.io_cpu, {}, sip, x=x, y=y), parent)
    build.add(component(noc, "io_noc", io.io_noc, {}, sip, x=x, y=y), parent)
    build.link(ep, noc, "io_internal", io.pcie_ep.link_gbs)
    build.link(cpu, noc, "io_internal", io.io_cpu.link_gbs)

    for index, (cube, (phy_x, phy_y)) in enumerate(zip(served, places, strict=True)):
        _add_phy(build, sip, io, f"P{index}", cube, phy_x, phy_y)
    return ep


def _add_phy(build: Builder, sip: int, io: IoChiplet, phy: str, cube: int, x: float, y: float) -> None:
    parent, noc, ucie = names.sip(sip), names.io_noc(sip, io.name), io.io_ucie
    name = names.io_ucie(sip, io.name, phy)
    build.add(component(name, "io_ucie", ucie, {}, sip, x=x, y=y), parent)
    for conn in range(ucie.n_connections):
        conn_name = names.io_ucie_conn(sip, io.name, phy, conn)
        build.add(component(conn_name, "io_ucie_conn", io.io_ucie_conn, {}, sip, x=x, y=y), parent)
        build.link(noc, conn_name, "io_internal", ucie.connection_gbs)
        build.link(conn_name, name, "io_internal", ucie.connection_gbs)
    port = names.ucie_port(sip, cube, io.side)
    weight = ucie.link_mm + build.phy_weight_mm
    build.link(name, port, "io_to_cube", ucie.link_gbs, ucie.link_mm, weight)


def _phy_place(build: Builder, io: IoChiplet, cube: int) -> tuple[float, float]:
    """Middle of the cube's side, moved off it by the length of the link."""
    size, gap = build.spec.cube.size_mm, io.io_ucie.link_mm
    x, y = build.cube_origin(cube)
    middle_x, middle_y = x + size.w / 2, y + size.h / 2
    return {
        "N": (middle_x, y - gap),
        "S": (middle_x, y + size.h + gap),
        "W": (x - gap, middle_y),
        "E": (x + size.w + gap, middle_y),
    }[io.side]
