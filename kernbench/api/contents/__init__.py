"""The tabs of a run that are described rather than drawn: an entry here each.

A tab that is more than answers of questions has a file of its own.

Page, report and terminal UI draw each of :data:`SCREENS` from its :class:`~kernbench.draw.content.Content`;
notebooks and commands draw the same tables. A surface may have a drawing of its own beside it, such as the
plot of a roofline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import advice, critical_path, energy, launches, parts, roofline
from kernbench.api.contents.answers import ALL, TableQuestion, of_questions
from kernbench.api.result import Run
from kernbench.draw.content import Content
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean


@dataclass(frozen=True, slots=True)
class Screen:
    """A tab of a run.

    ``work_out`` raises ``UsageError`` for a window that the tab is not about.
    """

    key: str
    title: str
    work_out: Callable[[Run, ChosenWindow], Content]
    short: str = ""
    """Its title where there is little room; the same by default."""
    at_a_glance: bool = False
    """Whether its tables are part of the overview, which surfaces have that show several tables at once."""
    needs_trace: bool = True
    """Whether it says nothing of a run without a trace, whose overview goes without it."""


SCREENS: tuple[Screen, ...] = (
    Screen("launches", "Launches", launches.of_run, at_a_glance=True, needs_trace=False),
    Screen("time", "Time", critical_path.time_of_run, at_a_glance=True),
    Screen("path", "Critical path", critical_path.of_run, short="Path"),
    Screen("parts", "Parts", parts.of_run, at_a_glance=True, needs_trace=False),
    Screen(
        "waits",
        "Waits",
        of_questions(
            "nothing waited for anything",
            TableQuestion("places", "Where", "contention/waits-by-resource", ALL, first=50),
            TableQuestion("pairs", "Who waited for whom", "contention/who-waited-for-whom", 200),
            said=["Which transactions waited for which others, and where."],
        ),
    ),
    Screen(
        "memory",
        "Memory",
        of_questions(
            "no tensor was read or written",
            TableQuestion("tensors", "Tensors", "kernel/tensor-traffic"),
            TableQuestion("held", "TCM over time", "kernel/tcm-held"),
            TableQuestion("rows", "Rows of DRAM, whole run", "memory/row-hits"),
            TableQuestion("cache", "Cache before memory, whole run", "memory/cache-use"),
        ),
    ),
    Screen("advice", "Advice", advice.of_run),
    Screen("energy", "Energy", energy.of_run),
    Screen("roofline", "Roofline", roofline.of_run, short="Roof"),
)
"""In the order of their tabs."""


def named() -> list[list[str]]:
    """Key and title of each that is not part of the overview, as the page lists them."""
    return [[screen.key, screen.title] for screen in SCREENS if not screen.at_a_glance]


def views() -> list[list[str]]:
    """Name in addresses and title of each view of the page, in order. Most are drawn as described here."""
    own = [[name, name.capitalize()] for name in ("overview", "topology", "timeline")]
    more = [[name, name.capitalize()] for name in ("questions", "cypher", "compare", "runs", "source")]
    return [*own, *named(), *more]


def tab(run: Run, key: str, window: ChosenWindow) -> Content:
    """What the tab called ``key`` shows of a run. ``UsageError``: there is none, or not of that window."""
    tabs = {screen.key: screen for screen in SCREENS}
    if key not in tabs:
        raise UsageError(f"there is no tab '{key}'; {did_you_mean(key, tabs)}")
    return tabs[key].work_out(run, window)
