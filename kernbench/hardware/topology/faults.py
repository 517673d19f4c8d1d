"""Faults of a machine: links and parts that are lost, for good or for a time, and parts that are slow.

What is lost for good is left out of the compiled machine, with all that cannot work without it
(:mod:`~kernbench.hardware.topology.harvest`). What is lost for a time is there; the machine's
routes lead around it while it is. Who has sent something before has sent it: it arrives.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.topology import overrides
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.harvest import harvested
from kernbench.hardware.topology.overrides import Speed
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import PropertyGraph

_KEY = "faults"
"""Property of a compiled graph: what is lost for a time, as JSON."""


class Fault(Section):
    """A link or part that is lost or slow."""

    link: str = Field(default="", description="a link 'a->b', which fails both ways", max_length=400)
    part: str = Field(
        default="", description="a component, kind:NAME, or a group with all in it", max_length=400
    )
    from_ns: float = Field(default=0.0, ge=0, description="ns from when on it is lost")
    to_ns: float | None = Field(default=None, gt=0, description="ns until when; for good when left out")
    speed: Speed | None = Field(default=None, description="times as fast, such as 0.5, instead of lost")


def applied(graph: PropertyGraph, faults: Iterable[Fault], located: Any) -> PropertyGraph:
    """The machine of ``graph`` with ``faults``; ``located`` says where a key stands.

    Raises:
        ConfigError: a fault that does not fit the machine.
    """
    gone: set[str] = set()
    parts: set[str] = set()
    for_a_time = []
    for number, fault in enumerate(faults):
        where = (_KEY, number)

        def wrong(message: object, where: tuple[str, int] = where) -> ConfigError:
            return ConfigError(f"{located(where)}: faults.{where[1]}: {message}")

        if bool(fault.link) == bool(fault.part):
            raise wrong("names a link and a part, or neither, expected one of link and part")
        if fault.speed is not None:
            if (fault.from_ns, fault.to_ns) != (0.0, None):
                raise wrong("has a speed for a time, expected speed without from_ns and to_ns")
            slow = overrides.Override.model_validate(
                {"where": fault.link or fault.part, "speed": fault.speed}
            )
            try:
                overrides.apply(graph, [slow], "")
            except ConfigError as error:
                raise wrong(str(error).partition("where: ")[2]) from None
            continue
        if fault.to_ns is not None and fault.to_ns <= fault.from_ns:
            raise wrong(f"ends at {fault.to_ns:g} ns, expected a time after from_ns {fault.from_ns:g}")
        try:
            lost = lost_links(graph, fault.link or fault.part, link=bool(fault.link))
        except UsageError as error:
            raise wrong(error) from None
        if fault.from_ns == 0.0 and fault.to_ns is None:
            gone |= lost
            if fault.part:
                parts |= _named(graph, fault.part)
        else:
            for_a_time.append({"links": sorted(lost), "from_ns": fault.from_ns, "to_ns": fault.to_ns})
    if for_a_time:
        graph.properties[_KEY] = json.dumps(for_a_time)
    if (host := places(graph).find("host_cpu")) in parts:
        raise ConfigError(f"{located((_KEY,))}: faults: lose '{host}', expected it kept: it launches kernels")
    return harvested(graph, gone, parts) if gone or parts else graph


def _named(graph: PropertyGraph, name: str) -> set[str]:
    """Ids of the parts that a fault means, with the group itself where it is one."""
    return {name} if name in graph else {node.id for node in overrides.meant(graph, name)[0]}


def lost_links(graph: PropertyGraph, name: str, *, link: bool) -> set[str]:
    """Ids of the links that are lost with ``name``: a ``link`` and the one back, or all of a part."""
    nodes, edges = overrides.meant(graph, name)
    if not nodes and not edges:
        raise UsageError(f"'{name}' matches nothing, {overrides.hint(graph, name)}")
    if link != bool(edges and not nodes):
        raise UsageError(
            f"'{name}' is {'not ' if link else ''}a link, expected it as {'part' if link else 'link'}"
        )
    if link:
        ends = {pair for edge in edges for pair in ((edge.source, edge.target), (edge.target, edge.source))}
        return {edge.id for edge in graph.edges("LINK") if (edge.source, edge.target) in ends}
    parts = {node.id for node in nodes}
    return {edge.id for edge in graph.edges("LINK") if edge.source in parts or edge.target in parts}


def changes(graph: PropertyGraph) -> list[tuple[float, frozenset[str]]]:
    """When what is lost changes, and the links that are lost from then on; empty where nothing is."""
    said = json.loads(str(graph.properties.get(_KEY, "[]")))
    times = sorted({one[key] for one in said for key in ("from_ns", "to_ns") if one[key] is not None})
    return [
        (
            time,
            frozenset(
                link
                for one in said
                if one["from_ns"] <= time and (one["to_ns"] is None or time < one["to_ns"])
                for link in one["links"]
            ),
        )
        for time in times
    ]
