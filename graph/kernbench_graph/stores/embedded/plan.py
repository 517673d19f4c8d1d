"""LadybugDB's plan of a query as rows, read from the boxes that the engine draws of it.

The boxes of one depth stand side by side, each above those it takes its rows from: the first of them below
it, the others further to the right. In a box are, between dashes, the operator, its arguments, and figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from kernbench_graph.query.plans import EXPLAIN, PLAN_COLUMNS, PROFILE
from kernbench_graph.store import Result

ASKING = {EXPLAIN: "EXPLAIN LOGICAL ", PROFILE: "PROFILE "}
"""The words before a query: only the logical plan has estimates."""
PROFILE_COLUMNS = (*PLAN_COLUMNS[:3], "tuples", "ms")
"""Of a query that was run: the engine's tuples, of which one may stand for several rows, and its time."""
_BOX = re.compile("┌[─┴]+┐")
_DASHES = re.compile("-+")
_FIGURE = re.compile(
    r"(Cardinality|NumOutputTuples|ExecutionTime|TotalTime|WallClockTime): (\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
)
_WHOLE = "WallClockTime"
_NUMBER = re.compile(r"\[\d+\]$")
_NAME = re.compile(r"([A-Z][\w ]*?) ?:\s*")
_PLACE = re.compile(r"(?<=\(line: 1, offset: )\d+")


class _Box(NamedTuple):
    column: int
    operator: str
    details: str
    figures: dict[str, float]


class _Node(NamedTuple):
    box: _Box
    below: list[_Node]


def plan_result(word: str, drawing: str) -> Result:
    """The plan in a drawing: :data:`PLAN_COLUMNS`, or :data:`PROFILE_COLUMNS` for ``word`` ``PROFILE``."""
    levels = [boxes for boxes in _levels(drawing) if boxes]
    columns = PROFILE_COLUMNS if word == PROFILE else PLAN_COLUMNS
    figures = ("NumOutputTuples", "ExecutionTime") if word == PROFILE else ("Cardinality",)
    above: list[_Node] = []
    roots: list[_Node] = []
    for boxes in levels:
        here = [_Node(box, []) for box in boxes]
        for node in here:
            parents = [other for other in above if other.box.column <= node.box.column]
            (parents[-1].below if parents else roots).append(node)
        above = here
    took = [root.box.figures[_WHOLE] for root in roots if _WHOLE in root.box.figures]
    if took:  # a box around those of the query
        roots = [node for root in roots for node in root.below]
    rows: list[tuple[Any, ...]] = []

    def add(node: _Node, depth: int) -> None:
        box = node.box
        rows.append((depth, box.operator, box.details, *(box.figures.get(name) for name in figures)))
        for other in node.below:
            add(other, depth + 1)

    for root in roots:
        add(root, 0)
    if not rows:
        rows = [(0, "", line, *(None for _ in figures)) for line in drawing.splitlines() if line.strip()]
    return Result(list(columns), rows, [f"the query took {ms:g} ms" for ms in took])


def without(asking: str, message: str) -> str:
    """An error's message with its place counted from the query on, before which stood ``asking``.

    >>> without("PROFILE ", "Invalid input <MATCH )> (line: 1, offset: 14)")
    'Invalid input <MATCH )> (line: 1, offset: 6)'
    """
    return _PLACE.sub(lambda place: str(max(0, int(place.group()) - len(asking))), message)


def _levels(drawing: str) -> Iterator[list[_Box]]:
    """The boxes of each depth from left to right, but for the frame around the title."""
    spans: list[tuple[int, int]] = []
    inside: list[str] = []
    for line in drawing.splitlines():
        if line.startswith(("│┌", "│└")):
            spans = []  # the title has two frames
        elif "┌" in line:
            spans, inside = [match.span() for match in _BOX.finditer(line)], []
        elif "└" in line:
            yield [_box(start, [text[start + 1 : end - 1] for text in inside]) for start, end in spans]
            spans = []
        else:
            inside.append(line)


def _box(column: int, lines: list[str]) -> _Box:
    parts: list[list[str]] = [[]]
    for line in lines:
        text = line.strip(" │")
        if _DASHES.fullmatch(text):
            parts.append([])
        elif text:
            parts[-1].append(text)
    figures: dict[str, float] = {}
    details: list[str] = []
    for text in [text for part in parts[1:] for text in part]:
        if found := _FIGURE.fullmatch(text):
            figures[found[1]] = float(found[2])
        else:
            details.append(text)
    return _Box(column, _NUMBER.sub("", " ".join(parts[0])), _joined(details), figures)


def _joined(details: list[str]) -> str:
    """Lines as one: a line without a name goes on with the values of the one above."""
    text = ""
    for line in details:
        if name := _NAME.match(line):
            if value := line[name.end() :]:
                text += f"{'; ' if text else ''}{name[1]}: {value}"
        else:
            text += f"{', ' if text else ''}{line}"
    return text
