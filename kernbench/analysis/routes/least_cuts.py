"""Cuts of least bandwidth: between two parts of the machine, and into two halves of it.

The bandwidth of a cut is that of the links that lead from its first side to the second, whatever they carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.routes.traffic import cut_tables, disjoint
from kernbench.analysis.run_view import RunView
from kernbench.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_TRIED = 200_000
"""Ways to halve a machine up to which all are tried."""
_MOST_CUTS = 70
"""Ways to halve a machine up to which the least cut of each is found, where it has many other components."""
_LEVELS = (("sip", ("sip",)), ("cube", ("sip", "cube")), ("pe", ("sip", "cube", "pe")))
_OTHERS = "source"
"""What is halved where a machine has no PEs."""
_S, _T = "the first side", "the second side"
Links = Sequence[Mapping[str, Any]]
"""Rows of the table of links."""
Wires = Mapping[tuple[str, str], float]
"""GB/s from one node to another."""


def minimum_cut(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The links of least bandwidth without which nothing gets from ``src`` to ``dst``, if ``lost`` fails.

    Raises:
        UsageError: One part lies within the other, or no path leads from the first to the second.
        RoutingError: The machine has nothing of the name that is lost.
    """
    src, dst, lost = (str(params[name]) for name in ("src", "dst", "lost"))
    but = f" without '{lost}'" if lost else ""
    name = f"minimum cut from {src} to {dst}{but}"

    def tables() -> dict[str, pa.Table]:
        first, second = disjoint(asked.topology_tables, src, dst)
        links = _links(asked, lost)
        gbs, side = _least(_contracted(links, {**dict.fromkeys(first, _S), **dict.fromkeys(second, _T)}))
        if not gbs:
            raise UsageError(f"no path leads from '{src}' to '{dst}'{but}; name two parts that are connected")
        return _tables(links, name, "minimum", (src, dst, lost), side | first, src, exact=True)

    return {name: tables}


def bisection(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The links of least bandwidth between two halves of the machine.

    Halves are of whole packages where there are several, else of whole chiplets, else of PEs; all other
    components, such as switches, are on the side that is best. All halves are tried where there are few; else
    those by number, such as every other block of eight, and by position.

    Raises:
        UsageError: The machine has one PE alone, or nothing leads from one half to the other.
    """
    name = "bisection"

    def tables() -> dict[str, pa.Table]:
        groups, places = _groups(asked)
        if len(groups) < 2:
            raise UsageError("the machine has one PE, which cannot be halved; see a minimum cut of two parts")
        of = {part: group for group, parts in groups.items() for part in parts}
        links = _links(asked)
        wires = _contracted(links, of)
        side, exact = _all_halves([*groups], wires), True
        if side is None:
            exact = comb(len(groups), len(groups) // 2) <= _MOST_CUTS
            every = map(set, combinations(groups, len(groups) // 2))
            halves = [*every] if exact else _halves([*groups], places)
            found = [(*_least(_joined(wires, half, {*groups} - half)), half) for half in halves]
            _, others, half = min(found, key=lambda one: round(one[0], 6))
            side = half | others
        whole = {part for part in _names(asked) if of.get(part, part) in side}
        first = ", ".join(group for group in groups if group in side)
        if not _across(wires, side):
            raise UsageError(f"no link leads from one half of the machine, {first}, to the other")
        return _tables(links, name, "bisection", ("", "", ""), whole, first, exact=exact)

    return {name: tables}


def _tables(
    links: Links, name: str, kind: str, of: tuple[str, str, str], side: set[str], first: str, *, exact: bool
) -> dict[str, pa.Table]:
    crossed = [one for one in links if one["src"] in side and one["dst"] not in side]
    about = {"src": of[0], "dst": of[1], "lost": of[2], "straight": False, "first": first, "exact": exact}
    gbs = float(sum(one["bw_gbs"] for one in crossed))
    return cut_tables(
        {"name": name, "kind": kind, "gbs": gbs, **about}, [(one["name"], False) for one in crossed]
    )


def _links(asked: RunView, lost: str = "") -> Links:
    """The links of the machine, but for those that fail with ``lost``."""
    gone = asked.topology.without(lost).gone if lost else ()
    return [one for one in asked.topology_tables["Link"].to_pylist() if one["name"] not in gone]


def _names(asked: RunView) -> list[str]:
    names: list[str] = asked.topology_tables["Component"]["name"].to_pylist()
    return names


def _groups(asked: RunView) -> tuple[dict[str, set[str]], dict[str, tuple[float, float]]]:
    """What is halved, by name, with all that is in each; and the position of each."""
    rows = asked.topology_tables["Component"].to_pylist()
    ends = [row for row in rows if row["pe"] >= 0 and row["kind"] == "pe"] or [
        row for row in rows if row["kind"] == _OTHERS
    ]
    for level, keys in _LEVELS:  # noqa: B007
        if len(found := {tuple(row[key] for key in keys) for row in ends}) > 1:
            break
    else:
        found, level, keys = {(row["name"],) for row in ends}, "name", ("name",)
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        if (key := tuple(row[one] for one in keys)) in found:
            groups.setdefault(key, []).append(row)
    heads = {
        key: next((row for row in some if row["kind"] == level), some[0]) for key, some in groups.items()
    }
    return (
        {heads[key]["name"]: {row["name"] for row in groups[key]} for key in sorted(groups)},
        {row["name"]: (row["x_mm"], row["y_mm"]) for row in heads.values()},
    )


def _contracted(links: Links, of: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """The links between components, those of one group taken as one node."""
    wires: dict[tuple[str, str], float] = {}
    for link in links:
        ends = of.get(link["src"], link["src"]), of.get(link["dst"], link["dst"])
        if ends[0] != ends[1]:
            wires[ends] = wires.get(ends, 0.0) + link["bw_gbs"]
    return wires


def _joined(wires: Wires, first: set[str], second: set[str]) -> dict[tuple[str, str], float]:
    """The same with each half as one node."""
    of = {**dict.fromkeys(first, _S), **dict.fromkeys(second, _T)}
    joined: dict[tuple[str, str], float] = {}
    for (a, b), gbs in wires.items():
        ends = of.get(a, a), of.get(b, b)
        if ends[0] != ends[1]:
            joined[ends] = joined.get(ends, 0.0) + gbs
    return joined


def _least(wires: Wires) -> tuple[float, set[str]]:
    """The bandwidth of the least cut between both sides, and the other nodes that are on the first."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from((_S, _T))
    graph.add_weighted_edges_from(((*ends, gbs) for ends, gbs in wires.items()), weight="capacity")
    gbs, (side, _) = nx.minimum_cut(graph, _S, _T, flow_func=nx.algorithms.flow.dinitz)
    return float(gbs), {*side} - {_S}


def _across(wires: Wires, side: set[str]) -> float:
    return sum(gbs for (a, b), gbs in wires.items() if a in side and b not in side)


def _all_halves(groups: Sequence[str], wires: Wires) -> set[str] | None:
    """The side of the least cut among all halves of ``groups``, with other nodes on either; None if many."""
    others = sorted({end for ends in wires for end in ends} - {*groups})
    count, half = len(groups), len(groups) // 2
    nodes = {name: at for at, name in enumerate((*groups, *others))}
    chosen = list(combinations(range(count), half)) if count <= 18 else []
    if not chosen or len(chosen) << len(others) > _MOST_TRIED:
        return None
    sides = np.zeros((len(chosen), count), np.float64)
    sides[np.arange(len(chosen))[:, None], np.array(chosen)] = 1.0
    matrix = np.zeros((len(nodes), len(nodes)))
    for (a, b), gbs in wires.items():
        matrix[nodes[a], nodes[b]] = gbs
    best: tuple[float, Any] = (np.inf, None)
    for bits in range(1 << len(others)):
        where = np.array([bits >> n & 1 for n in range(len(others))], np.float64)
        each = np.hstack([sides, np.tile(where, (len(chosen), 1))])
        across = ((each @ matrix) * (1.0 - each)).sum(axis=1).round(6)
        at = int(across.argmin())
        if across[at] < best[0]:
            best = float(across[at]), each[at]
    return {name for name, at in nodes.items() if best[1][at]}


def _halves(groups: Sequence[str], places: Mapping[str, tuple[float, float]]) -> list[set[str]]:
    """Halves of many groups: blocks by number, as a row-major grid is cut along an axis, and by position."""

    def found() -> Iterator[set[str]]:
        count = len(groups)
        for block in range(1, count // 2 + 1):
            if count % (2 * block) == 0:
                yield {name for at, name in enumerate(groups) if at // block % 2 == 0}
        yield {*groups[: count // 2]}
        for axis in (0, 1):
            yield {*sorted(groups, key=lambda name: (places[name][axis], groups.index(name)))[: count // 2]}

    return list({frozenset(half): half for half in found()}.values())
