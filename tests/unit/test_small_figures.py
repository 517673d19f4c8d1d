"""Figures that planted faults once changed unnoticed; ``tools/mutants/faults.yaml`` has the faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kernbench_graph import topology as kept_topology
from kernbench_graph.errors import QueryError
from kernbench_graph.projection import own_columns
from kernbench_graph.query.limits import MOST_VALUES, check_rows
from kernbench_graph.schema import SCHEMA

import kernbench as kb
from kernbench.analysis.trace_tables import rows_of
from kernbench.analysis.use.time_counters import values_in_tcm
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.analysis.windows.estimate_bounds import LEAST_BAR, Repeated
from kernbench.analysis.windows.window_facts import window_tables
from kernbench.api import what_if_runs
from kernbench.api.contents import comparison, overview, source
from kernbench.api.contents.critical_path import steps, sums
from kernbench.api.open_runs import OpenRun
from kernbench.api.running import RunVerificationError
from kernbench.api.saving import _type as type_of
from kernbench.api.stores import borrowed
from kernbench.draw.machine.sheet import Axis
from kernbench.draw.svg import _n as coordinate
from kernbench.engine.program.tile_plans import Matrix, PlannedEpilogue
from kernbench.errors import UsageError
from kernbench.language.promotion import math_result
from kernbench.operations import OPERATIONS
from kernbench.support.dtypes import dtype
from kernbench.tui.models.entity_pages import transaction_page
from tests.unit.test_source_shown import BENCH


def test_a_view_takes_no_memory_of_its_own() -> None:
    def kernel(x: Any, tl: Any) -> None:
        a = tl.load(x, shape=(8, 8))
        b = tl.reshape(a, (4, 16))
        tl.store(x, tl.reshape(b + b, (8, 8)))

    def bench(torch: Any) -> None:
        torch.launch(
            "kernel", kernel, torch.zeros((8, 8), dtype="f16", dp=kb.DPPolicy(num_cubes=1, num_pes=1))
        )

    run = kb.run(bench, "minimal", store="memory:")
    ops = run.tables["Op"].to_pydict()
    views = {number for number, kind in zip(ops["number"], ops["kind"], strict=True) if kind == "view"}
    values = values_in_tcm(run.tables)
    assert views
    assert not views & {value.op for value in values}
    assert [value.nbytes for value in values] == [128, 128]  # what was loaded, and the sum


def test_a_span_knows_the_end_of_the_one_before_it() -> None:
    def bench(torch: Any) -> None:
        x = torch.zeros((8, 8), dtype="f16", dp=kb.DPPolicy(num_cubes=1, num_pes=1))
        for name in ("first", "second"):
            torch.launch(name, lambda x, tl: tl.cycles(10), x).wait()
            torch.zeros((8, 8), dtype="f16")

    run = kb.run(bench, "minimal", store="memory:")
    with borrowed(run.store) as store:
        spans = window_tables(store.load(run.id))["Span"].to_pylist()
    setup = [span for span in spans if span["window"] == "setup"]
    assert len(setup) > 1
    assert [span["t_before"] for span in setup] == [-1.0, *(span["t_to"] for span in setup[:-1])]


def test_a_fault_counts_the_messages_of_every_kind_between_two_ends() -> None:
    run = kb.run("gemm-single-pe", "minimal", store="memory:")
    sent = run.tables["Transaction"].to_pydict()
    ends = list(zip(sent["src"], sent["dst"], sent["kind"], strict=True))
    pairs = {(src, dst) for src, dst, kind in ends if kind == "dma_read"}
    both = [pair for pair in pairs if (*pair, "dma_write") in ends]
    assert both
    src, dst = both[0]
    link = next(name for name in run.use("all")["resource"].tolist() if name.startswith(f"{dst}->"))
    rows = run.query("routing/fault-impact", lost=link, limit=1000).dicts()
    of_pair = [row for row in rows if (row["src"], row["dst"]) == (src, dst)]
    wanted = sum((s, d) == (src, dst) and kind in ("dma_read", "dma_write") for s, d, kind in ends)
    assert sum(row["transactions"] for row in of_pair) == wanted


def test_shares_of_lines_are_of_the_windows_path(workdir: Path) -> None:
    Path("own.py").write_text(BENCH, encoding="utf-8")
    run = kb.run("own.py", "minimal", store="store")
    start = run.launches[0]["t_start"]
    window = ChosenWindow(launch=0, to_ns=start + 20.0)
    (grid,) = source.of_run(run, window).grids
    path = run.critical_path(window)
    assert path.ns == pytest.approx(20.0)
    shares = {row["nr"]: row["share"] for row in grid.rows if row["share"] is not None}
    assert shares
    assert sum(shares.values()) == pytest.approx(sum(path.by_line().values()) / 20.0)


def test_a_users_property_called_like_one_of_ours_keeps_its_values_beside_it() -> None:
    label = SCHEMA.label("Component")
    texts = pa.chunked_array([['{"kind": "mine", "speed": 2}', '{"speed": 3}']])
    found = own_columns(texts, label)
    assert found["own_kind"].to_pylist() == ["mine", None]
    assert "kind" not in found
    assert found["speed" if "speed" in found else "own_speed"].to_pylist() == [2, 3]


def test_a_candidate_whose_rerun_gives_wrong_values_has_no_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any, **__: Any) -> None:
        raise RunVerificationError("values are wrong", None)  # type: ignore[arg-type]

    with borrowed("memory:") as store:
        run = kb.run("gemm-single-pe", "minimal", store=store)
        monkeypatch.setattr(what_if_runs, "rerun_kept", wrong)
        found = kb.what_if_candidates(run.id, store, locations=0, measure=2)["candidates"]
    assert [one["measured_saved_ns"] for one in found[:2]] == [None, None]


def test_only_the_first_locations_of_a_path_are_shown_at_a_glance() -> None:
    path = kb.run("gemm-single-pe", "minimal", store="memory:").critical_path()
    assert sums(path, "location").first == 20
    assert sums(path, "cause").first is None


def test_a_comparison_names_the_figures_that_are_slower() -> None:
    def figure(name: str, change: float) -> dict[str, Any]:
        return {"name": name, "before": 100.0, "after": 100.0 * (1 + change), "change_ns": 100.0 * change,
                "change": change, "slower": change > 0.05, "launch": None}  # fmt: skip

    run = {"run_id": "a", "bench": "b", "params": {}, "topology": "t", "status": "ok"}
    figures = [*(figure(f"faster{n}", -0.2) for n in range(4)), figure("worst", 0.5)]
    found = {
        "same_config": True, "before": run, "after": run, "configured": [], "figures": figures, "causes": [],
        "resources": [], "locations": [], "window": "run", "slower": True, "threshold": 0.05,
    }  # fmt: skip
    (said,) = comparison.content(found).wrong
    assert "worst +50.0%" in said
    assert "faster" not in said


def test_the_bar_of_an_estimate_grows_with_what_its_last_periods_differ_by() -> None:
    equal = Repeated("layer", 0.0, 300.0, 3, 3, 100.0, 100.0, 100.0)
    assert equal.bar == pytest.approx(LEAST_BAR)
    assert replace(equal, before_ns=80.0).bar == pytest.approx(0.25)
    assert replace(equal, before_ns=125.0).bar == pytest.approx(0.2)


def test_values_of_an_answer_are_counted_over_all_columns() -> None:
    check_rows(MOST_VALUES // 2, 2)
    with pytest.raises(QueryError, match="at most"):
        check_rows(MOST_VALUES // 2 + 1, 2)
    with pytest.raises(QueryError, match="at most"):
        check_rows(MOST_VALUES, 3)


def test_the_fair_peak_of_channels_is_that_of_each_with_its_own_wire() -> None:
    """Five channels of 32 GB/s on wires that are faster, three on wires of 8 GB/s."""
    slow = [{"where": f"sip0.cube0.pe0.ch_r{at}->sip0.cube0.r0c0", "speed": 1 / 32} for at in range(3)]
    mapping = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one", "overrides": slow}
    flow = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "op": "read", "bytes": 65536}
    totals = kb.traffic([flow], "minimal", topo=mapping, store="memory:").totals
    assert totals["peak_fair_gbs"] == pytest.approx(5 * 32.0 + 3 * 8.0)


def test_texts_without_a_row_have_none() -> None:
    found = rows_of(pa.chunked_array([["a", "b", "a"]]), {"a": 0})
    assert found.tolist() == [0, -1, 0]


def test_a_race_is_told_once() -> None:
    race = SimpleNamespace(info={"races": [{"message": "two writes"}]}, problem="it races", verdict="race")
    assert overview.wrong(race) == ["two writes"]  # type: ignore[arg-type]


def test_a_strip_of_a_path_does_not_bridge_time_that_is_not_on_it() -> None:
    def step(start: float, end: float) -> SimpleNamespace:
        return SimpleNamespace(
            t_start=start, t_end=end, ns=end - start, cause="compute", location="", line="", activity="",
            transaction=-1,
        )  # fmt: skip

    path = SimpleNamespace(ns=20.0, steps=[step(0.0, 10.0), step(50.0, 60.0)])
    drawn = steps(path).drawn  # type: ignore[arg-type]
    assert drawn == [[0.0, 10.0, {"compute": 10.0}], [50.0, 60.0, {"compute": 10.0}]]


def test_coordinates_of_pictures_have_no_sign_at_zero() -> None:
    assert [coordinate(value) for value in (-0.04, 0.04, -0.06, 3.0)] == ["0", "0", "-0.1", "3"]


def test_an_axis_goes_on_to_scale_beyond_its_last_stop() -> None:
    axis = Axis([0.0, 2.0], [0.0], 10.0)
    assert [axis.at(mm) for mm in (-1.0, 1.0, 2.0, 3.5)] == [-10.0, 10.0, 20.0, 35.0]


def test_a_transaction_names_the_time_that_was_neither_service_nor_wait(tmp_path: Path) -> None:
    run = kb.run("qkv-gemm", "minimal", store=tmp_path)
    sent = run.tables["Transaction"].to_pylist()
    told = 0
    with borrowed(str(tmp_path)) as store:
        opened = OpenRun(kb.open_run(run.id, store))
        for row in sent:
            rest = row["t_done"] - row["t_submit"] - row["wait_ns"] - row["service_ns"]
            text = dict(transaction_page(opened, row["number"]).facts)["of that"]
            assert ("for its dependencies" in text) == (rest > 1e-9), row
            told += rest > 1e-9
    assert told < len(sent)


def test_a_machine_is_known_by_every_link_however_it_is_cut_up(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = kb.load_topology("minimal")
    whole = kept_topology.topology_id(graph)
    monkeypatch.setattr(kept_topology, "_PIECE", 7)
    assert kept_topology.topology_id(graph) == whole


def test_functions_of_floats_alone_make_floats_of_integers() -> None:
    assert math_result(OPERATIONS["exp"], ["i32"]) == "f32"
    assert math_result(OPERATIONS["exp"], ["f16"]) == "f16"
    assert math_result(OPERATIONS["add"], ["i32", "i32"]) == "i32"


def test_scales_of_a_group_are_loaded_once_for_its_rows_of_k() -> None:
    scales = PlannedEpilogue("dequant", "k_tile", Matrix(4, 8, dtype("f32"), 1000), 32)
    loaded = [scales.transfer(0, 0, 16, 8, k) for k in (0, 32, 96)]
    assert [one.runs[0][0] for one in loaded if one is not None] == [1000, 1032, 1096]


def test_sorting_costs_a_pass_for_each_stage_of_its_network() -> None:
    import kernbench.triton as triton
    import kernbench.triton.language as tl

    @triton.jit
    def kernel(x, out, n: tl.constexpr):  # type: ignore[no-untyped-def]
        at = tl.arange(0, n)
        tl.store(out + at, tl.sort(tl.load(x + at)))

    def ns(n: int) -> float:
        values = np.arange(n, dtype=np.float32)
        done = kb.run_kernel(kernel[(1,)], values, out=np.zeros_like(values), n=n, topology="minimal")
        ops = done.run.tables["Op"].to_pylist()
        return max(op["t_end"] - op["t_start"] for op in ops if op["name"] == "sort")

    assert ns(4096) / ns(1024) == pytest.approx(4 * 12 * 13 / (10 * 11), rel=0.2)


def test_streams_over_one_link_of_a_pe_cross_one_after_the_other() -> None:
    def kernel(x: Any, tl: Any) -> None:
        first = tl.load(x, shape=(32, 32))
        second = tl.load(x + 2048, shape=(32, 32))
        tl.store(x + 0, first + second)

    def bench(torch: Any) -> None:
        one = kb.DPPolicy(num_cubes=1, num_pes=1)
        torch.launch("kernel", kernel, torch.zeros((64, 32), dtype="f16", dp=one))

    run = kb.run(
        bench, "minimal", topo={"pe.links.internal_gbs": 4, "pe.pe_cpu.run_ahead": True}, store="memory:"
    )
    ends = sorted(op["t_end"] for op in run.tables["Op"].to_pylist() if op["name"] == "dma_read")
    assert ends[1] - ends[0] == pytest.approx(2048 / 4)


def test_a_column_of_a_saved_question_has_a_type_that_fits_all_its_values() -> None:
    assert [type_of("x", values) for values in ([1, None, 2], [1, 2.5], ["a"])] == ["int", "float", "string"]
    with pytest.raises(UsageError):
        type_of("x", [1, "a"])


def test_columns_of_an_instruments_rows_are_named_by_texts() -> None:
    class Odd(kb.Instrument):
        table = "odd"

        def rows(self) -> list[dict[Any, Any]]:
            return [{1: 2}]

    with pytest.raises(UsageError, match="not a mapping from columns to values"):
        kb.run("gemm-single-pe", "minimal", store="memory:", instruments=[Odd()])
