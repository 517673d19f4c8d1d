"""``kernbench energy``, and energy as a figure of sweeps and a goal of tuning."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.sweeps.result import Sweep, SweepPoint
from kernbench.draw.cells import plain
from kernbench.errors import UsageError

Cli = Callable[..., Any]
GEMM = ("gemm-single-pe", "--topology", "minimal")
TUNED = """
import kernbench as kb, numpy as np
from kernbench.workloads.benches import bench

@kb.autotune(configs=[{"N": 1}, {"N": 8}])
def add(x, out, N, tl):
    tl.cycles(2000 // N)
    for _ in range(N):
        value = tl.load(x)
    tl.store(out, value)

@bench(name="reads", description="Reads again or waits.")
def run(torch):
    x = torch.from_numpy(np.ones((2, 4), np.float32))
    torch.launch("add", add, x, torch.empty(2, 4, dtype="f32"))
"""


def test_energy_is_printed_in_every_format(cli: Cli, workdir: Path) -> None:
    cli("run", *GEMM)
    table = cli("energy").out.splitlines()
    assert table[0].startswith("gemm-single-pe on minimal: ")
    assert table[1].startswith("static energy is not in these figures")
    found = json.loads(cli("energy", "--by", "part", "--format", "json").out)
    assert sum(row["energy_pj"] for row in found["rows"]) == pytest.approx(found["energy_pj"])
    assert found["edp_pj_ns"] == pytest.approx(found["launches_pj"] * found["latency_ns"], abs=1e-6)
    rows = list(csv.DictReader(cli("energy", "--by", "launch", "--format", "csv").out.splitlines()))
    assert {row["name"] for row in rows} == {"gemm", "outside of launches"}
    assert "clock_share" not in rows[0]
    limited = cli("energy", "--by", "launch", "--power-limit", "1", "--format", "csv").out.splitlines()
    (kernel,) = (row for row in csv.DictReader(limited) if row["name"] == "gemm")
    assert float(kernel["clock_share"]) == pytest.approx((1 / float(kernel["watts"])) ** (1 / 3), rel=1e-3)
    assert cli("energy", "--power-limit", "1").err.endswith("by is 'kind', expected 'launch'\n")


def test_other_figures_change_the_energy_and_nothing_else(cli: Cli, workdir: Path) -> None:
    cli("run", *GEMM)
    before, after = (
        json.loads(cli("energy", *more, "--format", "json").out)
        for more in ((), ("--set", "pe_gemm.pj_per_mac.f16=7.2"))
    )
    old, new = ({row["name"]: row["energy_pj"] for row in found["rows"]} for found in (before, after))
    assert new.pop("pe_gemm") == pytest.approx(10 * old.pop("pe_gemm"))
    assert new == old
    wrong = cli("energy", "--set", "pe_gemm.pj_per_mac.f61=1")
    assert wrong.status == 2
    assert "'pe_gemm.pj_per_mac.f61' is not a type, did you mean 'f16'" in wrong.err


def test_a_sweep_has_energy_where_it_is_asked_for(cli: Cli, workdir: Path) -> None:
    sweep = ("sweep", *GEMM, "m=32,64")
    assert "energy_pj" not in json.loads(cli(*sweep, "--format", "json").out)["points"][0]
    points = json.loads(cli(*sweep, "--energy", "--format", "json", "--out", "rows.parquet").out)["points"]
    assert all(point["kept_before"] for point in points)
    for point in points:
        energy = kb.open_run(point["run_id"]).energy()
        assert (point["energy_pj"], point["edp_pj_ns"]) == (energy["launches_pj"], plain(energy["edp_pj_ns"]))
    assert cli(*sweep, "--energy").out.splitlines()[-1].endswith("the fastest first: point 1")
    cli(*sweep, "--pareto", "front.png", "--against", "m")
    assert (workdir / "front.png").exists()
    assert "--pareto draws energy; add --energy" in cli(*sweep, "--pareto", "front.png").err


def test_the_front_has_what_nothing_beats() -> None:
    figures = [(5.0, 9.0), (4.0, 9.0), (3.0, 12.0), (6.0, 8.0), (6.0, 8.0), (7.0, 8.5)]
    points = tuple(SweepPoint(n, "t", {"m": n}, {}, ns, energy_pj=pj) for n, (ns, pj) in enumerate(figures))
    failed = SweepPoint(9, "t", {"m": 9}, {}, 1.0, error="wrong", energy_pj=1.0)
    assert [point.point for point in Sweep("b", (*points, failed)).front] == [2, 1, 3]


def test_the_front_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from kernbench.api.sweeps.figures import pareto_figure

    points = tuple(SweepPoint(n, "t", {"m": n}, {}, 5.0 - n, energy_pj=9.0 + n) for n in range(3))
    pareto_figure(Sweep("b", points), tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="no point of the sweep has energy"):
        pareto_figure(Sweep("b", (SweepPoint(1, "t", {}, {}, 5.0),)), tmp_path / "none.png")


@pytest.mark.slow
def test_the_front_may_be_of_area_or_of_a_swept_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from kernbench.api.sweeps.figures import pareto_figure
    from kernbench.draw.figures import sweep_plot

    drawn: dict[str, Any] = {}
    draw = sweep_plot.pareto_figure

    def noted(rows: Any, front: Any, label: str, title: str) -> Any:
        drawn[label] = [row["cost"] for row in rows], [(row["name"], row["cost"]) for row in front]
        return draw(rows, front, label, title)

    monkeypatch.setattr(sweep_plot, "pareto_figure", noted)
    topo = {"cube.sram.size_bytes": "16MiB,32MiB"}
    swept = kb.sweep("gemm-single-pe", "minimal", params={"m": "16,32"}, topo=topo, store=tmp_path / "store")
    for against in ("m", "area", "cube.sram.size_bytes"):
        pareto_figure(swept, tmp_path / f"{against}.png", against, tmp_path / "store")
        assert (tmp_path / f"{against}.png").read_bytes().startswith(b"\x89PNG")
    costs, front = drawn["m"]
    assert sorted(costs) == [16.0, 16.0, 32.0, 32.0]
    assert [cost for _, cost in front] == [16.0]
    (areas, _), sizes = drawn["area of all parts that is known, mm²"], drawn["cube.sram.size_bytes"][0]
    less, more = (
        {area for area, n in zip(areas, sizes, strict=True) if n == wanted << 20} for wanted in (16, 32)
    )
    assert max(less) < min(more)
    with pytest.raises(UsageError, match="has size to draw; sweep with energy, or name area or one of m"):
        pareto_figure(swept, tmp_path / "none.png", "size")


@pytest.mark.slow
def test_tuning_for_energy_finds_another_kernel_than_tuning_for_time(cli: Cli, workdir: Path) -> None:
    (workdir / "reads.py").write_text(TUNED, encoding="utf-8")
    best = {}
    for goal in ("latency", "energy", "edp"):
        done = cli("tune", "reads.py", "--topology", "minimal", "--for", goal, "--format", "json")
        points = json.loads(done.out)["points"]
        (best[goal],) = [point for point in points if point["best"]]
        costs = {"latency": "latency_ns", "energy": "energy_pj", "edp": "edp_pj_ns"}
        assert best[goal][costs[goal]] == min(point[costs[goal]] for point in points)
        assert ("energy_pj" in points[0]) == (goal != "latency")
    assert (best["latency"]["config"], best["energy"]["config"]) == ({"N": 8}, {"N": 1})
    with pytest.raises(UsageError, match="goal is 'time', expected one of latency, energy, edp"):
        kb.tune("gemm-single-pe", goal="time")
