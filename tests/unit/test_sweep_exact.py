"""Sweeps and tunings of benches with periods that are alike, estimated and exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.configuration import differences
from kernbench.api.kept_runs import listed
from kernbench.api.sweeps.evaluation_gate import key_of
from kernbench.api.sweeps.file import read_sweep
from kernbench.errors import ConfigError


@kb.autotune(configs=[{"N": n} for n in (300, 200)], key=["x"])
def add(x: Any, out: Any, N: int, tl: Any) -> None:
    tl.cycles(N)
    tl.store(out, tl.load(x))


def layers(again: Callable[[Any], Any]) -> Callable[[Any], None]:
    def bench(torch: Any) -> None:
        x, out = (torch.zeros(2, 4) for _ in range(2))
        for _ in again(torch):
            torch.launch("add", add, x, out)

    return bench


REPEATED, PLAIN = layers(lambda torch: torch.repeat(8)), layers(lambda torch: range(8))


def swept(bench: Callable[[Any], None], store: kb.GraphStore, exact: bool) -> kb.SweepPoint:
    (point,) = kb.sweep(bench, "minimal", store=store, exact=exact).points
    return point


def test_an_estimate_is_not_taken_for_an_exact_point_nor_the_other_way_round() -> None:
    with kb.open_store("memory:") as store:
        first = [swept(REPEATED, store, exact) for exact in (False, True)]
        again = [swept(REPEATED, store, exact) for exact in (False, True)]
        assert [point.run_id for point in first] == [point.run_id for point in again]
        assert [(len(run.launches), "repeats" in run.info) for run in kb.runs(store)] == [
            (3, True),
            (8, False),
        ]


def test_a_sweep_says_which_points_are_estimates() -> None:
    with kb.open_store("memory:") as store:
        for _ in range(2):  # the second time from the store
            found = kb.sweep(REPEATED, "minimal", store=store)
            assert [point.as_dict()["estimated"] for point in found.points] == [True]
            assert "estimated, because ranks or periods are alike: 1 of 1 points" in found.note
        exact = kb.sweep(REPEATED, "minimal", store=store, exact=True)
        assert ([point.estimated for point in exact.points], exact.note) == ([False], "")


@pytest.mark.parametrize(("said", "exact"), [("true", True), ("false", False)])
def test_a_file_says_exact_as_the_argument_does(said: str, exact: bool, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(f"exact: {said}\n", encoding="utf-8")
    with kb.open_store("memory:") as store:
        (point,) = kb.sweep(REPEATED, "minimal", store=store, file=file).points
        assert (point.estimated, point.run_id) == (not exact, swept(REPEATED, store, exact).run_id)
        assert swept(REPEATED, store, exact=not exact).run_id != point.run_id
        both = kb.sweep(REPEATED, "minimal", store=store, file=file, exact=True)
        assert not both.points[0].estimated


@pytest.mark.parametrize("said", ["maybe", "2", "[true]", "null"])
def test_a_file_says_exact_or_not_and_nothing_else(said: str, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(f"bench: x\nexact: {said}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"s\.yaml:2: exact: .*expected"):
        read_sweep(file)


def test_a_point_that_cannot_start_has_the_values_that_the_others_have() -> None:
    """Only what differs is swept: ``kv`` is the same number at both points."""
    params = {"model": "small,no-such", "kv": "8"}
    found = kb.sweep("llama-decoder", "minimal", params=params, store="memory:")
    assert (found.swept, [point.params["kv"] for point in found.points]) == (["model"], [8, 8])


def test_a_point_in_which_nothing_is_alike_is_exact_already() -> None:
    with kb.open_store("memory:") as store:
        assert len({swept(PLAIN, store, exact).run_id for exact in (False, True)}) == 1


def test_exact_runs_are_of_another_configuration_and_say_so() -> None:
    with kb.open_store("memory:") as store:
        for exact in (False, True):
            swept(REPEATED, store, exact)
        estimate, exact_run = kb.runs(store)
        assert differences(estimate.properties, exact_run.properties, store) == [
            {"what": "exact", "key": "exact", "before": None, "after": True}
        ]
        assert [row["changed"] for row in listed(store=store)] == [None, ["exact=True"]]
        asked = {"before": estimate.id, "after": exact_run.id}
        rows = kb.ask("history/configured-differently", store=store, params=asked).rows
        assert rows == [("exact", "exact", "", "true")]
        assert key_of(estimate) != key_of(exact_run)


def test_launches_of_periods_that_were_not_simulated_count_in_a_tuning() -> None:
    """Within what the run says of its estimate: launches of an exact run do not wait for the last period."""
    with kb.open_store("memory:") as store:
        estimates = kb.tune(REPEATED, "minimal", store=store).points
        bars = [kb.open_run(point.run_id, store).properties["repeats"][0] for point in estimates]
        exact = kb.tune(REPEATED, "minimal", store=store, exact=True).points
    for estimate, whole, one in zip(estimates, exact, bars, strict=True):
        assert estimate.latency_ns is not None
        assert whole.latency_ns is not None
        assert 1 <= estimate.latency_ns / whole.latency_ns <= one["period_ns"] / one["least_ns"]
        assert estimate.latency_ns == pytest.approx((one["simulated"] + one["times"]) * one["period_ns"])
