"""Filling the graph over all runs: its cost grows with rows, not with the number of machines."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from kernbench_graph.projection import HISTORY, graph_parts, history_for
from kernbench_graph.records import RunRecord
from kernbench_graph.stores.embedded.loading import project

import kernbench as kb
from tests.conformance.generated_runs import made_up
from tests.conformance.question_oracle import ORACLES


class Counting:
    """A database that counts what it is given."""

    def __init__(self) -> None:
        self.copies, self.rows = Counter[str](), Counter[str]()

    def create(self, statements: Any) -> None:
        pass

    def copy(self, table: str, data: pa.Table, pair: tuple[str, str] | None = None) -> None:
        self.copies[f"{table} {pair}"] += 1
        self.rows[table] += data.num_rows


@pytest.mark.parametrize("with_use", [False, True])
def test_each_table_is_filled_at_once(with_use: bool) -> None:
    """A copy for each of a hundred topologies took a gigabyte of pages."""
    cases = made_up(25, tuple(ORACLES))
    with kb.open_store("memory:") as store:
        for case in cases:
            store.keep(case.run, case.topology)
        infos = store.runs()
        runs = [store.load(info["id"]) if with_use else RunRecord(info, {}) for info in infos]
    topologies = {case.topology.id: case.topology for case in cases}
    assert len(topologies) > 8
    database: Any = Counting()
    names = HISTORY if with_use else history_for({"Run"})
    project(database, graph_parts(runs, topologies.values(), names, by_id=True), names, by_id=True)
    assert set(database.copies.values()) == {1}
    assert (database.rows["Run"], database.rows["Topology"]) == (25, len(topologies))
    places = sum(topology.tables["Component"].num_rows for topology in topologies.values())
    assert database.rows["Component"] == (places if with_use else 0)
