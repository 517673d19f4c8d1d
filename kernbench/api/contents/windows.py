"""The windows that a run is looked at in, as page and terminal UI list them."""

from __future__ import annotations

from kernbench.analysis.path.model_time import launch_name
from kernbench.analysis.windows.time_window import WHOLE
from kernbench.api.result import Run


def windows(run: Run) -> list[list[str]]:
    """What ``launch`` may be, with a text for each: all launches, each one, setup, the run."""
    if not run.launches:
        last = [["run", WHOLE]]
        return last if run.window("all") == run.window("run") else [["all", run.window("all").name], *last]
    each = [[str(n), f"launch {n}: {launch_name(one)}"] for n, one in enumerate(run.launches)]
    first = [["all", "all launches"]] if len(each) > 1 else []
    return [*first, *each, ["setup", "setup, outside of launches"], ["run", WHOLE]]
