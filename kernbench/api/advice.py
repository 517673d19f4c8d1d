"""Advice: what to change next in a kernel or its launch, with the evidence and what it should save.

Each piece of advice is a row of a question below ``queries/advice``. The question's text finds the pattern in
a run's graph, ``advice`` in its file says what to do, and ``saves_ns`` is time of the run's own critical path
that following it would take away: an estimate, since another path may decide once this one is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.api import asking
from kernbench.api.names import Folders
from kernbench.api.run_trace import RunTrace
from kernbench.bounds import check_number
from kernbench.pgraph import QueryError, Question
from kernbench.report.cells import number
from kernbench.shown import SHOWN

LEAST = 0.01
"""Share of the window's time below which advice is not worth giving."""


class Advice(list[dict[str, Any]]):
    """Pieces of advice; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        return SHOWN["advice"](self).html()


def advice_on(
    run: RunTrace, launch: int | str = "all", least: float = LEAST, queries: Folders = ()
) -> Advice:
    """Pieces of advice on a run, the largest saving first: see :func:`kernbench.advise`."""
    check_number("least", least, most=1.0)
    store, window = run._kept_in(), run.window(launch)
    run._check_traced()
    asked = rules(queries)
    asking.expect(asked, run.id, store)
    found = [one for rule in asked for one in _find(rule, run, launch, queries)]
    for one in found:
        one["saves_ns"] = min(one["saves_ns"], window.ns)
        one["share"] = one["saves_ns"] / window.ns if window.ns else 0.0
    worth = [one for one in found if one["share"] >= least]
    return Advice(sorted(worth, key=lambda one: (-round(one["saves_ns"], 6), one["rule"], one["advice"])))


def rules(queries: Folders = ()) -> list[Question]:
    """The questions that give advice, in order of name."""
    return [question for question in asking.library(queries).values() if question.advice]


def _find(rule: Question, run: RunTrace, launch: int | str, queries: Folders) -> Iterator[dict[str, Any]]:
    """A piece of advice for each row that a rule finds."""
    try:
        rows = asking.ask(rule.name, run.id, run._kept_in(), launch=launch, queries=queries).dicts()
    except QueryError as error:
        raise QueryError(f"rule '{rule.name}': {error}") from error
    for row in rows:
        yield {
            "rule": rule.name,
            "title": rule.title,
            "advice": sentence(rule.advice, row),
            "saves_ns": row["saves_ns"],
            "evidence": row,
        }


def sentence(template: str, row: Mapping[str, Any]) -> str:
    """The advice about one row, with its numbers rounded for people."""
    return template.format_map(
        {
            name: number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
            for name, value in row.items()
        }
    )
