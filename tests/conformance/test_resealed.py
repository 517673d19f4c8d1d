"""Archives that somebody changed and sealed again: each is read as it is, or refused with the file's name."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernbench_graph.archive import manifest
from kernbench_graph.archive.canonical import arrow_schema
from kernbench_graph.errors import ArchiveError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Property, Record, Table

from kernbench.cli.main import main
from tests.conformance.graph_records import sample
from tests.examples import examples

STRANGE: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "nobody", "\0", "{}", "["]),
    "int64": st.sampled_from([-2, -1, 0, 2**62, -(2**63)]),
    "int32": st.sampled_from([-2, -1, 0, 2**31 - 1, -(2**31)]),
    "double": st.sampled_from([math.nan, math.inf, -1.0, 1e300]),
    "bool": st.booleans(),
}
KEPT = sample(id="a")
PARTS: list[tuple[Record, Table]] = [
    (record, table)
    for record, kept in (("topology", KEPT[1]), ("run", KEPT[0]))
    for table in SCHEMA.record_tables(record)  # type: ignore[arg-type]
    if table.name in kept.tables and kept.tables[table.name].num_rows
]
"""The parts of the archive that have rows."""
COUNT = "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN count(*) AS rows"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run."""
    path = tmp_path_factory.mktemp("kept") / "store"
    with open_store(path) as store:
        store.keep(*KEPT)
    return path


def folder_of(store: Path, record: Record) -> Path:
    return next((store / {"run": "runs", "topology": "topologies"}[record]).iterdir())


def seal(folder: Path, record: Record, **changes: Any) -> None:
    """Write the manifest for the files that are there, with other properties."""
    content = json.loads((folder / manifest.NAME).read_bytes())
    content[record].update(changes)
    for name, entry in content["files"].items():
        data = (folder / name).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    parts = {part: content[part] for part in ("format", "schema_version", record, "files")}
    content["content"] = manifest.content_hash(parts)
    (folder / manifest.NAME).write_bytes(manifest.encode(content, "a test"))


def change(folder: Path, record: Record, table: Table, column: Property, row: int, value: Any) -> None:
    """Put ``value`` into a table."""
    path = folder / f"{table.name}.parquet"
    data = pq.ParquetFile(pa.BufferReader(path.read_bytes())).read(use_threads=False)
    values = data[column.name].to_pylist()
    values[row] = value
    field = arrow_schema(table).field(column.name)
    at = data.column_names.index(column.name)
    pq.write_table(data.set_column(at, field, pa.array(values, field.type)), path)
    seal(folder, record)


def rows_of(store: Path, record: Record, table: Table) -> int:
    return pq.read_metadata(folder_of(store, record) / f"{table.name}.parquet").num_rows


def read_all(store: Path) -> Iterator[int]:
    """Look at every table, and build a graph of the run."""
    with open_store(store) as opened:
        run = opened.load("a")
        topology = opened.load_topology(run.info["topology"])
        yield from (tables[name].num_rows for tables in (topology.tables, run.tables) for name in tables)
        yield opened.query(COUNT, run="a").rows[0][0]


@pytest.mark.daily(
    "run-Op",
    "run-Hop",
    "run-Use",
    "topology-Link",
    "run-Tensor",
    "run-DependsOn",
    "run-Reading",
)
@pytest.mark.parametrize(("record", "table"), PARTS, ids=[f"{r}-{t.name}" for r, t in PARTS])
@given(data=st.data())
@examples(96)
def test_any_value_of_any_column_is_read_or_refused(
    kept: Path, tmp_path_factory: pytest.TempPathFactory, record: Record, table: Table, data: st.DataObject
) -> None:
    count = rows_of(kept, record, table)
    store = shutil.copytree(kept, tmp_path_factory.mktemp("changed") / "store")
    column = data.draw(st.sampled_from(table.columns))
    value = data.draw(STRANGE[column.type])
    row = data.draw(st.integers(0, count - 1))
    change(folder_of(store, record), record, table, column, row, value)
    said = ""
    try:
        assert sum(read_all(store)) > 0
    except StoreError as error:
        said = str(error)
    assert said or not (isinstance(value, float) and math.isnan(value))
    assert not said or (str(store) in said and ".parquet" in said and "\n" not in said)


REFERENCES = [(r, t, c) for r, t in PARTS for c in t.columns if c.to]


@pytest.mark.parametrize(
    ("record", "table", "column"), REFERENCES, ids=[f"{t.name}-{c.name}" for _, t, c in REFERENCES]
)
def test_an_id_of_nothing_is_refused_with_file_and_row(
    kept: Path, tmp_path: Path, record: Record, table: Table, column: Property
) -> None:
    count = rows_of(kept, record, table)
    store = shutil.copytree(kept, tmp_path / "store")
    nothing: Any = "nobody" if column.type == "string" else 987_654
    change(folder_of(store, record), record, table, column, count - 1, nothing)
    message = rf"{table.name}\.parquet: {table.name}\.{column.name} refers to {nothing!r} in row {count - 1},"
    with pytest.raises(ArchiveError, match=message):
        sum(read_all(store))


@pytest.mark.parametrize(("seed", "sim_ns"), [(2**70, 1.0), (-(2**63) - 1, 1.0), (1, 10**400)])
def test_numbers_of_a_manifest_that_no_column_holds(
    kept: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], seed: int, sim_ns: float
) -> None:
    store = shutil.copytree(kept, tmp_path / "store")
    seal(folder_of(store, "run"), "run", seed=seed, sim_ns=sim_ns)
    with pytest.raises(ArchiveError, match=r"runs/a/manifest\.json: property '(seed|sim_ns)' is"):
        sum(read_all(store))
    assert main(["show", "a", "--store", str(store)]) == 1
    assert "manifest.json: property" in capfd.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{", "1", "[" * 100_000])
@pytest.mark.parametrize(
    ("record", "name", "column"), [("topology", "Component", "attributes"), ("run", "Reading", "columns")]
)
def test_properties_that_are_not_a_json_object_are_refused_with_file_and_row(
    kept: Path, tmp_path: Path, record: Record, name: str, column: str, text: str
) -> None:
    store, table = shutil.copytree(kept, tmp_path / "store"), SCHEMA.table(name)
    change(folder_of(store, record), record, table, table.column(column), 0, text)
    with pytest.raises(
        ArchiveError, match=rf"{name}\.parquet: {name}\.{column} in row 0 is not the JSON of an"
    ):
        sum(read_all(store))
