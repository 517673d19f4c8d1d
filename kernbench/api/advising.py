"""Advice: what to change next in a kernel or its launch, with the evidence and what it should save.

Each piece of advice is a row of a question below ``queries/advice``. The question's text finds the pattern in
a run's graph, ``advice`` in its file says what to do, and ``saves_ns`` is time of the run's own critical path
that following it would take away: an estimate, since another path may decide once this one is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.api.asking import ask, expect, library
from kernbench.api.names import Folders
from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, open_run
from kernbench.bounds import check_number
from kernbench.errors import UsageError
from kernbench.pgraph import QueryError, Question
from kernbench.report.cells import number

LEAST = 0.01
"""Share of the window's time below which advice is not worth giving."""


class Advice(list[dict[str, Any]]):
    """Pieces of advice; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        from kernbench.api.screens.advice import content

        return content(self).html()


def advise(
    run: str | Run = "last",
    store: Store = None,
    *,
    launch: int | str = "all",
    least: float = LEAST,
    queries: Folders = (),
) -> dict[str, Any]:
    """What to do next about a run: the rules that found something, the largest saving first.

    Args:
        run: A run, or a reference to one, such as ``last~1``.
        store: Where the run is kept, for a reference.
        launch: Number of a launch, or ``all``.
        least: Share of the window's time, 0 to 1, that advice has to save to be given.
        queries: Folders with questions of your own; those with ``advice`` are rules too.

    Returns:
        ``run_id bench topology launch window ns advice``; each of ``advice`` has ``rule title advice saves_ns
        share evidence``: the question, what it asks, what to do, ns and share of the window's time that doing
        it should save, and the row that the rule found.

    Raises:
        UsageError: There is no such run or launch, or the run has no trace.
    """
    check_number("least", least, most=1.0)
    given = run._kept_in() if isinstance(run, Run) else store
    with borrowed(given) as kept_in:
        kept = run if isinstance(run, Run) else open_run(run, kept_in)
        window = kept.window(launch)
        kept._check_traced()
        asked = rules(queries)
        expect(asked, kept.id, kept_in)
        found = [one for rule in asked for one in _find(rule, kept, kept_in, launch, queries)]
    for one in found:
        one["saves_ns"] = min(one["saves_ns"], window.ns)
        one["share"] = one["saves_ns"] / window.ns if window.ns else 0.0
    worth = [one for one in found if one["share"] >= least]
    return {
        "run_id": kept.id,
        "bench": kept.bench,
        "topology": kept.topology,
        "launch": window.launch,
        "window": window.name,
        "ns": window.ns,
        "advice": Advice(
            sorted(worth, key=lambda one: (-round(one["saves_ns"], 6), one["rule"], one["advice"]))
        ),
    }


def advise_window(
    run: Run, launch: int | str | None = "all", from_ns: float | None = None, to_ns: float | None = None
) -> Advice:
    """The advice about a window that a screen shows; the whole run is that of its launches.

    ``UsageError``: the window is not one of whole launches.
    """
    if from_ns is not None or to_ns is not None or launch == "setup":
        raise UsageError("advice is about whole launches; choose all of them, or one")
    return run.advice("all" if launch in (None, "run") else launch)


def rules(queries: Folders = ()) -> list[Question]:
    """The questions that give advice, in order of name."""
    return [question for question in library(queries).values() if question.advice]


def _find(
    rule: Question, kept: Run, store: Store, launch: int | str, queries: Folders
) -> Iterator[dict[str, Any]]:
    """A piece of advice for each row that a rule finds."""
    try:
        rows = ask(rule.name, kept.id, store, launch=launch, queries=queries).dicts()
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
