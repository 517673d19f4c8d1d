"""A record as archived files, and back: how a Neo4j database keeps what was pushed, byte for byte.

The graph alone could not give it back: relationships have no order, and a database is free to normalise what
it keeps. So the very Parquet files of the archive lie beside the graph, in pieces, with their checksums.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import pyarrow as pa

from kernbench_graph.archive import manifest
from kernbench_graph.archive import record as archive
from kernbench_graph.archive.atomic import ScratchFolder
from kernbench_graph.records import LazyTables, RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Record
from kernbench_graph.stores.neo4j.server import Transaction

PIECE = 1 << 20
"""Bytes in one piece: a property, and a message to the server, is best not much larger."""


class Piece(NamedTuple):
    """A part of a file."""

    file: str
    part: int
    data: bytes


class Archived:
    """A record as the files of its archive, which are there for the length of a ``with``.

    They have no name any more, so that nothing is left of them however this process ends.
    """

    def __init__(self, write: Callable[[Path], object]) -> None:
        """``write`` makes the archive as the folder that it is given."""
        self._files: list[tuple[str, BinaryIO]] = []
        with ScratchFolder() as folder:
            place = folder / "record"
            write(place)
            self.manifest = (place / manifest.NAME).read_bytes()
            for path in sorted(place.iterdir()):
                if path.name != manifest.NAME:
                    self._files.append((path.name, path.open("rb")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for _, file in self._files:
            file.close()

    def pieces(self) -> Iterator[Piece]:
        """All files but the manifest, piece by piece; may be asked again."""
        for name, file in self._files:
            file.seek(0)
            for number in itertools.count():
                data = file.read(PIECE)
                if not data and number:
                    break
                yield Piece(name, number, data)


def archived_run(info: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Archived:
    """The files of a run's archive."""
    return Archived(lambda folder: archive.write_run(folder, info, tables, durable=False))


def archived_topology(record: TopologyRecord) -> Archived:
    """The files of a topology's archive."""
    return Archived(lambda folder: archive.write_topology(folder, record, durable=False))


def write_files(tx: Transaction, owner: str, pieces: Iterable[Piece]) -> None:
    """Keep pieces of archived files."""
    for piece in pieces:
        tx.run(
            "CREATE (:KernbenchFile {owner: $owner, name: $name, part: $part, data: $data})",
            owner=owner, name=piece.file, part=piece.part, data=piece.data,
        ).consume()  # fmt: skip


def read_files(tx: Transaction, owner: str) -> dict[str, bytes]:
    """All archived files of an owner, by name."""
    text = (
        "MATCH (f:KernbenchFile {owner: $owner}) RETURN f.name AS name, f.data AS data ORDER BY name, f.part"
    )
    found: dict[str, bytearray] = {}
    for row in tx.run(text, owner=owner):
        found.setdefault(row["name"], bytearray()).extend(row["data"])
    return {name: bytes(data) for name, data in found.items()}


class FetchedTables(LazyTables):
    """Tables of an archive whose files are fetched, checked and read when one is first looked at."""

    def __init__(self, record: Record, fetch: Callable[[], Mapping[str, bytes]]) -> None:
        super().__init__(table.name for table in SCHEMA.record_tables(record))
        self._record, self._fetch = record, fetch

    def _make(self, name: str) -> pa.Table:
        with _folder(self._fetch()) as folder:
            kept = archive.ArchivedTables(folder, self._record)
            self._made = {table: kept[table] for table in self._names}
        return self._made[name]


def run_record(data: bytes, run_id: str, tables: FetchedTables) -> RunRecord:
    """The run whose manifest is ``data``."""
    content = manifest.decode(data, "run", f"the manifest of run '{run_id}'")
    return RunRecord(archive.info_of(content, run_id), tables)


def run_content(data: bytes) -> str:
    """The hash in a run's manifest, which is equal for two identical runs."""
    return str(manifest.decode(data, "run", "the manifest")["content"])


def topology_record(data: bytes, tables: FetchedTables) -> TopologyRecord:
    """The topology whose manifest is ``data``."""
    return archive.topology_of(manifest.decode(data, "topology", "the manifest of a topology"), tables)


@contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A temporary folder that holds ``files``."""
    with ScratchFolder() as outer:
        folder = outer / "record"
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        yield folder
