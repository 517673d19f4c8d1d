"""The tabs of a run that are described rather than drawn: one file each, and one line here.

Page, report and terminal UI draw each of :data:`SCREENS` from its :class:`~kernbench.report.content.Content`;
notebooks and commands draw the same tables. A surface may have a drawing of its own beside it, such as the
plot of a roofline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernbench.api.screens import advice, energy, roofline, waits
from kernbench.report.content import Content


@dataclass(frozen=True, slots=True)
class Screen:
    """A tab of a run.

    ``work_out`` takes a :class:`kernbench.Run` and a window as ``launch``, ``from_ns`` and ``to_ns``, as
    :meth:`kernbench.Run.window` has them; it raises ``UsageError`` for a window that the tab is not about.
    """

    key: str
    title: str
    work_out: Callable[..., Content]


SCREENS: tuple[Screen, ...] = (
    Screen("advice", "Advice", advice.of_run),
    Screen("waits", "Waits", waits.of_run),
    Screen("energy", "Energy", energy.of_run),
    Screen("roofline", "Roofline", roofline.of_run),
)
"""In the order of their tabs."""


def named() -> list[list[str]]:
    """Key and title of each, as the page lists them."""
    return [[screen.key, screen.title] for screen in SCREENS]
