"""The interface of every store.

A store keeps runs and the topologies they ran on (:mod:`kernbench_graph.records`), and answers Cypher over
the property graph described in :mod:`kernbench_graph.schema`. Callers get a :class:`GraphStore` from
:func:`kernbench_graph.opening.open_store` and never see the library behind it. Importing this module is
cheap: pyarrow and the Cypher engine are loaded when first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from kernbench_graph.records import RunRecord, TopologyRecord

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa

    from kernbench_graph.running import RunningQueries

QUERY_TIMEOUT_S = 60.0
"""How long a query may run before it is stopped, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query.

    Values are plain Python (str, int, float, bool, None, list, dict), and nodes, relationships and paths as
    :mod:`kernbench_graph.entities` has them.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Remarks on the query, such as a property that the label in question never has."""
    engine: str = ""
    """Name of the engine that answered; empty where none had to be asked."""

    def dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary keyed by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def graph(self) -> nx.MultiDiGraph[str]:
        """The nodes, relationships and paths of all rows as one networkx graph.

        Nodes are keyed by ``id`` and carry ``labels``, joined by ``:``, and their properties, edges ``type``
        and theirs.
        """
        from kernbench_graph.networkx_view import result_graph

        return result_graph(self.rows)

    def to_svg(self) -> str:
        """A picture of the nodes, relationships and paths of all rows, as the text of an SVG file.

        Empty where there are none of them, or too many for a picture.
        """
        from kernbench_graph.drawing import entities_svg
        from kernbench_graph.entities import entities_in

        return entities_svg(*entities_in(self.rows))

    def _repr_html_(self) -> str:
        from kernbench_graph.entities import entities_in
        from kernbench_graph.notebook import html_table

        table = html_table(self.columns, self.rows, "; ".join(self.notes))
        joined = entities_in(self.rows)[1]
        return f"<div>{self.to_svg()}</div>{table}" if joined else table

    def __len__(self) -> int:
        return len(self.rows)


@runtime_checkable
class GraphStore(Protocol):
    """Keeps runs and answers questions about them. Safe to use from several threads.

    Every method raises ``StoreError`` when the store is closed or cannot be reached, read or written.
    """

    details: tuple[str, ...]
    """How much of a run may be asked for when it is kept; ``full`` is among them."""
    notes: list[str]
    """Events that went otherwise than planned without harm, such as a cache that was rebuilt."""
    queries: RunningQueries
    """The queries that are running: who asked them, what and since when; each can be cancelled."""
    computed: Callable[[RunRecord, str], Mapping[str, pa.Table]] | None
    """Works out a table that the schema calls fact or computed, and those that come with it."""
    progress: Callable[[int, int], None] | None
    """Called, while a graph is built that takes long, with how much is done and how much there is to do."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that answer Cypher, the one that is asked by default first."""

    @property
    def url(self) -> str:
        """The URL that :func:`kernbench_graph.opening.open_store` was called with."""

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

    def runs(self) -> list[dict[str, Any]]:
        """List the runs.

        Returns:
            Properties of every run, in the order in which they were kept. Runs that cannot be read are left
            out with a note.
        """

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

    def remove(self, run_id: str) -> None:
        """Remove a run, and its topology where no other run is on it.

        Args:
            run_id: full id of the run.

        Raises:
            RunNotFoundError: there is no run of that id.
        """

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

    def added(self, run_id: str) -> dict[str, Mapping[str, pa.Table]]:
        """The tables of all that was added to a run by its name, in alphabetical order."""

    def expect(self, run: str, texts: Sequence[str], engine: str) -> None:
        """Say which texts an engine is asked next of a run.

        A store that makes a graph with what a text looks at makes one for all of them. Others do nothing.
        """

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

    def close(self) -> None:
        """Release files and memory. The store must not be used afterwards."""

    def __enter__(self) -> Self:
        """``with open_store(url) as store:`` closes it at the end."""

    def __exit__(self, *error: object) -> None:
        """Close."""
