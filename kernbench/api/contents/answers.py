"""Answers to questions on every screen, and the tabs that are such answers, a table each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api import asking
from kernbench.api.result import Run
from kernbench.api.summary import ALL as ALL
from kernbench.draw.content import Column, Content, Grid, column

EMPTY = "no matching rows in this run"


def columns(question: Mapping[str, Any], names: Sequence[str]) -> list[Column]:
    """The columns of these names, with what :func:`kernbench.api.asking.question` says of them."""
    known = {one["name"]: Column(one["name"], one["unit"]) for one in question["returns"]}
    return [known.get(name) or column(name) for name in names]


class TableQuestion(NamedTuple):
    """A table: its key and heading, its question, how many rows are asked for, and shown at first."""

    key: str
    heading: str
    question: str
    limit: int | None = None
    first: int | None = None


def of_questions(
    empty: str, *asked: TableQuestion, said: Sequence[str] = ()
) -> Callable[[Run, ChosenWindow], Content]:
    """The answers about a window; a question that takes none is asked of the whole run."""

    def of_run(run: Run, window: ChosenWindow) -> Content:
        return Content([_grid(one, run, window) for one in asked], empty, said=said)

    return of_run


def _grid(asked: TableQuestion, run: Run, window: ChosenWindow) -> Grid:
    question = asking.question(asked.question)
    given = window.given if any(param["name"] == "launch" for param in question["params"]) else {}
    params = {} if asked.limit is None else {"limit": asked.limit}
    found = asking.ask(question["name"], run.id, run.store, params, **given)
    shown = columns(question, found.columns)
    return Grid(asked.key, asked.heading, shown, found.dicts(), parts=question["folds"], first=asked.first)
