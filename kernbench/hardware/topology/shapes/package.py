"""The built-in blocks ``io_chiplet``, ``package`` and ``tray``."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from kernbench.hardware.topology.checks import PhyPort, phy_ports
from kernbench.hardware.topology.nodes import HOST_CPU
from kernbench.hardware.topology.shapes.chiplet import chiplet
from kernbench.hardware.topology.shapes.rows import Array, Rows
from kernbench.hardware.topology.shapes.sections import OPPOSITE, ORIGIN, SIDES, Sections, group
from kernbench.hardware.topology.spec import IoChiplet

Ports = Mapping[tuple[int, str], int]
"""Rows of the UCIe ports of a package's cubes, by cube and side."""


def tray(file: Sections) -> Rows:
    """Host CPU, switch, and the packages that hang on it."""
    system = file.spec.system
    made, block = Rows(bare=True, ports=("fabric.switch0",)), package(file)
    host = made.add(HOST_CPU, file.sort("host_cpu", system.host), ORIGIN)
    switch = made.add("fabric.switch0", file.sort("switch", system.switch), ORIGIN)
    made.join(host, switch, file.link("pcie", system.host.link_gbs, system.host.wire_mm))
    endpoints = [block.names.index(port) for port in block.ports]
    for sip in range(system.sips):
        first = made.place(block, f"sip{sip}", ORIGIN)
        for endpoint in endpoints:
            pcie = file.link("pcie", system.switch.link_gbs, system.switch.wire_mm)
            made.join(switch, first + endpoint, pcie)
    made.size = block.size
    made.grids = {**block.grids, "package": Array(("x", "y"), file.spec.sip_grid, [])}
    return made


def package(file: Sections) -> Rows:
    """Cubes with the seams between them, and IO chiplets on the shoreline."""
    mesh, ucie = file.spec.sip.cube_mesh, file.spec.cube.ucie
    size = file.spec.cube.size_mm
    made = Rows(level="package", size=(mesh.w * size.w, mesh.h * size.h))
    made.add("", group("sip"), ORIGIN)
    made.grids["chiplet"] = Array(("x", "y"), (mesh.w, mesh.h), [])
    block = chiplet(file)
    facing = {side: block.names.index(f"ucie-{side}") for side in SIDES}
    ports: dict[tuple[int, str], int] = {}
    for cube in range(mesh.w * mesh.h):
        first = made.place(block, f"cube{cube}", cube_origin(file, cube))
        ports |= {(cube, side): first + row for side, row in facing.items()}
    for cube in range(mesh.w * mesh.h):
        y, x = divmod(cube, mesh.w)
        for side, other, there in (("E", cube + 1, x + 1 < mesh.w), ("S", cube + mesh.w, y + 1 < mesh.h)):
            if there:
                seam = file.link("ucie_mesh", ucie.seam_gbs, ucie.seam_mm)
                made.join(ports[cube, side], ports[other, OPPOSITE[side]], seam)
    for io in file.spec.sip.io_chiplets:
        made.ports += add_io_chiplet(made, file, io, f"{io.name}.", ports)
    made.close()
    return made


def io_chiplet(file: Sections) -> Rows:
    """The file's first IO chiplet, by itself."""
    made = Rows()
    made.ports = add_io_chiplet(made, file, file.spec.sip.io_chiplets[0], "", {})
    return made


def add_io_chiplet(made: Rows, file: Sections, io: IoChiplet, prefix: str, ports: Ports) -> tuple[str]:
    """Add an IO chiplet, join its PHYs to their cubes if they are there, and return its PCIe endpoint."""
    ucie = io.io_ucie
    phys = [(phy, _phy_location(file, phy)) for phy in phy_ports(file.spec, io)]
    middle = fsum(mm[0] for _, mm in phys) / len(phys), fsum(mm[1] for _, mm in phys) / len(phys)
    endpoint = made.add(f"{prefix}pcie_ep", file.sort("pcie_ep", io.pcie_ep), middle)
    cpu = made.add(f"{prefix}io_cpu", file.sort("io_cpu", io.io_cpu), middle)
    noc = made.add(f"{prefix}io_noc", file.sort("io_noc", io.io_noc), middle)
    made.join(endpoint, noc, file.link("io_internal", io.pcie_ep.link_gbs))
    made.join(cpu, noc, file.link("io_internal", io.io_cpu.link_gbs))
    end_sort, conn_sort = file.sort("io_ucie", ucie), file.sort("io_ucie_conn", io.io_ucie_conn)
    inner = file.link("io_internal", ucie.connection_gbs)
    for number, (phy, mm) in enumerate(phys):
        name = f"{prefix}io_ucie-P{number}"
        end = made.add(name, end_sort, mm)
        for index in range(ucie.n_connections):
            conn = made.add(f"{name}.conn{index}", conn_sort, mm)
            made.join(noc, conn, inner)
            made.join(conn, end, inner)
        if (phy.cube, phy.side) in ports:
            weight = phy.distance_mm + file.crossing_weights()[1]
            to_cube = file.link("io_to_cube", ucie.link_gbs, phy.distance_mm, weight)
            made.join(end, ports[phy.cube, phy.side], to_cube)
    return (f"{prefix}pcie_ep",)


def cube_origin(file: Sections, cube: int) -> tuple[float, float]:
    """(x, y) in mm of a cube's north-west corner in its package."""
    y, x = divmod(cube, file.spec.sip.cube_mesh.w)
    size, seam = file.spec.cube.size_mm, file.spec.cube.ucie.seam_mm
    return x * (size.w + seam), y * (size.h + seam)


def _phy_location(file: Sections, phy: PhyPort) -> tuple[float, float]:
    """Middle of the cube's side, moved off it by the length of the link."""
    size, gap = file.spec.cube.size_mm, phy.distance_mm
    x, y = cube_origin(file, phy.cube)
    middle_x, middle_y = x + size.w / 2, y + size.h / 2
    return {
        "N": (middle_x, y - gap),
        "S": (middle_x, y + size.h + gap),
        "W": (x - gap, middle_y),
        "E": (x + size.w + gap, middle_y),
    }[phy.side]
