"""A machine as a map: blocks, cubes of a package, or routers of a cube; their use and that of links."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernbench.analysis.block_use import busiest_member
from kernbench.api.open_runs import OpenRun
from kernbench.draw.machine import overlay
from kernbench.draw.machine.blocks import blocks_view
from kernbench.draw.machine.facts import is_tray
from kernbench.hardware.topology.nodes import TRAY

At = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cube or a router: its name, a short label, the utilisation of its busiest member."""

    name: str
    label: str
    share: float
    busiest: str = ""
    """The component or link that was busiest."""


@dataclass(frozen=True)
class MeshMap:
    """Cells by (row, column), and between neighbours the use of the busiest link, either direction."""

    title: str
    cells: Mapping[At, Cell]
    across: Mapping[At, float] = field(default_factory=dict)
    """Between a cell and the one to its right; absent where nothing joins them."""
    down: Mapping[At, float] = field(default_factory=dict)
    """Between a cell and the one below it."""

    @property
    def size(self) -> At:
        """Rows and columns."""
        return (
            max((row for row, _ in self.cells), default=-1) + 1,
            max((column for _, column in self.cells), default=-1) + 1,
        )


def map_of(
    opened: OpenRun, shares: Mapping[str, float], blocks: Mapping[str, tuple[float, str]], name: str
) -> MeshMap | None:
    """The map on which a component lies: its cube's routers, or its package's cubes; None for the tray.

    Of a machine of parts it has the blocks beside it, memories too, where these are not routers of a chiplet.

    ``shares`` has the utilisation of components and links, ``blocks`` that of blocks and whose it is.
    """
    table = opened.topology.tables["Component"].select(["name", "sip", "cube"]).to_pylist()
    places = {row["name"]: (row["sip"], row["cube"]) for row in table}
    sip, cube = places.get(name.partition("->")[0], (-1, -1))
    if not is_tray(opened.graph):
        mesh = [row for row in _rows(opened, sip, cube) if row["kind"] == "router"] if cube >= 0 else []
        return cube_map(opened, shares, sip, cube) if len(mesh) > 3 else block_map(opened, shares, name)
    if sip < 0:
        return None
    return cube_map(opened, shares, sip, cube) if cube >= 0 else sip_map(opened, shares, blocks, sip)


def block_map(opened: OpenRun, shares: Mapping[str, float], name: str) -> MeshMap:
    """The blocks within a block, or within the one around a part, as the picture of the machine has them."""
    block = name.partition("->")[0]
    while block and block in opened.components and opened.graph.node(block).properties["impl"]:
        block = block.rpartition(".")[0]
    view = blocks_view(opened.graph, None if block == TRAY else block or None)
    used = overlay(view, shares)
    columns, rows = (
        sorted({round(at) for at in axis}) for axis in zip(*((b.x, b.y) for b in view.boxes), strict=True)
    )
    at = {box.id: (rows.index(round(box.y)), columns.index(round(box.x))) for box in view.boxes}
    cells = {
        at[box.id]: Cell(box.id, box.lines[0], used.boxes.get(box.id, 0.0), used.busiest.get(box.id, ""))
        for box in view.boxes
    }
    ends = {wire.id: sorted((at[wire.a], at[wire.b])) for wire in view.wires}
    between = {(a, b): used.wires.get(key, 0.0) for key, (a, b) in ends.items()}
    return _join(f"{view.title}: blocks", cells, between)


def sip_map(
    opened: OpenRun, shares: Mapping[str, float], blocks: Mapping[str, tuple[float, str]], sip: int
) -> MeshMap:
    """The cubes of a package, each as busy as its busiest member."""
    rows = _rows(opened, sip)
    cubes = {row["cube"]: row for row in rows if row["kind"] == "cube"}
    if not cubes:  # its routers are its own
        return cube_map(opened, shares, sip, 0)
    between: dict[tuple[int, int], float] = {}
    for name, (here, there) in _ends(opened, rows):
        if here != there:
            pair = min(here, there), max(here, there)
            between[pair] = max(shares.get(name, 0.0), between.get(pair, 0.0))
    cells, at = {}, _grid(cubes.values())
    for _, row in sorted(cubes.items()):
        share, most = blocks.get(row["name"], (0.0, ""))
        cells[at[row["name"]]] = Cell(row["name"], row["name"].rpartition(".")[2], share, most)
    joined = {
        (at[cubes[a]["name"]], at[cubes[b]["name"]]): share
        for (a, b), share in between.items()
        if a in cubes and b in cubes
    }
    return _join(f"{_name_of(rows, 'sip')}: cubes", cells, joined)


def cube_map(opened: OpenRun, shares: Mapping[str, float], sip: int, cube: int) -> MeshMap:
    """The routers of a cube, each with the PE and memory beside it: ``pe0+`` is more than the PE."""
    rows = _rows(opened, sip, cube)
    here = {row["name"] for row in rows}
    title = _name_of(rows, "cube") or _name_of(_rows(opened, sip), "sip")
    routers = _grid([row for row in rows if row["kind"] == "router"])
    owner, labels = _owners(opened, rows, routers)
    tiles = {name: [name] for name in routers}
    between: dict[tuple[At, At], float] = {}
    for name in opened.links:
        src, _, dst = name.partition("->")
        if src not in here:
            continue
        share = shares.get(name, 0.0)
        if src in routers and dst in routers:
            a, b = sorted((routers[src], routers[dst]))
            between[a, b] = max(share, between.get((a, b), 0.0))
        elif (router := owner.get(src) or owner.get(dst)) is not None:
            tiles[router].append(name)
    for name, router in owner.items():
        tiles[router].append(name)
    cells = {}
    for name, at in routers.items():
        share, most = busiest_member(shares, tiles[name])
        shown, label = labels.get(name, (name, name.removeprefix(f"{title}.")))
        cells[at] = Cell(shown, label, share, most)
    return _join(f"{title}: routers", cells, between)


def _grid(rows: Iterable[Mapping[str, Any]]) -> dict[str, At]:
    """Where parts lie, by row and column: as their places in mm have it, else one after the other."""
    rows = list(rows)
    lines, columns = (sorted({row[axis] for row in rows}) for axis in ("y_mm", "x_mm"))
    found = {row["name"]: (lines.index(row["y_mm"]), columns.index(row["x_mm"])) for row in rows}
    if len(set(found.values())) == len(rows):
        return found
    width = math.isqrt(len(rows) - 1) + 1
    return {row["name"]: divmod(number, width) for number, row in enumerate(rows)}


def _name_of(rows: Iterable[Mapping[str, Any]], kind: str) -> str:
    """The name of the first part of a kind; empty where there is none."""
    return next((str(row["name"]) for row in rows if row["kind"] == kind), "")


def _owners(
    opened: OpenRun, rows: list[dict[str, Any]], routers: Mapping[str, At]
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """The router beside which each component lies; by router the name and label of its neighbour."""
    pes: dict[int, list[str]] = {}
    pe_of = {}
    for row in rows:
        if row["pe"] >= 0:
            pes.setdefault(row["pe"], []).append(row["name"])
            pe_of[row["name"]] = row["pe"]
    here = {row["name"]: row["kind"] for row in rows}
    owner: dict[str, str] = {}
    labels: dict[str, tuple[str, str]] = {}
    for link in opened.links:
        src, _, dst = link.partition("->")
        if src not in routers or dst not in here or dst in routers:
            continue
        pe = pe_of.get(dst)
        if here[dst].startswith("pe_") and pe is not None:
            owner |= dict.fromkeys(pes[pe], src)
            group = dst.rpartition(".")[0]
            several = labels.get(src, (group, ""))[0] != group
            labels[src] = (src, src.rpartition(".")[2]) if several else (group, f"pe{pe}+")
        elif not here[dst].startswith("ucie"):
            owner.setdefault(dst, src)
            if not here[dst].startswith("hbm"):
                labels.setdefault(src, (dst, dst.rpartition(".")[2]))
    return owner, labels


def _rows(opened: OpenRun, sip: int, cube: int | None = None) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    table = opened.topology.tables["Component"]
    inside = pc.equal(table["sip"], sip)
    if cube is not None:
        inside = pc.and_(inside, pc.equal(table["cube"], cube))
    rows: list[dict[str, Any]] = table.filter(inside).to_pylist()
    return rows


def _ends(opened: OpenRun, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Links of a package between cubes, with the cubes of their ends."""
    cube_of = {row["name"]: row["cube"] for row in rows if row["cube"] >= 0}
    for name in opened.links:
        src, _, dst = name.partition("->")
        if src in cube_of and dst in cube_of:
            yield name, (cube_of[src], cube_of[dst])


def _join(title: str, cells: Mapping[At, Cell], between: Mapping[tuple[At, At], float]) -> MeshMap:
    """The map with what joins neighbours; links to others, such as those round a torus, are not drawn."""
    across, down = {}, {}
    for (a, b), share in between.items():
        if b == (a[0], a[1] + 1):
            across[a] = share
        elif b == (a[0] + 1, a[1]):
            down[a] = share
    return MeshMap(title, cells, across, down)
