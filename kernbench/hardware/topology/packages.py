"""Packages of a machine that are alike: which part of one is where which part of the other is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kernbench.errors import UsageError
from kernbench.hardware.topology import faults
from kernbench.support.pgraph import PropertyGraph

_OF_PLACE = frozenset({"name", "sip", "cube", "pe", "parent", "x_mm", "y_mm"})
"""Properties by which parts in two places differ even where they are alike."""


class Partners:
    """By the name of each part and link of a package that in the same place of another one, which is like it.

    Links between packages have none.

    Args:
        parts: names of all parts with their packages, -1 for what is outside of them.
        links: names of all links with both ends.
    """

    def __init__(self, parts: Iterable[tuple[str, int]], links: Iterable[tuple[str, str, str]]) -> None:
        self._parts, self._links = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
        package = {}
        for name, sip in parts:
            package[name] = sip
            self._parts[sip].append(name)
        self._ends: dict[str, tuple[str, str]] = {}
        for name, source, target in links:
            self._ends[name] = source, target
            for sip in {package[source], package[target]}:
                self._links[sip].append(name)
        self._there = {ends: name for name, ends in self._ends.items()}
        self._outside = {name: name for name in self._parts[-1]}

    def of(self, sip: int, other: int) -> dict[str, str]:
        """The partners of package ``sip`` in package ``other``.

        Raises:
            KeyError, ValueError: they are not alike.
        """
        found = dict(zip(self._parts[sip], self._parts[other], strict=True))
        ends = {**self._outside, **found}
        for name in self._links[sip]:
            source, target = self._ends[name]
            if source in ends and target in ends:
                found[name] = self._there[ends[source], ends[target]]
        return found


class Packages:
    """The packages of a compiled machine.

    Raises:
        UsageError: none is like another for all of a run.
    """

    def __init__(self, graph: PropertyGraph) -> None:
        if faults.changes(graph):
            raise UsageError("links of this machine are lost for a time")
        nodes, links = list(graph.nodes()), list(graph.edges("LINK"))
        self._partners = Partners(
            [(node.id, int(node.properties["sip"])) for node in nodes],
            [(link.id, link.source, link.target) for link in links],
        )
        self._has: dict[str, Mapping[str, Any]] = {node.id: node.properties for node in nodes}
        self._has |= {link.id: link.properties for link in links}

    def alike(self, sip: int, other: int) -> dict[str, str]:
        """The :class:`Partners` of two packages.

        Raises:
            UsageError: they are not alike; it says where.
        """
        try:
            found = self._partners.of(sip, other)
        except (KeyError, ValueError):
            raise UsageError(f"package {other} has other parts or links than package {sip}") from None
        for mine, there in found.items():
            if words := difference(mine, self._has[mine], there, self._has[there]):
                raise UsageError(words)
        return found


def difference(mine: str, a: Mapping[str, Any], there: str, b: Mapping[str, Any]) -> str:
    """In what two parts or links differ beside their places, in words; empty where they are alike."""
    for key in sorted({*a, *b} - _OF_PLACE):
        if a.get(key) != b.get(key):
            return f"'{mine}' has {key} {a.get(key)}, '{there}' has {b.get(key)}"
    return ""
