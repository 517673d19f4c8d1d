"""What a machine lacks, as warnings: parts that no message reaches, and PEs on which no kernel can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernbench.hardware.kinds import component_kind, link_kind
from kernbench.support.pgraph import Edge, Node, PropertyGraph

MOST = 10
"""Warnings that are given; the rest is counted."""


def unreached(graph: PropertyGraph) -> list[str]:
    """A sentence for each place where the ways of all that sends, or else those of the host, end early."""
    wired = {node.id: node for node in graph.nodes() if node.properties["impl"]}
    joined = {end for link in graph.edges("LINK") for end in (link.source, link.target)}
    kinds = {name: component_kind(node) for name, node in wired.items()}
    senders = {name for name, kind in kinds.items() if kind.sends is not None or kind.commands}
    hosts = {name for name in senders & joined if wired[name].properties["kind"] == "host_cpu"}
    said = [f"'{name}' has no wires" for name in wired if name not in joined and name not in senders]
    said += _ends(graph, wired, senders) or (_ends(graph, wired, hosts) if hosts else [])
    return said if len(said) <= MOST else [*said[:MOST], f"{len(said) - MOST} more such parts"]


def reached_by_host(graph: PropertyGraph) -> set[str]:
    """What messages of the host reach, passed on by what commands others; of a PE what is wired to others."""
    wired = {node.id: node for node in graph.nodes() if node.properties["impl"]}
    commanding = {name for name, node in wired.items() if component_kind(node).commands}
    return flood(
        graph,
        {name for name in commanding if wired[name].properties["kind"] == "host_cpu"},
        lambda link: not link_kind(link).within_pe and (link.source in commanding or passes(wired, link)),
    )


def passes(wired: Mapping[str, Node], link: Edge) -> bool:
    """Whether the source of ``link`` passes messages on to its target."""
    kind = component_kind(wired[link.source])
    return kind.transit or kind.entrance_to == wired[link.target].properties["kind"]


def flood(graph: PropertyGraph, starts: set[str], goes_on: Callable[[Edge], bool]) -> set[str]:
    """``starts``, and what is reached from them over links that ``goes_on`` lets pass."""
    found, waiting = set(starts), list(starts)
    while waiting:
        for link in graph.out_edges(waiting.pop(), "LINK"):
            if link.target not in found and goes_on(link):
                found.add(link.target)
                waiting.append(link.target)
    return found


def _ends(graph: PropertyGraph, wired: Mapping[str, Node], starts: set[str]) -> list[str]:
    """Where the ways from ``starts`` end before a memory, or a part that passes messages on."""
    found = flood(
        graph,
        starts,
        lambda link: link.source in starts or link_kind(link).within_pe or passes(wired, link),
    )
    ends: dict[str, str] = {}
    behind: dict[str, str] = {}
    for link in graph.edges("LINK"):
        kind = component_kind(wired[link.target])
        if link.target in found or not (kind.transit or kind.memory):
            continue
        behind.setdefault(link.target, f"nothing that sends reaches '{link.target}'")
        if link.source in found:
            near = (edge.target for edge in graph.out_edges(link.source, "LINK"))
            other = next((name for name in near if component_kind(wired[name]).transit), link.target)
            ends[link.source] = f"'{link.source}' passes nothing on; wire what leads to it to '{other}'"
    return list((ends or behind).values())


def lacking(graph: PropertyGraph) -> list[str]:
    """A sentence for each kind of part without which no kernel runs on some PE; empty without PEs."""
    lacks = _lacks(graph)
    return [f"no kernel can run on '{found[0].id}': {why}" for why, found in lacks.items() if found]


def lacking_pes(graph: PropertyGraph) -> set[str]:
    """The PEs on which no kernel can run."""
    return {pe.id for found in _lacks(graph).values() for pe in found}


def _lacks(graph: PropertyGraph) -> dict[str, list[Node]]:
    """The PEs that lack each kind of part without which no kernel runs."""
    of_kind: dict[str, list[Node]] = {}
    for node in graph.nodes():
        of_kind.setdefault(str(node.properties["kind"]), []).append(node)
    joined = {end for link in graph.edges("LINK") for end in (link.source, link.target)}
    hosts = of_kind.get("host_cpu", [])
    over = {"package": ("sip",), "chiplet": ("sip", "cube")}.get(str(graph.properties.get("interleave")))
    slices = {
        _at(node, *(over or ("sip", "cube", "slice")))
        for node in graph.nodes()
        if component_kind(node).sliced
    }
    packages = {_at(node, "sip") for node in of_kind.get("io_cpu", [])}
    chiplets = {_at(node, "sip", "cube") for node in of_kind.get("m_cpu", [])}
    pes = of_kind.get("pe", [])
    return {
        "its package has no io_cpu": [pe for pe in pes if _at(pe, "sip") not in packages],
        "its chiplet has no m_cpu": [pe for pe in pes if _at(pe, "sip", "cube") not in chiplets],
        "there is no hbm_ctrl for it; add one, or 'memory: interleaved' for PEs that share memory": [
            pe for pe in pes if _at(pe, *(over or ("sip", "cube", "pe"))) not in slices
        ],
        "the host CPU has no wires; join it to each package": (
            [] if any(host.id in joined for host in hosts) else pes
        ),
    }


def _at(node: Node, *levels: str) -> tuple[int, ...]:
    return tuple(int(node.properties[level]) for level in levels)
