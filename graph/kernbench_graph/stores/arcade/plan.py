"""ArcadeDB's plan of a query as rows, read from the text that the engine prints of it.

The text is the steps in the order in which they are carried out. A step is a line that begins with ``+``, and
below it, indented, what is part of it: other steps, or the branches of a UNION. The first step may be the
operators of a match, each of which takes its rows from those indented more. A line that is none of these is
added to what the line above it says, so that nothing of it is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kernbench_graph.errors import QueryError
from kernbench_graph.query.plans import PLAN_COLUMNS, PROFILE
from kernbench_graph.store import Result

Row = tuple[int, str, str, float | None]
_OPERATOR = re.compile(
    r"[A-Z]+[a-z]\w*"
    r"|PROJECT RETURN(?: DISTINCT)?|FILTER WHERE|WITH(?: DISTINCT)?|UNWIND"
    r"|[A-Z][A-Z-]+(?: [A-Z][A-Z-]+(?![\w(.]))*"
)
_ESTIMATE = re.compile(
    r"(?P<cost>cost=[^\s,\]]+), rows=(?P<rows>\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\](?=[^\]'\"]*$)"
)
_BARE_STEP = re.compile(r"[A-Z]\w*Step")
_BRANCH = re.compile(r"(Branch \d+):")
_TREES = ("Physical Plan:", "Operator Tree:")
_SAYS_NOTHING = re.compile(
    r"|-+|=+|Execution Plan:|Steps After the Optimized Match:|OpenCypher Native Execution Plan"
    r"|(Total )?Estimated (Cost|Rows): [\d.,eE+-]+"
)
"""Headings, and sums that the first operator of a match has as well."""
_INSTEAD = "Steps Run Instead of the Physical Plan Above:"
_FAILED = re.compile(r"^\s*Execution plan not available: ([^\n]+)", re.MULTILINE)
_SUPERSEDED = re.compile(r"^Using [^\n]*\(superseded by .*", re.MULTILINE | re.DOTALL)
"""Operators that would be needed if a count were not known without them."""


@dataclass
class _Step:
    text: str
    indent: int
    is_tree: bool = False
    """Whether it is an operator of a match, or a branch, and no step of a sequence."""
    parts: list[_Step] = field(default_factory=list)


def refuse_profile(word: str) -> None:
    """``QueryError`` when ``word`` asks for counts: the engine has them, but does not return them."""
    if word == PROFILE:
        raise QueryError(
            "the engine 'arcadedb' does not say what each step of a query did; write EXPLAIN for its plan, "
            "or PROFILE with --engine ladybug or on a Neo4j server"
        )


def plan_result(columns: list[str], rows: Iterable[list[Any]]) -> Result:
    """The answer to ``EXPLAIN``, which is one row, as :data:`PLAN_COLUMNS`; its notes say how it was planned.

    ``QueryError`` when the engine finds that it could not carry the query out.
    """
    answer: dict[str, Any] = next((dict(zip(columns, row, strict=True)) for row in rows), {})
    text = str(answer.get("executionPlanAsString") or "")
    if failed := _FAILED.search(text):
        raise QueryError(f"the query is not valid here: {failed[1]}")
    remarks, rows_found = plan_rows(text)
    return Result(list(PLAN_COLUMNS), rows_found, remarks)


def plan_rows(text: str) -> tuple[list[str], list[Row]]:
    """Remarks ahead of the steps in the text of a plan, and the rows of these, the last one first.

    >>> plan_rows("Using Some Planner\\n\\nExecution Plan:\\n+ MATCH NODE (t:Use)\\n+ LIMIT 3\\n")
    (['the plan: Using Some Planner'], [(0, 'LIMIT', '3', None), (1, 'MATCH NODE', '(t:Use)', None)])
    """
    ahead, steps = _steps(_SUPERSEDED.sub("", text).split("\n"))
    if not steps:
        return [], [(0, "", line, None) for line in ahead]
    return ([f"the plan: {'; '.join(ahead)}"] if ahead else []), list(_in_order(steps, 0))


def _steps(lines: list[str]) -> tuple[list[str], list[_Step]]:
    """Lines ahead of all steps, and the steps in the order of their execution, with what is part of them."""
    root = _Step("", -2)
    opened = [root]
    ahead: list[str] = []
    in_tree = False
    for line in lines:
        said = line.strip()
        indent = 2 * (len(line) - len(line.lstrip()))
        if said in _TREES or not said:
            in_tree = said in _TREES
            continue
        if said == _INSTEAD:
            root.parts.clear()
            opened[1:] = []
            continue
        if branch := _BRANCH.fullmatch(said):
            step = _Step(branch[1], indent - 1, is_tree=True)
        elif said.startswith("+ "):
            step = _Step(said[2:], indent + in_tree, is_tree=in_tree)
        elif _BARE_STEP.fullmatch(said):
            step = _Step(said.removesuffix("Step"), indent)
        else:
            if _SAYS_NOTHING.fullmatch(said):
                in_tree = False if "Cost" in said else in_tree
            elif opened[-1] is root:
                ahead.append(said)
            else:
                opened[-1].text += f" {said}"
            continue
        while opened[-1].indent >= step.indent:
            opened.pop()
        opened[-1].parts.append(step)
        opened.append(step)
    return ahead, root.parts


def _in_order(steps: list[_Step], depth: int) -> Iterator[Row]:
    """Rows of steps, each of which takes its rows from the one before it."""
    for at, step in enumerate(reversed(steps)):
        yield from _rows(step, depth + at)


def _rows(step: _Step, depth: int) -> Iterator[Row]:
    yield (depth, *_described(step))
    if all(part.is_tree for part in step.parts):
        for part in step.parts:
            yield from _rows(part, depth + 1)
    else:
        yield from _in_order(step.parts, depth + 1)


def _described(step: _Step) -> tuple[str, str, float | None]:
    """Operator, details and estimated rows; a text that begins with no operator is all details."""
    text, rows = step.text, None
    if step.is_tree and (found := _ESTIMATE.search(text)):
        rows = float(found["rows"])
        text = f"{text[: found.start()]}{found['cost']}]{text[found.end() :]}"
    if step.is_tree and _BRANCH.fullmatch(f"{text}:"):
        return text, "", rows
    operator = _OPERATOR.match(text)
    name = operator.group() if operator else ""
    return name, text[len(name) :].strip(), rows
