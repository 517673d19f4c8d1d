"""The graph of a run, as far as the library's questions have asked for it, for one process.

A question names the labels and types that it looks at. Copying only these into a copy of the topology's
graph takes a fraction of the time of the whole graph, which then need not be written, read again and kept.
Of hops, most of a run's rows, only those of one resource are copied where a question is about that resource.
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

from kernbench_graph.projection import Projection
from kernbench_graph.store import Result, RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.embedded.needs import Needs, needs

MOST_ROWS = 250_000
"""Where a question lacks more rows, the run is projected whole, and kept in the cache for other processes."""
_HOP = "HOP"


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
        self._places: set[str] = set()
        """Resources whose hops are there, while not all are."""
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
        there = self._there | ({_HOP} if wanted.place in self._places else set())
        return Needs(wanted.names - there, wanted.place)

    def _add(self, lacking: Needs) -> None:
        """Copy what is lacking, each row once."""
        self._database.write("BEGIN TRANSACTION", {})
        for part in self._projection.parts("run", tuple(sorted(lacking.names))):
            data = self._hops(part.data, lacking.place) if part.name == _HOP else part.data
            self._database.copy(part.name, data, part.ends)
        self._database.write("COMMIT", {})
        if lacking.place is None:
            self._there |= lacking.names
        else:
            self._there |= lacking.names - {_HOP}
            self._places.add(lacking.place)

    def _hops(self, data: pa.Table, place: str | None) -> pa.Table:
        """Of all hops those of one resource, or all of others than are there."""
        import pyarrow.compute as pc

        if place is not None:
            return data.filter(pc.equal(data["to"], pa.scalar(place, pa.string())))
        if not self._places:
            return data
        return data.filter(pc.invert(pc.is_in(data["to"], pa.array(sorted(self._places), pa.string()))))

    def close(self) -> None:
        """Let go of its file, and remove it."""
        with self._lock:
            self._database.close()
            self._remove()
