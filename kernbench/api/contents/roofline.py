"""The roofline on every screen: how near operations, PEs and launches came to what the hardware allows."""

from __future__ import annotations

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.draw import roofs
from kernbench.draw.content import Content, Grid, columns_of

COLUMNS = columns_of("launch op name source flops level intensity ns light_ns share bound")
NOTE = (
    "light_ns is the speed-of-light (SOL) time: the least for these flops and bytes. share is light_ns / ns, "
    "the % of SOL that was reached. level needs the most time for its bytes: a memory, link (in chiplets) "
    "or package (between chiplets or packages); bound is what limits light_ns: that level or gemm."
)
EMPTY = "no operation moved or computed anything"
_BY = (("operation", "By operation", 500), ("pe", "By PE", 300), ("launch", "By launch", None))
"""Levels with their headings, and the rows of each that are shown."""
LEVELS = tuple(by for by, *_ in _BY)


def of_run(run: Run, window: ChosenWindow) -> Content:
    """Operations, PEs and launches; ``drawn`` of each has its dots."""
    launch = window.of_launches("a roofline is of")
    grids = []
    for by, heading, limit in _BY:
        rows = run.roofline(by, launch, limit)
        parts = {"operation": ("op",), "pe": ("name",)}.get(by, ())
        grids.append(Grid(by, heading, COLUMNS, rows, parts=parts, drawn=roofs.drawn(rows)))
    opens = next((grid.key for grid in grids if grid.drawn["work"]), "")
    return Content(grids, EMPTY, note=NOTE, choice="by", opens=opens)
