"""How one run is shown, by ``run`` and by ``show``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli.output import print_content, print_csv, print_json, say
from kernbench.cli.source_links import link_lines

if TYPE_CHECKING:
    from kernbench.api.result import Run

_ADVISED = 20_000
"""Hops of a run up to which its summary tells people of advice: that takes about a second."""


def print_run(fmt: str, run: Run, details: bool = False, window: ChosenWindow | None = None) -> None:
    """Print the summary of ``run``: as JSON, as one line of CSV, or for people.

    Of the launches, where no ``window`` is chosen. With ``details`` the roofline of its launches follows; of
    a run that is not kept there is none.
    """
    from kernbench.api.contents import overview, roofline
    from kernbench.api.contents.advice import one_line

    window = window or ChosenWindow()
    levels = roofline.LEVELS if details and run.id and window.launch != "setup" else ()
    if fmt == "json":
        rows = {by: run.roofline(by, window.launch) for by in levels}
        print_json({**run.summary(launch=window), **({"roofline": rows} if details else {})})
    elif fmt == "csv":
        print_csv(list(run.info), [list(run.info.values())])
    else:
        link_lines(run)
        print_content(overview.of_run(run, window))
        if sys.stdout.isatty() and run.id and run.launches and run.info["hops"] <= _ADVISED:
            say(f"\n{one_line(run.advice())}")
        if levels:
            shown = roofline.of_run(run, ChosenWindow(window.launch))
            print_content(replace(shown, said=["", shown.note]))
