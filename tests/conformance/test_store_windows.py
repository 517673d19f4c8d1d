"""Questions about the use of resources within windows, on every store, against what the trace says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.api.kept_runs import copy_runs
from kernbench.errors import UsageError
from kernbench.support.pgraph import QueryError
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import planned
from tests.conformance.graph_records import sample
from tests.conformance.test_store_simulated import ALL_ROWS, simulated
from tests.window_sums import check_windows_add_up

MEASURES = ("utilisation", "occupancy", "busy_ns", "bytes", "transactions", "wait_ns", "max_queue")


def windows(run: kb.Run) -> list[dict[str, Any]]:
    """The kept windows of a run, and stretches of time cut out of some of them."""
    kept: list[dict[str, Any]] = [{"launch": name} for name in ("run", "all", "setup")]
    if not run.launches:
        return [*kept[:2], {"launch": "run", "from_ns": run.sim_ns / 4, "to_ns": run.sim_ns / 2}]
    start, end = (float(run.launches[-1][name]) for name in ("t_start", "t_done"))
    middle, last = (start + end) / 2, {"launch": str(len(run.launches) - 1)}
    cut = {"from_ns": middle / 2, "to_ns": middle}
    return [
        *kept,
        last,
        {**last, "from_ns": middle},
        {"launch": "run", **cut},
        {"launch": "setup", "to_ns": middle},
    ]


def check(run: kb.Run, store: GraphStore, window: dict[str, Any]) -> int:
    """Both questions about the busiest have exactly the resources that were used, with what was measured."""
    try:
        used = run.use(**window)
    except UsageError:  # there is nothing in that window
        return 0
    rows = {}
    for name in ("busiest-links", "busiest-engines"):
        result = kb.ask(name, run.id, store, {"limit": ALL_ROWS}, **window)
        places = [result.columns.index(measure) for measure in MEASURES]
        rows |= {row[0]: [row[place] for place in places] for row in result.rows}
        order = [round(row[places[0]], 9) for row in result.rows]
        assert order == sorted(order, reverse=True)
    there = np.flatnonzero((used["transactions"] > 0) & (used["kind"] != "pseudo_channel"))
    assert sorted(rows) == sorted(used["resource"][there])
    for at in there:
        expected = [float(used[measure][at]) for measure in MEASURES]
        assert rows[used["resource"][at]] == pytest.approx(expected, rel=1e-9, abs=1e-9), window
    return len(rows)


def test_use_is_that_of_the_trace_in_every_window(new_store: NewStore) -> None:
    with new_store() as store:
        source, cases = simulated(planned("few", store).runs)
        copy_runs([case.run.id for case in cases], source, store)
        found = [check(case.run, store, window) for case in cases for window in windows(case.run)]
    assert sum(count > 0 for count in found) > len(cases) * 3


@pytest.mark.parametrize("count", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_windows_of_generated_runs_add_up(count: int) -> None:
    for case in simulated(count)[1]:
        check_windows_add_up(case.run)


def test_operations_of_a_run_that_used_nothing_have_no_windows_use() -> None:
    run, topology = sample(id="host")
    ops = run.tables["Op"].drop_columns("component").append_column("component", pa.array(["", ""]))
    with kb.open_store("memory:") as store:
        store.keep(RunRecord(run.info, {"Op": ops, "Launch": run.tables["Launch"]}), topology)
        windows = "MATCH (:Run {id: $run})-[:IN_WINDOW]->(w:Window) RETURN count(w) AS n"
        assert store.query(windows, run="host").rows[0][0] > 0
        assert store.query("MATCH (:Window)-[t:TOUCHED]->() RETURN count(t) AS n", run="host").rows == [(0,)]


def test_facts_lie_beside_the_archive_and_are_made_again(tmp_path: Path) -> None:
    run = kb.run("qkv-gemm", "minimal", store=tmp_path)
    beside = tmp_path / "worked-out" / run.id
    made = sorted(path.name for path in beside.iterdir())
    assert {"Window.parquet", "Touched.parquet", "HopUse.parquet"} <= {*made}
    manifest = json.loads((tmp_path / "runs" / run.id / "manifest.json").read_text())
    assert not {*made} & manifest["files"].keys()
    before = kb.ask("busiest-links", run.id, tmp_path).rows
    (beside / "Touched.parquet").write_bytes(b"damaged")
    (beside / "Window.parquet").unlink()
    with kb.open_store(tmp_path) as store:
        assert store.load(run.id).tables["Touched"].num_rows > len(before)
    assert sorted(path.name for path in beside.iterdir()) == made
    assert kb.ask("busiest-links", run.id, tmp_path).rows == before
    with kb.open_store(tmp_path) as store:
        store.remove(run.id)
    assert not beside.exists()


def test_a_run_kept_without_what_works_facts_out_has_them_when_it_is_opened_with_it(tmp_path: Path) -> None:
    from kernbench_graph.opening import open_store

    run = kb.run("qkv-gemm", "minimal", store="memory:")
    record = RunRecord(run.properties, dict(run.tables))
    with open_store(str(tmp_path)) as bare:
        bare.keep(record, run.topology_record())
        assert bare.query("MATCH (n:Use) RETURN count(n) AS n", run="last").rows[0][0] > 10
        with pytest.raises(
            QueryError, match=r"IN_WINDOW, Window: KernBench works that out; open the store with"
        ):
            bare.query("MATCH (:Run)-[:IN_WINDOW]->(w:Window) RETURN w.name AS name", run="last")
    with kb.open_store(tmp_path) as store:
        names = store.query(
            "MATCH (:Run)-[:IN_WINDOW]->(w:Window) RETURN w.name AS name ORDER BY name", run="last"
        )
        assert [name for (name,) in names.rows] == ["0", "all", "run", "setup"]


READS = ((0, 768), (3, 5 * 256 + 128))
"""First burst of 256 bytes, and bytes: three bursts, then the five after them and half of one more."""


def reading(*reads: tuple[int, int]) -> Callable[[Any], None]:
    """A bench with a launch for each of ``reads``, one after the other, and no other traffic of memories."""

    def read(x: Any, tl: Any, first: int, count: int) -> None:
        tl.load(x + 256 * first, (count,), "i8")

    def bench(torch: Any) -> None:
        x = torch.empty((4096,), dtype="i8")
        for number, (first, count) in enumerate(reads):
            torch.launch(f"read {number}", read, x, first=first, count=count)
            torch.wait_all()

    return bench


OF_CHANNELS = """
    MATCH (:Run {id: $run})-[:IN_WINDOW]->(:Window {name: $launch})-[d:TOUCHED]->(u:Use)
    WHERE u.kind = 'pseudo_channel'
    RETURN u.resource AS channel, d.bytes AS bytes, d.transactions AS transactions ORDER BY channel"""


@pytest.mark.daily("embedded-channels")
@pytest.mark.parametrize("model", ["channels", "dram"])
def test_a_channel_has_its_own_bytes_in_a_window(model: str, new_store: NewStore) -> None:
    """Not a share of its slice's: what it counts where nothing but that launch is run."""
    machine = kb.load_topology("minimal", {"cube.hbm.model": model})
    alone = []
    for one in READS:
        used = kb.run(reading(one), machine, store="memory:").used
        channels = used["kind"] == "pseudo_channel"
        alone.append(
            sorted(
                zip(
                    *(used[name][channels].tolist() for name in ("resource", "bytes", "transactions")),
                    strict=True,
                )
            )
        )
        assert sum(nbytes for _, nbytes, _ in alone[-1]) == one[1]
    with new_store() as store:
        run = kb.run(reading(*READS), machine, store=store)
        for launch, expected in enumerate(alone):
            assert store.query(OF_CHANNELS, {"launch": str(launch)}, run=run.id).rows == expected
            start, end = (float(run.launches[launch][name]) for name in ("t_start", "t_done"))
            cut = {"launch": "run", "from_ns": start, "to_ns": end + 1.0}
            rows = run.query("busiest-engines", kind="pseudo_channel", **cut).dicts()
            found = [(row["component"], row["bytes"], row["transactions"]) for row in rows]
            assert sorted(found) == expected
