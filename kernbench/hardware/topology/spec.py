"""The topology file as validated data: system and package level.

Field defaults are the default machine's figures. Where they come from is said, figure by figure, in
``configs/topologies/default.yaml``. Constraints between fields are in
:mod:`kernbench.hardware.topology.checks`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from kernbench.hardware.topology.cube_spec import Cube
from kernbench.hardware.topology.energy import KindEnergy
from kernbench.hardware.topology.faults import Fault
from kernbench.hardware.topology.fields import (
    FIFO,
    Gbs,
    LinkPart,
    Mm,
    Ns,
    Part,
    PassingPart,
    PowerOfTwo,
    Section,
    Size,
    Worker,
    section,
)
from kernbench.hardware.topology.marked_yaml import Path as KeyPath
from kernbench.hardware.topology.mesh import CubeLayout, Zone, layout
from kernbench.hardware.topology.overrides import Override
from kernbench.hardware.topology.pe_spec import OFF, Pe
from kernbench.hardware.topology.shapes.model import Block, Connect, Wire

MAX_SIPS = 1024
"""Packages of a machine. Beyond 16, ``sip_id`` is wider than its 4 bits in an address of the tray."""
MAX_CUBES = 16
"""Cubes of a package that an address can name: dies 0..15."""
MAX_IO_CHIPLETS = 5
"""IO chiplets of a package that an address can name: dies 16..20."""
MAX_IO_CHIPLETS_PER_SIDE = 2
"""IO chiplets that fit on one side of a package's shoreline."""


SHAPE = {"wires", "defaults", "blocks", "parts", "connect"}
"""Sections of a machine of any shape."""
OF_TRAY = ("sips", "host", "switch")
"""Keys of the system that say something of the built-in tray."""


class InterSip(Section):
    """How collectives see the packages. Wires are the same for all: every package hangs on the switch."""

    pattern: Literal["ring_1d", "torus_2d", "mesh_2d_no_wrap"] = Field(
        default="ring_1d", description="neighbourhood of the packages"
    )
    w: int | None = Field(default=None, ge=1, description="packages per row (torus_2d and mesh_2d_no_wrap)")
    h: int | None = Field(default=None, ge=1, description="rows of packages; without w and h, a square")


class Host(Part):
    """The host CPU of the tray."""

    launch_ns: float = Field(
        default=0.0, ge=0, description="ns from the submission of a launch until its messages leave"
    )
    link_gbs: Gbs = Field(default=128.0, description="GB/s between host CPU and switch, each way")
    wire_mm: Mm = Field(default=50.0, description="mm of wire between host CPU and switch")


class Switch(PassingPart):
    """The switch that joins host and packages."""

    overhead_ns: float = Field(default=5.0, ge=0, description="ns that the switch adds once per transaction")
    link_gbs: Gbs = Field(default=128.0, description="GB/s between switch and each PCIe endpoint, each way")
    wire_mm: Mm = Field(default=50.0, description="mm of wire between switch and each PCIe endpoint")


class System(Section):
    """The tray: how many packages, how they are joined, and what holds for the whole machine."""

    sips: int = Field(default=2, ge=1, le=MAX_SIPS, description="packages")
    inter_sip: InterSip = section("neighbourhood of the packages")
    ns_per_mm: float = Field(default=0.01, ge=0, description="propagation delay of every wire, ns per mm")
    flit_bytes: Annotated[PowerOfTwo, Field(ge=1, le=1 << 16)] = Field(
        default=256, description="bytes of a flit, and of an HBM burst"
    )
    address_model: Literal["va", "pa", "la"] = Field(
        default="va",
        description="va: virtual addresses, PE_MMU; pa: physical addresses; la: logical addresses, PE_BAAW",
    )
    worker: Worker = Field(
        default="pipelined",
        description="of parts that pass messages on: with serial one worker spends overhead_ns on each "
        "message in turn, with pipelined that is a latency",
    )
    host: Host = section("host CPU")
    switch: Switch = section("switch")


class CubeMesh(Section):
    """The cubes of a package; cube id = y * w + x."""

    w: int = Field(default=4, ge=1, le=MAX_CUBES, description="cubes per row")
    h: int = Field(default=4, ge=1, le=MAX_CUBES, description="rows of cubes")


class PcieEp(PassingPart):
    """PCIe endpoint of an IO chiplet."""

    overhead_ns: float = Field(default=5.0, ge=0, description="ns once per transaction")
    cut_through: bool = Field(
        default=False, description="pass flits on as they come instead of storing the transaction"
    )
    link_gbs: Gbs = Field(default=256.0, description="GB/s between PCIe endpoint and io_noc, each way")


class IoCpu(Part):
    """Command processor of an IO chiplet."""

    overhead_ns: float = Field(default=10.0, ge=0, description="ns once per transaction")
    link_gbs: Gbs = Field(default=256.0, description="GB/s between IO_CPU and io_noc, each way")


class IoUcie(PassingPart):
    """A UCIe PHY of an IO chiplet; each serves one cube's port."""

    overhead_ns: float = Field(default=8.0, ge=0, description="ns once per transaction, at the PHY")
    n_connections: int = Field(default=4, ge=1, le=16, description="connections between io_noc and the PHY")
    connection_gbs: Gbs = Field(default=128.0, description="GB/s of each connection, each way")
    link_gbs: Gbs = Field(default=512.0, description="GB/s between the PHY and its cube's port, each way")
    link_mm: Mm = Field(default=2.0, description="mm between the PHY and its cube's port")


class Phy(Section):
    """A PHY of an IO chiplet: the cube port that it serves, and its distance from that port."""

    cube: int = Field(ge=0, description="id of the cube")
    side: Literal["N", "S", "E", "W"] | None = Field(
        default=None, description="side of the cube's port; the chiplet's side by default"
    )
    distance_mm: Mm | None = Field(default=None, description="mm to the port; io_ucie.link_mm by default")


class IoChiplet(Section):
    """An IO chiplet on a package's shoreline."""

    name: str = Field(
        description="name, unique in the package", pattern=r"^[a-z][a-z0-9_]*$", min_length=1, max_length=32
    )
    side: Literal["N", "S", "E", "W"] = Field(default="N", description="side of the package")
    cubes: Annotated[tuple[Annotated[int, Field(ge=0)], ...] | None, Field(strict=False)] = Field(
        default=None, description="ids of the cubes that it serves, one PHY each; that side's by default"
    )
    ports: Annotated[tuple[Phy, ...] | None, Field(strict=False)] = Field(
        default=None, description="instead of cubes, its PHYs one by one: {cube, side, distance_mm}"
    )
    pcie_ep: PcieEp = section("PCIe endpoint")
    io_cpu: IoCpu = section("command processor")
    io_noc: PassingPart = section("internal network")
    io_ucie: IoUcie = section("UCIe PHYs")
    io_ucie_conn: PassingPart = section("connections of the PHYs")


class Sip(Section):
    """A package: a mesh of cubes with IO chiplets on its shoreline."""

    cube_mesh: CubeMesh = section("cubes of the package")
    io_chiplets: Annotated[
        tuple[IoChiplet, ...], Field(strict=False, min_length=1, max_length=MAX_IO_CHIPLETS)
    ] = Field(default=({"name": "io0"},), validate_default=True, description="IO chiplets of the package")


class MemoryCache(Section):
    """A cache before the HBM controllers; each has an even share of it."""

    capacity: Size = Field(
        default=0,
        ge=0,
        description="bytes of the cache of an interleaved memory, or of each controller without; 0: none",
    )
    line: Annotated[Size, Field(ge=1)] = Field(
        default=4096,
        description="bytes that make room together, a power of two; bursts of them are fetched one by one",
    )
    ways: int = Field(default=0, ge=0, description="lines of a set; 0: all are one set")
    hit_ns: Ns = Field(default=0.0, description="ns that the cache adds to what passes, and nobody waits for")
    gbs: float = Field(default=0.0, ge=0, description="GB/s of the cache; reads and writes take turns at it")
    write_gbs: float = Field(default=0.0, ge=0, description="GB/s of writes; 0: as many as of reads")
    coalesce: int = Field(
        default=1,
        ge=1,
        description="most reads of the same bytes that share a turn, if they come before it is over; 1: none",
    )
    write_back: bool = Field(
        default=True, description="written bytes stay until they make room; else they go to memory at once"
    )


class SharedMemory(Section):
    """Which memory of the machine the tensors of a PE lie in, and the cache before it."""

    interleave: Literal["", "chiplet", "package"] = Field(
        default="",
        description="over whose HBM channels addresses go in turn, for all PEs there alike; left out, a PE "
        "has the slice of its number",
    )
    granule_bytes: PowerOfTwo = Field(
        default=4096, description="bytes in a row of one HBM controller, where there are several"
    )
    cache: MemoryCache = section("cache before the HBM controllers")


def _memory(value: object) -> object:
    """``memory: interleaved`` in short."""
    return {"interleave": "package"} if value == "interleaved" else value


class Routing(Section):
    """Choices of the routing policy."""

    connection: Literal["nearest", "first"] = Field(
        default="nearest",
        description="among equally short routes, the UCIe connection nearest the destination, or first",
    )
    answers: Literal["", "same", "own"] = Field(
        default="",
        description="answers go the same way back, or on a route of their own; left out, own where a mesh or "
        "torus of 'connect' has buffers",
    )
    spread: Literal["", "destination", "first"] = Field(
        default="", description="of equal ways of arrays, one by the destination, or the first"
    )


class TopologySpec(Section):
    """A whole machine, as one topology file describes it."""

    schema_version: Literal[1] = Field(default=1, description="version of this file format")
    name: str = Field(
        description="name of the topology", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64
    )
    system: System = section("the tray")
    sip: Sip = section("every package")
    cube: Cube = section("every cube")
    pe: Pe = section("every processing element")
    routing: Routing = section("routing policy")
    memory: Annotated[
        SharedMemory, BeforeValidator(_memory, json_schema_input_type=SharedMemory | Literal["interleaved"])
    ] = section("where tensors lie; 'interleaved' is short for {interleave: package}")
    wires: dict[str, Wire] = Field(default_factory=dict, description="classes of links, by name")
    defaults: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="keys of all parts of a kind, by kind"
    )
    blocks: dict[str, Block] = Field(default_factory=dict, description="blocks of parts, by name")
    parts: dict[str, Any] = Field(
        default_factory=dict, description="parts and blocks of the machine, by name; a tray when left out"
    )
    connect: Annotated[tuple[Connect, ...], Field(strict=False)] = Field(
        default=(), description="links among the parts"
    )
    links: dict[str, LinkPart] = Field(
        default_factory=dict,
        description="who is next on links, by kind (router_mesh), wire or link (a->b)",
    )
    energy: dict[str, KindEnergy] = Field(
        default_factory=dict, description="energy and area of parts by kind or wire, over configs/energy.yaml"
    )
    overrides: Annotated[tuple[Override, ...], Field(strict=False)] = Field(
        default=(), description="parts that are faster or slower than the rest of their kind"
    )
    faults: Annotated[tuple[Fault, ...], Field(strict=False)] = Field(
        default=(), description="links and parts that are lost, for good or for a time, or slow"
    )
    components_file: str = Field(
        default="",
        description="a file of 'impl: module:Class' lines, relative to this one; not part of the id",
        max_length=1000,
    )
    _components: dict[str, str] = PrivateAttr(default_factory=dict)
    _located: Callable[[KeyPath], str] | None = PrivateAttr(default=None)

    @property
    def components(self) -> dict[str, str]:
        """The entries of ``components_file``: ``module:Class`` by ``impl`` name."""
        return self._components

    def __eq__(self, other: object) -> bool:
        """The same content, wherever that was written."""
        return isinstance(other, TopologySpec) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(self.canonical())

    def note_components(self, entries: Mapping[str, str]) -> None:
        """Remember the entries of ``components_file``."""
        self._components = dict(entries)

    def note_source(self, located: Callable[[KeyPath], str]) -> None:
        """Remember how to name the place of a key, for errors that only the compiled machine can show."""
        self._located = located

    def located(self, path: KeyPath) -> str:
        """``file:line`` of a key; the topology's name for one made in code."""
        return self._located(path) if self._located else f"topology '{self.name}'"

    @property
    def cubes_per_sip(self) -> int:
        """Cubes of a package."""
        return self.sip.cube_mesh.w * self.sip.cube_mesh.h

    @property
    def hbm_slices(self) -> int:
        """HBM slices of a cube; one per PE unless the file says otherwise."""
        return self.cube.hbm.slices or self.cube.pes.count

    @property
    def sip_grid(self) -> tuple[int, int]:
        """(w, h) of the packages as collectives see them; a ring is (sips, 1)."""
        grid, sips = self.system.inter_sip, self.system.sips
        if grid.pattern == "ring_1d":
            return sips, 1
        if grid.w is not None and grid.h is not None:
            return grid.w, grid.h
        side = round(sips**0.5)
        return side, side

    def link_parts(self) -> dict[str, dict[str, object]]:
        """What :attr:`wires` and :attr:`links` say beyond the defaults, by kind, wire or link."""
        found: dict[str, dict[str, object]] = {}
        for where, part in [*self.wires.items(), *self.links.items()]:
            said = found.get(where, {}) | part.model_dump(
                exclude_unset=True, include=set(LinkPart.model_fields)
            )
            if "->" not in where and part.arbiter == FIFO:
                said.pop("arbiter", None)  # of a single link it may say otherwise than its kind
            if any(said.values()):
                found[where] = said
        return found

    def energy_figures(self) -> dict[str, dict[str, object]]:
        """What :attr:`energy` says, by kind; nothing of what it leaves out."""
        said = {
            kind: part.model_dump(exclude_unset=True, exclude_none=True) for kind, part in self.energy.items()
        }
        return {kind: figures for kind, figures in said.items() if figures}

    def layout(self, zone: Zone | None = None) -> CubeLayout:
        """The layout of every cube; ``zone`` in place of the file's HBM zone."""
        cube = self.cube
        own = cube.hbm.zone
        return layout(
            cube.size_mm.w,
            cube.size_mm.h,
            cube.pes.count,
            cube.pes.corners,
            cube.ucie.n_connections,
            (cube.m_cpu.position_mm.x, cube.m_cpu.position_mm.y),
            (cube.sram.position_mm.x, cube.sram.position_mm.y),
            zone or Zone(own.rows, own.cols, own.row, own.col),
        )

    def canonical(self) -> str:
        """The one text of this content: JSON with sorted keys, except the parts of a machine of any shape.

        ``components_file`` is left out: where classes are found is not part of the machine. So are ``links``
        that say nothing that is not so anyway, ``energy`` where nothing is said, DRAM where none is
        modelled, and switches that are off.
        """
        content = self.model_dump(mode="json", exclude={"components_file", "links", "energy", *SHAPE})
        if self.cube.hbm.model == "channels":
            del content["cube"]["hbm"]["model"], content["cube"]["hbm"]["dram"]
        if not self.memory.cache.capacity:
            del content["memory"]["cache"]
            if not self.memory.interleave:
                del content["memory"]
        if not self.faults:
            del content["faults"]
        for part, keys in OFF.items():
            said, plain, of_part = self.pe, _usual_pe(), content["pe"]
            if part:
                said, plain, of_part = getattr(said, part), getattr(plain, part), of_part[part]
            for key in keys:
                if getattr(said, key) == getattr(plain, key):
                    del of_part[key]
        if links := self.link_parts():
            content["links"] = links
        if energy := self.energy_figures():
            content["energy"] = energy
        content["routing"] = {key: value for key, value in content["routing"].items() if value}
        if not self.has_tray:
            for key in OF_TRAY:
                del content["system"][key]
        content = json.loads(json.dumps(content, sort_keys=True))
        shape = self.model_dump(
            mode="json", include=SHAPE, exclude_unset=True
        )  # whose order says what is first
        return json.dumps(content | {key: shape[key] for key in shape if shape[key]}, separators=(",", ":"))

    @property
    def has_tray(self) -> bool:
        """Whether the built-in tray is one of its parts."""
        blocks = [use.get("block") if isinstance(use, dict) else use for use in self.parts.values()]
        return not self.parts or "tray" in blocks


@cache
def _usual_pe() -> Pe:
    return TopologySpec.model_validate({"name": "usual"}).pe


def schema() -> dict[str, Any]:
    """The JSON Schema of a topology file. Rules between keys are not in it; ``topology check`` has them."""
    made = TopologySpec.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "KernBench topology"}
