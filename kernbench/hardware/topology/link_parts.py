"""What a topology file says of links beyond their figures: ``links``, by kind or link."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import LINK_KINDS
from kernbench.hardware.topology.fields import LinkPart
from kernbench.hardware.topology.marked_yaml import dotted
from kernbench.hardware.topology.nodes import add_part, buffer_id, part_of
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import Edge, PropertyGraph

_KEY = "links"
"""Property of a compiled graph: the section as JSON. A graph without it has no such section."""
Said = Mapping[str, Mapping[str, Any]]


def note(graph: PropertyGraph, spec: TopologySpec) -> None:
    """Keep the section with ``graph``. :class:`ConfigError` where it names a link that the graph lacks."""

    def wrong(where: str, key: str, message: str) -> ConfigError:
        of_wire = where in spec.wires and key in spec.wires[where].model_fields_set
        path = ("wires" if of_wire else _KEY, where, *([key] if key else []))
        return ConfigError(f"{spec.located(path)}: {dotted(path)}: {message}")

    for where in spec.links:
        if "->" in where or where in LINK_KINDS:
            continue
        wires = dict.fromkeys(str(e.properties.get("wire", "")) for e in graph.edges("LINK"))
        if where not in wires:
            hint = did_you_mean(where, [*filter(None, wires), *LINK_KINDS])
            raise wrong(where, "", f"is neither a kind of link, a wire, nor a link 'a->b', {hint}")
    said = spec.link_parts()
    for where in dict.fromkeys([*spec.links, *said]):
        own = said.get(where, {})
        source, arrow, _ = where.partition("->")
        of_kind: Mapping[str, Any] = {}
        if arrow:
            near = list(graph.out_edges(source, "LINK")) if source in graph else []
            found = next((edge for edge in near if edge.id == where), None)
            if found is None:
                ids = [edge.id for edge in near]
                hint = (
                    did_you_mean(where, ids)
                    if ids
                    else f"expected one such as '{next(graph.edges('LINK')).id}'"
                )
                raise wrong(where, "", f"unknown link, {hint}")
            of_kind = {key: value for sort in _sorts(found) for key, value in said.get(sort, {}).items()}
        _fits(where, {**of_kind, **own}, own, wrong)
    if said:
        graph.properties[_KEY] = json.dumps(said, sort_keys=True)


def _fits(
    where: str, both: Mapping[str, Any], own: Mapping[str, Any], wrong: Callable[[str, str, str], ConfigError]
) -> None:
    """That the keys of a link go together, ``both`` its own and those of its kind."""
    for key in ("vcs", "credit_ns", "allocation_ns", "dateline"):
        if own.get(key) not in (None, LinkPart.model_fields[key].default) and not both.get("buffer_flits"):
            raise wrong(where, key, "is set without buffers, expected buffer_flits beside it")
    if both.get("dateline") and both.get("vcs", 1) < 2:
        raise wrong(
            where, "dateline", "needs a virtual channel before it and one behind, expected vcs of 2 or more"
        )
    if own.get("dateline") and "->" not in where:
        raise wrong(where, "dateline", "is set for a kind of link, expected it of single links, a->b")


def _sorts(edge: Edge) -> tuple[str, ...]:
    """What is said of a link with others: by its kind, and over that by its wire."""
    kind, wire = str(edge.properties["kind"]), edge.properties.get("wire")
    return (kind, str(wire)) if wire else (kind,)


def ring_of(edge: Edge) -> str:
    """The links that have their datelines in common with ``edge``: its kind, or its wire along its axis."""
    return str(edge.properties.get("ring", edge.properties["kind"]))


def add_buffers(graph: PropertyGraph) -> None:
    """Add the input buffers of links that have any, for waits to be counted at: parts of the far end."""
    said = LinkParts(graph)
    if not said:
        return
    for edge in list(graph.edges("LINK")):
        name = buffer_id(edge.id)
        if said.part(edge).buffer_flits is not None and name not in graph:
            add_part(graph, name, part_of(graph.node(edge.target), "link_buffer"), edge.target)


class LinkParts:
    """What is said of the links of a compiled graph."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._said: Said = json.loads(str(graph.properties.get(_KEY, "{}")))
        self._made: dict[tuple[str, ...], LinkPart] = {}
        links = graph.edges("LINK") if self._said else ()
        self.datelines = {ring_of(edge) for edge in links if self.part(edge).dateline}
        """Rings of links with at least one dateline."""

    def part(self, edge: Edge) -> LinkPart:
        """What is said of a link, over what is said of its wire and its kind."""
        own, sorts, dateline = self._said.get(edge.id), _sorts(edge), "dateline" in edge.properties
        key = (*sorts, "dateline") if dateline else sorts
        if own is None and key in self._made:
            return self._made[key]
        said: dict[str, Any] = {"dateline": True} if dateline else {}
        attributes: dict[str, Any] = {}
        for one in (*(self._said.get(sort, {}) for sort in sorts), own or {}):
            attributes |= one.get("attributes", {})
            said |= one
        found = LinkPart.model_validate({**said, "attributes": attributes})
        if own is None:
            self._made[key] = found
        return found

    def with_attributes(self, edge: Edge) -> Edge:
        """The link with its own attributes, over those of its kind, among its properties."""
        own = self.part(edge).attributes
        if not own:
            return edge
        return Edge(edge.id, edge.source, edge.target, edge.type, {**edge.properties, **own})

    @property
    def most_vcs(self) -> int:
        """Virtual channels of the links that have most."""
        return max((int(one.get("vcs", 1)) for one in self._said.values()), default=1)

    def __bool__(self) -> bool:
        return bool(self._said)
