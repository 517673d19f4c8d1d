"""Answers of the library are the same, sums to 1e-9, in whatever order an engine comes upon its rows.

That order is no part of a run: it depends on the threads that read, on what else of the graph is there, and
on what was asked before. So the rows of a run are loaded into the engine as they are, and in a random order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.engine import LadybugDatabase

import kernbench as kb
from kernbench.support.pgraph import topology_record
from tests.compiled import compiled
from tests.conformance.advice_oracle import ADVICE
from tests.conformance.generated_runs import LIBRARY, expected, rows_asked, same
from tools.made_up_run import made_up_run
from tools.measure_store_task import values

Rows = list[tuple[Any, ...]]
ALL_ROWS = 10**6
SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}
"""All kinds of parts and wires of the default machine, fewer of each: some questions ask all pairs."""
THERE = {
    "sip1.cube15.hbm_ctrl.pe3": "sip1.cube1.hbm_ctrl.pe3",
    "sip1.cube14.hbm_ctrl.pe3": "sip1.cube0.hbm_ctrl.pe3",
    "sip0.cube5": "sip0.cube1",
}
"""What is there of the parts of the default machine that are asked about."""


def records() -> list[tuple[RunRecord, TopologyRecord]]:
    """Simulated runs on DRAM and with caches, and one whose times have all digits."""
    kept = []
    for name, keys in {
        "run0": {"cube.hbm.model": "dram"},
        "run2": {"memory.cache.capacity": 65536, "memory.cache.gbs": 64.0},
    }.items():
        with kb.open_store("memory:") as store:
            run = kb.run("gemm-multi-pe", store=store, topo={**SMALL, **keys})
            record, machine = store.load(run.id), store.load_topology(run.info["topology_id"])
        kept.append((RunRecord({**record.info, "id": name}, record.tables), machine))
    machine = compiled(None, SMALL)
    return [*kept, (made_up_run(machine, 5000, id="run1"), topology_record(machine))]


def answers(kept: list[tuple[RunRecord, TopologyRecord]]) -> dict[tuple[str, str], Rows]:
    """Every question, asked of every run."""
    with kb.open_store("memory:") as store:
        for run, machine in kept:
            store.keep(run, machine)
        asked = {}
        of_runs = [name for name, question in LIBRARY.items() if question.scope != "history"]
        for run, _ in kept:
            expected(store, str(run.info["id"]), of_runs)
        for name, question in LIBRARY.items():
            given = {key: THERE.get(value, value) for key, value in values(store, question).items()}
            given |= {"limit": ALL_ROWS} if "limit" in question.params else {}
            cached = name.startswith("memory/cache")
            for run, _ in kept if question.scope != "history" else kept[:1]:
                if cached != (run.info["id"] == "run2"):
                    continue  # the runs without caches answer all but that
                of = None if question.scope == "history" else str(run.info["id"])
                asked[name, str(run.info["id"])] = rows_asked(name, of, store, given)
        return asked


@pytest.mark.slow
def test_answers_do_not_depend_on_the_order_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = records()
    wanted = answers(kept)
    # In runs and sweeps that have something to find; blocks are of Triton.
    found_elsewhere = {*ADVICE, "history/sweep-keys", "kernel/blocks"}
    of_runs = {name: question for name, question in LIBRARY.items() if question.scope == "run"}
    summed = {name for name, question in of_runs.items() if "sum(" in question.text("ladybug")}
    assert summed - found_elsewhere <= {name for (name, _), rows in wanted.items() if rows}
    copy, rng = LadybugDatabase.copy, np.random.default_rng(7)

    def copy_mixed(
        self: LadybugDatabase, table: str, data: pa.Table, pair: tuple[str, str] | None = None
    ) -> None:
        copy(self, table, data.take(rng.permutation(data.num_rows)), pair)

    monkeypatch.setattr(LadybugDatabase, "copy", copy_mixed)
    found = answers(kept)
    assert [key for key in wanted if not same(found[key], wanted[key])] == []
