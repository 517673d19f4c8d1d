"""Figures that evaluations work out themselves, by hand; and what moved from a baseline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.sweeps.evaluation_gate import baselines, compare_runs, key_of
from kernbench.errors import UsageError
from kernbench.workloads.probes.scenarios import scenarios
from tests.compiled import compiled
from tests.shipped_evaluations import evaluation_module

_gemm_pipeline, _ccl_theory, _gqa = map(
    evaluation_module, ("_gemm_pipeline", "_ccl_theory", "_gqa_attention")
)


def hardware(fill_ns: float = 10.0) -> Any:
    """Tiles of 32 x 64 x 32 in 16 ns, 4096 MACs a ns; a byte of DMA a hundredth of a ns, and a round trip."""
    cases = tuple(
        SimpleNamespace(
            predict=lambda _, nbytes: SimpleNamespace(ns=fill_ns + nbytes / 100, bottleneck_gbs=100.0)
        )
        for _ in range(2)
    )
    return _gemm_pipeline.Hardware((32, 64, 32), 16.0, 4096.0, 512.0, 256.0, cases, cast(Any, None))


def test_intervals_count_once_where_they_overlap() -> None:
    begin, end = np.array([5.0, 0.0, 1.0, 20.0]), np.array([8.0, 4.0, 3.0, 21.0])
    assert _gemm_pipeline.union_ns(begin, end) == 4.0 + 3.0 + 1.0
    assert _gemm_pipeline.union_ns(np.array([0.0, 1.0, 4.0]), np.array([10.0, 3.0, 5.0])) == 10.0
    assert _gemm_pipeline.union_ns(np.zeros(0), np.zeros(0)) == 0.0


def test_a_pipeline_without_gaps_by_hand() -> None:
    shape = (64, 128, 32)  # two tiles of two steps each
    a, b, c = 32 * 64 * 2, 64 * 32 * 2, 32 * 32 * 2
    fetch, load_a, load_b = (a + b) / 512, 10 + 64 * 128 * 2 / 100, 10 + 128 * 32 * 2 / 100
    slowest = max((a + b) / 100, fetch, 16.0, c / 100 * 2 / 4)
    drain = c / 256 + 10 + c / 100
    streamed = (10 + a / 100 + b / 100 + fetch) + 16 + 3 * slowest + drain
    found = _gemm_pipeline.ideal(shape, "ref_ref", "f16", hardware())
    assert found["ideal_window_ns"] == pytest.approx(streamed)
    assert found["ideal_mac_utilisation"] == pytest.approx(4 * 16 / streamed)
    assert found["ideal_mac_efficiency"] == pytest.approx(64 * 128 * 32 / 4096 / streamed)
    pinned = load_a + load_b + fetch + 16 + 3 * 16.0 + drain
    assert _gemm_pipeline.ideal(shape, "load_load", "f16", hardware())["ideal_window_ns"] == pytest.approx(
        pinned
    )


def test_stages_are_those_of_launches_and_pinned_loads_are_dma() -> None:
    columns = {
        "launch": [0, 0, 0, 0, -1],
        "t_start": [10.0, 0.0, 12.0, 14.0, 0.0], "t_end": [20.0, 4.0, 16.0, 18.0, 99.0],
        "name": ["composite_gemm", "dma_read", "dma_read", "gemm", "dma_read"],
        "stage": ["", "", "DMA_READ", "GEMM", "DMA_READ"], "parent": [-1, -1, 0, 0, -1],
    }  # fmt: skip
    run = SimpleNamespace(ops={name: np.array(values) for name, values in columns.items()})
    row = _gemm_pipeline.measure_stages(run, (32, 64, 32), hardware())
    assert (row["pe_window_ns"], row["composite_window_ns"]) == (20.0, 10.0)
    assert (row["dma_in_busy_ns"], row["dma_in_count"], row["gemm_busy_ns"]) == (8.0, 2, 4.0)
    assert row["mac_utilisation"] == pytest.approx(4 / 20)
    assert row["mac_efficiency"] == pytest.approx(16 / 20)


def test_shapes_below_a_tile() -> None:
    assert _gemm_pipeline.shape_of("32x128x64") == (32, 128, 64)
    assert _gemm_pipeline.under_tile((32, 63, 32), hardware())
    assert not _gemm_pipeline.under_tile((32, 64, 32), hardware())


def test_a_token_sees_no_key_after_its_own() -> None:
    assert _gqa.seen(4, 5, 2).astype(int).tolist() == [[1, 1, 1, 1, 0]] * 2 + [[1] * 5] * 2


def test_rows_lie_as_their_placement_has_them() -> None:
    by_head = np.arange(2 * 4).reshape(2, 4, 1)
    on_pes, on_cubes = _gqa.Layout(True, 2, 2), _gqa.Layout(False, 2, 2)
    assert on_pes.rows(by_head).ravel().tolist() == list(range(8))
    assert on_cubes.rows(by_head).ravel().tolist() == [0, 1, 4, 5, 2, 3, 6, 7]
    assert on_cubes.rows(by_head, copies=True).ravel().tolist() == list(range(8))
    assert (on_pes.axis, on_cubes.axis) == (0, 1)


def test_keys_go_round_in_blocks_that_fit() -> None:
    assert _gqa._widths(64, 8, 16, alone=False, scratch=1 << 20) == [64, 32, 16, 8, 4, 2, 1]
    always, block = 18 * 8 * 16 + 32 * 8, 2 * 16 + 0
    need = always + 6 * block * 16 + 5 * 4 * 8 * 16 + 2 * 4 * 16
    assert _gqa._widths(64, 8, 16, alone=False, scratch=need)[0] == 16
    assert _gqa._widths(64, 8, 16, alone=False, scratch=need - 1)[0] == 8
    assert _gqa._widths(64, 8, 16, alone=False, scratch=0) == [1]


def test_the_line_of_theory_counts_whole_packets() -> None:
    line = _ccl_theory.theory()["line"]
    one, size = line["packet_ns"], line["packet_bytes"]
    found = [_ccl_theory.line_ns(nbytes) - line["latency_ns"] for nbytes in (1, size, size + 1)]
    assert found == pytest.approx([one, one, 2 * one])


def test_scenarios_of_dma_are_those_that_a_machine_has_room_for() -> None:
    small = {name for name, *_ in scenarios(compiled("minimal"), 1024)}
    assert small == {"h2d-1hop", "d2h-1hop", "pe-local-hbm"}
    found = {(name, op): flows for name, op, flows, _ in scenarios(compiled("default"), 1024)}
    assert {op for _, op in found} == {"read", "write"}
    assert [flow["offset"] for flow in found["hot target, 3 PEs", "read"]] == [0, 1024, 2048]
    assert len({flow["dst"] for flow in found["hot target, 3 PEs", "read"]}) == 1
    assert found["h2d-4hop", "write"][0]["src"] == "host"
    assert found["pe-cross-sip-hbm-best", "write"][0]["dst"].startswith("sip1.")
    assert len({flow["dst"] for flow in found["128 PEs, all local", "read"]}) == 128


def run_of(ns: float, name: str, tags: tuple[str, ...] = (), m: int = 1) -> kb.Run:
    made = SimpleNamespace(
        bench="b", params={"m": m}, topology="t", properties={"again": {}}, time_ns=ns,
        id=name, tags=list(tags),
    )  # fmt: skip
    return cast(kb.Run, made)


def test_what_moved_from_a_baseline() -> None:
    before = {
        key_of(one): one for one in (run_of(100.0, "a"), run_of(50.0, "g", m=4), run_of(100.0, "s", m=5))
    }
    rows = compare_runs(
        [run_of(104.0, "n", m=1), run_of(7.0, "new", m=2), run_of(120.0, "slow", m=5)], before, 0.05
    )
    assert {row["params"]["m"]: (row["moved"], row["before"], row["after"]) for row in rows} == {
        1: ("", "a", "n"), 2: ("new", "", "new"), 4: ("gone", "g", ""), 5: ("slower", "s", "slow"),
    }  # fmt: skip
    assert rows[-1]["params"] == {"m": 1}  # what did not move comes last
    faster = compare_runs([run_of(90.0, "f", m=1)], {key_of(run_of(1.0, "")): run_of(100.0, "a")}, 0.05)
    assert [(row["moved"], row["change"]) for row in faster] == [("faster", pytest.approx(-0.1))]
    same = compare_runs([run_of(100.0 + 1e-9, "x")], {key_of(run_of(1.0, "")): run_of(100.0, "a")}, 0.0)
    assert same[0]["moved"] == ""
    assert compare_runs([run_of(0.0, "x")], {}, 0.05)[0]["after_ns"] == 0.0


def test_a_baseline_is_of_the_same_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [
        run_of(1.0, "a", ("base", "evaluate-x")),
        run_of(2.0, "b", ("base",), m=2),
        run_of(3.0, "c", ("evaluate-x",), m=3),
    ]
    monkeypatch.setattr("kernbench.api.sweeps.evaluation_gate.all_runs", lambda _, project: kept)
    assert [run.id for run in baselines("base", cast(Any, None), ["evaluate-x"]).values()] == ["a"]
    with pytest.raises(UsageError, match="no run of this evaluation has the tag 'other'"):
        baselines("other", cast(Any, None), ["evaluate-x"])
