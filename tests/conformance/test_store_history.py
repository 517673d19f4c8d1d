"""Questions over many runs, on every store, against plain Python over the runs that were kept."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.questions import ask
from graph.store import RunRecord
from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import runs, topologies
from tests.conformance.test_store_questions import LIBRARY


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_history_is_that_of_the_runs(new_store: NewStore, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    kept: list[RunRecord] = []
    with new_store() as store:
        for number in range(data.draw(st.integers(2, 5))):
            run = data.draw(runs(topology))
            more = {
                "id": f"r{number}",
                "params": {"m": data.draw(st.integers(1, 2))},
                "status": data.draw(st.sampled_from(["ok", "ok", "failed"])),
                "verified": data.draw(st.sampled_from(["yes", "no", "not asked"])),
            }
            store.keep(RunRecord({**run.info, **more}, run.tables), topology)
            kept.append(run)
        infos = store.runs()
        for bench in ("gemm", "copy"):
            of = [info for info in infos if info["bench"] == bench and info["status"] == "ok"]
            fastest = min((info["sim_ns"] for info in of), default=0.0)
            assert ask(store, LIBRARY["history/bench-over-time"], bench=bench).rows == [
                (i["id"], i["started_at"], i["version"], i["topology_name"], i["params"], i["sim_ns"],
                 i["sim_ns"] / fastest if fastest > 0 else 1.0, i["tags"])
                for i in sorted(of, key=lambda i: (i["started_at"], i["id"]))
            ]  # fmt: skip
            groups: dict[tuple[str, str], list[float]] = {}
            for i in of:
                if i["verified"] != "no":
                    groups.setdefault((i["params"], i["topology_name"]), []).append(i["sim_ns"])
            assert ask(store, LIBRARY["history/best-of-sweep"], bench=bench).rows == sorted(
                ((*key, len(times), min(times)) for key, times in groups.items()),
                key=lambda row: (row[3], row[0], row[1]),
            )
        rows = ask(store, LIBRARY["history/slower-where"], before="r0", after="r1", limit=1000).rows
        assert rows == _slower(kept[0], kept[1])
        assert ask(store, LIBRARY["history/slower-where"], before="r0", after="r0").rows == []


def _slower(before: RunRecord, after: RunRecord) -> list[tuple[Any, ...]]:
    totals: dict[tuple[str, str], list[Any]] = {}
    for run, sign in ((before, -1), (after, 1)):
        for row in run.tables["Used"].to_pylist():
            total = totals.setdefault((row["resource"], row["kind"]), [0.0, 0.0, 0])
            for n, name in enumerate(("busy_ns", "wait_ns", "bytes")):
                total[n] += sign * row[name]
    found = [(*key, *total) for key, total in totals.items() if total[0] > 0 or total[1] > 0]
    return sorted(found, key=lambda row: (-(row[2] + row[3]), row[0]))
