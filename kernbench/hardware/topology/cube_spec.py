"""The topology file as validated data: the cube."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kernbench.hardware.topology.dram import Dram
from kernbench.hardware.topology.fields import (
    Gbs,
    MemoryPart,
    Mm,
    Part,
    PassingPart,
    Point,
    Section,
    Size,
    section,
)

MAX_PES = 16
"""PEs of a cube that the 4-bit ``pe_id`` of an address can name."""
MAX_HBM_BYTES = 1 << 37
"""The 128 GB decode window of a cube's HBM."""
MAX_SRAM_BYTES = 1 << 25
"""The 32 MB window of a cube's SRAM."""


class CubeSize(Section):
    """Outer measures of a cube."""

    w: float = Field(default=16.0, ge=4, le=200, description="mm from west to east")
    h: float = Field(default=14.0, ge=7, le=200, description="mm from north to south")


class PeLayout(Section):
    """How many PEs, and in which corners: NW, NE, SW, SE, numbered in this order, dealt evenly."""

    count: int = Field(default=8, ge=1, le=MAX_PES, description="PEs of a cube")
    corners: Annotated[
        tuple[Literal["NW", "NE", "SW", "SE"], ...], Field(strict=False, min_length=1, max_length=4)
    ] = Field(default=("NW", "NE", "SW", "SE"), description="corners that hold PEs")


class RouterMesh(PassingPart):
    """The routers of a cube and the links between them."""

    overhead_ns: float = Field(default=2.0, ge=0, description="ns once per transaction, per router")
    link_gbs: Gbs = Field(default=256.0, description="GB/s of each link between routers, each way")


class MCpu(Part):
    """Management CPU of a cube."""

    overhead_ns: float = Field(default=5.0, ge=0, description="ns once per transaction")
    outstanding: int = Field(
        default=2, ge=1, le=1024, description="reads, and as many writes, that its DMA has in flight"
    )
    link_gbs: Gbs = Field(default=256.0, description="GB/s between M_CPU and its router, each way")
    position_mm: Point = section("location in the cube; the nearest router serves it", x=1.5, y=5.5)


class Sram(MemoryPart):
    """Shared SRAM of a cube."""

    overhead_ns: float = Field(default=2.0, ge=0, description="ns once per transaction")
    link_gbs: Gbs = Field(default=128.0, description="GB/s between SRAM and its router, each way")
    position_mm: Point = section("location in the cube; the nearest router serves it", x=1.5, y=9.0)
    size_bytes: Annotated[Size, Field(ge=1, le=MAX_SRAM_BYTES)] = Field(default=32 << 20, description="bytes")


class HbmZone(Section):
    """The part of the router mesh that the HBM die takes: cells without routers."""

    rows: int = Field(default=2, ge=0, le=64, description="rows of cells; 0 for no zone")
    cols: int = Field(default=2, ge=0, le=64, description="columns of cells; 0 for no zone")
    row: int | None = Field(default=None, ge=0, description="its first row; in the middle by default")
    col: int | None = Field(default=None, ge=0, description="its first column; in the middle by default")


class Hbm(MemoryPart):
    """HBM of a cube, cut into slices of adjacent pseudo-channels."""

    capacity_bytes: Annotated[Size, Field(ge=1, le=MAX_HBM_BYTES)] = Field(
        default=48 << 30, description="bytes of the cube's HBM"
    )
    pseudo_channels: int = Field(default=64, ge=1, le=1024, description="pseudo-channels of the cube")
    channel_gbs: Gbs = Field(
        default=32.0, description="GB/s of a pseudo-channel; with model dram it is what its timing gives"
    )
    slices: int | None = Field(
        default=None, ge=1, le=MAX_PES, description="slices, slice P at PE P's router; one for each PE"
    )
    zone: HbmZone = section("cells of the mesh without routers")
    mapping: Literal["n_to_one", "one_to_one"] = Field(
        default="n_to_one",
        description="n_to_one: an access is one request; one_to_one: one for each channel (address model la)",
    )
    switch_penalty_ns: float = Field(
        default=0.0, ge=0, description="ns that a channel loses when it switches from reads to writes or back"
    )
    efficiency: float = Field(
        default=1.0, gt=0, le=1, description="share of the nominal bandwidth that is delivered"
    )
    model: Literal["channels", "dram"] = Field(
        default="channels",
        description="channels: pseudo-channels that serve in order of arrival; dram: banks, rows, refresh",
    )
    dram: Dram = section("DRAM behind the controllers (model dram)")


class ChannelRouter(PassingPart):
    """The router of one pseudo-channel, between a slice's router and its controller (one_to_one only)."""


class UciePort(PassingPart):
    """The UCIe ports of a cube, one per side, and the seams between cubes."""

    overhead_ns: float = Field(default=8.0, ge=0, description="ns once per transaction, at each port")
    n_connections: int = Field(default=4, ge=1, le=16, description="connections between a port and the mesh")
    connection_gbs: Gbs = Field(default=128.0, description="GB/s of each connection, each way")
    seam_gbs: Gbs = Field(default=512.0, description="GB/s across a seam, each way")
    seam_mm: Mm = Field(default=1.0, description="mm between the ports of neighbouring cubes")


class Cube(Section):
    """A cube (chiplet): router mesh, HBM, SRAM, M_CPU, UCIe ports, PEs."""

    size_mm: CubeSize = section("outer measures")
    pes: PeLayout = section("processing elements")
    router: RouterMesh = section("router mesh")
    m_cpu: MCpu = section("management CPU")
    sram: Sram = section("shared SRAM")
    hbm: Hbm = section("HBM and its controllers")
    channel_router: ChannelRouter = section("channel routers of the slices (mapping one_to_one)")
    ucie: UciePort = section("UCIe ports")
    ucie_conn: PassingPart = section("connections of the UCIe ports")
