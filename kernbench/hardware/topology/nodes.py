"""Nodes of a compiled graph, the edges that say what holds them, and the ids of what a link has."""

from __future__ import annotations

from kernbench.hardware.kinds import COMMON, COMPONENT_KINDS, component_kind
from kernbench.support.pgraph import Edge, Node, Properties, PropertyGraph

_NO_PROPERTIES: Properties = {}
TRAY = "tray"
"""Id of the group that holds the whole machine."""
HOST_CPU = "host.cpu"
"""Id of the host CPU."""

Location = tuple[int, int, int]
"""(sip, cube, pe); -1 for a level that a component is above."""
NOWHERE: Location = (-1, -1, -1)


def location(node: Node) -> Location:
    """Where a component is."""
    p = node.properties
    return int(p["sip"]), int(p["cube"]), int(p["pe"])


def link_id(source: str, target: str) -> str:
    """The id of the directed link between two components."""
    return f"{source}->{target}"


def buffer_id(link: str) -> str:
    """The id of the input buffers at the far end of a link, one for each of its virtual channels."""
    return f"{link}.buffer"


def put(graph: PropertyGraph, node: Node, parent: str | None) -> str:
    """Add ``node`` as a part of ``parent`` and return its id."""
    graph.add_node(node)
    if parent is not None:
        graph.add_edge(Edge(f"{parent}/{node.id}", parent, node.id, "CONTAINS", _NO_PROPERTIES))
    return node.id


def common(
    name: str, kind: str, impl: str, at: Location, x: float, y: float, overhead_ns: float
) -> Properties:
    """The properties that every node has."""
    return {
        "name": name,
        "kind": kind,
        "impl": impl,
        "sip": at[0],
        "cube": at[1],
        "pe": at[2],
        "x_mm": x,
        "y_mm": y,
        "overhead_ns": overhead_ns,
    }


def part_of(whole: Node, kind: str) -> Properties:
    """The common properties of a part of the wired component ``whole``: no wires, no time of its own."""
    return {key: whole.properties[key] for key in COMMON} | {"kind": kind, "impl": "", "overhead_ns": 0.0}


def add_part(graph: PropertyGraph, name: str, shared: Properties, whole: str) -> None:
    """Add a part of the wired component ``whole``; ``shared`` holds its properties other than the name."""
    put(graph, Node(name, COMPONENT_KINDS[str(shared["kind"])].labels, {**shared, "name": name}), whole)


def add_channels(graph: PropertyGraph) -> None:
    """Add the pseudo-channels and the cache of every HBM slice: parts of it, for use to be counted at.

    They are made from the properties of the slice, so overrides must have been applied before.
    """
    for slice_ in [node for node in graph.nodes() if component_kind(node).sliced]:
        p = slice_.properties
        own = part_of(slice_, "pseudo_channel")
        own |= {"slice": p["slice"], "channel": 0, "bw_gbs": p["channel_gbs"]}
        for channel in range(int(p["n_channels"])):
            own["channel"] = channel
            add_part(graph, f"{slice_.id}.pc{channel}", own, slice_.id)
        if "cache_gbs" in p:
            keys = COMPONENT_KINDS["memory_cache"].properties
            cache = part_of(slice_, "memory_cache") | {key: p[f"cache_{key}"] for key in keys}
            add_part(graph, f"{slice_.id}.cache", cache, slice_.id)
