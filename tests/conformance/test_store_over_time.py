"""Questions about stretches of a window and about PEs, on every store, over simulated runs."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.api.kept_runs import copy_runs
from kernbench.errors import UsageError
from tests.conformance import over_time_oracle as oracle
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import SIZES, planned
from tests.conformance.test_store_simulated import ALL_ROWS, MANY, Simulated, same, simulated

OVER_TIME = (
    "bottleneck/saturation",
    "bottleneck/hot-spots",
    "bottleneck/bandwidth-over-time",
    "bottleneck/seam-senders",
    "routing/routes-taken",
    "kernel/pe-time",
    "kernel/tcm-held",
)
WINDOWS = ("run", "all", "0", "setup")
INTERVALS = (4, 1, 7)
ALL_WINDOWS = len(WINDOWS) * len(INTERVALS)
"""Runs for the slow size, on every store: one for each window in each number of intervals."""


@pytest.mark.parametrize("size", SIZES)
def test_answers_are_those_of_the_trace(new_store: NewStore, size: str) -> None:
    found: Counter[str] = Counter()
    with new_store() as store:
        source, cases = simulated(planned(size, store).runs if size == "few" else MANY.runs)
        cases = cases[: ALL_WINDOWS if size == "many" else len(WINDOWS)]
        copy_runs([case.run.id for case in cases], source, store)
        for number, case in enumerate(cases):
            launch = WINDOWS[number % len(WINDOWS)] if case.run.launches else "run"
            answers = Answers(case, store, launch, INTERVALS[number % len(INTERVALS)])
            for name in OVER_TIME:
                found[name] += getattr(answers, name.partition("/")[2].replace("-", "_"))()
    assert min(found[name] for name in OVER_TIME) >= len(cases) // 2, found


class Answers:
    """Checks the questions of one run; each method returns how many rows it has seen."""

    def __init__(self, case: Simulated, store: GraphStore, launch: str, intervals: int) -> None:
        self.case, self.store, self.launch, self.intervals = case, store, launch, intervals
        self.spans: oracle.Spans = tuple(case.run.window(launch).spans)
        self.busy = oracle.Busy(case.record, self.spans)

    def asked(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        return kb.ask(name, self.case.run.id, self.store, {"launch": self.launch, **params}).rows

    def shares(self) -> dict[tuple[float, str], float]:
        """Utilisation by begin of the stretch and resource, of all that was busy but parts of others."""
        return {
            (low, name): share
            for low, high in oracle.stretches(self.spans, self.intervals)
            for name, use in self.busy.used.items()
            if use["kind"] not in oracle.PARTS and (share := self.busy.share(name, low, high)) > 0
        }

    def saturation(self) -> int:
        shares = self.shares()
        distinct = sorted({round(share, 6) for share in shares.values()})
        least = (distinct[len(distinct) // 2] + distinct[len(distinct) // 2 - 1]) / 2 if distinct[1:] else 0.5
        rows = self.asked("bottleneck/saturation", intervals=self.intervals, least=least, limit=ALL_ROWS)
        expected = {key: share for key, share in shares.items() if share >= least}
        begins = [low for low, _ in oracle.stretches(self.spans, self.intervals)]
        assert len(rows) == len(expected)
        for low, high, name, kind, share, busy_ns in rows:
            begin = min(begins, key=lambda at: abs(at - low))
            assert share == pytest.approx(expected.pop((begin, name)), rel=1e-9, abs=1e-9)
            assert kind == self.busy.used[name]["kind"]
            length = oracle.within(low, high, self.spans, low, high)
            assert busy_ns == pytest.approx(share * length, rel=1e-9, abs=1e-6)
        order = [round(-row[4], 9) for row in rows]
        assert all(a <= b + 2e-9 for a, b in itertools.pairwise(order))
        return len(rows)

    def hot_spots(self) -> int:
        shares, rows = self.shares(), self.asked("bottleneck/hot-spots", intervals=self.intervals, top=2)
        by_stretch: dict[float, dict[str, float]] = {}
        for (low, name), share in shares.items():
            by_stretch.setdefault(low, {})[name] = share
        assert len(rows) == sum(min(2, len(of)) for of in by_stretch.values())
        for low, _, rank, name, _, share, _ in rows:
            of = by_stretch[min(by_stretch, key=lambda at: abs(at - low))]
            assert share == pytest.approx(of[name], rel=1e-9, abs=1e-9)
            assert share == pytest.approx(sorted(of.values())[-rank], rel=1e-8, abs=2e-9)
        return len(rows)

    def bandwidth_over_time(self) -> int:
        rows = self.asked("bottleneck/bandwidth-over-time", intervals=self.intervals)
        expected = oracle.bandwidth(self.busy, self.case.topology, self.intervals)
        begins = sorted({low for low, _ in expected})
        assert len(rows) == len(expected)
        for low, high, kind, links, nbytes, achieved, peak, share in rows:
            begin = min(begins, key=lambda at: abs(at - low))
            count, moved, most = expected[begin, kind]
            assert (links, peak) == (count, pytest.approx(most))
            assert nbytes == pytest.approx(moved, abs=0.51)
            length = oracle.within(low, high, self.spans, low, high)
            assert achieved == pytest.approx(moved / length, rel=1e-6)
            assert share == pytest.approx(achieved / peak)
        return len(rows)

    def seam_senders(self) -> int:
        crossed = sorted(
            {row["resource"] for row in self.case.record.tables["Hop"].to_pylist() if "->" in row["resource"]}
        )
        link = crossed[len(crossed) // 2]
        rows = self.asked("bottleneck/seam-senders", link=link, limit=ALL_ROWS)
        same(
            rows, oracle.seam_senders(self.case.record, self.case.topology, self.spans, link), "seam-senders"
        )
        return len(rows)

    def routes_taken(self) -> int:
        rows = self.asked("routing/routes-taken", limit=ALL_ROWS)
        same(rows, oracle.routes_taken(self.case.record, self.spans), "routes-taken")
        order = [(-row[5], -row[6]) for row in rows]
        assert order == sorted(order)
        return len(rows)

    def pe_time(self) -> int:
        rows = self.asked("kernel/pe-time", limit=ALL_ROWS)
        same(rows, oracle.pe_time(self.case.record, self.case.topology, self.spans), "pe-time")
        return len(rows)

    def tcm_held(self) -> int:
        rows = self.asked("kernel/tcm-held", intervals=self.intervals)
        begin, end = self.spans[0][0], self.spans[-1][1]
        of = oracle.held(self.case.record)
        there = {
            tcm for tcm, values in of.items() if any(a < end and b > begin and b > a for a, b, _ in values)
        }
        assert bool(rows) == bool(there)
        if not rows:
            return 0
        (name,) = {row[0] for row in rows}
        record, topology = self.case.record, self.case.topology
        same(rows, oracle.tcm_held(record, topology, self.spans, self.intervals, name), "tcm-held")
        most = {
            tcm: max(row[3] for row in oracle.tcm_held(record, topology, self.spans, 1, tcm)) for tcm in there
        }
        assert most[name] == max(most.values())
        return len(rows)


@pytest.mark.slow
def test_the_busiest_seam_is_the_one_that_is_asked_about(store: GraphStore) -> None:
    run = kb.run("pe2pe", kb.load_topology("default"), store=store, params={"path": "next-cube"}, check=False)
    (first, *_) = kb.ask("ucie-seams", run.id, store).dicts()
    rows = kb.ask("seam-senders", run.id, store).dicts()
    sides = ("from_sip", "from_cube", "to_sip", "to_cube")
    assert {tuple(row[side] for side in sides) for row in rows} == {tuple(first[side] for side in sides)}
    assert sum(row["bytes"] for row in rows) == first["bytes"]


def test_too_many_stretches_are_refused(store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", kb.load_topology("minimal"), store=store, check=False)
    for name in ("saturation", "hot-spots", "bandwidth-over-time", "tcm-held"):
        with pytest.raises(UsageError, match="1001 intervals are more than 1000; choose a shorter window"):
            kb.ask(name, run.id, store, {"intervals": 1001})
        assert len(kb.ask(name, run.id, store, {"intervals": 1000}).rows) <= 20_000
