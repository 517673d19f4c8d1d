"""Tracks of the timeline: shares of time, overlaps counted once, against a sum over every instant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.stores import borrowed
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.timeline import Timeline, TimeSpan, occupancy


def test_overlaps_count_once_and_gaps_not_at_all() -> None:
    begins, ends = np.array([5.0, 0.0, 1.0, 8.0]), np.array([6.0, 2.0, 3.0, 8.0])
    assert occupancy(begins, ends, TimeSpan(0.0, 8.0), 4).tolist() == [1.0, 0.5, 0.5, 0.0]
    assert occupancy(begins, ends, TimeSpan(2.5, 5.5), 3).tolist() == [0.5, 0.0, 0.5]
    assert occupancy(np.zeros(0), np.zeros(0), TimeSpan(0.0, 1.0), 2).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(5))
def test_shares_agree_with_counting_instants(seed: int) -> None:
    random = np.random.default_rng(seed)
    begins = random.integers(0, 90, 40).astype(float)
    ends = begins + random.integers(0, 12, 40)
    instants = np.arange(100) + 0.5
    busy = ((instants[:, None] > begins) & (instants[:, None] < ends)).any(axis=1)
    wanted = busy.reshape(10, 10).mean(axis=1)
    assert np.allclose(occupancy(begins, ends, TimeSpan(0.0, 100.0), 10), wanted)


def test_spans_stay_within_their_window() -> None:
    whole = TimeSpan(10.0, 20.0)
    assert whole.zoomed(0.5, whole) == TimeSpan(12.5, 17.5)
    assert whole.zoomed(2.0, whole) == whole
    assert TimeSpan(12.0, 14.0).moved(-9.0, whole) == TimeSpan(10.0, 12.0)
    assert TimeSpan(12.0, 14.0).moved(9.0, whole) == TimeSpan(18.0, 20.0)


def test_a_run_has_a_track_for_each_resource(store: Path) -> None:
    with borrowed(store) as opened:
        browser = Browser(opened)
        run = browser.run(browser.resolve("last"))
        timeline = Timeline(run, ChosenWindow("run"))
        gemm = next(name for name in timeline.tracks("components") if name.endswith("pe_gemm"))
        shares = timeline.shares(gemm, timeline.whole, 50)
        ops = run.run.ops
        mine = ops["component"] == gemm
        covered = occupancy(ops["t_start"][mine], ops["t_end"][mine], timeline.whole, 1)[0]
        assert shares.mean() == pytest.approx(covered)
        assert 0 < covered < 1
        assert set(timeline.tracks("links")).isdisjoint(timeline.tracks("components"))
        assert {*timeline.tracks("links"), *timeline.tracks("components")} == set(timeline.tracks("all"))
        assert any(name.endswith(".r0c0") for name in timeline.tracks("components"))
        assert timeline.launches[0][0].startswith("launch 0")
