"""A property graph of networkx as a file that other graph tools read: GraphML, GEXF, JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import networkx as nx


def plain(graph: nx.MultiDiGraph[Any]) -> nx.MultiDiGraph[str]:
    """The graph as these formats can hold it: nodes keyed by their ``id``.

    The type of an edge is its ``relationship``: to GEXF ``type`` says whether an edge is directed.
    """
    import networkx as nx

    found: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    ids = {}
    for key, data in graph.nodes(data=True):
        own = {name: value for name, value in data.items() if name not in ("id", "labels")}
        kind = own.pop("label", None)  # to GEXF it is what is written beside a node
        ids[key] = data["id"]
        found.add_node(
            data["id"],
            labels=data["labels"],
            **own,
            **({} if kind is None else {"second_label": kind}),
        )
    for number, (source, target, data) in enumerate(graph.edges(data=True)):
        own = {name: value for name, value in data.items() if name != "type" and value is not None}
        found.add_edge(ids[source], ids[target], key=number, relationship=data["type"], **own)
    return found


def write(graph: nx.MultiDiGraph[Any], form: str, out: BinaryIO) -> None:
    """Write :func:`plain` of a graph as ``graphml``, ``gexf`` or ``json``, networkx's node-link format."""
    import networkx as nx

    found = plain(graph)
    if form == "json":
        data = nx.node_link_data(found, edges="links")
        out.write((json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n").encode())
    elif form == "graphml":
        nx.write_graphml(found, out)
    else:
        nx.write_gexf(found, out)
