"""What a topology file says of links beyond their figures: ``links``, by kind or link."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kernbench.errors import ConfigError
from kernbench.hints import did_you_mean
from kernbench.pgraph import Edge, PropertyGraph
from kernbench.topology.fields import FIFO
from kernbench.topology.marked_yaml import dotted
from kernbench.topology.spec import TopologySpec

_KEY = "links"
"""Property of a compiled graph: the section as JSON. A graph without it has no such section."""


def note(graph: PropertyGraph, spec: TopologySpec) -> None:
    """Keep the section with ``graph``. :class:`ConfigError` where it names a link that the graph lacks."""
    said = spec.link_parts()
    for where in spec.links:
        source, arrow, _ = where.partition("->")
        if not arrow:
            continue
        near = [edge.id for edge in graph.out_edges(source, "LINK")] if source in graph else []
        if where not in near:
            hint = did_you_mean(where, near) if near else f"expected one such as '{_example(graph)}'"
            raise ConfigError(
                f"{spec.located((_KEY, where))}: {dotted((_KEY, where))}: there is no such link, {hint}"
            )
    if said:
        graph.properties[_KEY] = json.dumps(said, sort_keys=True)


def _example(graph: PropertyGraph) -> str:
    return next(graph.edges("LINK")).id


class LinkParts:
    """What is said of the links of a compiled graph."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._said: Mapping[str, Mapping[str, Any]] = json.loads(str(graph.properties.get(_KEY, "{}")))

    def arbiter(self, edge: Edge) -> str:
        """Who is next on a link."""
        for where in (edge.id, str(edge.properties["kind"])):
            if found := self._said.get(where, {}).get("arbiter"):
                return str(found)
        return FIFO

    def with_attributes(self, edge: Edge) -> Edge:
        """The link with its own attributes, over those of its kind, among its properties."""
        kind = str(edge.properties["kind"])
        own = [self._said.get(where, {}).get("attributes", {}) for where in (kind, edge.id)]
        if not any(own):
            return edge
        return Edge(edge.id, edge.source, edge.target, edge.type, {**edge.properties, **own[0], **own[1]})

    def __bool__(self) -> bool:
        return bool(self._said)
