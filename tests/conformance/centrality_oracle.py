"""What the traffic that was depends on: shares of transactions by numpy, centrality by networkx itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import networkx as nx
from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, columns, first, kinds_of


def betweenness(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    sent, via, kinds = columns(run.tables["Transaction"]), columns(run.tables["Via"]), kinds_of(topology)
    links = set(topology.tables["Link"]["name"].to_pylist())
    total = int((sent["route"] >= 0).sum())
    passed: dict[str, set[int]] = {}
    for route, place in zip(via["route"].tolist(), via["resource"], strict=True):
        if place in links and params["kind"] in ("", kinds[place]) and (sent["route"] == route).any():
            passed.setdefault(place, set()).add(route)
    rows: Rows = []
    for link, routes in passed.items():
        there = [at for at, route in enumerate(sent["route"].tolist()) if route in routes]
        moved = int(sent["bytes"][there].sum())
        rows.append((link, kinds[link], len(there) / total, len(there), moved, len(routes)))
    return first(rows, lambda row: (-row[3], -row[4], row[0]), params)


def _used(run: RunRecord, topology: TopologyRecord) -> dict[str, tuple[str, str, int]]:
    """Both ends of each link over which something went, and its bytes."""
    use = columns(run.tables["Use"])
    links = columns(topology.tables["Link"])
    ends = {name: (a, b) for name, a, b in zip(links["name"], links["src"], links["dst"], strict=True)}
    return {
        name: (*ends[name], int(use["bytes"][at]))
        for at, name in enumerate(use["resource"])
        if use["is_link"][at] and use["transactions"][at]
    }


def centrality(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    graph: nx.DiGraph[str] = nx.DiGraph()
    for a, b, size in _used(run, topology).values():
        graph.add_edge(a, b, bytes=size)
    kinds = kinds_of(topology)
    measure = nx.pagerank(graph, weight="bytes") if params["measure"] == "pagerank" else {}
    if params["measure"] == "betweenness" and graph:
        measure = nx.betweenness_centrality(graph, k=len(graph), seed=1)
    rows = [(n, kinds[n], v) for n, v in measure.items() if params["kind"] in ("", kinds[n])]
    return first(rows, lambda row: (-math.floor(row[2] * 1e9 + 0.5), row[0]), params)


def communities(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    graph: nx.Graph[str] = nx.Graph()
    used = _used(run, topology)
    graph.add_nodes_from(dict.fromkeys(end for a, b, _ in used.values() for end in (a, b)))
    joined: dict[frozenset[str], int] = {}
    for a, b, size in used.values():
        joined[frozenset((a, b))] = joined.get(frozenset((a, b)), 0) + size
    order: nx.DiGraph[str] = nx.DiGraph()
    order.add_edges_from((a, b) for a, b, _ in used.values())
    for a, b in order.edges:
        graph.add_edge(a, b, bytes=joined[frozenset((a, b))])
    found = [[name] for name in graph]
    if any(size for *_, size in used.values()):
        found = [sorted(group) for group in nx.community.louvain_communities(graph, "bytes", seed=1)]
    found.sort(key=lambda group: (-len(group), group[0]))
    of = {name: number for number, group in enumerate(found) for name in group}
    between: dict[tuple[int, int], list[int]] = {}
    for a, b, size in used.values():
        between.setdefault((of[a], of[b]), []).append(size)
    rows = [(*pair, len(sizes), sum(sizes)) for pair, sizes in between.items()]
    return first(rows, lambda row: (-row[3], *row[:2]), params)


CENTRALITY: dict[str, Oracle] = {
    "routing/betweenness": betweenness,
    "routing/centrality": centrality,
    "routing/communities": communities,
}
