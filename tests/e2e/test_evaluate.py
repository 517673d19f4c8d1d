"""``kernbench evaluate``: results, resuming, the regression gate, and the numbers of the shipped ones."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kernbench as kb
from kernbench.api.sweeps import evaluation_gate as api_gate
from kernbench.workloads.models.config import MODELS, Model
from kernbench.workloads.probes.scenarios import scenarios
from tests.e2e.test_model_steps import SMALL
from tests.shipped_evaluations import GQA, evaluation_module

Cli = Callable[..., Any]
GEMM = (
    "evaluate",
    "milestone-1h-gemm",
    "shapes=32x128x32,16x64x16",
    "--topology",
    "m.yaml",
    "--out",
    "o",
)
MACHINE = """\
schema_version: 1
name: mine
system: {{sips: 1}}
sip: {{cube_mesh: {{w: 1, h: 1}}}}
cube: {{hbm: {{channel_gbs: {gbs}}}}}
"""


@pytest.fixture
def machine(workdir: Path) -> Path:
    file = workdir / "m.yaml"
    file.write_text(MACHINE.format(gbs=32.0), encoding="utf-8")
    return file


def test_gemm_measured_ideal_files_and_gate(cli: Cli, machine: Path, workdir: Path) -> None:
    found = json.loads(cli(*GEMM, "--tag", "base", "--format", "json").out)
    rows = {(row["shape"], row["variant"]): row for row in found["tables"]["gemm"]}
    assert len(rows) == 6
    row = rows["32x128x32", "load_ref"]
    # 8 KiB of A at 256 GB/s and its round trip, then two tiles of B, the second behind the first.
    trip = 13.0
    assert row["dma_in_count"] == 3
    assert row["pe_window_ns"] == pytest.approx((32 + trip) + (16 + trip) + 16 + 16 + 16 + 4 + (8 + trip))
    assert row["composite_window_ns"] == pytest.approx(row["pe_window_ns"] - 32 - trip)
    assert (row["gemm_busy_ns"], row["gemm_count"], row["under_tile"]) == (32.0, 2, False)
    assert row["mac_utilisation"] == row["mac_efficiency"] == pytest.approx(32 / row["pe_window_ns"])
    small = rows["16x64x16", "load_load"]
    assert small["under_tile"] is True
    assert small["mac_efficiency"] == pytest.approx(small["mac_utilisation"] / 4)
    for row in rows.values():
        assert row["ideal_window_ns"] <= row["pe_window_ns"] + 1e-9
        assert row["ideal_window_ns"] == pytest.approx(row["pe_window_ns"], rel=0.06)
    figures = ["stage-breakdown.png", "mac-utilisation.png", "ideal-against-measured.png"]
    names = ["gemm.csv", *figures, "results.json", "report.html"]
    assert [Path(file).name for file in found["files"]] == names
    assert sorted(path.name for path in (workdir / "o").iterdir()) == sorted(names)
    with (workdir / "o" / "gemm.csv").open(encoding="utf-8") as stream:
        assert [r["run_id"] for r in csv.DictReader(stream)] == [r["run_id"] for r in rows.values()]
    report = (workdir / "o" / "report.html").read_text(encoding="utf-8")
    assert report.count("data:image/png;base64,") == 3
    assert "32x128x32" in report
    assert {tuple(run.tags) for run in kb.runs()} == {("evaluate-milestone-1h-gemm", "base")}

    again = kb.evaluate(
        "milestone-1h-gemm", "o", params={"shapes": "32x128x32"}, topology="m.yaml", fast=True
    )
    assert [p["kept_before"] for p in again.points] == [True] * 3
    assert again.flat()[0] == list(again.tables["gemm"][0])
    for shown in (str(again), again._repr_html_()):  # where it is printed, and in a notebook
        assert "32x128x32" in shown
        assert "report.html" in shown


@pytest.mark.slow
def test_the_gate_runs_anew_and_names_what_moved(cli: Cli, machine: Path) -> None:
    one = tuple("shapes=32x128x32" if word.startswith("shapes") else word for word in GEMM)
    assert cli(*one, "--tag", "base").status == 0
    same = cli(*one, "--against", "base")
    assert same.status == 0
    assert "0 of 3 points moved" in same.out
    assert len(kb.runs()) == 6

    machine.write_text(MACHINE.format(gbs=16.0), encoding="utf-8")
    slower = cli(*one, "--against", "base", "--threshold", "10%", "--format", "json")
    assert slower.status == 1
    assert "against 'base', threshold 10%, 3 points moved: matmul-composite" in slower.err
    moved = json.loads(slower.out)["moved"]
    assert {row["moved"] for row in moved} == {"slower"}
    assert all(row["after_ns"] > 1.1 * row["before_ns"] for row in moved)

    before = {key: kb.open_run(row["before"]) for key, row in enumerate(moved)}
    rows = api_gate.compare_runs([before[0]], {api_gate.key_of(run): run for run in before.values()}, 0.0)
    assert [row["moved"] for row in rows] == ["gone", "gone", ""]
    assert [row["moved"] for row in api_gate.compare_runs([before[0]], {}, 0.0)] == ["new"]


def test_what_is_wrong_is_said(cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, status, message in (
        (("evaluate",), 2, "name an evaluation"),
        (("evaluate", "milestone-1h-gem"), 2, "did you mean 'milestone-1h-gemm'?"),
        ((*GEMM[:2], "shape=1"), 2, "evaluation 'milestone-1h-gemm' has no parameter 'shape'"),
        ((*GEMM[:2], "shapes=1x2"), 2, "shape '1x2' is not MxKxN"),
        ((*GEMM, "--against", "none"), 2, "no run of this evaluation has the tag 'none'"),
    ):
        ended = cli(*arguments)
        assert ended.status == status
        assert message in ended.err
    monkeypatch.setenv("MILESTONE_FAST", "1")
    ended = cli(*GEMM)
    assert ended.status == 1
    assert "6 of 6 points failed" in ended.err
    assert "the store holds no run of this point" in ended.err


def test_an_evaluation_of_ones_own(cli: Cli, workdir: Path) -> None:
    (workdir / "mine.py").write_text(
        "from kernbench.api.evaluations import evaluation\n"
        "@evaluation(name='mine', description='One GEMM, one without rows.')\n"
        "def run(e):\n"
        "    good, bad = e.points('gemm-single-pe', [{'m': 8}, {'m': 0}], 'minimal')\n"
        "    flows = [{'src': 'sip0.cube0.pe0', 'dst': 'sip0.cube0.hbm_ctrl.pe0', 'bytes': 4096}]\n"
        "    sent = e.traffic('one', flows)\n"
        "    causes = sorted(sent.by_cause())\n"
        "    e.table('t', [{'ns': good.latency_ns, 'failed': bad is None, 'causes': causes}])\n",
        encoding="utf-8",
    )
    ended = cli("evaluate", "mine.py", "--topology", "minimal", "--format", "json")
    assert ended.status == 1
    assert "1 of 3 points failed; the first, gemm-single-pe m=0" in ended.err
    found = json.loads(ended.out)
    assert found["tables"]["t"][0]["failed"] is True
    assert found["points"][0]["latency_ns"] == found["tables"]["t"][0]["ns"]
    again = json.loads(cli("evaluate", "mine.py", "--topology", "minimal", "--format", "json").out)
    assert [p["kept_before"] for p in again["points"]] == [True, False, True]


@pytest.mark.slow
def test_dma_takes_each_scenario_apart(cli: Cli, machine: Path) -> None:
    found = json.loads(
        cli(
            "evaluate",
            "dma",
            "--topology",
            "m.yaml",
            "nbytes=4096",
            "--out",
            "o",
            "--format",
            "json",
        ).out
    )
    rows = {(row["scenario"], row["op"]): row for row in found["tables"]["dma"]}
    hot = [f"hot target, {n} PEs" for n in range(2, 9)]
    near = ["pe-local-hbm", "pe-same-cube-hbm-best", "pe-same-cube-hbm-worst"]
    assert list(rows) == [
        ("h2d-1hop", "write"),
        ("d2h-1hop", "read"),
        *((name, op) for name in near for op in ("read", "write")),
        *((name, op) for op in ("read", "write") for name in (*hot, "8 PEs, all local", "8 PEs, one slice")),
    ]
    # 4 KiB at 256 GB/s and a round trip of 13 ns; eight PEs with a slice each do not meet.
    assert rows["pe-local-hbm", "read"]["makespan_ns"] == pytest.approx(16 + 13)
    assert rows["8 PEs, all local", "read"]["of_it_contention_ns"] == 0
    assert rows["8 PEs, one slice", "read"]["slowest_ns"] == rows[hot[-1], "read"]["slowest_ns"] > 8 * 16
    causes = {(row["scenario"], row["op"]): row for row in found["tables"]["causes"]}
    for key, row in rows.items():
        parts = [value for name, value in causes[key].items() if name not in ("scenario", "op")]
        assert math.fsum(parts) == pytest.approx(row["makespan_ns"])

    formula = {(row["scenario"], row["op"]): row for row in found["tables"]["formula"]}
    assert list(formula) == [key for key, row in rows.items() if row["flows"] == 1]
    local = formula["pe-local-hbm", "write"]
    assert local["formula_ns"] == pytest.approx(2 + 4096 / 256)  # a router, and the bytes at 256 GB/s
    for key, row in formula.items():
        extra = row["ours_ns"] - row["formula_ns"]
        assert row["ours_ns"] == rows[key]["slowest_ns"]
        assert row["way_ns"] + row["flits_ns"] == pytest.approx(extra)
        assert bool(row["because"]) == (abs(row["difference"]) > 0.1)
    assert "PCIe endpoint takes in the whole message" in formula["h2d-1hop", "write"]["because"]


def figures_of_records() -> Iterator[tuple[str, str, float]]:
    """Scenarios that ``validate records`` measures, the column of each, and what the records have."""
    file = Path(__file__).parents[2] / "configs" / "validation" / "records.yaml"
    columns = {"makespan": "makespan_ns", "bandwidth": "bandwidth_gbs"}
    for group in yaml.safe_load(file.read_text("utf-8"))["groups"]:
        for case in group.get("cases", [{}]):
            values = {**group.get("settings", {}), **case}
            if "scenario" in values:
                record = values["record"] if group["reference"] == "record" else group["reference"]
                yield values["scenario"], columns[group["measure"]], record


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["default", "as-recorded"])
def test_the_page_of_records_has_what_the_machines_take(topology: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text("utf-8")
    written = re.findall(
        r"^\| [^|]+, (?:ns|GB/s) \| ([\d,]+) \| ([\d,.]+) \| .* \| ([\d,.]+) \| .* \|$", page, re.M
    )
    graph, measured = kb.load_topology(topology), {}
    records = {record: (scenario, figure) for scenario, figure, record in figures_of_records()}
    for name, op, flows, _ in scenarios(graph, 16384):
        if op == "write" and name in {scenario for scenario, _ in records.values()}:
            measured[name] = kb.traffic(flows, graph, trace=False, store="memory:").totals
    found = {record: measured[scenario][figure] for record, (scenario, figure) in records.items()}
    assert len(written) == len(found) == 7
    for record, default, as_recorded in written:
        text = default if topology == "default" else as_recorded
        ours = found[float(record.replace(",", ""))]
        assert text == (f"{ours:,.0f}" if ours > 10_000 else f"{ours:,.1f}")


def test_pe2pe_sets_queues_beside_dma(cli: Cli, machine: Path) -> None:
    command = ("evaluate", "pe2pe", "--topology", "m.yaml", "--out", "o", "nbytes=256")
    rows = json.loads(cli(*command, "--format", "json").out)["tables"]["pe2pe"]
    assert [(row["path"], row["how"], row["bytes"]) for row in rows] == [
        ("in-cube", how, 256) for how in ("dma", "queue", "queue-unread")
    ]
    dma, queue, unread = (row["latency_ns"] for row in rows)
    # A slot is written while it still crosses the link to the TCM, DMA's flit after that: 256 / 512 ns.
    assert dma <= unread + 256 / 512
    assert max(dma, unread) < queue
    assert [row["against_dma"] for row in rows] == pytest.approx([1.0, queue / dma, unread / dma])


def test_theory_is_drawn_beside_the_simulated_all_reduce() -> None:
    from matplotlib.figure import Figure

    rows = [{"bytes_per_pe": n, "latency_ns": 5e3} for n in (512, 98304)]
    for grid, labels in (
        ("ring 6", ["simulated", "1,346 ns + 1.20 ns a packet"]),
        ("torus 2x3", ["simulated", "1,346 ns + 1.20 ns a packet", "2D torus, theoretical: 10.6 us"]),
    ):
        figure = Figure()
        evaluation_module("milestone_1h_ccl")._latency(figure, rows, grid)
        (axes,) = figure.axes
        lines = {str(line.get_label()): list(line.get_ydata()) for line in axes.lines}
        assert [label for label in lines if not label.startswith("_")] == labels
        assert lines[labels[1]] == pytest.approx([1.3484, 1.8068])
        assert "torus" not in grid or lines[labels[2]] == [10.6]


@pytest.mark.slow
def test_ccl_on_every_grid_and_memory(cli: Cli, machine: Path) -> None:
    command = ("evaluate", "milestone-1h-ccl", "--topology", "m.yaml", "--out", "o", "--format", "json")
    sizes = ("elements=8,49152", "kind_elements=8", "grids=mesh 2x3")
    found = json.loads(cli(*command, *sizes).out)
    rows = found["tables"]["all_reduce"]
    assert [(row["grid"], row["elements"], row["bytes_per_pe"]) for row in rows] == [
        ("mesh 2x3", 8, 16),
        ("mesh 2x3", 49152, 98304),
    ]
    # 1,346 ns and 1.20 ns for each packet of 256 bytes
    assert [row["theory_ns"] for row in rows] == pytest.approx([1347.2, 1346 + 1.2 * 384])
    assert any("1,346 ns + 1.20 ns a packet" in note and "10.6 us" in note for note in found["notes"])
    for row in (*rows, *found["tables"]["buffer_kinds"]):
        run = kb.open_run(row["run_id"])
        assert row["verified"] is run.verified is True
        assert row["latency_ns"] == pytest.approx(max(launch["pe_ns"] for launch in run.launches), abs=1e-9)
        assert len(run.launches) == 6
    kinds = {row["buffer_kind"]: row["latency_ns"] for row in found["tables"]["buffer_kinds"]}
    assert kinds["tcm"] < min(kinds["sram"], kinds["hbm"])
    assert any("ADR-0043" in note for note in found["notes"])
    names = ["all_reduce-mesh-2x3", "buffer-kinds", "sips", "reference"]
    assert [Path(file).stem for file in found["files"] if file.endswith(".png")] == names
    assert "there is no grid 'star'" in cli("evaluate", "milestone-1h-ccl", "grids=star").err


@pytest.mark.slow
def test_llama_has_tokens_a_second_beside_the_roof(
    cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step is as many layers as the model has; parts of a layer add up; packages share the work."""
    monkeypatch.setitem(MODELS, "llama-8b", Model("llama-8b", 128, 256, 4, 2, 32, 5))
    command = ("evaluate", "llama", "--topology", "m.yaml", "--out", "o", "--format", "json")
    found = json.loads(cli(*command, "packages=1,2", "batch=3", "kv=32", "tokens=8").out)
    one, two = (
        {row["phase"]: row for row in found["tables"]["llama"] if row["packages"] == n} for n in (1, 2)
    )
    for row in found["tables"]["llama"]:
        run = kb.open_run(row["run_id"])
        assert run.verified is None
        ns = max(one["t_done"] for one in run.launches) - min(one["t_start"] for one in run.launches)
        assert ns >= run.kernels_ns
        assert row["layer_us"] == pytest.approx(ns / 1e3, rel=1e-9)
        tokens = 3 if row["phase"] == "decode" else 8
        assert row["tokens_s"] == pytest.approx(tokens * 1e9 / (5 * ns))
        assert row["tokens_s"] < row["roof_tokens_s"]
        assert 0 < row["hbm"] < 1
    for phase in ("decode", "prefill"):
        assert one[phase]["links_between_dies"] == 0 < two[phase]["links_between_dies"] < 1
        assert 0 < one[phase]["mj_token"] < two[phase]["mj_token"]
    for row in found["tables"]["parts"]:
        shares = [row[part] for part in evaluation_module("llama").PARTS]
        assert sum(shares) == pytest.approx(1)
        assert (row["all-reduce"] > 0) == (row["packages"] == 2)
    assert "'batch': 'x' is not a list of whole numbers; write one" in cli("evaluate", "llama", "batch=x").err
    assert "'kv': 0 must be 1 or more" in cli("evaluate", "llama", "kv=0").err


@pytest.mark.slow
def test_gqa_counts_panels(cli: Cli, machine: Path) -> None:
    machine.write_text(
        machine.read_text(encoding="utf-8").replace("w: 1, h: 1", "w: 2, h: 2"), encoding="utf-8"
    )
    command = ("evaluate", "milestone-gqa-llama70b", "--topology", "m.yaml", "--out", "o", "--format", "json")
    found = json.loads(cli(*command, "validation=true").out)
    rows = found["tables"]["panels"]
    assert len(rows) == 12
    for row in rows:
        ranks = {"single": 8, "multi": 4}[row["users"]]
        decode = row["phase"] == "decode"
        messages = 3 * (ranks - 1) if decode else 2 * ranks * (ranks - 1)
        counts = (2 if decode else 2 * ranks) * ranks, messages, messages, 3 * ranks, 1 if decode else ranks
        assert tuple(row[k] for k in ("gemm", "ipcq_send", "ipcq_recv", "dma_read", "dma_write")) == counts
        assert (row["ranks"], row["verified"], row["d_head"]) == (ranks, True, 64)
    for panel in {row["panel"] for row in rows}:
        times = [row["latency_ns"] for row in rows if row["panel"] == panel]
        assert times == sorted(times)
    assert "capacity" not in found["tables"]
    heads = {(row["panel"], row["kv_heads"]): row for row in found["tables"]["kv_heads"]}
    places = {"single": (1, 2, 4), "multi": (1, 2, 4, 8)}  # four cubes, eight PEs in each
    assert list(heads) == [
        (f"{users}-user {phase}", n)
        for users in places
        for phase in ("prefill", "decode")
        for n in places[users]
    ]
    one = {row["panel"]: row for row in rows if row["q_heads"] == 4}
    for (panel, number), row in heads.items():
        assert row["verified"] is True
        if number == 1:
            assert row["latency_ns"] == one[panel]["latency_ns"]
            assert row["run_id"] == one[panel]["run_id"]
        else:  # heads on the same cubes queue for what a prefill sends; messages of a decode hardly meet
            more, few = kb.open_run(row["run_id"]), kb.open_run(one[panel]["run_id"])
            assert row["latency_ns"] > one[panel]["latency_ns"]  # with the launch messages of more heads
            assert (more.kernels_ns > 1.1 * few.kernels_ns) == (panel == "multi-user prefill")
    images = [Path(file).stem for file in found["files"] if file.endswith(".png")]
    assert images[-3:] == ["panels", "scaling", "kv-heads"]


class Limited:
    """An evaluator on which points of more than so many keys fail."""

    def points(self, _bench: str, points: list[dict[str, Any]], *, optional: bool) -> list[Any]:
        assert optional
        return [None if point["kv_tokens"] > 4096 else object() for point in points]

    def why(self) -> str:
        return "too large"


def test_gqa_says_where_full_scale_stops() -> None:
    _capacity = evaluation_module("milestone_gqa_llama70b")._capacity

    found = _capacity(Limited(), {"d_head": 128}, "multi-user decode")  # type: ignore[arg-type]
    assert (found["most_kv_tokens"], found["stopped_at"], found["because"]) == (4096, 8192, "too large")


@pytest.mark.daily("single-decode-*", "multi-prefill-*")
@pytest.mark.parametrize(
    ("users", "phase", "rows", "keys"),
    [
        ("single", "prefill", 16, 2048),
        ("single", "decode", 1, 4096),
        ("multi", "prefill", 16, 2000),
        ("multi", "decode", 1, 3000),
    ],
)
def test_gqa_takes_keys_that_do_not_fit_in_parts(users: str, phase: str, rows: int, keys: int) -> None:
    bench = GQA
    params = {"users": users, "phase": phase, "q_tokens": rows, "kv_tokens": keys}
    small = {"pe.pe_tcm.scratch_bytes": 120_000, "pe.pe_tcm.size_bytes": 900_000}
    run = kb.run(bench, "default", topo=small, verify=True, device="sip:0", store="memory:", **params)
    assert run.verified is True
    of_kernel = (run.ops["launch"] >= 0) & (run.ops["name"] == "dma_read") & (run.ops["parent"] < 0)
    whole = 3 * (8 if users == "single" else 4)  # queries, keys and values of each rank
    assert of_kernel.sum() > whole


def test_gqa_is_checked_against_attention(workdir: Path) -> None:
    (workdir / "m.yaml").write_text(MACHINE.format(gbs=32.0), encoding="utf-8")
    bench = GQA
    for phase, rows in (("prefill", 16), ("decode", 1)):
        params = {"phase": phase, "q_tokens": rows, "q_heads": 2, "kv_tokens": 64, "d_head": 16}
        times = {}
        for causal in (True, False):
            run = kb.run(bench, "m.yaml", True, params={**params, "causal": causal}, store="memory:")
            assert run.verified is True
            assert (run.ops["kind"] == "gemm").sum() == (16 * 8 if phase == "prefill" else 2 * 8)
            times[causal] = run.latency_ns
        # The mask costs passes of the vector unit in prefill; one new token sees all keys anyway.
        assert (times[True] > times[False]) == (phase == "prefill")


@pytest.mark.slow
def test_gqa_values_depend_on_the_mask_and_on_every_head(workdir: Path) -> None:
    gqa = evaluation_module("_gqa_attention")

    machine = MACHINE.replace("w: 1, h: 1", "w: 2, h: 2").format(gbs=32.0)
    (workdir / "m.yaml").write_text(machine, encoding="utf-8")
    bench = GQA
    for users in gqa.RANKS:
        for phase, rows in (("prefill", 16), ("decode", 1)):
            # As many keys as new tokens: some ranks get blocks of which they must see nothing.
            for keys in (16, 64) if phase == "prefill" else (64,):
                params = {"users": users, "phase": phase, "q_tokens": rows, "q_heads": 2, "kv_heads": 4,
                          "kv_tokens": keys, "d_head": 16}  # fmt: skip
                run = kb.run(bench, "m.yaml", True, params=params, store="memory:")
                assert run.verified is True
    q, k, v = (np.random.default_rng(i).standard_normal((8, 4)).astype(np.float32) for i in range(3))
    masked, free = (gqa.attention(q, k, v, seen).value for seen in (gqa.seen(8, 8, 2), None))
    assert np.allclose(masked[-2:], free[-2:])  # the last token's two heads see all
    assert not np.allclose(masked[:-2], free[:-2], atol=0.1)
    # Token 0 of 4 new ones among 8 keys sees the first five.
    weights = np.exp(q[:2] @ k[:5].T / 2.0)
    assert np.allclose(masked[:2], weights / weights.sum(axis=1, keepdims=True) @ v[:5], atol=1e-5)
    for params, message in (
        ({"kv_heads": 5}, "kv_heads = 5 are more than the 4 cubes of the topology"),
        ({"users": "multi", "kv_heads": 9}, "kv_heads = 9 are more than the 8 PEs in a cube of the topology"),
        ({"kv_tokens": 8}, "kv_tokens = 8 are fewer than the new tokens, 16"),
        ({"kv_tokens": 12, "phase": "decode"}, "kv_tokens = 12 is not divisible by 8 ranks"),
    ):
        with pytest.raises(kb.KernBenchError, match=message):
            kb.run(bench, "m.yaml", params=params, store="memory:")


@pytest.mark.slow
def test_llama_takes_a_config_beside_names(workdir: Path) -> None:
    (workdir / "six").mkdir()
    (workdir / "six" / "config.json").write_text(json.dumps(SMALL))
    params = {"models": "small,six", "batch": "1", "kv": "32", "tokens": "8"}
    found = kb.evaluate("llama", "o", params=params, topology="minimal", store="memory:")
    assert [row["model"] for row in found.tables["llama"]] == ["small"] * 2 + ["six"] * 2
    one, six = (row for row in found.tables["llama"] if row["phase"] == "decode")
    assert six["step_ms"] == pytest.approx(6 * one["step_ms"])
