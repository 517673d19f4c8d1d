"""Facts that the views read from a compiled graph: bundles of links, the spec's figures, short texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import fsum
from typing import Any

from kernbench.draw.machine.model import Wire
from kernbench.errors import UsageError
from kernbench.hardware.kinds import link_kind
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Edge, Node, PropertyGraph

_SHOWN_OTHERWISE = frozenset(
    {"name", "kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "row", "col", "side", "index"}
)


def bundles(graph: PropertyGraph, owner: Mapping[str, str]) -> list[Wire]:
    """Links between boxes, by ``owner`` (box of each component), in the graph's order; one for a pair.

    They are not laid out: they have no points, and the names of their links for roles.
    """
    found: dict[tuple[str, str], list[Edge]] = {}
    for component, a in owner.items():
        for edge in graph.out_edges(component, "LINK"):
            b = owner.get(edge.target)
            if b is None or b == a:
                continue
            key = (b, a) if (b, a) in found else (a, b)
            found.setdefault(key, []).append(edge)
    return [_bundle(a, b, edges, owner) for (a, b), edges in found.items()]


def _bundle(a: str, b: str, edges: list[Edge], owner: Mapping[str, str]) -> Wire:
    """Secondary kinds of links count only where there is no other."""
    forth = [edge for edge in edges if owner[edge.source] == a] or edges
    main = max(forth, key=lambda edge: not link_kind(edge).secondary)
    kind = str(main.properties["kind"])
    gbs = fsum(float(edge.properties["bw_gbs"]) for edge in forth if edge.properties["kind"] == kind)
    name = str(main.properties.get("wire", ""))
    return Wire(
        a, b, kind, name, gbs, float(main.properties["distance_mm"]), tuple(edge.id for edge in edges)
    )


def spec(graph: PropertyGraph) -> dict[str, Any]:
    """The validated topology file that the graph was compiled from."""
    content: dict[str, Any] = json.loads(str(graph.properties["spec"]))
    return content


def is_tray(graph: PropertyGraph) -> bool:
    """Whether a machine is a tray of packages as topology files without ``parts`` describe them."""
    content = spec(graph)
    return "sip" in content and not content.get("parts") and "built" not in content  # by a former version


def shown(graph: PropertyGraph, level: str, instance: str | None) -> tuple[Node, str]:
    """The SIP, cube or PE to show, and its name where it was asked for (else it stands for all).

    ``instance`` that is none of ``level``, or none of this topology, is a :class:`UsageError`.
    """
    if not is_tray(graph):
        raise UsageError(
            f"the topology '{graph.properties['name']}' is not a tray of packages; draw its view "
            "system, and a block of it with its name (--of, of=)"
        )
    first = places(graph).part(level, *(0,) * (1 + ("sip", "cube", "pe").index(level)))
    name = instance or first
    if name not in graph or graph.node(name).properties["kind"] != level:
        raise UsageError(
            f"the topology '{graph.properties['name']}' has no {level} '{name}'; "
            f"expected one such as '{first}'"
        )
    return graph.node(name), instance or ""


def inside(graph: PropertyGraph, group: Node) -> list[Node]:
    """The wired components of a SIP, cube or PE, in the graph's order."""
    levels = ("sip", "cube", "pe")
    own = {level: group.properties[level] for level in levels if group.properties[level] != -1}
    return [
        node
        for node in graph.nodes()
        if node.properties["impl"] and all(node.properties[level] == at for level, at in own.items())
    ]


def count_text(count: int, thing: str) -> str:
    """``1 cube``, ``2 cubes``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def figures(node: Node) -> str:
    """The properties of a component beyond its name and location."""
    own = ((key, value) for key, value in node.properties.items() if key not in _SHOWN_OTHERWISE)
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in own
    )
