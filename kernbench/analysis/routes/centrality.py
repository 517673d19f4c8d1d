"""Centrality and communities of the machine under a run's traffic, as annotations of its nodes.

The graph is that of the components between which something went, joined by the links that it went over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.annotations import annotation_tables
from kernbench.analysis.on_demand import Answers
from kernbench.analysis.run_view import RunView

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa

_PIVOTS = 200
"""Components from which shortest paths are followed: of more, as many of them, always the same."""
_SEED = 1
_DAMPING = 0.85
_SETTLED = 1e-6


def centrality(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """``betweenness``, ``pagerank`` or, without a parameter, the ``community`` of each component."""
    measure = str(params.get("measure", "community"))
    return {f"centrality {measure}": lambda: _tables(asked, measure)}


def _tables(asked: RunView, measure: str) -> dict[str, pa.Table]:
    graph = _traffic(asked)
    return annotation_tables(measure, {("Component", name): value for name, value in _values(graph, measure)})


def _values(graph: nx.DiGraph[str], measure: str) -> list[tuple[str, float]]:
    import networkx as nx

    if not graph:
        return []  # nothing went over any link
    if measure == "betweenness":
        found = nx.betweenness_centrality(graph, k=min(len(graph), _PIVOTS), seed=_SEED)
        return list(found.items())
    if measure == "pagerank":
        return _pagerank(graph)
    both: nx.Graph[str] = nx.Graph()
    both.add_nodes_from(graph)
    size: int
    for a, b, size in graph.edges(data="bytes"):
        before = both[a][b]["bytes"] if both.has_edge(a, b) else 0
        both.add_edge(a, b, bytes=before + size)
    groups = [[name] for name in both]  # where all that went has no bytes, nothing joins two
    if both.size("bytes"):
        groups = [sorted(group) for group in nx.community.louvain_communities(both, "bytes", seed=_SEED)]
    groups.sort(key=lambda group: (-len(group), group[0]))
    return [(name, float(number)) for number, group in enumerate(groups) for name in group]


def _pagerank(graph: nx.DiGraph[str]) -> list[tuple[str, float]]:
    """PageRank by the bytes of the links, until it moves by less than ``_SETTLED`` a component.

    The same numbers as ``networkx.pagerank``, which needs SciPy.
    """
    number = {name: at for at, name in enumerate(graph)}
    count = len(number)
    source = np.array([number[name] for name, _ in graph.edges])
    target = np.array([number[name] for _, name in graph.edges])
    sizes = np.array([graph.edges[link]["bytes"] for link in graph.edges])
    sent = np.bincount(source, sizes, count)
    is_last = sent == 0  # a dangling node, whose rank is shared by all
    shares = sizes / np.where(is_last, 1, sent)[source]
    rank = np.full(count, 1 / count)
    moved = np.inf
    while moved >= count * _SETTLED:
        passed_on = np.bincount(target, rank[source] * shares, count) + rank[is_last].sum() / count
        after = _DAMPING * passed_on + (1 - _DAMPING) / count
        moved, rank = np.abs(after - rank).sum(), after
    return list(zip(graph, rank.tolist(), strict=True))


def _traffic(asked: RunView) -> nx.DiGraph[str]:
    """Components joined by the links that carried something, with the ``bytes`` of these."""
    import networkx as nx

    links = {row["name"]: row for row in asked.topology_tables["Link"].to_pylist()}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for use in asked.tables["Use"].to_pylist():
        if use["is_link"] and use["transactions"]:
            link = links[use["resource"]]
            graph.add_edge(link["src"], link["dst"], bytes=use["bytes"])
    return graph
