"""Questions about runs of the simulator itself, on every store, against the raw columns and exact sums."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.analysis.path.model_time import by_model
from kernbench.api.kept_runs import copy_runs
from kernbench.errors import UsageError
from kernbench.support.pgraph import QueryError
from kernbench.workloads.benches import list_all
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import (
    SIZES,
    Plan,
    examples,
    expected,
    parameters,
    planned,
    rows_asked,
)
from tests.conformance.question_oracle import ORACLES

STEPS_OF_CHAIN = "critical-path/steps"
SUMS = {f"critical-path/by-{column}": column for column in ("cause", "location", "kind", "line", "model")}
"""Questions that add up the steps of each value of a column."""
CHAINS = (STEPS_OF_CHAIN, *SUMS)
ALL_ROWS = 10**6
ALL = {
    name: {"limit": ALL_ROWS} if name.endswith(("steps", "location", "line", "model")) else {}
    for name in CHAINS
}
ALL_QUESTIONS = {"few": Plan(2, 2), "many": Plan(20, 2)}
"""So many runs, the shipped benches first, are asked other questions too, the rest their chains only."""
MANY = Plan(24, 2)
"""Each run is asked for its chain and for half of the sums over it."""
Rows = list[tuple[Any, ...]]
Genes = list[tuple[str, int]]
STEPS = st.lists(
    st.tuples(st.sampled_from(["load", "store", "dot", "add", "composite", "cycles"]), st.integers(1, 300)),
    max_size=6,
)
PROGRAMS = st.lists(st.tuples(STEPS, st.booleans()), min_size=1, max_size=2)


@dataclass(frozen=True)
class Simulated:
    """A run of the simulator, its record, and parameters for every question."""

    run: kb.Run
    record: RunRecord
    topology: TopologyRecord
    params: dict[str, dict[str, Any]]


def kernel_of(steps: Genes) -> Any:
    def kernel(a: Any, b: Any, out: Any, tl: Any) -> None:
        value, other = tl.load(a), tl.load(b)
        for step, n in steps:
            if step == "load":
                other = tl.load(b)
            elif step == "store":
                tl.store(out, value)
            elif step == "dot":
                value = tl.dot(value, other)
            elif step == "add":
                value = value + other
            elif step == "composite":
                tl.wait(tl.composite("gemm", a, b, out, tile_shape=((8, 8, 8), (16, 16, 16))[n % 2]))
            else:
                tl.cycles(n)

    return kernel


def bench_of(programs: list[tuple[Genes, bool]]) -> Any:
    def bench(torch: Any) -> None:
        data = np.ones((16, 16), dtype=np.float16)
        a, b, out = torch.from_numpy(data), torch.from_numpy(data), torch.zeros(16, 16, dtype="f16")
        for steps, waits in programs:
            handle = torch.launch("k", kernel_of(steps), a, b, out)
            handle.model_nodes, handle.model_line = ("gelu", "model.py:7") if waits else ("", "")
            if waits:
                handle.wait()

    return bench


NEEDS_TWO_PES = "pe2pe"


@cache
def simulated(count: int) -> tuple[GraphStore, list[Simulated]]:
    """The shipped benches, then generated kernels, all on the smallest machine; the store that has them."""
    machine, store = kb.load_topology("minimal"), kb.open_store("memory:")
    benches = [spec.name for spec in list_all() if spec.name != NEEDS_TWO_PES]

    generated = iter(examples(PROGRAMS, count))
    cases = []
    for number in range(count):
        bench = benches[number] if number < len(benches) else bench_of(next(generated))
        run = kb.run(bench, machine, store=store)
        record, topology = store.load(run.id), store.load_topology(run.info["topology_id"])
        # The first example is the simplest there is: parameters that select nothing.
        params = examples(parameters_for(run, record, topology), 2, number)[-1]
        cases.append(Simulated(run, record, topology, params))
    return store, cases


@st.composite
def parameters_for(
    draw: st.DrawFn, run: kb.Run, record: RunRecord, topology: TopologyRecord
) -> dict[str, dict[str, Any]]:
    params = {name: parameters(draw, name, record, topology) for name in ORACLES}
    for given in params.values():
        given |= {"limit": ALL_ROWS} if "limit" in given else {}
    launch = draw(st.sampled_from(["run", "all", "setup", *map(str, range(len(run.launches)))]))
    return params | {name: {"launch": launch, **ALL[name]} for name in CHAINS}


@pytest.mark.parametrize("size", SIZES)
def test_answers_about_simulated_runs(new_store: NewStore, size: str) -> None:
    asked: Counter[str] = Counter()
    with new_store() as store:
        plan, others = MANY if size == "many" else planned(size, store), ALL_QUESTIONS[size]
        source, cases = simulated(plan.runs)
        copy_runs([case.run.id for case in cases], source, store)
        for number, case in enumerate(cases):
            names = [
                name for at, name in enumerate(ORACLES) if number < others.runs and others.asks(number, at)
            ]
            expected(store, case.run.id, names)
            for name in names:
                rows = rows_asked(name, case.run.id, store, case.params[name])
                same(rows, ORACLES[name](case.record, case.topology, case.params[name]), name)
                asked[name] += 1
            sums = [name for at, name in enumerate(SUMS) if plan.asks(number, at)]
            chain = [STEPS_OF_CHAIN, *sums]
            check_chain(
                case, {name: kb.ask(name, case.run.id, store, case.params[name]).dicts() for name in chain}
            )
            asked.update(chain)
            if plan.asks(number, len(SUMS)):
                check_way(case, store)
    assert asked[STEPS_OF_CHAIN] == len(cases) >= {"few": 2, "many": 24}[size]
    assert min(asked[name] for name in SUMS) >= plan.times
    assert min(asked[name] for name in ORACLES) >= others.times >= {"few": 1, "many": 10}[size]


def same(rows: Rows, expected: Rows, name: str) -> None:
    """The same rows, whatever their order, up to rounding: sums of any floats depend on their order."""

    def parted(row: tuple[Any, ...]) -> tuple[list[Any], list[float]]:
        exact = [value for value in row if not isinstance(value, float)]
        return exact, [float(value) for value in row if isinstance(value, float)]

    assert len(rows) == len(expected), name
    for one, other in zip(sorted(map(parted, rows)), sorted(map(parted, expected)), strict=True):
        assert one[0] == other[0], name
        assert one[1] == pytest.approx(other[1], rel=1e-9, abs=1e-6), name


def check_chain(case: Simulated, answers: Mapping[str, list[dict[str, Any]]]) -> None:
    """Steps abut and fill the run's time, and all sums over them are exact but for one rounding."""
    launch = case.params["critical-path/steps"]["launch"]
    window = case.run.window(launch)
    total = sum((Fraction(end) - Fraction(begin) for begin, end in window.spans), Fraction(0))
    kinds = {
        row["name"]: row["kind"] for n in ("Link", "Component") for row in case.topology.tables[n].to_pylist()
    }
    steps = answers["critical-path/steps"]
    path = case.run.critical_path(launch)
    shown = [(s["t_start"], s["t_end"], s["ns"], s["cause"], s["location"], s["activity"], s["line"])
             for s in steps]  # fmt: skip
    assert shown == [(s.t_start, s.t_end, s.ns, s.cause, s.location, s.activity, s.line) for s in path.steps]
    assert [s["seq"] for s in steps] == list(range(1, len(steps) + 1))
    edges = [0.0, *(edge for span in window.spans for edge in span), case.run.sim_ns]
    assert (steps[0]["t_start"], steps[-1]["t_end"]) == (edges[1], edges[-2])
    gaps = [(a["t_end"], b["t_start"]) for a, b in itertools.pairwise(steps) if a["t_end"] != b["t_start"]]
    assert gaps == [(a, b) for (_, a), (b, _) in itertools.pairwise(window.spans)]
    assert all(s["kind"] == kinds[s["location"]] for s in steps)
    assert sum(length(s) for s in steps) == total
    for name in (name for name in SUMS if name in answers):
        by = SUMS[name]
        if by == "model":
            check_model(answers[name], by_model(path, case.run.launches))
            continue
        groups: dict[str, list[dict[str, Any]]] = {}
        for step in steps:
            groups.setdefault(step[by], []).append(step)
        for row in answers[name]:
            of = groups.pop(row[by])
            exact = float(sum(length(s) for s in of))
            assert math.isclose(row["ns"], exact, rel_tol=1e-12)  # each length is a difference of two floats
            assert row["steps"] == len(of)
            assert row["share"] == pytest.approx(exact / float(total))
            if by == "kind":
                assert row["locations"] == len({s["location"] for s in of})
            else:
                assert row["longest_ns"] == max(s["ns"] for s in of)
        assert not groups
        added = sum(row["ns"] for row in answers[name])
        assert math.isclose(added, float(total), rel_tol=1e-12)
        order = [-math.floor(row["ns"] * 1e6 + 0.5) for row in answers[name]]
        assert order == sorted(order)


def check_model(rows: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(rows) == len(expected)
    for row, own in zip(rows, expected, strict=True):
        assert row | {"ns": 0, "share": 0} == own | {"ns": 0, "share": 0}
        assert [row["ns"], row["share"]] == pytest.approx([own["ns"], own["share"]])


def length(step: Mapping[str, Any]) -> Fraction:
    return Fraction(step["t_end"]) - Fraction(step["t_start"])


def check_way(case: Simulated, store: GraphStore) -> None:
    """The first read of each pair of ends took the route that the library names."""
    seen = set()
    for sent in case.record.tables["Transaction"].to_pylist():
        pair = (sent["src"], sent["dst"])
        if sent["kind"] != "dma_read" or pair in seen or len(seen) == 2:
            continue
        seen.add(pair)
        ends = {"src": pair[0], "dst": pair[1]}
        way = kb.ask("routing/path", case.run.id, store, ends).dicts()
        went = kb.ask("routing/taken", case.run.id, store, {**ends, "kind": "dma_read"}).dicts()
        wires = [row["location"] for row in went if "->" in row["location"]]
        assert wires[: len(way)] == [row["link"] for row in way]


def test_what_a_chain_cannot_be_asked(store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", kb.load_topology("minimal"), store=store)
    for launch, message in ((7, "no launch 7"), (-2, "no launch -2"), ("some", "launch 'some' is not known")):
        with pytest.raises((UsageError, QueryError), match=message):
            kb.ask("critical-path/steps", run.id, store, {"launch": launch})
    store.keep(RunRecord({"bench": "none", "id": "empty"}, {}), store.load_topology(run.info["topology_id"]))
    with pytest.raises(UsageError, match="no trace"):
        kb.ask("critical-path/by-cause", "empty", store)
    steps = kb.ask("critical-path/steps", run.id, store).dicts()
    queued = [step for step in steps if step["cause"] == "queue" and step["ns"] >= 2.0][:3]
    few = {"cause": "queue", "min_ns": 2.0, "limit": 3}
    assert kb.ask("critical-path/steps", run.id, store, few).dicts() == queued
    kind = steps[0]["kind"]
    rows = kb.ask("critical-path/by-location", run.id, store, {"kind": kind, "limit": ALL_ROWS}).dicts()
    assert {row["location"] for row in rows} == {step["location"] for step in steps if step["kind"] == kind}
    store.remove(run.id)


def test_a_run_kept_anew_under_an_old_id_has_a_chain_of_its_own(store: GraphStore) -> None:
    topology = kb.load_topology("minimal")
    with kb.open_store("memory:") as source:
        one, two = (kb.run("gemm-single-pe", topology, store=source, params={"m": m}) for m in (16, 64))
        machine, found = source.load_topology(one.info["topology_id"]), []
        for run in (one, two):
            record = source.load(run.id)
            store.keep(RunRecord({**record.info, "id": "same"}, record.tables), machine)
            rows = kb.ask("critical-path/by-cause", "same", store, launch="run").dicts()
            found.append(sum(row["ns"] for row in rows))
            store.remove("same")
    assert found == [pytest.approx(one.sim_ns), pytest.approx(two.sim_ns)]
