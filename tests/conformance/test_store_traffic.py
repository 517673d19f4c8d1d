"""Questions about traffic: parts of the machine as sets, and windows that add up to the run."""

from __future__ import annotations

from typing import Any

import pytest
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.errors import UsageError
from tests.conformance.generated_runs import LIBRARY
from tests.conformance.graph_records import sample, table
from tests.conformance.question_oracle import ORACLES

ADDITIVE = {
    "contention/cube-by-cube": "wait_ns",
    "contention/directly-follows": "times",
    "kernel/operations-in-sequence": "times",
    "bottleneck/tail-latency": "transactions",
    "bottleneck/bytes-by-distance": "bytes",
}
"""Questions, and a column whose sum over the launches and the time outside of them is that of the run."""


@pytest.fixture
def asked(store: GraphStore) -> tuple[kb.Run, GraphStore]:
    return kb.run("gemm-single-pe", kb.load_topology("minimal"), store=store), store


def test_windows_add_up_to_the_run(asked: tuple[kb.Run, GraphStore]) -> None:
    run, store = asked
    for name, column in ADDITIVE.items():
        rows = {
            launch: kb.ask(name, run.id, store, launch=launch).dicts() for launch in ("all", "setup", "run")
        }
        total = {launch: sum(row[column] for row in found) for launch, found in rows.items()}
        assert total["run"] == pytest.approx(total["all"] + total["setup"]), name
    under_way = [
        sum(row["mean_outstanding"] * row["window_ns"] for row in rows)
        for rows in (
            kb.ask("outstanding", run.id, store, launch=launch).dicts() for launch in ("all", "setup", "run")
        )
    ]
    assert min(under_way) > 0.0
    assert under_way[2] == pytest.approx(under_way[0] + under_way[1])


def test_a_cut_between_parts_of_the_machine(asked: tuple[kb.Run, GraphStore]) -> None:
    run, store = asked

    def cut(**params: Any) -> list[dict[str, Any]]:
        return kb.ask("bandwidth-over-a-cut", run.id, store, {"launch": "run", **params}).dicts()

    links = store.load_topology(run.info["topology_id"]).tables["Link"].to_pylist()
    pe = "sip0.cube0.pe0."
    edge = [link for link in links if link["src"].startswith(pe) != link["dst"].startswith(pe)]
    rows = cut(src=pe[:-1])
    assert sum(row["links"] for row in rows) == len(edge)
    assert sum(row["peak_gbs"] for row in rows) == sum(link["bw_gbs"] for link in edge)
    assert {row["direction"] for row in rows} == {"out", "back"}
    assert all(row["straight"] for row in rows)
    memory = cut(src=pe[:-1], dst="sip0.cube0.hbm_ctrl.pe0")
    assert sum(row["links"] for row in memory) == len(edge)
    assert not any(row["straight"] for row in memory)
    with pytest.raises(UsageError, match=r"'sip0\.cube0' and 'sip0' share components"):
        cut(src="sip0.cube0", dst="sip0")
    with pytest.raises(UsageError, match="no link leads out of 'tray'"):
        cut(src="tray")


WAITS = [(2, 0, 80.75, 850.25), (1, 3, 692.25, 57.25), (0, 3, 0.0, 29.75), (1, 3, 0.0, 74.0),
         (0, 3, 718.25, 97.5), (2, 0, 58.5, 0.75), (1, 1, 32.0, 31.25), (0, 2, 292.75, 271.0)]  # fmt: skip
"""Who waited for whom, for how long, and since when."""
ABOUT_WAITS = ("cube-by-cube", "costly-pairs", "small-behind-large", "who-waited-for-whom")


def test_waits_without_length_and_of_other_times_are_left_out(store: GraphStore) -> None:
    """LadybugDB 0.22 loses a condition on a relationship where a text goes on from both of its ends."""
    run, topology = sample(id="one", sim_ns=1000.0)
    first = run.tables["Transaction"].to_pylist()[0]
    sent = [{**first, "number": n, "caused_by": -1, "bytes": 64 << n, "op": -1} for n in range(4)]
    known = run.tables["WaitedFor"].to_pylist()[0]
    waits = [
        {**known, "txn": a, "holder": b, "seq": n, "ns": ns, "t_from": begun, "t_to": begun + ns}
        for n, (a, b, ns, begun) in enumerate(WAITS)
    ]
    tables = {
        **run.tables,
        "Transaction": table("Transaction", sent),
        "WaitedFor": table("WaitedFor", waits),
        "Hop": run.tables["Hop"].slice(0, 0),
        "Awaited": run.tables["Awaited"].slice(0, 0),
    }
    store.keep(RunRecord(run.info, tables), topology)
    begun = [wait for wait in waits if wait["t_from"] < 152.0]
    within = RunRecord(run.info, {**tables, "WaitedFor": table("WaitedFor", begun)})
    for name in ABOUT_WAITS:
        question = LIBRARY[f"contention/{name}"]
        given = {key: param.default for key, param in question.params.items()}
        given |= {"launch": "run", "to_ns": 152.0, "limit": 50}
        rows = kb.ask(question.name, "one", store, given).rows
        assert rows == ORACLES[question.name](within, topology, given), name
