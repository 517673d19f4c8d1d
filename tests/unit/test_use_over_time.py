"""Utilisation in many stretches at once is what each stretch has by itself."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.time_window import Window
from kernbench.analysis.use_over_time import use_over_time
from kernbench.analysis.window_use import use_within


@pytest.fixture(scope="module")
def run() -> kb.Run:
    return kb.run("qkv-gemm", "minimal", store="memory:", params={"tokens": 16})


@pytest.mark.parametrize("launch", [None, "all", 0])
def test_each_stretch_is_a_window_of_its_own(run: kb.Run, launch: str | int | None) -> None:
    window = run.window(launch)
    names, edges, shares = use_over_time(run.tables, window, 7)
    assert shares.shape == (7, len(names))
    assert (edges[0], edges[-1]) == (window.spans[0][0], window.spans[-1][1])
    busy = 0
    for number in range(7):
        own = Window("", ((edges[number], edges[number + 1]),))
        found = use_within(run.tables, own)
        want = dict(zip(found["resource"].tolist(), found["utilisation"].tolist(), strict=True))
        got = dict(zip(names, shares[number].tolist(), strict=True))
        assert got == pytest.approx({name: want.get(name, 0.0) for name in names}, abs=1e-9)
        busy += len(want)
    assert busy > 20


def test_the_stretches_add_up_to_the_window(run: kb.Run) -> None:
    window = run.window("all")
    names, _, shares = use_over_time(run.tables, window, 16)
    used = run.use("all")
    whole = dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))
    means = dict(zip(names, np.mean(shares, axis=0).tolist(), strict=True))
    # No stretch is busy for more than its length, so what comes faster than bytes are spread is cut there.
    cut = {name for name, most in zip(names, shares.max(axis=0).tolist(), strict=True) if most >= 1.0}
    assert len(cut) < len(names) / 2
    assert all(-1e-12 < whole[name] - means[name] < 0.02 for name in cut & whole.keys())
    want = {name: whole.get(name, 0.0) for name in names if name not in cut}
    assert {name: means[name] for name in want} == pytest.approx(want, abs=1e-9)


def test_time_between_launches_is_in_no_stretch() -> None:
    run = kb.run("gemm-single-pe", "minimal", store="memory:")
    spans = ((0.0, 100.0), (300.0, run.sim_ns))
    _, edges, shares = use_over_time(run.tables, Window("", spans), 10)
    step = edges[1] - edges[0]
    outside = [n for n in range(10) if edges[n] >= 100 and edges[n] + step <= 300]
    assert outside
    assert not shares[outside].any()
    assert shares.max() <= 1.0
