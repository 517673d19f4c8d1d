"""The source of a bench on every screen: the text that its run keeps, with the time of each line.

Nothing is read from the disk: what lies there may have changed since, or be another file of that name.
"""

from __future__ import annotations

from kernbench.analysis.path.model_time import nodes_of_lines, on_lines_of
from kernbench.analysis.path.source_lines import kept_source
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.draw.content import SHARE, Column, Content, Grid
from kernbench.errors import UsageError

_COLUMNS = (
    Column("nr"),
    Column("ns", "ns"),
    Column("share", SHARE),
    Column("text"),
    Column("model", quiet=("",)),
)


def file_of(run: Run) -> str:
    """The file whose lines can be shown; empty where the run keeps none."""
    return kept_source(run.properties)[0]


def of_run(run: Run, window: ChosenWindow) -> Content:
    """Every line, with its part of a window's critical path, and what of a compiled model passes there.

    Time of a kernel that another file has is that of the line of the model, where this file has it.
    ``UsageError`` where the run keeps no source, such as one of a function that was typed in.
    """
    file, lines = kept_source(run.properties)
    if not file:
        raise UsageError(f"run '{run.id}' keeps no source; only benches in files have theirs kept")
    path = run.critical_path(window) if run.traced else None
    ns = on_lines_of(file, path, run.launches) if path is not None else {}
    model = nodes_of_lines(path, run.launches)
    whole = (path.ns if path is not None else 0.0) or 1.0
    at = {nth: ns[name] for nth in range(1, len(lines) + 1) if (name := f"{file}:{nth}") in ns}
    rows = [
        {"nr": nth, "ns": at.get(nth), "share": at[nth] / whole if nth in at else None, "text": text,
         "model": model.get(f"{file}:{nth}", "")}
        for nth, text in enumerate(lines, 1)
    ]  # fmt: skip
    return Content([Grid("source", file, _COLUMNS, rows)], "empty", title=file)
