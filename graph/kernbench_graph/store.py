"""The interface of every store, and what all stores do alike.

A store keeps runs and the topologies they ran on (:mod:`kernbench_graph.records`), and answers Cypher over
the property graph described in :mod:`kernbench_graph.schema`. Callers get a :class:`GraphStore` from
:func:`kernbench_graph.opening.open_store` and never see the library behind it. Importing this module is
cheap: pyarrow and the Cypher engine are loaded when first needed.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from kernbench_graph.errors import RunNotFoundError, StoreError
from kernbench_graph.query.limits import check_rows
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.result import Result
from kernbench_graph.running import RunningQueries

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench_graph.added import Additions
    from kernbench_graph.worked_out import Beside, WorkOut

QUERY_TIMEOUT_S = 60.0
"""How long a query may run before it is stopped, unless the caller says otherwise."""
_log = logging.getLogger(__name__)


class GraphQuery(NamedTuple):
    """A query; see :meth:`GraphStore.query`."""

    cypher: str
    params: Mapping[str, Any]
    run: str | None
    timeout_s: float
    engine: str | None
    proved: bool


class GraphStore(ABC):
    """Keeps runs and answers questions about them. Safe to use from several threads.

    Every method raises ``StoreError`` when the store is closed or cannot be reached, read or written.
    """

    details: tuple[str, ...] = ("full",)
    """How much of a run may be asked for when it is kept; ``full`` is among them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.RLock()
        self._closed = False
        self.notes: list[str] = []
        """Events that went otherwise than planned without harm, such as a cache that was rebuilt."""
        self.queries = RunningQueries()
        """The queries that are running: who asked them, what and since when; each can be cancelled."""
        self.computed: WorkOut | None = None
        """Works out a table that the schema calls fact or computed, and those that come with it."""
        self.progress: Callable[[int, int], None] | None = None
        """Called, while a graph is built that takes long, with how much is done and how much there is."""

        self.announce: Callable[[str], None] | None = None
        """Told what a graph that takes long has, and about what that costs, before it is built."""

    @property
    @abstractmethod
    def engines(self) -> tuple[str, ...]:
        """The engines that answer Cypher, the one that is asked by default first."""

    @property
    def url(self) -> str:
        """The URL that :func:`kernbench_graph.opening.open_store` was called with."""
        return self._url

    @abstractmethod
    def keep(self, run: RunRecord, topology: TopologyRecord, detail: str = "full") -> str:
        """Keep a run and its topology. All of it becomes visible at once, or nothing.

        Args:
            run: the record; ``info["id"]`` may be absent.
            topology: the machine that it ran on; kept once for all its runs.
            detail: ``summary``, ``operations`` or ``full``: how much of it a server is to hold as a graph,
                beside its record, which is always whole. Other stores keep all of it and know ``full`` only.

        Returns:
            The run's id.

        Raises:
            ArchiveError: the record does not fit the schema.
            StoreError: the id is taken, or the store knows no such detail.
        """

    @abstractmethod
    def runs(self) -> list[Mapping[str, Any]]:
        """List the runs.

        Returns:
            Properties of every run, in the order in which they were kept; what is long in them is read when
            it is looked at. Runs that cannot be read are left out with a note.
        """

    @abstractmethod
    def resolve(self, ref: str) -> str:
        """Find the run that a reference means.

        Args:
            ref: ``last``, ``last~N`` (N before the last), an id, a unique prefix of one, or the hash at its
                end or the start of that.

        Returns:
            The run's id.

        Raises:
            RunNotFoundError: no run, or more than one, goes by that reference.
        """

    @abstractmethod
    def remove(self, run_id: str) -> None:
        """Remove a run, and its topology where no other run is on it.

        Args:
            run_id: full id of the run.

        Raises:
            RunNotFoundError: there is no run of that id.
        """

    @abstractmethod
    def change_tags(self, run_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> list[str]:
        """Add and remove tags of a run. Several processes may do so at once, and none of them is lost.

        Args:
            run_id: full id of the run.
            add: tags that it has from now on.
            remove: tags that it no longer has; those that it never had do no harm.

        Returns:
            All tags that the run has now, oldest first.

        Raises:
            RunNotFoundError: there is no run of that id.
        """

    @abstractmethod
    def load(self, run_id: str) -> RunRecord:
        """Read the record of a run.

        Args:
            run_id: full id of the run.

        Returns:
            The record; its tables are read and checked when first looked at.

        Raises:
            RunNotFoundError: there is no run of that id.
            ArchiveError: the record is damaged.
            SchemaVersionError: it was written under another schema version.
        """

    @abstractmethod
    def load_topology(self, topology_id: str) -> TopologyRecord:
        """Read the record of a topology.

        Args:
            topology_id: full id of the topology.

        Returns:
            The record; its tables are read and checked when first looked at.

        Raises:
            StoreError: there is no topology of that id.
            ArchiveError: the record is damaged.
        """

    def added(self, run_id: str) -> dict[str, Mapping[str, pa.Table]]:
        """The tables of all that was added to a run by its name, in alphabetical order."""
        return dict(_additions(self.load(run_id)).all())

    def add(self, run_id: str, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Add rows to a run that is kept: the answer of an analysis, or an annotation.

        They are kept beside its archive and are in its graph from then on, for every process.

        Args:
            run_id: full id of the run.
            name: what was added under that name before is replaced.
            tables: rows of tables that the schema calls added; none remove what has the name.

        Raises:
            RunNotFoundError: there is no run of that id.
            ArchiveError: a table cannot be added, or refers to what is not in the run.
        """
        from kernbench_graph.added import canonical_addition
        from kernbench_graph.schema import SCHEMA

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

    def upgrade(self) -> list[str]:
        """Bring what an older KernBench kept to this version. No record is changed or removed.

        A server rebuilds the graphs of older runs one by one; the next call completes an interrupted one. A
        folder works out the facts that runs lack.

        Returns:
            The ids of the runs that were changed, oldest first.
        """
        return []

    def expect(self, run: str, asked: Sequence[tuple[str, Mapping[str, Any]]], engine: str) -> None:
        """Say which texts, with which parameters, an engine is asked next of a run.

        A store that makes a graph with what a text looks at makes one for all of them. Others do nothing.
        """
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
        """Ask Cypher of the graph of one run, or of the history: every run and its use of resources.

        Args:
            cypher: one statement that only reads.
            params: values of its parameters by name; they are bound, never pasted into the text. ``$run`` is
                the run's id where it is not given.
            run: id of a run or a reference to one; None for the history.
            timeout_s: time after which the query is stopped, in seconds.
            engine: one of :attr:`engines`; None for the first.
            proved: the text is a shipped one that the conformance suite has proved on that engine. An engine
                that may answer wrongly asks any other text to pass its check first.

        Returns:
            Columns and rows; for ``EXPLAIN`` before the statement those of its plan instead: its text, a row
            a line, from the embedded engines, and a row an operator from a server; for ``PROFILE`` the same
            of the plan as it was run.

        Raises:
            ReadOnlyError: the statement does more than read.
            QueryError: the statement or a parameter is wrong, or the engine does not answer ``PROFILE``.
            QueryTimeoutError: it took longer than ``timeout_s``, the building of its graph not counted.
            QueryCancelledError: it was cancelled, through :attr:`queries` or because its asker has gone away.
            RunNotFoundError: there is no such run.
        """
        asked = GraphQuery(cypher, params or {}, run, timeout_s, engine, proved)

        def answer() -> Result:
            found = self._answer(asked)
            check_rows(len(found.rows), len(found.columns))
            return found

        return self.queries.ask(cypher, run, timeout_s, answer)

    @abstractmethod
    def _answer(self, asked: GraphQuery) -> Result:
        """The answer to a query, in a thread of its own (:mod:`kernbench_graph.running`)."""

    def close(self) -> None:
        """Release files and memory, cancel queries that are running. The store must not be used after."""
        self._closed = True
        self.queries.cancel_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"store '{self._url}' is closed; open it again")

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
