"""Compiles a package: its cubes, the seams between them, and the IO chiplets on its shoreline (ADR-0016)."""

from __future__ import annotations

from math import fsum

from kernbench.topology import names
from kernbench.topology.build_cube import add_cube
from kernbench.topology.builder import Builder
from kernbench.topology.checks import PhyPort, phy_ports
from kernbench.topology.spec import IoChiplet


def add_sip(build: Builder, sip: int) -> list[str]:
    """Add package ``sip`` with everything in it and return the names of its PCIe endpoints."""
    build.add_group("sip", names.sip(sip), names.TRAY, at=(sip, -1, -1))
    for cube in range(build.spec.cubes_per_sip):
        add_cube(build, sip, cube)
    _add_seams(build, sip)
    return [add_io_chiplet(build, sip, io) for io in build.spec.sip.io_chiplets]


def _add_seams(build: Builder, sip: int) -> None:
    """Join the UCIe ports of neighbouring cubes."""
    mesh, ucie = build.spec.sip.cube_mesh, build.spec.cube.ucie
    for cube in range(mesh.w * mesh.h):
        y, x = divmod(cube, mesh.w)
        for side, other, there in (("E", cube + 1, x + 1 < mesh.w), ("S", cube + mesh.w, y + 1 < mesh.h)):
            if there:
                a = names.ucie_port(sip, cube, side)
                b = names.ucie_port(sip, other, names.OPPOSITE[side])
                build.link(a, b, "ucie_mesh", ucie.seam_gbs, ucie.seam_mm)


def add_io_chiplet(build: Builder, sip: int, io: IoChiplet) -> str:
    """Add an IO chiplet, join its PHYs to their cubes if they are there, and return its PCIe endpoint."""
    parent, at = names.sip(sip), (sip, -1, -1)
    phys = [(phy, _phy_location(build, phy)) for phy in phy_ports(build.spec, io)]
    x = fsum(mm[0] for _, mm in phys) / len(phys)
    y = fsum(mm[1] for _, mm in phys) / len(phys)

    endpoint = build.add("pcie_ep", names.pcie_ep(sip, io.name), parent, io.pcie_ep, at=at, x=x, y=y)
    cpu = build.add("io_cpu", names.io_cpu(sip, io.name), parent, io.io_cpu, at=at, x=x, y=y)
    noc = build.add("io_noc", names.io_noc(sip, io.name), parent, io.io_noc, at=at, x=x, y=y)
    build.link(endpoint, noc, "io_internal", io.pcie_ep.link_gbs)
    build.link(cpu, noc, "io_internal", io.io_cpu.link_gbs)

    for index, (phy, (phy_x, phy_y)) in enumerate(phys):
        _add_phy(build, sip, io, f"P{index}", phy, phy_x, phy_y)
    return endpoint


def _add_phy(build: Builder, sip: int, io: IoChiplet, name: str, phy: PhyPort, x: float, y: float) -> None:
    parent, noc, ucie, at = names.sip(sip), names.io_noc(sip, io.name), io.io_ucie, (sip, -1, -1)
    end = build.add("io_ucie", names.io_ucie(sip, io.name, name), parent, ucie, at=at, x=x, y=y)
    for index in range(ucie.n_connections):
        conn_name = names.io_ucie_conn(sip, io.name, name, index)
        conn = build.add("io_ucie_conn", conn_name, parent, io.io_ucie_conn, at=at, x=x, y=y)
        build.link(noc, conn, "io_internal", ucie.connection_gbs)
        build.link(conn, end, "io_internal", ucie.connection_gbs)
    port = names.ucie_port(sip, phy.cube, phy.side)
    if port in build.graph:
        weight = phy.distance_mm + build.phy_weight_mm
        build.link(end, port, "io_to_cube", ucie.link_gbs, phy.distance_mm, weight)


def _phy_location(build: Builder, phy: PhyPort) -> tuple[float, float]:
    """Middle of the cube's side, moved off it by the length of the link."""
    size, gap = build.spec.cube.size_mm, phy.distance_mm
    x, y = build.cube_origin(phy.cube)
    middle_x, middle_y = x + size.w / 2, y + size.h / 2
    return {
        "N": (middle_x, y - gap),
        "S": (middle_x, y + size.h + gap),
        "W": (x - gap, middle_y),
        "E": (x + size.w + gap, middle_y),
    }[phy.side]
