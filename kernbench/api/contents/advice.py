"""Advice on every screen: its columns, a summary's line, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.advice import Advice
from kernbench.api.result import Run
from kernbench.draw.cells import number
from kernbench.draw.content import SHARE, Column, Content, Grid

COLUMNS = (
    Column("saves_ns", "ns"),
    Column("share", SHARE),
    Column("rule"),
    Column("advice", prose=True),
)
"""``share`` is of the window's time, ``rule`` a question with the evidence."""
_MODEL = Column("model")
"""Before the advice of a model's run: the nodes that it is about."""
EMPTY = "no rule has anything to say"
NOTE = (
    "Savings are estimates from the critical path, and those of two pieces of advice may overlap: "
    "follow one, run again, and ask again."
)


def of_run(run: Run, window: ChosenWindow) -> Content:
    """What to do next, a row for each piece of advice."""
    launch = window.of_launches("advice is about")
    return content(run.advice("all" if launch == "run" else launch))


def of_named_run(found: Mapping[str, Any]) -> Content:
    """What :func:`kernbench.advise` has found: what it is about, then each piece."""
    shown = content(found["advice"])
    of = f"{found['bench']} on {found['topology']}, {found['window']}: {number(found['ns'])} ns"
    return replace(shown, said=[of, *shown.said])


def content(advice: Advice) -> Content:
    """Pieces of advice as a table."""
    said = [advice.said] if advice.said else []
    of_model = any(one["model"] for one in advice)
    columns = [*COLUMNS[:-1], _MODEL, COLUMNS[-1]] if of_model else COLUMNS
    return Content([Grid("advice", "Advice", columns, advice)], EMPTY, said, note=NOTE)


def one_line(advice: Sequence[Mapping[str, Any]]) -> str:
    """How many pieces there are and what the first saves, such as a summary says it."""
    if not advice:
        return "advice: none"
    return f"advice: {len(advice)}, the first saves about {share_of(advice[0])}; see 'kernbench advise'"


def share_of(one: Mapping[str, Any]) -> str:
    """What a piece saves as a share of the window's time, in whole percent."""
    return f"{one['share']:.0%}"
