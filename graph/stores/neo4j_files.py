"""A record as archived files, and back: how a Neo4j database keeps what was pushed, byte for byte.

The graph alone could not give it back: relationships have no order, and a database is free to normalise what
it keeps. So the very Parquet files of the archive lie beside the graph, in pieces, with their checksums.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from graph import archive, manifest
from graph.schema import SCHEMA, Record
from graph.store import RunRecord, TopologyRecord

PIECE = 1 << 20
"""Bytes in one piece: a property, and a message to the server, is best not much larger."""
Pieces = list[tuple[str, int, bytes]]
"""Name of the file, number of the piece, content."""


def run_files(info: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Pieces:
    """The files of a run's archive."""
    return _pieces(lambda folder: archive.write_run(folder, info, tables))


def topology_files(record: TopologyRecord) -> Pieces:
    """The files of a topology's archive."""
    return _pieces(lambda folder: archive.write_topology(folder, record))


class FetchedTables(Mapping[str, pa.Table]):
    """Tables of an archive whose files are fetched, checked and read when first looked at."""

    def __init__(self, record: Record, fetch: Callable[[], Mapping[str, bytes]]) -> None:
        self._record, self._fetch = record, fetch
        self._names = [table.name for table in SCHEMA.record_tables(record)]
        self._tables: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if not self._tables:
            with _folder(self._fetch()) as folder:
                kept = archive.ArchivedTables(folder.path, self._record)
                self._tables = {table: kept[table] for table in self._names}
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def run_record(data: bytes, run_id: str, fetch: Callable[[], Mapping[str, bytes]]) -> RunRecord:
    """The run whose manifest is ``data``; ``fetch`` gives all files when a table is looked at."""
    with _folder({manifest.NAME: data}, run_id) as folder:
        info, _, _ = archive.read_info(folder.path)
    return RunRecord(info, FetchedTables("run", fetch))


def run_content(data: bytes) -> str:
    """The hash in a run's manifest, which is equal for two identical runs."""
    with _folder({manifest.NAME: data}) as folder:
        return str(manifest.read(folder.path, "run")["content"])


def topology_record(data: bytes, fetch: Callable[[], Mapping[str, bytes]]) -> TopologyRecord:
    """The topology whose manifest is ``data``."""
    with _folder({manifest.NAME: data}) as folder:
        properties = manifest.read(folder.path, "topology")["topology"]
    return TopologyRecord(**properties, tables=FetchedTables("topology", fetch))


def _pieces(write: Callable[[Path], None]) -> Pieces:
    found: Pieces = []
    with _folder({}) as folder:
        place = folder.path / "record"
        write(place)
        for path in sorted(place.iterdir()):
            data = path.read_bytes()
            for number, start in enumerate(range(0, max(1, len(data)), PIECE)):
                found.append((path.name, number, data[start : start + PIECE]))
    return found


class _folder:  # noqa: N801 (used as a function is)
    """A temporary folder that holds ``files``, called ``name``."""

    def __init__(self, files: Mapping[str, bytes], name: str = "record") -> None:
        self._outer = Path(tempfile.mkdtemp(prefix="kernbench-"))
        self.path = self._outer
        if files:
            self.path = self._outer / name
            self.path.mkdir()
            for file, data in files.items():
                (self.path / file).write_bytes(data)

    def __enter__(self) -> _folder:
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self._outer, ignore_errors=True)
