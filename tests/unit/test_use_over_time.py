"""Utilisation in many stretches at once is what each stretch has by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.use.use_over_time import use_over_time
from kernbench.analysis.windows.time_window import Window
from kernbench.analysis.windows.window_use import use_within
from kernbench.engine.core.node import FabricNode, Link


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
    add_up(run, 16)


def add_up(run: kb.Run, bins: int) -> None:
    names, _, shares = use_over_time(run.tables, run.window("all"), bins)
    used = run.use("all")
    whole = dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))
    means = dict(zip(names, np.mean(shares, axis=0).tolist(), strict=True))
    assert means == pytest.approx({name: whole.get(name, 0.0) for name in names}, abs=1e-9)


class Served(kb.Instrument):
    """When the pseudo-channels of a machine really served bursts."""

    def __init__(self) -> None:
        self.times: dict[str, list[tuple[float, float]]] = {}

    def started(self, resources: Sequence[Any], clock: Any) -> None:
        for server in resources:
            if not isinstance(server, FabricNode | Link):
                server.watcher = self

    def occupied(self, server: Any, time: float, duration: float, begun: float, owner: Any) -> None:
        self.times.setdefault(server.resource, []).append((begun, begun + duration))


def test_the_pseudo_channels_of_a_hot_slice_are_busy_when_they_serve() -> None:
    """The records have when each message came and left; the messages stood in one queue in between."""
    flows = [
        {"src": f"sip0.cube{cube}.pe{pe}", "dst": "sip0.cube0.hbm_ctrl.pe0", "op": "read", "bytes": 4096}
        for cube in range(2) for pe in range(4)
    ]  # fmt: skip
    served = Served()
    run = kb.traffic(flows, store="memory:", instruments=[served])
    add_up(run, 16)
    names, edges, shares = use_over_time(run.tables, run.window("run"), 40)
    assert len(served.times) == 8
    for name, times in served.times.items():
        begin, end = np.array(times).T
        done = np.array([np.sum(np.clip(edge, begin, end) - begin) for edge in edges])
        share = np.diff(done) / np.diff(edges)
        assert share.max() == pytest.approx(1.0)
        assert shares[:, names.index(name)] == pytest.approx(share, abs=1e-9), name


def test_time_between_launches_is_in_no_stretch() -> None:
    run = kb.run("gemm-single-pe", "minimal", store="memory:")
    spans = ((0.0, 100.0), (300.0, run.sim_ns))
    _, edges, shares = use_over_time(run.tables, Window("", spans), 10)
    step = edges[1] - edges[0]
    outside = [n for n in range(10) if edges[n] >= 100 and edges[n] + step <= 300]
    assert outside
    assert not shares[outside].any()
    assert shares.max() <= 1.0
