"""Advice: what to change next in a kernel or its launch, with the evidence and what it should save.

Each piece of advice is a row of a question below ``queries/advice``. The question's text finds the pattern in
a run's graph, ``advice`` in its file says what to do, and ``saves_ns`` is time of the run's own critical path
that following it would take away: an estimate, since another path may decide once this one is shorter.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernbench.analysis.path.model_time import carried_out, nodes_of_lines
from kernbench.api import asking
from kernbench.api.names import Folders
from kernbench.api.run_trace import RunTrace
from kernbench.api.shown import Shows
from kernbench.draw.cells import number
from kernbench.support.bounds import check_number
from kernbench.support.pgraph import QueryError

if TYPE_CHECKING:
    from kernbench.support.pgraph import Question

LEAST = 0.01
"""Share of the window's time below which advice is not worth giving."""


COVERED = 0.5
"""Share of the window's time that rules speak of below which it is said what they leave."""


class Advice(Shows, list[dict[str, Any]]):
    """Pieces of advice; a notebook shows them as a table."""

    shown_by = "advice:content"

    uncovered: dict[str, Any] | None = None
    """What rules leave, where that is most of the critical path: ``share`` is of it, at least, what no rule
    speaks of. ``cause`` and ``location`` are those of the longest part, with its ``ns``; None otherwise."""

    @property
    def said(self) -> str:
        """:attr:`uncovered` in words, or empty."""
        left = self.uncovered
        if left is None:
            return ""
        longest = f"{left['cause']} at {left['location']}, {left['longest_share']:.0%}"
        return (
            f"{left['share']:.0%} of the critical path is covered by no rule; its longest part is {longest}"
        )


def advice_on(
    run: RunTrace, launch: int | str = "all", least: float = LEAST, queries: Folders = ()
) -> Advice:
    """Pieces of advice on a run, the largest saving first: see :func:`kernbench.advise`."""
    check_number("least", least, most=1.0)
    store, window = run.store, run.window(launch)
    run.check_traced()
    asked = rules(queries)
    asking.expect(asked, run.id, store)
    found = [one for rule in asked for one in _find(rule, run, launch, queries)]
    for one in found:
        one["saves_ns"] = min(one["saves_ns"], window.ns)
        one["share"] = one["saves_ns"] / window.ns if window.ns else 0.0
    worth = [one for one in found if one["share"] >= least]
    lines = nodes_of_lines(run.critical_path(launch), run.launches) if run.of_model else {}
    for one in worth:
        number, line = (one["evidence"].get(name) for name in ("launch", "line"))
        one["model"] = lines.get(line, "") if number is None else carried_out(run.launches[number])
    told = Advice(sorted(worth, key=lambda one: (-round(one["saves_ns"], 6), one["rule"], one["advice"])))
    covered_ns = math.fsum(one["evidence"].get("path_ns", one["saves_ns"]) for one in found)
    if covered_ns < COVERED * window.ns:
        told.uncovered = _left(run, launch, 1.0 - covered_ns / window.ns)
    return told


def _left(run: RunTrace, launch: int | str, share: float) -> dict[str, Any]:
    """What :attr:`Advice.uncovered` says of a path of which rules leave ``share``."""
    path, parts = run.critical_path(launch), defaultdict(list)
    for step in path.steps:
        parts[step.cause, step.location].append(step.ns)
    total = {part: math.fsum(ns) for part, ns in parts.items()}
    cause, location = min(total, key=lambda part: (-round(total[part], 6), part))
    ns = total[cause, location]
    return {"share": share, "cause": cause, "location": location, "ns": ns, "longest_share": ns / path.ns}


def rules(queries: Folders = ()) -> list[Question]:
    """The questions that give advice, in order of name."""
    return [question for question in asking.library(queries).values() if question.advice]


def _find(rule: Question, run: RunTrace, launch: int | str, queries: Folders) -> Iterator[dict[str, Any]]:
    """A piece of advice for each row that a rule finds."""
    try:
        rows = asking.ask(rule.name, run.id, run.store, launch=launch, queries=queries).dicts()
    except QueryError as error:
        raise QueryError(f"rule '{rule.name}': {error}") from error
    for row in rows:
        yield {
            "rule": rule.name,
            "title": rule.title,
            "advice": sentence(rule.advice_in.get(row.get("language", ""), rule.advice), row),
            "saves_ns": row["saves_ns"],
            "evidence": row,
        }


def sentence(template: str, row: Mapping[str, Any]) -> str:
    """The advice about one row, with its numbers rounded for people."""

    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return ", ".join(map(str, value))
        return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    return template.format_map({name: shown(value) for name, value in row.items()})
