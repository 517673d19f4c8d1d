"""The record of a run or topology: a folder of Parquet files and a manifest, whole or absent.

Equal records give equal Parquet files, byte for byte: tables are written in canonical form, with fixed
encoding and without timestamps. Every file is checked against its checksum before a row of it is used.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kernbench_graph.archive import manifest
from kernbench_graph.archive.atomic import (
    clean_leftovers,
    exclusive,
    new_folder,
    remove_folder,
    replace_file,
)
from kernbench_graph.archive.canonical import (
    arrow_schema,
    canonical_tables,
    check_references,
    check_values,
    empty_table,
    with_defaults,
)
from kernbench_graph.archive.launched import run_times
from kernbench_graph.errors import ArchiveError, SchemaVersionError, StoreError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse
from kernbench_graph.records import LazyTables, RunRecord, TopologyRecord, check_id
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.schema_recorded import WALL_CLOCK
from kernbench_graph.schema_types import Property, Record

_ROWS_PER_GROUP = 1 << 17
_REMEDY = "restore it from a copy, or remove the record and run the simulation again"
_KEPT_AT = Property("kept_at_ns", "int64", "When the run was kept, since the epoch.", "ns")
_SPLIT_FROM = 10_000
"""Tables of so many rows or more have floats split into streams of bytes: an eighth less, read twice as fast.

Of a few thousand rows the files would be larger for it.
"""


def complete_info(info: Mapping[str, Any], topology: TopologyRecord) -> dict[str, Any]:
    """The info of a run with every Run property present and typed, ``id`` given when absent, extras last.

    ``ArchiveError`` when ``bench`` is missing, a value does not fit or the topology is not the one named.
    """
    what = f"run '{info.get('id') or info.get('bench') or '?'}'"
    if not info.get("bench"):
        raise ArchiveError(f"{what}: property 'bench' is missing; set it to the bench's name")
    given = _with_latency(info)
    given["id"] = check_id("run", given.get("id") or new_run_id())
    check_id("topology", topology.id)
    given["topology"] = given.get("topology") or topology.id
    given["topology_name"] = given.get("topology_name") or topology.name
    if given["topology"] != topology.id:
        raise ArchiveError(f"{what}: says topology '{given['topology']}', but comes with '{topology.id}'")
    complete = {
        prop.name: manifest.as_type(prop, given.pop(prop.name, None), what) for prop in SCHEMA.info["run"]
    }
    return complete | given


def new_run_id() -> str:
    """An id for a run: UTC time, so that ids sort, and random digits, so that they differ."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


def canonical_topology(record: TopologyRecord) -> TopologyRecord:
    """The topology with typed properties and canonical tables; ``ArchiveError`` where it does not fit."""
    what = f"topology '{check_id('topology', record.id)}'"
    own = {prop.name: getattr(record, prop.name) for prop in SCHEMA.info["topology"]}
    properties = manifest.properties("topology", own, what)
    return TopologyRecord(**properties, tables=canonical_tables("topology", record.tables, what))


def write_topology(folder: Path, record: TopologyRecord, durable: bool = True) -> Mapping[str, pa.Table]:
    """Archive a topology as ``folder``; one that is there already is left alone, unless it is damaged.

    Returns the tables that are there now. ``durable`` is as for
    :func:`kernbench_graph.archive.atomic.new_folder`.
    """
    what = f"topology '{check_id('topology', record.id)}'"
    if folder.exists():
        try:
            return dict(ArchivedTables(folder, "topology"))
        except SchemaVersionError:
            raise
        except ArchiveError:
            remove_folder(folder)
    whole = canonical_topology(record)
    properties = {prop.name: getattr(whole, prop.name) for prop in SCHEMA.info["topology"]}
    try:
        with new_folder(folder, durable) as temporary:
            files = _write_tables(temporary, whole.tables)
            parts = {"format": "kernbench-topology", "schema_version": SCHEMA_VERSION, "topology": properties,
                     "files": files}  # fmt: skip
            _write_manifest(temporary, parts | {"content": manifest.content_hash(parts)}, what)
    except FileExistsError:
        return ArchivedTables(folder, "topology")  # another process kept the same topology meanwhile
    return whole.tables


def write_run(
    folder: Path, info: Mapping[str, Any], tables: Mapping[str, pa.Table], durable: bool = True
) -> None:
    """Archive a run as ``folder``; ``info`` comes from :func:`complete_info`, ``tables`` are canonical.

    ``FileExistsError`` when the folder is there already.
    """
    what = f"run '{info['id']}'"
    names = [prop.name for prop in SCHEMA.info["run"]]
    with new_folder(folder, durable) as temporary:
        parts = {
            "format": "kernbench-run",
            "schema_version": SCHEMA_VERSION,
            "run": {name: info[name] for name in names if name not in WALL_CLOCK},
            "files": _write_tables(temporary, tables),
        }
        rest = {
            "id": info["id"],
            "wall": {name: info[name] for name in WALL_CLOCK if name != "id"}
            | {_KEPT_AT.name: time.time_ns()},
            "extra": {name: value for name, value in info.items() if name not in names},
            "content": manifest.content_hash(parts),
        }
        _write_manifest(temporary, parts | rest, what)


def read_info(folder: Path) -> tuple[dict[str, Any], int, str]:
    """Info of the run in ``folder``, when it was kept (ns since the epoch), a hash of all but its tags."""
    content = manifest.read(folder, "run")
    where = str(folder / manifest.NAME)
    info = info_of(content, folder.name, where)
    lasting = {name: value for name, value in content["wall"].items() if name != "tags"}
    kept = manifest.content_hash({"wall": lasting, "extra": content["extra"], "content": content["content"]})
    kept_at = manifest.as_type(_KEPT_AT, content["wall"].get(_KEPT_AT.name), where)
    return info, kept_at, kept


def info_of(content: Mapping[str, Any], run_id: str, where: str = "") -> dict[str, Any]:
    """Info of the run whose manifest is ``content``, from the file ``where`` if it is one.

    ``ArchiveError`` where a value does not fit its type.
    """
    what = where or f"run '{run_id}'"
    values = content["extra"] | content["run"] | content["wall"] | {"id": run_id}
    try:
        _check_launches(values.get("launches") or [], what)
        info = manifest.properties("run", _with_latency(values), what)
        tag_list(info["tags"])
    except ArchiveError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise ArchiveError(f"{what}: its manifest is damaged: {manifest.REMEDY}") from error
    return info | {name: value for name, value in content["extra"].items() if name not in info}


_LAUNCH: dict[str, type | tuple[type, ...]] = {
    "t_start": (int, float), "t_done": (int, float), "launch": int, "kernel": str, "pe_ns": (int, float),
    "t_submit": (int, float), "pe_times": dict,
}  # fmt: skip
"""What a run says of each of its launches. The times must be there."""


def _check_launches(launches: Any, what: str) -> None:
    """``ArchiveError`` where ``launches`` are not what a run says of its launches."""
    damaged = f"{what}: its manifest is damaged"
    if not isinstance(launches, list):
        raise ArchiveError(f"{damaged}: 'launches' is not a list; {manifest.REMEDY}")
    for number, one in enumerate(launches):
        found = one if isinstance(one, dict) else {}
        said = {"t_start": None, "t_done": None, **found}
        wrong = [
            name for name, type_ in _LAUNCH.items() if name in said and not isinstance(said[name], type_)
        ]
        if not wrong:
            wrong = [pe for pe, times in said.get("pe_times", {}).items() if not isinstance(times, dict)]
        if wrong:
            raise ArchiveError(
                f"{damaged}: '{wrong[0]}' of launch {number} is not what it should be; {manifest.REMEDY}"
            )


def _with_latency(info: Mapping[str, Any]) -> dict[str, Any]:
    """``info`` with the times that follow from ``launches``; an older version kept other ones."""
    return {**info, **(run_times(info) if info.get("launches") else {})}


def change_tags(folder: Path, add: Sequence[str], remove: Sequence[str]) -> list[str]:
    """Change the tags in the manifest of the run in ``folder``; return those that it has then.

    Several processes may do so at once, and each change takes effect. ``FileNotFoundError`` when the run has
    been removed.
    """
    with exclusive(folder):
        clean_leftovers(folder)
        if not (folder / manifest.NAME).exists():
            raise FileNotFoundError(str(folder))
        content = manifest.read(folder, "run")
        before = str(content["wall"]["tags"])
        after = changed_tags(before, add, remove)
        if after != before:
            content["wall"]["tags"] = after
            replace_file(folder / manifest.NAME, manifest.encode(content, str(folder)))
    return tag_list(after)


def changed_tags(text: str, add: Sequence[str], remove: Sequence[str]) -> str:
    """The tags in ``text``, a JSON list, then those of ``add``, all without those of ``remove``."""
    wanted = dict.fromkeys([*tag_list(text), *map(str, add)])
    return manifest.json_text([tag for tag in wanted if tag not in remove], "tags")


def tag_list(text: str) -> list[str]:
    """The tags in ``text``, a JSON list."""
    return [str(tag) for tag in parse(text or "[]")]


def read_run(folder: Path, topology: Callable[[str], TopologyRecord] | None = None) -> RunRecord:
    """The run in ``folder``; its tables are read and checked when first looked at.

    ``topology`` gives the topology of an id, to hold what refers to its parts against; None: it is not.
    """
    info, _, _ = read_info(folder)
    return run_of(folder, info, topology)


def run_of(
    folder: Path, info: Mapping[str, Any], topology: Callable[[str], TopologyRecord] | None
) -> RunRecord:
    """As :func:`read_run`, of what :func:`read_info` has read."""
    return RunRecord(info, ArchivedTables(folder, "run", topology and (lambda: topology(info["topology"]))))


def read_topology(folder: Path) -> TopologyRecord:
    """The topology in ``folder``; its tables are read and checked when first looked at."""
    return topology_of(manifest.read(folder, "topology"), ArchivedTables(folder, "topology"))


def topology_of(content: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> TopologyRecord:
    """The topology whose manifest is ``content``; ``ArchiveError`` where a value does not fit its type."""
    what = f"topology '{content['topology'].get('id', '')}'"
    return TopologyRecord(**manifest.properties("topology", content["topology"], what), tables=tables)


class ArchivedTables(LazyTables):
    """The tables of an archived record, read and checked, what they refer to included."""

    def __init__(
        self, folder: Path, record: Record, topology: Callable[[], TopologyRecord] | None = None
    ) -> None:
        super().__init__(table.name for table in SCHEMA.record_tables(record))
        self._folder, self._topology = folder, topology
        self._read: dict[str, pa.Table] = {}
        content = manifest.read(folder, record)
        self._files: dict[str, Any] = content["files"]
        self._older = content["schema_version"] < SCHEMA_VERSION

    def _make(self, name: str) -> pa.Table:
        table = self._unchecked(name)
        check_references({name: table}, str(self._folder / f"{name}.parquet"), self._referred, _REMEDY)
        return table

    def _unchecked(self, name: str) -> pa.Table:
        file = f"{name}.parquet"
        if (self._older or SCHEMA.table(name).optional) and file not in self._files:
            return empty_table(SCHEMA.table(name))
        if name not in self._read:
            self._read[name] = _read_table(self._folder / file, name, self._files)
        return self._read[name]

    def _referred(self, name: str) -> pa.Table | None:
        """A table that another refers to; None where it is of a topology that is not at hand."""
        if name in self._names:
            return self._unchecked(name)
        try:
            return self._topology().tables[name] if self._topology else None
        except StoreError:  # whoever needs the topology says so
            return None

    def row_count(self, name: str) -> int:
        """Rows of a table as the manifest has them, without reading it; 0 where that says nothing."""
        entry = self._files.get(f"{name}.parquet")
        rows = entry.get("rows") if isinstance(entry, dict) else None
        return rows if isinstance(rows, int) else 0


def row_count(tables: Mapping[str, pa.Table], name: str) -> int:
    """Rows of one of the tables, 0 where there is none; those of an archive are not read for it."""
    if (counted := getattr(tables, "row_count", None)) is not None:
        return int(counted(name))
    return tables[name].num_rows if name in tables else 0


def rows_of_windows(tables: Mapping[str, pa.Table], name: str, windows: Collection[str]) -> pa.Table:
    """The rows of a table about these windows; those of others are not read where the table has a file."""
    import pyarrow.compute as pc

    choose = getattr(tables, "rows_of_windows", None)
    found = tables[name] if choose is None else choose(name, windows)
    return found.filter(pc.is_in(found["window"], value_set=pa.array(sorted(windows), pa.string())))


def _write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for name, data in tables.items():
        if SCHEMA.table(name).optional and not data.num_rows:
            continue
        path = folder / f"{name}.parquet"
        texts = [column.name for column in SCHEMA.table(name).columns if column.type == "string"]
        times = [column.name for column in SCHEMA.table(name).columns if column.type == "double"]
        with pq.ParquetWriter(
            path,
            data.schema,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=texts,
            use_byte_stream_split=times if data.num_rows >= _SPLIT_FROM else False,
            store_schema=False,
        ) as writer:
            for start in range(0, max(1, data.num_rows), _ROWS_PER_GROUP):
                # In one piece each, however the rows came: equal rows give equal bytes.
                rows = data.slice(start, _ROWS_PER_GROUP).combine_chunks()
                writer.write_table(rows, row_group_size=_ROWS_PER_GROUP)
        files[path.name] = {"rows": data.num_rows, "bytes": path.stat().st_size, "sha256": _sha256(path)}
    return files


def _write_manifest(folder: Path, content: Mapping[str, Any], what: str) -> None:
    (folder / manifest.NAME).write_bytes(manifest.encode(content, what))


def _read_table(path: Path, name: str, files: Mapping[str, Any]) -> pa.Table:
    entry = files.get(path.name)
    if not isinstance(entry, dict):
        raise ArchiveError(f"{path} is not in the manifest beside it; {_REMEDY}")
    try:
        data = read_file(path)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from error
    if len(data) != entry.get("bytes"):
        raise ArchiveError(
            f"{path} has {len(data)} bytes instead of {entry.get('bytes')}: it is damaged; {_REMEDY}"
        )
    if hashlib.sha256(data).hexdigest() != entry.get("sha256"):
        raise ArchiveError(f"{path} does not match its checksum: it is damaged; {_REMEDY}")
    schema = arrow_schema(SCHEMA.table(name))
    try:
        # Threads that have read columns outlive the reading, and now and then abort the process at its end.
        table = pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
        chosen = with_defaults(SCHEMA.table(name), table).select(schema.names)
        chosen = chosen if chosen.schema.equals(schema) else chosen.cast(schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise ArchiveError(f"{path} does not hold the columns of {name}; {_REMEDY}") from error
    check_values(name, chosen, str(path), _REMEDY)
    return chosen


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
