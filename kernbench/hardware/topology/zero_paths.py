"""Paths that take no time at all, which no machine has.

A path leads from a component that sends memory traffic or commands to one that receives them, over the links
between components that forward the messages of others. It takes the links' delays and the overheads of all
components behind the first. Links within a PE are left out: what crosses them is paid at their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import ComponentKind, component_kind
from kernbench.hardware.topology.marked_yaml import Path, dotted
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.pgraph import Node, PropertyGraph


class ZeroPath(NamedTuple):
    """A path of 0 ns: the components on it, both ends included."""

    components: tuple[str, ...]

    @property
    def src(self) -> str:
        """The component that sends."""
        return self.components[0]

    @property
    def dst(self) -> str:
        """The component that receives."""
        return self.components[-1]


def refuse_zero_paths(spec: TopologySpec, graph: PropertyGraph) -> None:
    """Raise :class:`ConfigError` when a path of the machine that ``spec`` describes takes 0 ns.

    A line for each pair of kinds with such a path: an example, and the keys that would give it time.
    """
    lines = []
    for path in zero_paths(graph):
        keys = [_overhead_key(spec, graph.node(name)) for name in path.components[1:]]
        also = [dotted(key) for key in dict.fromkeys(keys)]
        location = spec.located(keys[0])
        lines.append(
            f"{location}: {also[0]}: the path from '{path.src}' to '{path.dst}' takes 0 ns, "
            f"expected more than 0 for {' or '.join(also)}, or a distance between them"
        )
    if lines:
        raise ConfigError("\n".join(lines))


def zero_paths(graph: PropertyGraph) -> list[ZeroPath]:
    """One path of 0 ns for each pair of kinds that has any, in the order of the graph's components."""
    found: dict[tuple[str, str], ZeroPath] = {}
    for node in graph.nodes():
        kind = component_kind(node)
        if kind.sends is None and not kind.commands:
            continue
        for path in _from(graph, node, kind):
            ends = kind.kind, str(graph.node(path.dst).properties["kind"])
            found.setdefault(ends, path)
    return list(found.values())


def _from(graph: PropertyGraph, start: Node, kind: ComponentKind) -> Iterator[ZeroPath]:
    """The paths of 0 ns that begin at ``start``, one for each end."""
    reached = {start.id}
    open_paths: list[tuple[str, ...]] = [(start.id,)]
    while open_paths:
        path = open_paths.pop(0)
        for link in graph.out_edges(path[-1], "LINK"):
            p = link.properties
            if p["kind"] == "pe_internal" or float(p["delay_ns"]) > 0.0 or link.target in reached:
                continue
            target = graph.node(link.target)
            if float(target.properties["overhead_ns"]) > 0.0 or target.properties.get("access_ns"):
                continue
            reached.add(target.id)
            longer = (*path, target.id)
            there = component_kind(target)
            if (kind.sends is not None and there.memory) or (kind.commands and there.commands):
                yield ZeroPath(longer)
            if there.transit or there.forwards_flits:
                open_paths.append(longer)


def _overhead_key(spec: TopologySpec, node: Node) -> Path:
    """The key of the topology file that gives a component its overhead."""
    chiplets = spec.sip.io_chiplets
    number = next((i for i, chiplet in enumerate(chiplets) if f".{chiplet.name}." in node.id), 0)
    section = component_kind(node).section
    return (*(number if key == "*" else key for key in section), "overhead_ns")
