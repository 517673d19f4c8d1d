"""Tables that are worked out from a run's others: made when they are first looked at, then kept at hand.

What works them out is given to a store (:attr:`kernbench_graph.store.GraphStore.computed`). A store in a
folder keeps them beside the archives, one file each; a file that is missing, damaged, or of other content is
made anew, so losing them costs time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kernbench_graph.added import ADDED, Additions
from kernbench_graph.archive.atomic import replace_file
from kernbench_graph.archive.canonical import arrow_schema, canonical_table, empty_table
from kernbench_graph.archive.record import row_count
from kernbench_graph.input_files import read_file
from kernbench_graph.records import RunRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_worked_out import FACTS_VERSION

WorkOut = Callable[[RunRecord, str], Mapping[str, pa.Table]]
"""From a run and the name of a table that the schema calls fact or computed: it, and what comes with it."""

FACTS = tuple(table.name for table in SCHEMA.tables if table.fact)
SUMS = tuple(table.name for table in SCHEMA.tables if table.fact and not table.by_hop)
COMPUTED = tuple(table.name for table in SCHEMA.tables if table.computed)
_OF = b"kernbench.of"
_PIECE = 1 << 17
"""Rows of a file that are read together."""


class Beside:
    """A folder with tables that were worked out from the run whose content is ``content``."""

    def __init__(self, folder: Path, content: str) -> None:
        self._folder = folder
        self._of = f"{content} {FACTS_VERSION}".encode()

    def read(self, name: str, windows: Collection[str] | None = None) -> pa.Table | None:
        """The table as it was kept; None where it has to be made.

        With ``windows``, no more than its pieces in which a row is about one of them.
        """
        try:
            # From memory: reading from a file leaves a thread, as reading with threads does.
            file = pa.BufferReader(read_file(self._folder / f"{name}.parquet"))
            kept = pq.ParquetFile(file, page_checksum_verification=True)
            table = kept.read_row_groups(_pieces(kept, windows), use_threads=False)
        except (
            OSError,
            pa.ArrowException,
            ValueError,
            KeyError,
        ):  # a ValueError where names are not text any more
            return None
        if (table.schema.metadata or {}).get(_OF) != self._of:
            return None
        plain = table.replace_schema_metadata(None)
        return plain if plain.schema.equals(arrow_schema(SCHEMA.table(name))) else None

    def write(self, name: str, table: pa.Table) -> None:
        """Keep the table, where the folder can be written."""
        sink = pa.BufferOutputStream()
        marked = table.replace_schema_metadata({_OF: self._of})
        pq.write_table(
            marked, sink, _PIECE, compression="zstd", compression_level=3, write_page_checksum=True
        )
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._folder / f"{name}.parquet", sink.getvalue().to_pybytes(), durable=False)


def _pieces(file: pq.ParquetFile, windows: Collection[str] | None) -> list[int]:
    """The row groups of a file in which a row is about one of ``windows``; all where that is None.

    By their rows: statistics have no checksum. ``ValueError`` where rows are missing.
    """
    import pyarrow.compute as pc

    rows = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    if sum(rows) != file.metadata.num_rows:
        raise ValueError("row groups")
    if windows is None:
        return [*range(len(rows))]
    chosen, pieces = pa.array(sorted(windows), pa.string()), []
    for number, count in enumerate(rows):
        column = file.read_row_group(number, ["window"], use_threads=False)["window"]
        if len(column) != count:
            raise ValueError("rows")
        pieces += [number] * bool(pc.any(pc.is_in(column, chosen)).as_py())
    return pieces


class WholeTables(Mapping[str, pa.Table]):
    """The tables of a run, and beside them those that are worked out when they are first looked at.

    It lists the tables of the record alone; one of ``there`` is said to be in it, and any that can be worked
    out is found by its name. So are those that were added to the run since.
    """

    def __init__(
        self,
        run: RunRecord,
        work_out: Callable[[], WorkOut | None],
        beside: Beside | None = None,
        there: Collection[str] = FACTS,
        added: Additions | None = None,
    ) -> None:
        self._run, self._work_out, self._beside, self._there = run, work_out, beside, frozenset(there)
        self.added = added
        """What was added to the run since it was kept; None where nothing can be."""
        self._found: dict[str, pa.Table] = {}
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> pa.Table:
        if name in ADDED and self.added is not None:
            return self.added.table(name)
        if name not in FACTS and name not in COMPUTED:
            return self._run.tables[name]
        with self._lock:
            if name not in self._found:
                kept = self._beside.read(name) if self._beside else None
                if kept is None:
                    self._make(name)
                else:
                    self._found[name] = kept
            return self._found[name]

    def __contains__(self, name: object) -> bool:
        if name in FACTS or name in COMPUTED:
            return name in self._there and self._work_out() is not None
        if name in ADDED:
            return self.added is not None
        return name in self._run.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.tables)

    def __len__(self) -> int:
        return len(self._run.tables)

    def row_count(self, name: str) -> int:
        """Rows of a table of the record, without reading it; 0 of any other."""
        return 0 if name in (*FACTS, *COMPUTED, *ADDED) else row_count(self._run.tables, name)

    def rows_of_windows(self, name: str, windows: Collection[str]) -> pa.Table:
        """Rows of a fact, among them all about ``windows``, and few others."""
        with self._lock:
            kept = self._beside.read(name, windows) if self._beside and name not in self._found else None
            return self[name] if kept is None else kept

    def with_computed(self) -> WholeTables:
        """The same tables, with those that are worked out only when they are asked for said to be there."""
        return WholeTables(self._run, self._work_out, self._beside, (*FACTS, *COMPUTED), self.added)

    def _make(self, name: str) -> None:
        work_out = self._work_out()
        if work_out is None:
            raise KeyError(name)
        what = f"run '{self._run.info['id']}'"
        for made, data in work_out(self._run, name).items():
            self._found[made] = canonical_table(made, data, what)
            if self._beside:
                self._beside.write(made, self._found[made])
        self._found.setdefault(name, empty_table(SCHEMA.table(name)))
