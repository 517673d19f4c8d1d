"""Manifests are believed only where they match their checksums, and those of older versions are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kernbench_graph.archive import manifest
from kernbench_graph.archive import record as archive
from kernbench_graph.errors import ArchiveError, SchemaVersionError
from kernbench_graph.opening import open_store
from kernbench_graph.schema import SCHEMA_VERSION
from kernbench_graph.schema_types import Record

from tests.conformance.graph_records import sample

LAUNCHES = [
    {"launch": number, "kernel": "a", "pe_ns": 1.0, "pe_times": {}, "t_start": start, "t_done": end}
    for number, (start, end) in enumerate([(2.0, 5.0), (4.0, 6.0)])
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one run, ``a``."""
    with open_store(tmp_path / "store") as opened:
        opened.keep(*sample(id="a", launches=LAUNCHES, tags=["x"]))
    return tmp_path / "store"


def rewritten(file: Path, change: Callable[[dict[str, Any]], object], version: int = SCHEMA_VERSION) -> None:
    """Change a manifest as a KernBench of that version would have written it."""
    content = json.loads(file.read_bytes())
    change(content)
    content["schema_version"] = version
    parts = ("format", "schema_version", "run", "topology", "files")
    content["content"] = manifest.content_hash({name: content[name] for name in parts if name in content})
    if version < 3:
        del content["sha256"]
        file.write_text(json.dumps(content))
    else:
        file.write_bytes(manifest.encode(content, "it"))


@pytest.mark.parametrize("record", ["run", "topology"])
def test_no_flipped_bit_of_a_manifest_goes_unnoticed(store: Path, record: Record) -> None:
    (file,) = store.glob(f"{'runs' if record == 'run' else 'topologies'}/*/manifest.json")
    data = file.read_bytes()
    assert manifest.decode(data, record, "m")["format"] == f"kernbench-{record}"
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ArchiveError, match=r"^m (is|has|does)"):
            manifest.decode(bytes(flipped), record, "m")
    for other in (data[:-1], data + b"\n", data.replace(b"\n", b"\r\n"), b""):
        with pytest.raises(ArchiveError, match=r"^m (is|does)"):
            manifest.decode(other, record, "m")


def test_what_is_said_of_a_run_is_held_against_its_content(store: Path) -> None:
    """Whoever makes a checksum anew has to make both."""
    file = store / "runs" / "a" / "manifest.json"
    content = json.loads(file.read_bytes())
    content["run"]["sim_ns"] = 1.0
    file.write_bytes(manifest.encode(content, "it"))
    with pytest.raises(ArchiveError, match="does not match its checksum"):
        archive.read_run(file.parent)


def older(store: Path) -> Path:
    """The store as version 2 wrote it: without what came later, or had a default."""
    folder = store / "runs" / "a"
    table = pq.ParquetFile(folder / "Launch.parquet").read().drop_columns(["late_ns"])
    pq.write_table(table, folder / "Launch.parquet")
    data = (folder / "Launch.parquet").read_bytes()
    (folder / "Race.parquet").unlink()

    def change(content: dict[str, Any]) -> None:
        del content["run"]["latency_ns"]
        del content["files"]["Race.parquet"]
        content["files"]["Launch.parquet"] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    rewritten(folder / "manifest.json", change, version=2)
    for machine in store.glob("topologies/*/manifest.json"):
        rewritten(machine, lambda content: None, version=2)
    return folder


def test_an_older_archive_is_read_with_defaults(store: Path) -> None:
    older(store)
    with open_store(store) as opened:
        (info,) = opened.runs()
        assert (info["latency_ns"], info["sim_ns"]) == (4.0, 7.0)
        rows = opened.query("MATCH (r:Run) RETURN r.latency_ns AS ns").rows
        assert rows == [(4.0,)]
        tables = opened.load("a").tables
        assert tables["Launch"]["late_ns"].to_pylist() == [0.0]
        assert tables["Race"].num_rows == 0
        launches = "MATCH (:Run {id: $run})-[:LAUNCHED]->(l:Launch) RETURN l.late_ns AS late"
        assert opened.query(launches, run="a").rows == [(0.0,)]
        assert opened.change_tags("a", add=["y"]) == ["x", "y"]
        assert opened.load("a").info["tags"] == '["x", "y"]'


def test_an_older_archive_is_checked_too(store: Path) -> None:
    file = older(store) / "manifest.json"
    file.write_text(file.read_text().replace('"sim_ns": 7.0', '"sim_ns": 6.0'))
    with pytest.raises(ArchiveError, match="does not match its checksum"):
        archive.read_run(file.parent)


def test_a_table_that_a_version_has_is_missed(store: Path) -> None:
    folder = store / "runs" / "a"
    rewritten(folder / "manifest.json", lambda content: content["files"].pop("Race.parquet"))
    with pytest.raises(ArchiveError, match=r"Race\.parquet is not in the manifest"):
        archive.read_run(folder).tables["Race"]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["run"].update(sim_ns="long"),
        lambda content: content["run"].update(bench=None, hops=[1]),
        lambda content: content["wall"].update(tags=5),
        lambda content: content["wall"].update(tags="{"),
        lambda content: content["wall"].update(tags="5"),
        lambda content: content["wall"].update(kept_at_ns="now"),
        lambda content: content["run"].pop("latency_ns") and content["extra"].update(launches=7),
        lambda content: (
            content["run"].pop("latency_ns") and content["extra"].update(launches=[{"t_start": 1}])
        ),
        lambda content: content.update(files=[]),
        lambda content: content["files"].update({"Hop.parquet": 5}),
    ],
)
def test_wrong_types_are_errors_of_the_archive(
    store: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """Also where the checksums are right, as in a manifest that another program wrote."""
    folder = store / "runs" / "a"
    rewritten(folder / "manifest.json", change)
    with open_store(store) as opened, pytest.raises(ArchiveError) as caught:
        opened.load("a").tables["Hop"]
    assert "\n" not in str(caught.value)
    with open_store(store) as opened:
        opened.runs()


@pytest.mark.parametrize("version", [True, 3.0, [3], {"3": 3}, "3", 10**400])
def test_a_version_is_a_whole_number(store: Path, version: Any) -> None:
    file = store / "runs" / "a" / "manifest.json"
    content = json.loads(file.read_bytes()) | {"schema_version": version}
    with pytest.raises(SchemaVersionError):
        manifest.decode(json.dumps(content).encode(), "run", "m")


def test_nesting_has_an_end() -> None:
    with pytest.raises(ArchiveError, match="m is damaged"):
        manifest.decode(b"[" * 100_000, "run", "m")


def test_defaults_have_the_column_s_type() -> None:
    from kernbench_graph.archive.canonical import with_defaults
    from kernbench_graph.schema import SCHEMA

    table = with_defaults(SCHEMA.table("Launch"), pa.table({"number": [0, 1]}))
    assert table["late_ns"].type == pa.float64()
    assert "kernel" not in table.column_names
