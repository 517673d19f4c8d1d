"""What is added to runs that are kept already: answers of analyses that have parameters, and annotations.

An addition has a name and some rows of the tables that the schema calls added. It is one file beside the
archive, which is replaced when something of the same name is added again; so any number of processes may add
and read at once. The graph of a run has all that was added to it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kernbench_graph.archive.atomic import clean_leftovers, replace_file
from kernbench_graph.archive.canonical import arrow_schema, canonical_table, check_references, empty_table
from kernbench_graph.errors import ArchiveError
from kernbench_graph.input_files import read_file
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_added import NOTE
from kernbench_graph.schema_worked_out import FACTS_VERSION

ADDED = tuple(table.name for table in SCHEMA.tables if table.added)
Tables = Mapping[str, pa.Table]
_DIGEST = hashlib.sha256().digest_size
"""Bytes before the rest of a file, which say that it is whole: a damaged one may lack a table unnoticed."""


class Additions(ABC):
    """What was added to one run."""

    @abstractmethod
    def state(self) -> str:
        """Another text after each change; empty where nothing was added."""

    @abstractmethod
    def all(self) -> Mapping[str, Tables]:
        """The tables of each addition by its name, in order of name."""

    @abstractmethod
    def put(self, name: str, tables: Tables) -> None:
        """Add tables in canonical form in place of those of that name; none remove it."""

    def table(self, name: str) -> pa.Table:
        """All rows of a table."""
        found = [tables[name] for tables in self.all().values() if name in tables]
        return pa.concat_tables(found) if found else empty_table(SCHEMA.table(name))


class InMemory(Additions):
    """Additions that live as long as this object."""

    def __init__(self) -> None:
        self._added: dict[str, Tables] = {}
        self._changes = 0

    def state(self) -> str:
        """How often something was added."""
        return str(self._changes) if self._added else ""

    def all(self) -> Mapping[str, Tables]:
        """The tables of each addition."""
        return dict(sorted(self._added.items()))

    def put(self, name: str, tables: Tables) -> None:
        """Add tables, or remove those of that name."""
        added = {**self._added, name: tables}
        self._added = {key: value for key, value in added.items() if value}
        self._changes += 1


class InFolder(Additions):
    """Additions in the files of a folder, to the run whose content is ``content``."""

    def __init__(self, folder: Path, content: str) -> None:
        self._folder, self._content = folder, content
        self._read: dict[str, tuple[tuple[int, int], tuple[str, Tables] | None]] = {}

    def state(self) -> str:
        """The files, and when each was written."""
        return " ".join(f"{name}:{size}:{changed}" for name, (size, changed) in self._files().items())

    def all(self) -> Mapping[str, Tables]:
        """The tables of each addition; a file that cannot be read, or is of another run, is left out."""
        for file, stamp in self._files().items():
            if self._read.get(file, (None, None))[0] != stamp:
                with suppress(OSError):
                    self._read[file] = stamp, unpack(read_file(self._folder / file), self._content)
        there = self._files()
        found = [entry for file, (_, entry) in self._read.items() if file in there and entry]
        return dict(sorted(found))

    def put(self, name: str, tables: Tables) -> None:
        """Write the file of that name, or remove it."""
        path = self._folder / file_name(name)
        if not tables:
            path.unlink(missing_ok=True)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        clean_leftovers(self._folder)
        # What is lost of others than notes is worked out again.
        replace_file(path, pack(name, tables, self._content), durable=name.startswith(NOTE))

    def _files(self) -> dict[str, tuple[int, int]]:
        """Size of each file and when it was changed."""
        try:
            stats = {path.name: path.stat() for path in sorted(self._folder.glob("*.added"))}
        except FileNotFoundError:  # the run has been removed, or a file replaced meanwhile
            return {}
        return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def file_name(name: str) -> str:
    """The file of an addition of that name."""
    return f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.added"


def pack(name: str, tables: Tables, content: str) -> bytes:
    """An addition to the run of that content, as the bytes of a file."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        file.writestr(_entry("of"), _of(content, name))
        file.writestr(_entry("name"), name)
        for table, data in tables.items():
            buffer = pa.BufferOutputStream()
            pq.write_table(data, buffer, compression="zstd")
            file.writestr(_entry(f"{table}.parquet"), buffer.getvalue().to_pybytes())
    return hashlib.sha256(sink.getvalue()).digest() + sink.getvalue()


def _of(content: str, name: str) -> str:
    """What an addition belongs to. One that a newer KernBench works out otherwise is of a version as well."""
    return content if name.startswith(NOTE) else f"{content} {FACTS_VERSION}"


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a time, so that the same content gives the same bytes."""
    return zipfile.ZipInfo(name)


def unpack(data: bytes, content: str) -> tuple[str, Tables] | None:
    """Name and tables of the addition in a file; None where it is damaged, or of another run or version."""
    digest, data = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(data).digest() != digest:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            name = file.read("name").decode()
            tables: dict[str, pa.Table] = {}
            for entry in file.namelist():
                table, _, kind = entry.partition(".")
                if kind == "parquet" and table in ADDED:
                    found = pq.ParquetFile(pa.BufferReader(file.read(entry))).read(use_threads=False)
                    if not found.schema.equals(arrow_schema(SCHEMA.table(table))):
                        return None
                    tables[table] = found
            return (name, tables) if file.read("of").decode() == _of(content, name) else None
    except (zipfile.BadZipFile, pa.ArrowException, KeyError, ValueError, EOFError):
        return None


def canonical_addition(name: str, tables: Tables, there: Callable[[str], pa.Table]) -> dict[str, pa.Table]:
    """``tables`` in canonical form, checked against those ``there`` in their run and its topology.

    ``ArchiveError`` for a table that is not among :data:`ADDED`, or one that refers to what is not there.
    """
    what = f"addition '{name}'"
    if unknown := [table for table in tables if table not in ADDED]:
        raise ArchiveError(f"{what}: '{unknown[0]}' cannot be added; tables that can are {', '.join(ADDED)}")
    found = {table: canonical_table(table, data, what) for table, data in tables.items()}
    check_references(found, what, there)
    return found
