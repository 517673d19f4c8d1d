"""A run's timeline, as Python has it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.analysis.chosen_window import ChosenWindow
    from kernbench.api.run_trace import RunTrace
    from kernbench.report.timeline import TimeLine as Drawn


class TimeLine:
    """Launches, PEs with their engines, and links, on one axis; made by :meth:`kernbench.Run.timeline`.

    ``print`` shows it in a terminal, a notebook as a picture.
    """

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        """Its groups and rows as :mod:`kernbench.report.timeline` has them."""

    def __repr__(self) -> str:
        return f"<TimeLine of {self.drawn.title}: {self.drawn.ns:.1f} ns>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg()}</div>'

    def text(self, width: int | None = None, *, ascii_only: bool = False) -> str:
        """Lines of ``width`` characters, by default the terminal's; each shows an interval of time.

        The height of a character is the occupancy of its engine in that time.
        """
        from kernbench.report.timeline.text import text

        columns = width or shutil.get_terminal_size((110, 24)).columns
        if columns < 40:
            raise UsageError(f"a timeline needs 40 characters; {columns} are too few")
        return text(self.drawn, columns, plain=ascii_only)

    def svg(self) -> str:
        """The picture as SVG; bars show name, number, times and source line under the pointer."""
        from kernbench.report.timeline.svg import svg

        return svg(self.drawn)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``title start_ns ns left_out groups[]``; times of bars are ns since ``start_ns``.

        A group has ``place count rows[]``, a row ``place label occupancy bars[]``, and a bar
        ``begin end category name number source``.
        """
        return self.drawn.to_dict()


def timeline(
    run: RunTrace,
    chosen: ChosenWindow,
    *,
    links: bool = False,
    waits: bool = True,
    fold: bool = True,
    rows: int = 16,
) -> TimeLine:
    """See :meth:`kernbench.Run.timeline`."""
    from kernbench.report.timeline import Wanted, time_line

    if rows < 0:
        raise UsageError(f"rows={rows} cannot be shown; give a number from 1, or 0 for all")
    run._check_traced()
    window = run.window(chosen)
    window.check_time()
    return TimeLine(time_line(run.properties, run.tables, window, Wanted(links, waits, fold, rows)))
