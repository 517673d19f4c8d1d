"""A machine as a map: cubes of a package, or routers of a cube, and the use of each and of their links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernbench.api.open_runs import OpenRun

At = tuple[int, int]
_PART = re.compile(r"sip(\d+)(?:\.cube(\d+))?")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cube or a router: its name, a short label, the share of time for which its busiest part was busy."""

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


def map_of(opened: OpenRun, shares: Mapping[str, float], name: str) -> MeshMap | None:
    """The map on which a component lies: its cube's routers, or its package's cubes; None for the tray."""
    found = _PART.match(name)
    if found is None:
        return None
    if found[2] is not None:
        return cube_map(opened, shares, int(found[1]), int(found[2]))
    return sip_map(opened, shares, int(found[1]))


def sip_map(opened: OpenRun, shares: Mapping[str, float], sip: int) -> MeshMap:
    """The cubes of a package: each as busy as the busiest component or link within it."""
    width = int(json.loads(opened.topology.properties)["cube_mesh_w"])
    busiest: dict[int, tuple[float, str]] = {}
    between: dict[tuple[int, int], float] = {}
    for name, (here, there) in _ends(opened, sip):
        share = shares.get(name, 0.0)
        if here == there:
            if share > busiest.get(here, (0.0, ""))[0]:
                busiest[here] = share, name
        else:
            pair = min(here, there), max(here, there)
            between[pair] = max(share, between.get(pair, 0.0))
    cells = {}
    for cube in sorted(_cubes(opened, sip)):
        share, most = busiest.get(cube, (0.0, ""))
        cells[divmod(cube, width)] = Cell(f"sip{sip}.cube{cube}", f"cube{cube}", share, most)
    return _join(
        f"sip{sip}: cubes",
        cells,
        {(divmod(a, width), divmod(b, width)): share for (a, b), share in between.items()},
    )


def cube_map(opened: OpenRun, shares: Mapping[str, float], sip: int, cube: int) -> MeshMap:
    """The routers of a cube, each with the PE or memory beside it."""
    rows = _rows(opened, sip, cube)
    routers = {
        row["name"]: (int(more["row"]), int(more["col"]))
        for row in rows
        if row["kind"] == "router" and (more := json.loads(row["attributes"] or "{}"))
    }
    owner, labels = _owners(opened, rows, routers)
    busiest = {name: (shares.get(name, 0.0), name) for name in routers}
    between: dict[tuple[At, At], float] = {}
    prefix = f"sip{sip}.cube{cube}."
    for name in opened.links:
        if not name.startswith(prefix):
            continue
        share = shares.get(name, 0.0)
        src, _, dst = name.partition("->")
        if src in routers and dst in routers:
            a, b = sorted((routers[src], routers[dst]))
            between[a, b] = max(share, between.get((a, b), 0.0))
        elif (router := owner.get(src) or owner.get(dst)) is not None:
            busiest[router] = max(busiest[router], (share, name))
    for name, router in owner.items():
        busiest[router] = max(busiest[router], (shares.get(name, 0.0), name))
    cells = {}
    for name, at in routers.items():
        share, most = busiest[name]
        shown, label = labels.get(name, (name, name.removeprefix(prefix)))
        cells[at] = Cell(shown, label, share, most if share else "")
    return _join(f"sip{sip}.cube{cube}: routers", cells, between)


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
            labels[src] = group, f"pe{pe}"
        elif not here[dst].startswith("ucie"):
            owner.setdefault(dst, src)
            if not here[dst].startswith("hbm"):
                labels.setdefault(src, (dst, dst.rpartition(".")[2]))
    return owner, labels


def _rows(opened: OpenRun, sip: int, cube: int) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    table = opened.topology.tables["Component"]
    inside = pc.and_(pc.equal(table["sip"], sip), pc.equal(table["cube"], cube))
    rows: list[dict[str, Any]] = table.filter(inside).to_pylist()
    return rows


def _cubes(opened: OpenRun, sip: int) -> set[int]:
    import pyarrow.compute as pc

    table = opened.topology.tables["Component"]
    found = set(table.filter(pc.equal(table["sip"], sip))["cube"].to_pylist())
    return {cube for cube in found if cube >= 0}


def _ends(opened: OpenRun, sip: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Components and links of a package with the cubes of their ends."""
    pattern = re.compile(rf"sip{sip}\.cube(\d+)(?:\.[^>]*)?(?:->sip{sip}\.cube(\d+)\..*)?")
    for name in (*opened.components, *opened.links):
        found = pattern.fullmatch(name)
        if found is not None:
            here = int(found[1])
            yield name, (here, here if found[2] is None else int(found[2]))


def _join(title: str, cells: Mapping[At, Cell], between: Mapping[tuple[At, At], float]) -> MeshMap:
    """The map with what joins neighbours; links to others, such as those round a torus, are not drawn."""
    across, down = {}, {}
    for (a, b), share in between.items():
        if b == (a[0], a[1] + 1):
            across[a] = share
        elif b == (a[0] + 1, a[1]):
            down[a] = share
    return MeshMap(title, cells, across, down)
