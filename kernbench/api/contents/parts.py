"""Parts of the machine on every screen: those that were busiest, and those that others waited for longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.api.summary import ALL, busiest, most_waited_for
from kernbench.draw.content import Content, Grid, columns_of

COLUMNS = columns_of("resource kind utilisation occupancy wait_ns busy_ns bytes transactions max_queue")
NOTE = (
    "Links, engines, memories and routers together. Utilisation is the share of what a part could have done, "
    "occupancy the share of the time for which something was there, and wait_ns what transactions and "
    "operations waited for the part; without a trace both are not known."
)
_FIRST = 20


def of_run(run: Run, window: ChosenWindow) -> Content:
    """Every part that was used, the busiest first."""
    return Content([grid(busiest(run.known_use(window), ALL))], "nothing was used")


def longest(run: Run, window: ChosenWindow) -> Grid:
    """The same parts, those first that were waited for longest."""
    rows = most_waited_for(run.known_use(window), ALL)
    none = "waits are not known without a trace" if rows is None else "nothing was waited for"
    return Grid("waited", "Waited for longest", COLUMNS, rows or [], none,
                parts=("resource",), first=_FIRST)  # fmt: skip


def grid(rows: Sequence[Mapping[str, Any]], what: str = "parts") -> Grid:
    """Parts as :func:`kernbench.api.summary.busiest` lists them."""
    return Grid("busiest", f"Busiest {what}", COLUMNS, rows, "nothing was used", NOTE,
                parts=("resource",), first=_FIRST)  # fmt: skip
