"""Memory on every screen: what tensors moved, what PEs held in their TCM, and how rows of DRAM were found."""

from __future__ import annotations

from kernbench.analysis.chosen_window import ChosenWindow
from kernbench.api import asking
from kernbench.api.result import Run
from kernbench.report.content import Content, Grid
from kernbench.screens.questions import columns

_ASKED = (
    ("tensors", "Tensors", "kernel/tensor-traffic", ()),
    ("held", "TCM over time", "kernel/tcm-held", ()),
    ("rows", "Rows of DRAM, whole run", "memory/row-hits", ("pseudo_channel",)),
)
"""Tables with their headings and questions, and the columns that name symmetric parts."""


def of_run(run: Run, window: ChosenWindow) -> Content:
    """The answers of three questions; rows of DRAM are counted over the whole run."""
    grids = []
    for key, heading, question, parts in _ASKED:
        asked = {} if key == "rows" else window.given
        found = asking.ask(question, run.id, run._kept_in(), **asked)
        shown = columns(asking.question(question), found.columns)
        grids.append(Grid(key, heading, shown, found.dicts(), parts=parts))
    return Content(grids, "no tensor was read or written")
