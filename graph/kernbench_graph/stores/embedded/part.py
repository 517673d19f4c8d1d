"""The graph of a run, as far as the library's questions have asked for it, for one process.

A question names the labels and types that it looks at. Copying only these into a copy of the topology's
graph takes a fraction of the time of the whole graph, which then need not be written, read again and kept.
Of hops and waits, most of a run's rows, only those are copied that the question says it is about.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from kernbench_graph.projection import Part, Projection
from kernbench_graph.store import Result, RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.embedded.enough import Enough
from kernbench_graph.stores.embedded.needs import Needs, needs

MOST_ROWS = 250_000
"""Where a question lacks more rows, the run is projected whole, and kept in the cache for other processes."""


class PartialGraph:
    """A database of one run that gets what it lacks before a question is asked. Safe for several threads."""

    def __init__(self, base: Path, run: RunRecord, topology: TopologyRecord) -> None:
        """``base`` is the file of the topology's graph, with the empty tables of a run."""
        folder = Path(tempfile.mkdtemp(prefix="kernbench-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        try:
            shutil.copyfile(base, folder / base.name)
            self._database = LadybugDatabase(folder / base.name)
            for setting in ("threads=1", "auto_checkpoint=false", "force_checkpoint_on_close=false"):
                self._database.write(f"CALL {setting}", {})
        except BaseException:
            self._remove()
            raise
        self._projection = Projection(topology, run)
        self._tables = run.tables
        self._there: set[str] = set()
        self._some: dict[str, list[Enough]] = {}
        """Relationships that are there, of types of which not all are."""
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether it can no longer be asked."""
        return self._database.is_closed

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query; see :meth:`kernbench_graph.store.GraphStore.query`."""
        with self._lock:
            lacking = self._lacking(needs(cypher, params))
            if lacking.names and not self.is_closed:
                self._add(lacking)
        return self._database.query(cypher, params, timeout_s)

    def lacking_rows(self, wanted: Needs) -> float:
        """About how many rows have to be copied before a query is asked that needs ``wanted``."""
        with self._lock:
            return self._lacking(wanted).rows(self._tables)

    def _lacking(self, wanted: Needs) -> Needs:
        there = self._there | {some.type for some in wanted.enough if some in self._some.get(some.type, ())}
        return Needs(wanted.names - there, tuple(some for some in wanted.enough if some.type not in there))

    def _add(self, lacking: Needs) -> None:
        """Copy what is lacking, each row once."""
        chosen = {some.type: some for some in lacking.enough}
        self._database.write("BEGIN TRANSACTION", {})
        for part in self._projection.parts("run", tuple(sorted(lacking.names))):
            data = self._without_those_there(part, chosen.get(part.name))
            self._database.copy(part.name, data, part.ends)
        self._database.write("COMMIT", {})
        self._there |= lacking.names - chosen.keys()
        for type_, some in chosen.items():
            self._some.setdefault(type_, []).append(some)

    def _without_those_there(self, part: Part, enough: Enough | None) -> pa.Table:
        """The rows of a part that a question lacks: those that are enough, or all."""
        import pyarrow.compute as pc

        data = part.data
        kept = None if enough is None else enough.among(data, self._tables)
        for there in self._some.get(part.name, ()):
            others = pc.invert(there.among(data, self._tables))
            kept = others if kept is None else pc.and_(kept, others)
        return data if kept is None else data.filter(kept)

    def close(self) -> None:
        """Let go of its file, and remove it."""
        with self._lock:
            self._database.close()
            self._remove()
