"""A record of few values is made canonical and checked without pyarrow.compute: with the same outcome."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from kernbench_graph.archive import canonical
from kernbench_graph.errors import ArchiveError
from kernbench_graph.opening import open_store
from kernbench_graph.records import RunRecord, TopologyRecord

import kernbench as kb
from kernbench.analysis import trace_tables


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, TopologyRecord]:
    """A run and its topology."""
    folder: Path = tmp_path_factory.mktemp("store")
    kb.run("gemm-single-pe", "minimal", store=folder)
    store = open_store(str(folder))
    run = store.load(store.resolve("last"))
    return run, store.load_topology(str(run.info["topology"]))


def outcome(records: tuple[RunRecord, TopologyRecord], changed: Mapping[str, Any]) -> Any:
    """The canonical tables of the run with some tables changed, or why there are none."""
    run, topology = records
    try:
        tables = canonical.canonical_tables("run", {**run.tables, **changed}, "run 'x'")
        canonical.check_references({**topology.tables, **tables}, "run 'x'")
    except ArchiveError as error:
        return str(error)
    return tables


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """``table`` with other values in one column."""
    return table.set_column(table.column_names.index(name), name, values)


def as_recorded(table: pa.Table) -> pa.Table:
    """Texts dictionary-encoded and whole numbers long, as a run hands them over."""
    for name in table.column_names:
        column = table[name]
        if column.type == pa.string():
            table = with_column(table, name, column.dictionary_encode())
        elif column.type == pa.int32():
            table = with_column(table, name, column.cast(pa.int64()))
    return table


CHANGES: dict[str, tuple[str, Any]] = {
    "nothing": ("Hop", lambda table: table),
    "as recorded": ("Hop", as_recorded),
    "no rows of no type": ("Race", lambda table: pa.table({name: [] for name in table.column_names})),
    "an id twice": ("Transaction", lambda t: with_column(t, "number", pa.array([1] * t.num_rows))),
    "an unknown id": ("Hop", lambda t: with_column(t, "txn", pa.array([987] * t.num_rows))),
    "an unknown text": ("Hop", lambda t: with_column(t, "resource", pa.array(["nowhere"] * t.num_rows))),
    "an unknown link": ("Use", lambda t: with_column(t, "is_link", pa.array([True] * t.num_rows))),
    "a number too long": ("Hop", lambda t: with_column(t, "seq", pa.array([1 << 40] * t.num_rows))),
    "a text missing": (
        "Hop",
        lambda t: with_column(
            t, "resource", pa.array(["", None] + ["sip0"] * (t.num_rows - 2)).dictionary_encode()
        ),
    ),
    "all texts missing": (
        "Hop",
        lambda t: with_column(t, "resource", pa.array([None] * t.num_rows, pa.string()).dictionary_encode()),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_few_and_many_values_have_the_same_outcome(
    change: str, records: tuple[RunRecord, TopologyRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, changed = CHANGES[change]
    tables = {name: changed(records[0].tables[name])}
    few = outcome(records, tables)
    assert isinstance(few, str) == (change not in ("nothing", "as recorded", "no rows of no type")), few
    monkeypatch.setattr(canonical, "_FEW", -1)
    many = outcome(records, tables)
    assert few == many


def test_few_and_many_texts_have_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.chunked_array([["b", "a"], ["b", "c", "a"]])
    few = trace_tables.Texts(column)
    monkeypatch.setattr(trace_tables, "_FEW", -1)
    many = trace_tables.Texts(column)
    assert few.all() == many.all() == ["b", "a", "c"]
    assert few.codes.tolist() == many.codes.tolist()
    assert [few.item(row) for row in range(5)] == [many.item(row) for row in range(5)]
