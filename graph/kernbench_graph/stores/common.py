"""The common base of stores: they are open or closed, take notes, and name what is missing or taken."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from kernbench_graph.errors import RunNotFoundError, StoreError
from kernbench_graph.query.limits import check_rows
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.running import RunningQueries
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import QUERY_TIMEOUT_S, Result

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench_graph.added import Additions
    from kernbench_graph.worked_out import Beside, WorkOut

_log = logging.getLogger(__name__)


class OpenedStore(ABC):
    """Base of all stores. See :class:`kernbench_graph.store.GraphStore`."""

    details: tuple[str, ...] = ("full",)

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.RLock()
        self._closed = False
        self.notes: list[str] = []
        self.queries = RunningQueries()
        self.computed: WorkOut | None = None
        self.progress: Callable[[int, int], None] | None = None

    @property
    def url(self) -> str:
        """The URL that the store was opened with."""
        return self._url

    def close(self) -> None:
        """Let go of everything; queries that are running are cancelled. The store must not be used after."""
        self._closed = True
        self.queries.cancel_all()

    def expect(self, run: str, texts: Sequence[str], engine: str) -> None:
        """As asked of a store that has its graphs already: nothing to be made."""
        self._check_open()

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        run: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
        engine: str | None = None,
        *,
        proved: bool = False,
    ) -> Result:
        """Ask Cypher; see :meth:`kernbench_graph.store.GraphStore.query`."""

        def answer() -> Result:
            found = self._answer(cypher, params, run, timeout_s, engine, proved=proved)
            check_rows(len(found.rows), len(found.columns))
            return found

        return self.queries.ask(cypher, run, timeout_s, answer)

    @abstractmethod
    def _answer(
        self,
        cypher: str,
        params: Mapping[str, Any] | None,
        run: str | None,
        timeout_s: float,
        engine: str | None,
        *,
        proved: bool,
    ) -> Result:
        """The answer to a query, in a thread of its own (:mod:`kernbench_graph.running`)."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"store '{self._url}' is closed; open it again")

    @abstractmethod
    def load(self, run_id: str) -> RunRecord:
        """The record of a run."""

    @abstractmethod
    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""

    def added(self, run_id: str) -> dict[str, Mapping[str, pa.Table]]:
        """What was added to a run; see :meth:`kernbench_graph.store.GraphStore.added`."""
        return dict(_additions(self.load(run_id)).all())

    def add(self, run_id: str, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Add tables to a run; see :meth:`kernbench_graph.store.GraphStore.add`."""
        from kernbench_graph.added import canonical_addition

        run = self.load(run_id)
        topology = self.load_topology(str(run.info["topology"]))

        def there(table: str) -> pa.Table:
            return (topology if SCHEMA.table(table).record == "topology" else run).tables[table]

        found = canonical_addition(name, tables, there)
        try:
            _additions(run).put(name, found)
        except OSError as error:
            raise StoreError(
                f"what is to be added to run '{run_id}' cannot be written ({error.strerror or error}); "
                "free space, or check who owns the store"
            ) from error

    def _whole(
        self, run: RunRecord, beside: Beside | None = None, added: Additions | None = None
    ) -> RunRecord:
        """The run with the tables that are worked out from its others, and with what was added to it."""
        from kernbench_graph.worked_out import FACTS, WholeTables

        return RunRecord(run.info, WholeTables(run, lambda: self.computed, beside, FACTS, added))

    def _with_computed(self, run: RunRecord) -> RunRecord:
        """The run as :meth:`_whole` has it, said to have what is worked out only when it is asked for."""
        from kernbench_graph.worked_out import WholeTables

        if self.computed is None:
            return run
        tables = run.tables if isinstance(run.tables, WholeTables) else self._whole(run).tables
        assert isinstance(tables, WholeTables)
        return RunRecord(run.info, tables.with_computed())

    def _check_detail(self, detail: str) -> None:
        if detail not in self.details:
            known = " or ".join(self.details)
            raise StoreError(f"store '{self._url}' knows no detail '{detail}'; use {known}")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            _log.info("%s", text)

    def _unknown(self, run_id: str) -> RunNotFoundError:
        return RunNotFoundError(f"no run '{run_id}' in store '{self._url}'; list the runs to see their ids")


def _additions(run: RunRecord) -> Additions:
    """What was added to a run that a store has loaded."""
    from kernbench_graph.worked_out import WholeTables

    assert isinstance(run.tables, WholeTables)
    assert run.tables.added is not None
    return run.tables.added


def additions_state(run: RunRecord) -> str:
    """A text that is another one after each addition to the run; empty where there was none."""
    return _additions(run).state()


def taken(run_id: str) -> StoreError:
    """The error when a run's id is another run's already."""
    return StoreError(f"run '{run_id}' is in the store already; give another id, or remove that run first")
