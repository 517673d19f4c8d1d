"""What the windows of any run must add up to."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.analysis.windows.window_use import use_within

ABOUT = {"busy_ns": 1e-6, "occupied_ns": 1e-6, "wait_ns": 1e-6, "bytes": 1.0}
"""How far sums may be off, by column; bytes are whole numbers in each window."""


def check_windows_add_up(run: kb.Run) -> None:
    """The launches and the time outside of them are the run, at every place and in every column.

    No place does more in a window than it can, and none is busy for longer than something is there.
    """
    parts = [run.use(name) for name in (("all", "setup") if run.launches else ("run",))]
    for part in parts:
        assert part["occupancy"].max(initial=0.0) <= 1 + 1e-9
        assert (part["utilisation"] <= part["occupancy"] + 1e-9).all()
    spread = use_within(run.tables, run.window("run"))  # the run, not as it was recorded
    for column, within in ABOUT.items():
        whole = dict(zip(run.used["resource"].tolist(), run.used[column].tolist(), strict=True))
        for several in (parts, [spread]):
            if column not in several[0]:
                continue  # occupancy is not spread
            sums = dict.fromkeys(whole, 0.0)
            for part in several:
                for name, value in zip(part["resource"].tolist(), part[column].tolist(), strict=True):
                    sums[name] += value
            assert sums == pytest.approx(whole, abs=within), column
