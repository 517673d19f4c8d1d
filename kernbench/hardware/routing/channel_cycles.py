"""Routes that can deadlock where buffers are finite: cycles of channels that wait for each other.

A message holds a channel until its last flit is on the next one. Where the routes of a machine make a cycle
of such dependencies, messages can fill all buffers of it and wait for each other for ever; without one they
cannot (Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", 1987).
"""

from __future__ import annotations

import networkx as nx

from kernbench.errors import ConfigError
from kernbench.hardware.routing.router import Router
from kernbench.hardware.routing.waits import Parts, Waits
from kernbench.hardware.topology.link_parts import LinkParts, ring_of
from kernbench.support.pgraph import Edge, PropertyGraph


def refuse_cycles(graph: PropertyGraph) -> None:
    """:class:`ConfigError` where the routes of a machine can deadlock, or a dateline is not needed."""
    said = LinkParts(graph)
    if not said:
        return
    parts = {edge.id: (said.part(edge), ring_of(edge)) for edge in graph.edges("LINK")}
    of_pattern = {edge.id for edge in graph.edges("LINK") if "dateline" in edge.properties}
    limited = {name for name, (part, _) in parts.items() if part.buffer_flits is not None}
    if not limited:
        return
    waits = Waits(Router(graph), graph, parts, limited)
    plain = waits.links()
    try:
        cycle = nx.find_cycle(waits.channels())
    except nx.NetworkXNoCycle:
        pass
    else:
        shown = " -> ".join(begin[0] for begin, _ in cycle)
        remedy = _remedy(graph, parts, plain, [name for (name, _), _ in cycle])
        if wire := next((one for (name, _), _ in cycle if (one := _closing(said, graph.edge(name)))), ""):
            remedy = f"give wire '{wire}' vcs of 2 or more, half of them for messages that have gone around"
        elif any(part.dateline for part, _ in parts.values()):
            remedy = (
                "datelines hold for all links of their kind, so give each direction of a torus a kind of "
                "link of its own; answers go the way back; or leave out their buffer_flits"
            )
        if graph.properties.get("answers") != "own" and "spec" in graph.properties:
            own = Waits(Router(graph, own_back=True), graph, parts, limited)
            if nx.is_directed_acyclic_graph(own.channels()):
                remedy = "set routing.answers to own, as answers that go the way back break dimension order"
        raise ConfigError(
            f"topology '{graph.properties['name']}': its routes can deadlock, as buffers are finite and "
            f"{len(cycle)} links wait for each other in a cycle: {shown} -> {cycle[0][0][0]}; {remedy}"
        )
    inside = {link for group in nx.strongly_connected_components(plain) if len(group) > 1 for link in group}
    for name, (part, _) in parts.items():
        if part.dateline and name not in inside and name not in of_pattern:
            raise ConfigError(
                f"topology '{graph.properties['name']}': links.{name}.dateline: no cycle of routes leads "
                "over this link; leave it out"
            )


def _closing(said: LinkParts, link: Edge) -> str:
    """The wire of a link of a ring that has one channel; else empty."""
    return str(link.properties["wire"]) if "way" in link.properties and said.part(link).vcs == 1 else ""


def _remedy(graph: PropertyGraph, parts: Parts, plain: nx.DiGraph[str], cycle: list[str]) -> str:
    """What ends the cycles of a machine without datelines: one of them, if any link lies on all cycles."""
    for link in cycle:
        if nx.is_directed_acyclic_graph(plain.subgraph(plain.nodes - {link})):
            return f"give them vcs of 2 or more and make {link} a dateline, or leave out their buffer_flits"
    kinds = {edge.id: str(edge.properties["kind"]) for edge in graph.edges("LINK")}
    alone: dict[str, nx.DiGraph[str]] = {kind: nx.DiGraph() for kind in sorted(set(kinds.values()))}
    for before, after in Waits(Router(graph), graph, parts, set(parts)).links().edges:
        if kinds[before] == kinds[after]:
            alone[kinds[before]].add_edge(before, after)
    safe = [kind for kind, found in alone.items() if nx.is_directed_acyclic_graph(found)]
    return (
        "no single dateline ends all of its cycles: a torus needs one for each ring, and a kind of link for "
        f"each direction; elsewhere leave out the buffer_flits of {kinds[cycle[0]]}; each of these kinds can "
        f"have buffers by itself: {', '.join(safe)}"
    )
