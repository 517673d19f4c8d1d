"""Waits on every screen: the costliest places, and the longest waits of one transaction for another."""

from __future__ import annotations

from typing import Any

from kernbench.analysis.chosen_window import ChosenWindow
from kernbench.api import asking
from kernbench.api.result import Run
from kernbench.report.content import Content, Grid
from kernbench.screens.questions import columns

_PLACES = 50
_PAIRS = 200
_ALL = 1 << 40
_SAID = "Which transactions waited for which others, and where."


def of_run(run: Run, window: ChosenWindow) -> Content:
    """The answers of two questions about contention."""

    def asked(key: str, heading: str, name: str, limit: int, **few: Any) -> Grid:
        name = f"contention/{name}"
        found = asking.ask(name, run.id, run._kept_in(), {"limit": limit}, **window.given)
        return Grid(key, heading, columns(asking.question(name), found.columns), found.dicts(), **few)

    places = asked("places", "Where", "waits-by-resource", _ALL, parts=("resource",), first=_PLACES)
    pairs = asked("pairs", "Who waited for whom", "who-waited-for-whom", _PAIRS)
    return Content([places, pairs], "nothing waited for anything", said=[_SAID])
