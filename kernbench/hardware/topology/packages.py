"""Packages of a machine that are alike: which part of one is where which part of the other is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kernbench.errors import UsageError
from kernbench.hardware.topology import faults
from kernbench.support.pgraph import PropertyGraph

_OF_PLACE = frozenset({"name", "sip", "cube", "pe", "parent", "x_mm", "y_mm"})
"""Properties by which parts in two places differ even where they are alike."""


def partners(
    parts: Iterable[tuple[str, int]], links: Iterable[tuple[str, str, str]], sip: int, other: int
) -> dict[str, str]:
    """By the name of each part and link of package ``sip`` that in the same place of package ``other``.

    Links between packages have none.

    Args:
        parts: names of all parts with their packages, -1 for what is outside of them.
        links: names of all links with both ends.
        sip: the one package.
        other: the other, which is like it.
    """
    of: dict[int, list[str]] = {}
    for name, package in parts:
        of.setdefault(package, []).append(name)
    found = dict(zip(of[sip], of[other], strict=True))
    ends = {**{name: name for name in of.get(-1, ())}, **found}
    there = {(source, target): name for name, source, target in links}
    for (source, target), name in there.items():
        if source in ends and target in ends and (source in found or target in found):
            found[name] = there[ends[source], ends[target]]
    return found


def alike(graph: PropertyGraph, sip: int, other: int) -> dict[str, str]:
    """The :func:`partners` of two packages of a compiled machine.

    Raises:
        UsageError: they are not alike; it says where.
    """
    if faults.changes(graph):
        raise UsageError("links of this machine are lost for a time")
    nodes, links = list(graph.nodes()), list(graph.edges("LINK"))
    try:
        found = partners(
            [(node.id, int(node.properties["sip"])) for node in nodes],
            [(link.id, link.source, link.target) for link in links],
            sip,
            other,
        )
    except (KeyError, ValueError):
        raise UsageError(f"package {other} has other parts or links than package {sip}") from None
    has: dict[str, Mapping[str, Any]] = {node.id: node.properties for node in nodes}
    has |= {link.id: link.properties for link in links}
    for mine, there in found.items():
        if words := difference(mine, has[mine], there, has[there]):
            raise UsageError(words)
    return found


def difference(mine: str, a: Mapping[str, Any], there: str, b: Mapping[str, Any]) -> str:
    """In what two parts or links differ beside their places, in words; empty where they are alike."""
    for key in sorted({*a, *b} - _OF_PLACE):
        if a.get(key) != b.get(key):
            return f"'{mine}' has {key} {a.get(key)}, '{there}' has {b.get(key)}"
    return ""
