"""The windows at which a text is anchored: of tables with a row for each window and part, it needs no others.

A run of many launches has many windows, and as many rows of :data:`BY_WINDOW` as windows times parts in use.
Such a type may stand among the names of what a graph has as it is, with all its rows, or with one window, as
``TOUCHED=all``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from kernbench_graph.query.guard import statement
from kernbench_graph.query.patterns import UnreadPatternError, chains
from kernbench_graph.schema import SCHEMA

BY_WINDOW = frozenset(rel.type for rel in SCHEMA.relationships if rel.pairs == (("Window", "Use"),))
"""Types with a relationship for each window and each part that was in use within it."""
_NAME = re.compile(r"\w+")


def anchored(cypher: str, names: frozenset[str], params: Mapping[str, Any]) -> frozenset[str]:
    """``names`` with the windows that the text asks for, where it names the window of each such step.

    >>> text = "MATCH (w:Window {name: $launch})-[d:TOUCHED]->(u:Use) RETURN sum(d.bytes) AS n"
    >>> sorted(anchored(text, frozenset({"TOUCHED", "Use"}), {"launch": "all"}))
    ['TOUCHED=all', 'Use']
    """
    wanted = names & BY_WINDOW
    if not wanted:
        return names
    found = statement(cypher)
    parts: set[str] = set()
    steps = 0
    try:
        for chain in chains(found):
            for left, step, right in zip(chain.nodes, chain.steps, chain.nodes[1:], strict=False):
                if step.types.isdisjoint(wanted) and step.types:
                    continue
                window = {">": left, "<": right}.get(step.direction)
                if window is None or not step.types <= wanted:
                    return names
                name = window.texts.get("name", params.get(window.properties.get("name", "")))
                if not isinstance(name, str):
                    return names
                steps += len(step.types)
                # Another text is the name of no window.
                parts |= {f"{type_}={name if _NAME.fullmatch(name) else ''}" for type_ in step.types}
    except UnreadPatternError:
        return names
    told = sum(text.strip("`") in wanted for kind, text, _ in found if kind in ("word", "quoted"))
    return names if told != steps else (names - wanted) | parts


def plain(names: Collection[str]) -> frozenset[str]:
    """The labels and types alone."""
    return frozenset(name.partition("=")[0] for name in names)


def windows_in(names: Collection[str], type_: str) -> frozenset[str] | None:
    """The windows whose relationships of a type are among ``names``; None for all."""
    of_windows = frozenset(name.partition("=")[2] for name in names if name.startswith(f"{type_}="))
    return None if type_ in names or not of_windows else of_windows


def covers(has: Collection[str], names: Collection[str]) -> bool:
    """Whether what has the names ``has`` has all of ``names``."""
    return all(name in has or name.partition("=")[0] in has for name in names)


def joined(*several: Collection[str]) -> frozenset[str]:
    """All names, without windows of types that are there as a whole."""
    every = frozenset().union(*several)
    return frozenset(name for name in every if "=" not in name or name.partition("=")[0] not in every)
