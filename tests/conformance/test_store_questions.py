"""Every question of the library, on every store, over generated runs, against numpy on the raw columns.

All runs are kept in one store, in lots, and then asked one by one, so that a leak from one to another shows.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.query.library import ask
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.advice_oracle import ADVICE
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import (
    LIBRARY,
    NAMES,
    SIZES,
    Case,
    expected,
    made_up,
    planned,
    rows_asked,
    same,
)
from tests.conformance.graph_records import sample
from tests.conformance.history_oracle import HISTORY
from tests.conformance.question_oracle import ORACLES
from tests.conformance.test_store_over_time import OVER_TIME
from tests.conformance.test_store_routes import ROUTES
from tests.conformance.test_store_simulated import CHAINS

LOTS = 4
"""After each of them the history is asked about."""
GROWN = 3
"""The graph of one run in so many grows from question to question; those of the others are made at once."""
OF_HISTORY = 3
"""It is asked about once for so many runs, at least: its graph is there."""
FURTHER = 200
"""Times that what had no rows is asked again, of drawn parameters that seldom fit."""


def test_every_question_is_checked() -> None:
    assert sorted([*ORACLES, *HISTORY, *ROUTES, *CHAINS, *OVER_TIME, *ADVICE]) == sorted(LIBRARY)


@pytest.mark.parametrize("size", SIZES)
def test_answers_are_those_of_the_raw_columns(new_store: NewStore, size: str) -> None:
    asked: dict[str, set[str]] = {name: set() for name in ORACLES}
    history = History()
    with new_store() as store:
        # In a folder a graph is made for each run that is asked about: of a third of them, the same times.
        every, share = (3, 1) if store.engines == ("neo4j",) else (2, 3)
        plan = planned(size, store, every=every, share=share)
        cases = made_up(plan.runs, tuple(ORACLES))
        for lot in np.array_split(np.arange(len(cases)), min(LOTS, len(cases))):
            for number in lot:
                store.keep(cases[number].run, cases[number].topology)
            for number in lot[::-1]:
                case = cases[number]
                run = case.run.info["id"]
                names = [name for at, name in enumerate(ORACLES) if plan.asks(int(number), at)]
                if names and number % GROWN:
                    expected(store, run, names)
                for name in names:
                    params = case.params[name]
                    rows = rows_asked(name, run, store, params)
                    wanted = ORACLES[name](case.run, case.topology, params)
                    assert same(rows, wanted), (name, run, params, rows, wanted)
                    asked[name].add(run)
            one_in = OF_HISTORY if size == "many" else plan.every
            history.check(store, cases[: lot[-1] + 1], -(-len(lot) // one_in))
        if size == "many":
            history.check(store, cases, FURTHER, until_found=True)
    assert set().union(*asked.values()) == {
        case.run.info["id"] for number, case in enumerate(cases) if plan.asked(number)
    }
    assert min(len(runs) for runs in asked.values()) >= plan.times
    assert min(history.asked[name] for name in HISTORY) >= plan.times
    if size == "many":
        assert len(cases) >= 60
        assert plan.times >= 10
        assert min(history.asked[name] for name in HISTORY) >= 20
        assert min(history.found[name] for name in HISTORY) >= 1


class History:
    """Asks about all runs, and counts the questions and those that have rows for an answer."""

    def __init__(self) -> None:
        self.asked, self.found, self.draw = Counter[str](), Counter[str](), random.Random(7)

    def check(self, store: GraphStore, cases: list[Case], times: int, until_found: bool = False) -> None:
        """Ask everything ``times`` times, or at most so often only what has had no rows as yet."""
        infos, draw = store.runs(), self.draw
        records = {str(case.run.info["id"]): case.run for case in cases}
        for _ in range(times):
            params = {
                "bench": draw.choice(["", "gemm", "gemm", "copy", 'it\'s "x"', "none"]),
                "topology": draw.choice(["", "", "", *NAMES]),
                "threshold": draw.choice([-1.0, 0.05, 0.5]),
                "limit": draw.choice([3, 1000]),
                "before": draw.choice(list(records)),
                "after": draw.choice(list(records)),
                "tag": draw.choice(["", "", "swept"]),
                "key": draw.choice(["m", "m", "n"]),
                "cheaper": draw.choice(["less", "more"]),
            }
            for name, oracle in HISTORY.items():
                if until_found and self.found[name]:
                    continue
                given = {key: params[key] for key in LIBRARY[name].params}
                rows = rows_asked(name, None, store, given)
                assert same(rows, oracle(infos, records, given)), (name, given)
                self.asked[name] += 1
                self.found[name] += bool(rows)


def test_history_lists_runs_newest_first(store: GraphStore) -> None:
    for day, bench in ((1, "gemm"), (3, "copy"), (2, "gemm")):
        store.keep(*sample(id=f"run{day}", bench=bench, started_at=f"2025-01-0{day}", tags=["x"], hops=12))
    rows = ask(store, LIBRARY["history/runs"]).rows
    assert [row[0] for row in rows] == ["run3", "run2", "run1"]
    assert rows[0] == ("run3", "copy", "small", "2025-01-03", "ok", 7.0, None, 0.0, "not asked", 12, '["x"]')
    assert [row[0] for row in ask(store, LIBRARY["history/runs"], bench="gemm", limit=1).rows] == ["run2"]


def test_waits_of_all_that_leave_in_one_interval_are_added_up(store: GraphStore) -> None:
    run, topology = sample()
    hops = run.tables["Hop"].drop_columns("wait_ns")
    waited = hops.append_column("wait_ns", pa.array([1.5] * hops.num_rows))  # each of two transactions
    store.keep(RunRecord(run.info, {**run.tables, "Hop": waited}), topology)
    (row,) = ask(store, LIBRARY["bottleneck/queue-depth"], resource="dma->r0").dicts()
    assert (row["present"], row["wait_ns"]) == (2, 3.0)


def test_a_run_is_named_or_the_last(store: GraphStore) -> None:
    for name, count in (("one", 2), ("two", 1)):
        run, topology = sample(id=name)
        kept = ("Use", "Launch", "Route", "Op")
        tables = {table: run.tables[table] for table in kept}
        tables["Transaction"] = run.tables["Transaction"].slice(0, count)
        store.keep(RunRecord(run.info, tables), topology)
    asked = [
        kb.ask("transactions-by-kind", run, store, {"launch": "run"}).rows[0][1]
        for run in (None, "last", "one", "last~1", "tw")
    ]
    assert asked == [1, 1, 2, 2, 1]


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        (
            "bottleneck/busiest-links",
            [
                (
                    {"limmit": 3},
                    r"unknown parameter 'limmit': .* takes launch: string = 'all', .* limit: int = 20",
                ),
                ({"limit": "three"}, "must be of type int"),
                ({"limit": "3; MATCH (n) DETACH DELETE n"}, "must be of type int"),
                ({"limit": 2.5}, "must be of type int"),
                ({"limit": True}, "must be of type int"),
                ({"limit": -1}, "must be of type int, 0 or more"),
                ({"limit": 2**63}, "must be of type int"),
                ({"kind": 3}, "must be of type string"),
                ({"kind": "router\0"}, "without the character 0"),
                ({"kind": "\ud800"}, "halves of characters"),
            ],
        ),
        (
            "contention/who-waited-for-whom",
            [
                ({"min_ns": value}, r"'min_ns' is .* but must be of type float")
                for value in ("nan", "inf", float("-inf"))
            ],
        ),
    ],
)
def test_parameters_are_typed(
    store: GraphStore, question: str, wrong: list[tuple[dict[str, Any], str]]
) -> None:
    store.keep(*sample())
    for params, message in wrong:
        with pytest.raises(QueryError, match=message):
            ask(store, LIBRARY[question], **params)


def test_a_missing_parameter_and_a_wrong_choice_are_explained(store: GraphStore) -> None:
    path = LIBRARY["routing/path"]
    with pytest.raises(QueryError, match=r"parameter 'dst' is missing: .* takes src: string, dst: string"):
        ask(store, path, src="a")
    with pytest.raises(QueryError, match=r"'traffic' is 'X', but must be one of \['PE_DMA'"):
        ask(store, path, src="a", dst="b", traffic="X")
