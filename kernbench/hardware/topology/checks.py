"""Constraints between fields of a topology, beyond what each field checks by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from kernbench.hardware.kinds import COMMON, COMPONENT_KINDS, LINK_KINDS, LINK_PROPERTIES
from kernbench.hardware.topology.cube_spec import HbmZone
from kernbench.hardware.topology.dram import table as dram_table
from kernbench.hardware.topology.energy import wrong as energy_problems
from kernbench.hardware.topology.fields import Part
from kernbench.hardware.topology.marked_yaml import Path
from kernbench.hardware.topology.mesh import Zone, deal, min_height_mm
from kernbench.hardware.topology.pe_spec import ARRAYS, MAX_TCM_BYTES, USUAL_PASSES
from kernbench.hardware.topology.problems import Problem
from kernbench.hardware.topology.spec import (
    MAX_CUBES,
    MAX_IO_CHIPLETS_PER_SIDE,
    OF_TRAY,
    IoChiplet,
    TopologySpec,
)
from kernbench.operations import ANY, REDUCTIONS
from kernbench.support.hints import did_you_mean

IOS: Path = ("sip", "io_chiplets")


def problems(spec: TopologySpec, fields: bool = True) -> list[Problem]:
    """Everything that does not fit together, in the order of the file's sections.

    ``fields``: its memories have to fit the fields of an address.
    """
    return [
        *_inter_sip(spec),
        *_cube_mesh(spec),
        *_io_chiplets(spec),
        *_cube(spec),
        *_hbm(spec),
        *_tcm(spec, fields and not spec.parts),
        *_gemm(spec),
        *_math(spec),
        *_clock(spec),
        *_attributes(spec),
        *_links(spec),
        *_energy(spec),
        *_overrides(spec),
        *_parts(spec),
    ]


def side_cubes(spec: TopologySpec, side: str) -> tuple[int, ...]:
    """Ids of the cubes along a side of the package, west to east or north to south."""
    w, h = spec.sip.cube_mesh.w, spec.sip.cube_mesh.h
    if side in "NS":
        y = 0 if side == "N" else h - 1
        return tuple(y * w + x for x in range(w))
    x = 0 if side == "W" else w - 1
    return tuple(y * w + x for y in range(h))


class PhyPort(NamedTuple):
    """The port of a cube that a PHY serves, and the mm between them."""

    cube: int
    side: str
    distance_mm: float


def phy_ports(spec: TopologySpec, io: IoChiplet) -> list[PhyPort]:
    """The cubes that the PHYs of an IO chiplet serve, in the order of their names."""
    mm = io.io_ucie.link_mm
    if io.ports is not None:
        return [
            PhyPort(p.cube, p.side or io.side, mm if p.distance_mm is None else p.distance_mm)
            for p in io.ports
        ]
    return [PhyPort(cube, io.side, mm) for cube in io.cubes or side_cubes(spec, io.side)]


def _inter_sip(spec: TopologySpec) -> Iterator[Problem]:
    grid, sips = spec.system.inter_sip, spec.system.sips
    path: Path = ("system", "inter_sip")
    also: tuple[Path, ...] = (("system", "sips"), (*path, "w"), (*path, "h"))
    if grid.pattern == "ring_1d":
        if grid.w is not None or grid.h is not None:
            key = "w" if grid.w is not None else "h"
            yield Problem(
                (*path, key), "is set for a ring_1d, expected no w and h", (*also, (*path, "pattern"))
            )
    elif (grid.w is None) != (grid.h is None):
        given, missing = ("w", "h") if grid.h is None else ("h", "w")
        yield Problem((*path, given), f"is set without {missing}, expected both or neither", also)
    elif grid.w is not None and grid.h is not None:
        if grid.w * grid.h != sips:
            message = (
                f"{grid.w} x {grid.h} is {grid.w * grid.h} packages, expected w * h = system.sips = {sips}"
            )
            yield Problem((*path, "w"), message, also)
    elif round(sips**0.5) ** 2 != sips:
        message = f"{grid.pattern} of {sips} packages is not a square, expected w and h with w * h = {sips}"
        yield Problem((*path, "pattern"), message, also)


def _cube_mesh(spec: TopologySpec) -> Iterator[Problem]:
    mesh, path = spec.sip.cube_mesh, ("sip", "cube_mesh")
    if spec.cubes_per_sip > MAX_CUBES:
        message = f"{mesh.w} x {mesh.h} is {spec.cubes_per_sip} cubes, expected at most {MAX_CUBES}"
        yield Problem((*path, "w"), message + " (4 bits of an address)", ((*path, "h"),))


def _io_chiplets(spec: TopologySpec) -> Iterator[Problem]:
    names: set[str] = set()
    taken: dict[tuple[int, str], str] = {}
    on_side: Counter[str] = Counter()
    for i, io in enumerate(spec.sip.io_chiplets):
        path: Path = (*IOS, i)
        if io.name in names:
            yield Problem((*path, "name"), f"'{io.name}' is taken, expected another name for each IO chiplet")
        elif re.match(r"cube\d", io.name):
            yield Problem((*path, "name"), f"'{io.name}' looks like a cube, expected another name")
        names.add(io.name)
        on_side[io.side] += 1
        if on_side[io.side] == MAX_IO_CHIPLETS_PER_SIDE + 1:
            also: tuple[Path, ...] = ((*path, "name"),)
            message = f"'{io.name}' is the third IO chiplet on side {io.side}, expected at most two on a side"
            yield Problem((*path, "side"), message, also)
        for key in ("cubes", "ports"):
            if getattr(io, key) == ():
                yield Problem((*path, key), "is an empty list, expected at least one cube")
        if io.cubes is not None and io.ports is not None:
            yield Problem((*path, "ports"), "is set beside cubes, expected one of the two")
        else:
            yield from _phys(spec, io, path, taken)


def _phys(
    spec: TopologySpec, io: IoChiplet, path: Path, taken: dict[tuple[int, str], str]
) -> Iterator[Problem]:
    size: tuple[Path, ...] = (("sip", "cube_mesh", "w"), ("sip", "cube_mesh", "h"))
    for k, (cube, side, _) in enumerate(phy_ports(spec, io)):
        key: Path = (*path, "side")
        if io.cubes is not None or io.ports is not None:
            key = (*path, "cubes" if io.cubes is not None else "ports", k)
        along = side_cubes(spec, side)
        if cube >= spec.cubes_per_sip:
            yield Problem(key, f"cube {cube} does not exist, expected 0..{spec.cubes_per_sip - 1}", size)
        elif cube not in along:
            listed = ", ".join(str(c) for c in along)
            yield Problem(key, f"cube {cube} is not on side {side}, expected one of {listed}", size)
        elif (cube, side) in taken:
            by = taken[cube, side]
            yield Problem(
                key, f"port {side} of cube {cube} is taken by '{by}', expected one IO chiplet a port"
            )
        else:
            taken[cube, side] = io.name


def _cube(spec: TopologySpec) -> Iterator[Problem]:
    cube, size = spec.cube, spec.cube.size_mm
    corners = cube.pes.corners
    if len(set(corners)) < len(corners):
        yield Problem(("cube", "pes", "corners"), "names a corner twice, expected each corner once")
        return
    least = min_height_mm(deal(cube.pes.count, corners), cube.ucie.n_connections)
    if size.h <= least:
        message = f"is {size.h:g} mm, expected more than {least:g} mm for the rows of this mesh"
        also: tuple[Path, ...] = (("cube", "size_mm"), ("cube", "ucie", "n_connections"), ("cube", "pes"))
        yield Problem(("cube", "size_mm", "h"), message, also)
    else:
        yield from _zone(spec)
    for key, point in (("m_cpu", cube.m_cpu.position_mm), ("sram", cube.sram.position_mm)):
        for axis, value, limit in (("x", point.x, size.w), ("y", point.y, size.h)):
            if value > limit:
                message = f"is {value:g} mm, outside the cube, expected at most {limit:g} mm"
                yield Problem(("cube", key, "position_mm", axis), message, (("cube", "size_mm"),))


def _zone(spec: TopologySpec) -> Iterator[Problem]:
    """The mesh must stay connected around the HBM zone, and every PE have its router."""
    zone, path = spec.cube.hbm.zone, ("cube", "hbm", "zone")
    if zone == HbmZone():
        return
    mesh = spec.layout(Zone(rows=0, cols=0))
    n_rows, n_cols = len(mesh.rows_mm), len(mesh.cols_mm)
    for first, count, lines, number in (
        ("row", "rows", zone.rows, n_rows),
        ("col", "cols", zone.cols, n_cols),
    ):
        start = getattr(zone, first)
        start = (number - lines) // 2 if start is None else start
        if lines and (start < 1 or start + lines > number - 1):
            message = (
                f"puts the zone on {count} {start} to {start + lines - 1} of {number}, "
                f"expected it within {count} 1 to {number - 2}"
            )
            key = count if getattr(zone, first) is None else first
            yield Problem((*path, key), message, ((*path, first), (*path, count)))
            return
    held = set(Zone(zone.rows, zone.cols, zone.row, zone.col).cells(n_rows, n_cols))
    for pe, cell in enumerate(mesh.pe_cells):
        if cell in held:
            message = f"takes the router of PE {pe} in row {cell[0]}, column {cell[1]}, expected it elsewhere"
            yield Problem(path, message)
            return


def _hbm(spec: TopologySpec) -> Iterator[Problem]:
    hbm, slices, pes = spec.cube.hbm, spec.hbm_slices, spec.cube.pes.count
    path: Path = ("cube", "hbm")
    also: tuple[Path, ...] = ((*path, "slices"), ("cube", "pes", "count"))
    if slices != pes:
        message = f"is {slices}, expected {pes}: one slice for each PE of a cube, at its router"
        yield Problem((*path, "slices"), message, also)
        return
    channels, rest = divmod(hbm.pseudo_channels, slices)
    if rest:
        message = f"is {hbm.pseudo_channels}, expected a multiple of the {slices} slices"
        yield Problem((*path, "pseudo_channels"), message, also)
    elif channels & (channels - 1):
        message = (
            f"is {hbm.pseudo_channels}, {channels} channels for each of {slices} slices,"
            " expected a power of two per slice"
        )
        yield Problem((*path, "pseudo_channels"), message, also)
    model = spec.system.address_model
    if hbm.model == "dram":
        yield from _dram(spec)
    if hbm.mapping == "one_to_one" and model != "la":
        message = f"is one_to_one with address_model {model}, expected n_to_one, or system.address_model: la"
        yield Problem((*path, "mapping"), message, (("system", "address_model"),))
    page = max(spec.pe.pe_mmu.page_bytes, spec.system.flit_bytes)
    if hbm.capacity_bytes % (slices * page):
        message = f"is {hbm.capacity_bytes} bytes, expected a multiple of {slices} slices x {page} bytes"
        yield Problem((*path, "capacity_bytes"), message, (*also, ("pe", "pe_mmu", "page_bytes")))


def _dram(spec: TopologySpec) -> Iterator[Problem]:
    """What does not go with banks and rows."""
    hbm, path = spec.cube.hbm, ("cube", "hbm")
    also: tuple[Path, ...] = ((*path, "model"),)
    if hbm.mapping == "one_to_one":
        message = "is one_to_one with cube.hbm.model: dram, expected n_to_one, or model: channels"
        yield Problem((*path, "mapping"), message, also)
    if hbm.switch_penalty_ns:
        message = f"is {hbm.switch_penalty_ns:g} with model dram, expected 0: the timing has tWTR and tRTW"
        yield Problem((*path, "switch_penalty_ns"), message, also)
    burst = dram_table(hbm.dram.timing).burst_bytes
    if spec.system.flit_bytes < burst:
        message = f"is {spec.system.flit_bytes}, expected at least the {burst} bytes of a DRAM burst"
        yield Problem(("system", "flit_bytes"), message, (*also, (*path, "dram", "timing")))
    if hbm.dram.drain_low >= hbm.dram.drain_high:
        message = f"is {hbm.dram.drain_low:g}, expected less than drain_high = {hbm.dram.drain_high:g}"
        yield Problem((*path, "dram", "drain_low"), message, ((*path, "dram", "drain_high"),))


def _tcm(spec: TopologySpec, fields: bool) -> Iterator[Problem]:
    tcm, path = spec.pe.pe_tcm, ("pe", "pe_tcm")
    if fields and tcm.size_bytes > MAX_TCM_BYTES:
        message = f"is {tcm.size_bytes}, expected at most {MAX_TCM_BYTES}"
        yield Problem((*path, "size_bytes"), message)
    used = tcm.scheduler_reserved_bytes + tcm.scratch_bytes
    if used > tcm.size_bytes:
        message = (
            f"is {tcm.scratch_bytes} bytes, with scheduler_reserved_bytes {used} in all,"
            f" expected at most size_bytes = {tcm.size_bytes}"
        )
        yield Problem(
            (*path, "scratch_bytes"), message, ((*path, "scheduler_reserved_bytes"), (*path, "size_bytes"))
        )


def _gemm(spec: TopologySpec) -> Iterator[Problem]:
    """A tile is made of whole folds of a systolic array; small blocks have a rate, not above the others'."""
    gemm, path = spec.pe.pe_gemm, ("pe", "pe_gemm")
    small = gemm.smallest
    if gemm.dataflow == "tile":
        if small.macs > gemm.rate:
            message = f"is {small.macs:g}, expected at most macs_per_cycle = {gemm.rate:g}"
            yield Problem((*path, "smallest", "macs"), message, ((*path, "macs_per_cycle"),))
        held = gemm.subblock
        if held.tiles and not held.cycles and not gemm.operand_bytes_per_cycle:
            message = "is set without cycles or operand_bytes_per_cycle, expected one of these beside it"
            yield Problem((*path, "subblock", "tiles"), message)
        return
    for key, said in (
        ("fixed_cycles", gemm.fixed_cycles),
        ("smallest", small.m),
        ("macs_per_cycle", gemm.rates),
        ("phases", gemm.phases),
        ("operand_bytes_per_cycle", gemm.operand_bytes_per_cycle),
        ("subblock", gemm.subblock.tiles),
    ):
        if said:
            message = f"is set with dataflow {gemm.dataflow}, expected it left out: a block takes its folds"
            yield Problem((*path, key), message, ((*path, "dataflow"),))
    way = ARRAYS[gemm.dataflow]
    for side, along in ((way.rows, "rows"), (way.cols, "cols")):
        key, size = "mkn"[side], getattr(gemm, along)
        if (tile := getattr(gemm.tile, key)) % size:
            message = f"is {tile}, expected a multiple of {along} = {size} (dataflow {gemm.dataflow})"
            yield Problem((*path, "tile", key), message, ((*path, along), (*path, "dataflow")))


def _clock(spec: TopologySpec) -> Iterator[Problem]:
    """One clock says how far it falls, and is not said twice; what says how loads are issued has a cost."""
    clock, path, issue = spec.pe.clock, ("pe", "clock"), spec.pe.pe_dma.issue
    if clock.loaded_ghz > clock.ghz:
        message = f"is {clock.loaded_ghz:g}, expected at most ghz = {clock.ghz:g}"
        yield Problem((*path, "loaded_ghz"), message, ((*path, "ghz"),))
    for part in ("pe_cpu", "pe_gemm", "pe_math"):
        own = getattr(spec.pe, part).clock_ghz
        if clock.ghz and own not in (1.0, clock.ghz):
            message = f"is {own:g} beside pe.clock.ghz = {clock.ghz:g}, expected one of the two"
            yield Problem(("pe", part, "clock_ghz"), message, ((*path, "ghz"),))
    if issue.slot and not (issue.load_cycles or issue.bytes_per_cycle):
        message = "is set without load_cycles or bytes_per_cycle, expected one of these beside it"
        yield Problem(("pe", "pe_dma", "issue", "slot"), message)


def _math(spec: TopologySpec) -> Iterator[Problem]:
    """Nothing is said twice of an operation."""
    math, path = spec.pe.pe_math, ("pe", "pe_math")
    if ANY in math.cycles and math.latency_cycles:
        message = f"is {math.latency_cycles:g} beside cycles of '{ANY}', expected one of the two"
        yield Problem((*path, "latency_cycles"), message, ((*path, "cycles"),))
    for name in math.cycles:
        if math.passes.get(name, 1) != USUAL_PASSES.get(name, 1):
            message = f"names {name!r}, as passes does, expected it in one of the two"
            yield Problem((*path, "cycles"), message, ((*path, "passes"),))
        if name in REDUCTIONS and (math.reduce.across or math.reduce.within):
            message = f"names the reduction {name!r} beside reduce, expected one of the two"
            yield Problem((*path, "cycles"), message, ((*path, "reduce"),))


def _attributes(spec: TopologySpec) -> Iterator[Problem]:
    for path, kind, part in parts(spec):
        for name in part.attributes:
            if name in (*COMMON, *COMPONENT_KINDS[kind].properties):
                message = "is a property that the compiler sets, expected another name"
                yield Problem((*path, "attributes", name), message)


def _links(spec: TopologySpec) -> Iterator[Problem]:
    """That a link exists is seen when the machine is compiled."""
    for where, part in spec.links.items():
        if not spec.parts and "->" not in where and where not in LINK_KINDS:
            hint = did_you_mean(where, LINK_KINDS)
            yield Problem(("links", where), f"is neither a kind of link nor a link 'a->b', {hint}")
        for name in part.attributes:
            if name in LINK_PROPERTIES:
                message = "is a property that the compiler sets, expected another name"
                yield Problem(("links", where, "attributes", name), message)


def _energy(spec: TopologySpec) -> Iterator[Problem]:
    for path, message in energy_problems(spec.energy_figures(), spec.wires):
        yield Problem(("energy", *path), message)


def _overrides(spec: TopologySpec) -> Iterator[Problem]:
    """``where`` itself is resolved when the machine is compiled."""
    for i, override in enumerate(spec.overrides):
        if (override.speed is not None) == override.free:
            given = "both speed and free" if override.free else "neither speed nor free"
            message = f"has {given}, expected one of 'speed: 2.0' and 'free: true'"
            yield Problem(("overrides", i), message)


def _parts(spec: TopologySpec) -> Iterator[Problem]:
    """What belongs to the parts of a machine needs them, and the other way round."""
    memory = spec.memory
    if not memory.interleave and memory.granule_bytes != type(memory).model_fields["granule_bytes"].default:
        yield Problem(("memory", "granule_bytes"), "is set without interleave, expected it beside this key")
    cache = memory.cache
    for key in type(cache).model_fields:
        if not cache.capacity and getattr(cache, key) != type(cache).model_fields[key].default:
            yield Problem(("memory", "cache", key), "is set without capacity, expected it beside this key")
    if cache.capacity and not cache.gbs:
        yield Problem(("memory", "cache"), "gbs is missing, expected GB/s above 0")
    for key in ("wires", "defaults", "blocks", "connect"):
        if getattr(spec, key) and not spec.parts:
            yield Problem((key,), "is set without parts, expected parts beside it")
    for key in OF_TRAY:
        if not spec.has_tray and key in spec.system.model_fields_set:
            yield Problem(
                ("system", key), "says something of a tray, expected it as the parts of this machine"
            )


def parts(spec: TopologySpec) -> Iterator[tuple[Path, str, Part]]:
    """Every section of the file that describes a kind of component: (key path, kind, section)."""
    for kind in COMPONENT_KINDS.values():
        if kind.section:
            for path, section in _sections(spec, (), kind.section):
                yield path, kind.kind, section


def _sections(here: Any, path: Path, keys: tuple[str, ...]) -> Iterator[tuple[Path, Any]]:
    """The sections that ``keys`` lead to, each with its path; ``*`` leads to every item of a list."""
    if not keys:
        yield path, here
    elif keys[0] == "*":
        for i, item in enumerate(here):
            yield from _sections(item, (*path, i), keys[1:])
    else:
        yield from _sections(getattr(here, keys[0]), (*path, keys[0]), keys[1:])
