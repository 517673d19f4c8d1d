"""A sweep over refreshed memory: at several phases points are medians; at one it says what that means."""

from __future__ import annotations

from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.sweeps.result import SweepPoint, median_of
from kernbench.cli.main import main

DRAM = {"cube.hbm.model": "dram"}
KEY = "pe.links.dma_gbs"
PHASE = "cube.hbm.dram.refresh_phase"


def swept(store: Any, **more: Any) -> kb.Sweep:
    topo = {**DRAM, KEY: [64, 256], **more.pop("topo", {})}
    return kb.sweep("gemm-single-pe", topology="minimal", topo=topo, store=store, **more)


@pytest.mark.slow
def test_points_are_medians_over_the_phases(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    found = swept(store, phases=8)
    assert [point.topo[KEY] for point in found.points] == [64, 256]
    for point in found.points:
        topo = {**DRAM, KEY: point.topo[KEY]}
        alone = [
            kb.run("gemm-single-pe", "minimal", topo={**topo, PHASE: n / 8}, trace=False).latency_ns
            for n in range(8)
        ]
        assert point.latency_ns == median_low(alone)
        assert point.spread_ns == pytest.approx(max(alone) - min(alone))
        assert point.spread_ns > 250.0  # a refresh falls into the launch, or it does not
        assert (point.phases, PHASE in point.topo) == (8, False)
        assert kb.open_run(point.run_id, store).latency_ns == point.latency_ns
    assert found.note == ""
    assert found.columns()[2:4] == ["latency_ns", "spread_ns"]
    again = swept(store, phases=8)
    assert all(point.kept_before for point in again.points)
    assert [point.run_id for point in again.points] == [point.run_id for point in found.points]


def test_the_best_is_that_of_the_medians() -> None:
    def point(number: int, *ns: float) -> Any:
        rows = [SweepPoint(number, "t", {}, {}, latency_ns=one, phases=1) for one in ns]
        return median_of(rows)

    found = kb.Sweep("b", (point(1, 795.0, 946.0, 946.0), point(2, 946.0, 711.0, 711.0)))
    assert found.best is not None
    assert (found.best.point, found.best.latency_ns, found.best.spread_ns) == (2, 711.0, 235.0)


def test_a_point_that_fails_at_a_phase_has_failed() -> None:
    rows = [SweepPoint(1, "t", {}, {}, latency_ns=ns, error=error) for ns, error in ((5.0, ""), (None, "no"))]
    failed = median_of(rows)
    assert (failed.error, failed.latency_ns) == ("no", 5.0)
    assert kb.Sweep("b", (failed,)).best is None


def test_nothing_is_run_twice_where_nothing_is_refreshed(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    found = swept(store, topo={"cube.hbm.dram.refresh": "none"}, phases=8)
    assert [(point.phases, point.spread_ns) for point in found.points] == [(None, None)] * 2
    assert len(kb.runs(store)) == 2
    assert found.note == ""
    assert "phases" not in found.points[0].as_dict()


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_the_command(jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["sweep", "gemm-single-pe", "--topology", "minimal", "--topo", "cube.hbm.model=dram"]
    asked += ["--topo", f"{KEY}=64,256", "--store", str(tmp_path), "--jobs", jobs]
    assert main(asked) == 0
    assert "latencies depend on when memory is refreshed; with phases (--phases 8)" in capsys.readouterr().out
    assert main([*asked, "--phases", "2"]) == 0
    out = capsys.readouterr().out
    assert "spread_ns" in out
    assert "depend on when" not in out


def test_a_run_begins_at_a_phase_of_refresh() -> None:
    """Of two runs that are otherwise alike, the one that begins later in the period waits for a refresh."""
    held = {}
    for phase in (0.0, 0.875):
        run = kb.run("gemm-single-pe", "minimal", topo={**DRAM, PHASE: phase}, store="memory:")
        held[phase] = run.summary()["by_cause"].get("refresh", 0.0)
    assert held[0.0] != held[0.875]
