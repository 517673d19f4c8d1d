"""Parts of a machine that are faster or slower than their kind: ``overrides`` of a topology file.

A factor is a speed. Rates of a matched part (bandwidths, clocks, multiply-accumulates per ns) are multiplied
by it and its own times (overheads, penalties, a wire's delay) are divided by it, so that whatever time is
spent at the part alone is divided by it. Nothing else changes: sizes, locations, lengths that are drawn, and
the weights of routes, so that every transfer takes the same route as before. ``.width`` behind a place means
the bandwidth of its links alone, ``.delay`` their delay; without, both change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple

from pydantic import Field, PrivateAttr

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.kinds import ComponentKind, LinkKind, component_kind, link_kind
from kernbench.hardware.topology.fields import Section
from kernbench.support.hints import closest, did_you_mean
from kernbench.support.pgraph import Edge, Node, Properties, PropertyGraph

WIRE = "wire:"
"""Prefix of a ``where`` that names a wire of the file: all of its links."""
KIND = "kind:"
"""Prefix of a ``where`` that names a kind instead of one part."""
AND = " + "
"""Between places of a ``where`` that names several."""
ASPECTS = ("width", "delay")
"""What of links a place may end in, behind a dot: their rates, or their times."""
_LARGEST = 1e36
"""Products of speeds are kept where no figure overflows or becomes 0."""


FREE = 1e12
"""The speed of what is free: a millisecond there becomes a millionth of a nanosecond."""

Speed = Annotated[float, Field(ge=1 / FREE, le=FREE)]


class Speeds(NamedTuple):
    """How many times as fast a part's rates and its own times are."""

    rates: float = 1.0
    times: float = 1.0


class Override(Section):
    """Something that is faster or slower than the rest of its kind, or costs next to nothing."""

    where: str = Field(
        description="a component, a link 'a->b', kind:NAME, wire:NAME, a group such as sip0.cube3 with all "
        "in it, or several of these with ' + ' between them; with .width or .delay behind, that of its links",
        min_length=1,
        max_length=400,
    )
    speed: Speed | None = Field(default=None, description="times as fast; below 1 it is slower")
    free: bool = Field(default=False, description="true: so fast (1e12) that its time does not count")
    _written_at: str = PrivateAttr(default="")

    @property
    def factor(self) -> float:
        """How many times as fast."""
        return FREE if self.speed is None else self.speed

    @property
    def written_at(self) -> str:
        """``file:line`` where it stands; empty for one made in code. No part of the content."""
        return self._written_at

    def note_location(self, location: str) -> None:
        """Remember ``file:line``, for errors that only the compiled machine can show."""
        self._written_at = location

    def __eq__(self, other: object) -> bool:
        """The same part at the same speed, wherever that was written."""
        return isinstance(other, Override) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash((self.where, self.speed, self.free))


def apply(graph: PropertyGraph, overrides: Iterable[Override], topology: str) -> None:
    """Change ``graph`` in place. :class:`ConfigError` for an override that does not fit it.

    ``topology`` is what errors call an override that is from no file.
    """
    factors: dict[str, Speeds] = {}
    for number, override in enumerate(overrides):
        at = override.written_at or f"topology '{topology}'"
        try:
            multiply(factors, graph, override.where, override.factor)
        except UsageError as wrong:
            raise ConfigError(f"{at}: overrides.{number}.where: {wrong}") from None
    for node in [node for node in graph.nodes() if node.id in factors]:
        parts = [graph.node(edge.target) for edge in graph.out_edges(node.id, "CONTAINS")]
        for one in (node, *parts):
            one.properties = faster(one.properties, component_kind(one), factors[node.id])
    if not factors:
        return
    # Links of one sort share their properties; those that change alike share the changed ones.
    changed: dict[tuple[int, Speeds], tuple[Properties, Properties]] = {}
    for edge in graph.edges("LINK"):
        if (factor := factors.get(edge.id)) is not None:
            key = (id(edge.properties), factor)
            if key not in changed:
                changed[key] = edge.properties, faster(edge.properties, link_kind(edge), factor)
            edge.properties = changed[key][1]


def multiply(factors: dict[str, Speeds], graph: PropertyGraph, where: str, factor: float) -> None:
    """Make what ``where`` means faster by ``factor``, on top of what ``factors`` say of it already."""
    for part, aspect in _asked(graph, where):
        rates, times = factors.get(part, Speeds())
        product = Speeds(
            rates if aspect == "delay" else rates * factor, times if aspect == "width" else times * factor
        )
        for speed in product:
            if not 1 / _LARGEST <= speed <= _LARGEST:
                raise UsageError(
                    f"the speeds of '{part}' multiply to {speed:g}, expected {1 / _LARGEST:g} to {_LARGEST:g}"
                )
        factors[part] = product


def faster(properties: Properties, kind: ComponentKind | LinkKind, speeds: Speeds) -> Properties:
    """A copy of the ``properties`` of a component or link of ``kind`` at other ``speeds``."""
    changed = dict(properties)
    # Some are there with a certain model alone.
    for key in kind.rates:
        if key in properties:
            changed[key] = float(properties[key]) * speeds.rates
    for key in kind.times:
        if key in properties:
            changed[key] = float(properties[key]) / speeds.times
    return changed


def matching(graph: PropertyGraph, where: str) -> list[str]:
    """Ids of the components and links that ``where`` means.

    A component or link by id; ``kind:NAME``, all of a kind of either; ``wire:NAME``, its links; a group
    (``tray``, a package, a cube, a PE): the components in it and the links with both ends in it; of either
    the links alone with ``.width`` or ``.delay`` behind it; or several of these, with ``+`` between them.
    :class:`UsageError` when one means nothing, or only things that take no time, which no speed can change.
    """
    return [part for part, _ in _asked(graph, where)]


def of_links(graph: PropertyGraph, where: str) -> str:
    """What ``where`` asks of links: ``width``, ``delay``, ``width and delay``; empty where it means none."""
    asked = {aspect for part, aspect in _asked(graph, where) if part not in graph}
    return " and ".join(one for one in ASPECTS if asked & {one, ""})


def _asked(graph: PropertyGraph, where: str) -> Iterable[tuple[str, str]]:
    """Each part that ``where`` means, with what is asked of it: an aspect, or all."""
    found: dict[tuple[str, str], None] = {}
    for one in where.split(AND):
        place, dot, aspect = one.strip().rpartition(".")
        if dot and aspect in ASPECTS and not any(meant(graph, one.strip())):
            found |= dict.fromkeys((link, aspect) for link in _links_with(graph, place, aspect))
        else:
            found |= dict.fromkeys((part, "") for part in _matching(graph, one.strip()))
    return found


def _links_with(graph: PropertyGraph, place: str, aspect: str) -> list[str]:
    """The links that ``place`` means; :class:`UsageError` if none of them has that aspect."""
    _matching(graph, place)
    links = meant(graph, place)[1]
    if not links:
        raise UsageError(f"'{place}' has no {aspect}: it means no links; leave out '.{aspect}'")
    if aspect == "delay" and not any(link.properties[key] for link in links for key in link_kind(link).times):
        raise UsageError(f"the delay of '{place}' is 0 ns on this machine, expected links with a delay")
    return [link.id for link in links]


def _matching(graph: PropertyGraph, where: str) -> list[str]:
    nodes, links = meant(graph, where)
    if not nodes and not links:
        raise UsageError(f"'{where}' matches nothing, {hint(graph, where)}")
    if not links and not any(_takes_time(node) for node in nodes):
        raise UsageError(f"'{where}' takes no time on this machine, expected a part with something to scale")
    return [*(node.id for node in nodes), *(link.id for link in links)]


def meant(graph: PropertyGraph, where: str) -> tuple[list[Node], list[Edge]]:
    """The components and the links that one place of a ``where`` means."""
    if where.startswith(KIND):
        kind = where.removeprefix(KIND)
        return (
            [node for node in _components(graph) if node.properties["kind"] == kind],
            [link for link in graph.edges("LINK") if link.properties["kind"] == kind],
        )
    if where.startswith(WIRE):
        wire = where.removeprefix(WIRE)
        return [], [link for link in graph.edges("LINK") if link.properties.get("wire") == wire]
    if "->" in where:
        source = where.partition("->")[0]
        known = graph.out_edges(source, "LINK") if source in graph else ()
        return [], [link for link in known if link.id == where]
    if where in graph and graph.node(where).properties["impl"]:
        return [graph.node(where)], []
    within = set(inside(graph, where)) if where in graph else _of_block(graph, where)
    return (
        [node for node in _components(graph) if node.id in within],
        [link for link in graph.edges("LINK") if link.source in within and link.target in within],
    )


def _components(graph: PropertyGraph) -> Iterator[Node]:
    return (node for node in graph.nodes() if node.properties["impl"])


def inside(graph: PropertyGraph, group: str) -> Iterator[str]:
    """Everything in a group, by id."""
    for edge in graph.out_edges(group, "CONTAINS"):
        yield edge.target
        yield from inside(graph, edge.target)


def _of_block(graph: PropertyGraph, block: str) -> set[str]:
    """The parts of a block without a level of its own, which their names alone tell."""
    return {node.id for node in graph.nodes() if node.id.startswith(f"{block}.")}


def _takes_time(node: Node) -> bool:
    kind = component_kind(node)
    return any(node.properties.get(key) for key in (*kind.rates, *kind.times))


def hint(graph: PropertyGraph, where: str) -> str:
    """What a ``where`` that means nothing may have been meant to be."""
    if where.startswith(KIND):
        nodes = {str(node.properties["kind"]) for node in _components(graph)}
        links = {str(link.properties["kind"]) for link in graph.edges("LINK")}
        return did_you_mean(where, [KIND + kind for kind in sorted(nodes | links)])
    if where.startswith(WIRE):
        wires = {str(link.properties["wire"]) for link in graph.edges("LINK") if link.properties.get("wire")}
        names = [WIRE + wire for wire in sorted(wires)]
        return did_you_mean(where, names) if names else "expected a kind: this machine names no wires"
    source = where.partition("->")[0]
    known = [link.id for link in graph.out_edges(source, "LINK")] if source in graph else []
    if not known:
        known = [node.id for node in graph.nodes()]
    if close := closest(where if source in graph else source, known):
        return f"did you mean '{close}'?"
    component = next((node for node in _components(graph) if _takes_time(node)), None)
    link = next(iter(graph.edges("LINK")), None)
    groups = (node.id for node in graph.nodes() if not node.properties["impl"])
    group = next((one for one in groups if any(graph.out_edges(one, "CONTAINS"))), None)
    examples = [("a component", component and component.id), ("a link", link and link.id), ("a group", group)]
    kind = f"{KIND}{component.properties['kind'] if component else 'router_mesh'}"
    said = ", ".join(f"{what} such as '{name}'" for what, name in (*examples, ("a kind", kind)) if name)
    return f"expected {said}"
