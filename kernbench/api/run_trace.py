"""The trace of a run: as tables and frames, within windows, as a graph, and as questions ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.analysis.windows.time_window import PARTIAL
from kernbench.api import asking, summary
from kernbench.api.run_facts import RunFacts
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore, Result, RunRecord, TopologyRecord

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from numpy.typing import NDArray

    from kernbench.analysis.path.critical_path import CriticalPath
    from kernbench.analysis.trace_index import TraceIndex
    from kernbench.analysis.windows.time_window import Window
    from kernbench.draw.timeline import TimeLine

Frame: TypeAlias = "dict[str, NDArray[Any]]"
"""Columns by name, all of one length; ``pandas.DataFrame(frame)`` makes a data frame of it."""

Worked = TypeVar("Worked")

_KEPT = 8
"""Paths and uses of windows that are kept."""


class RunTrace(RunFacts):
    """A run with its trace, kept in a store or only in memory."""

    def __init__(
        self,
        properties: Mapping[str, Any],
        *,
        store: GraphStore | None,
        tables: Mapping[str, pa.Table] | None = None,
        topology: TopologyRecord | None = None,
    ) -> None:
        super().__init__(properties)
        self._store = store
        self._given_tables = tables
        self._given_topology = topology
        self._worked_out: dict[tuple[str, Window], Any] = {}

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The trace as Arrow tables by name, such as ``Transaction``, ``Hop``, ``Op`` and ``Use``."""
        if self._given_tables is not None:
            return self._given_tables
        assert self._store is not None
        return self._store.load(self.id).tables

    def table(self, table: str) -> pa.Table:
        """One table of the trace. ``UsageError`` when the run has no such table."""
        if table not in self.tables:
            if self._store is None:
                raise UsageError(f"the run of '{self.bench}' was not traced; re-run it with trace=True")
            raise UsageError(f"a trace has no table '{table}'; it has {', '.join(self.tables)}")
        return self.tables[table]

    def frame(self, table: str) -> Frame:
        """One table of the trace as numpy columns. ``UsageError`` when the run has no such table."""
        found = self.table(table)
        return {name: found[name].to_numpy() for name in found.column_names}

    @property
    def ops(self) -> Frame:
        """Data operations.

        Columns ``number kind name stage component launch parent bytes flops m k n dtype t_ready t_start t_end
        source label``.
        """
        return self.frame("Op")

    @property
    def hops(self) -> Frame:
        """Places that transactions went through.

        Columns ``txn seq resource t_in t_start t_out service_ns wait_ns bytes``.
        """
        return self.frame("Hop")

    @property
    def transactions(self) -> Frame:
        """Transactions.

        Columns ``number kind src dst bytes t_submit t_done service_ns wait_ns launch route caused_by op
        request``.
        """
        return self.frame("Transaction")

    @cached_property
    def used(self) -> Frame:
        """Use of each component and link in the whole run.

        Columns ``resource is_link kind bytes busy_ns wait_ns utilisation transactions max_queue occupied_ns
        occupancy``. ``utilisation`` is the share of what a part could have done: of the bytes that a link or
        memory could have moved, of the time that any other part could have served. ``occupancy`` is the share
        of the time for which something was there, waiting or served. ``wait_ns`` is what transactions and
        operations waited for the part. Both are NaN in a run without a trace.
        """
        from kernbench.analysis.windows.window_use import resource_use

        self.frame("Use")  # or an error
        return resource_use(self.tables, self.window("run"), self.sim_ns)

    def use(self, launch: Chosen = "all", from_ns: float | None = None, to_ns: float | None = None) -> Frame:
        """Use of each component and link within a window, by default the launches; columns of :attr:`used`.

        Busy and waiting times are those of the window, ``utilisation`` is a share of its length.
        """
        return self._use_within(self.window(launch, from_ns, to_ns))

    def utilisation(self, window: Window) -> dict[str, float]:
        """Utilisation within a window by component and link."""
        used = self._use_within(window)
        return dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))

    def _use_within(self, window: Window) -> Frame:
        """:meth:`use` of a window of the run."""
        from kernbench.analysis.windows.window_use import resource_use

        if window.spans == ((0.0, self.sim_ns),):
            return self.used
        self.check_traced()
        return self.cached(("use", window), lambda: resource_use(self.tables, window, self.sim_ns))

    def known_use(self, window: ChosenWindow) -> Frame:
        """:meth:`use`; of a run without a trace, which knows no windows, that of the whole run."""
        return self.use(window) if self.traced else self.used

    def cached(self, key: tuple[str, Window], work: Callable[[], Worked]) -> Worked:
        """What ``work`` gives, kept under ``key``, its name and window: several screens show the same one."""
        known = self._worked_out
        if key not in known:
            found = work()
            while len(known) >= _KEPT:
                known.pop(next(iter(known)), None)
            known[key] = found
            return found
        kept: Worked = known[key]
        return kept

    @cached_property
    def graph(self) -> nx.MultiDiGraph[Any]:
        """Topology and trace as one networkx graph, labels and keys as in the store; built on request.

        The critical path is in it too.
        """
        return self.subgraph()

    def subgraph(
        self,
        *names: str,
        launch: Chosen = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> nx.MultiDiGraph[Any]:
        """A part of :attr:`graph`: some labels and relationship types, of a window (see :meth:`window`).

        Of a window there are the transactions, hops, waits, operations and steps of the critical path that
        a part of lies within it; relationships that lead out of it are left out.

        Args:
            names: Labels such as ``"Op"`` and types such as ``"DEPENDS_ON"``; all by default. A type brings
                the labels at its ends; where no type is named, all those between the labels are there.
            launch: As for :meth:`window`, and ``from_ns`` and ``to_ns`` as well.
            from_ns: Start of the window, ns.
            to_ns: End of the window, ns.

        Raises:
            UsageError: The run is not kept, or there is no such launch, or no time in the window.
            QueryError: A name is neither a label nor a relationship type.
        """
        from kernbench.analysis.derived_tables import with_derived_tables
        from kernbench.analysis.windows.window_tables import tables_within
        from kernbench.support.pgraph import run_graph

        topology = self.topology_record()
        kept = self.store.load(self.id).tables
        tables = with_derived_tables(RunRecord(self.properties, self.tables), names, kept, lambda: topology)
        window = self.window(launch, from_ns, to_ns)
        if window.spans != ((0.0, self.sim_ns),):
            tables = tables_within(tables, window)
        graph: nx.MultiDiGraph[Any] = run_graph(RunRecord(self.properties, tables), topology, names)
        return graph

    def topology_record(self) -> TopologyRecord:
        """The topology as it was compiled for the run. ``UsageError`` when the run is not kept."""
        store = self.store
        return self._given_topology or store.load_topology(str(self.properties["topology"]))

    def critical_path(
        self, launch: Chosen = "all", from_ns: float | None = None, to_ns: float | None = None
    ) -> CriticalPath:
        """The critical path: the steps of work and waiting that make the time of a window (:meth:`window`).

        Its steps add up to the window's length, by default that of the launches.
        ``UsageError`` when the run was not traced or has no such launch.
        """
        from kernbench.analysis.path.critical_path import path_within

        window = self.window(launch, from_ns, to_ns)
        partial = self.properties["status"] == PARTIAL
        return self.cached(
            ("path", window),
            lambda: path_within(self._trace_index, self.sim_ns, window, partial=partial),
        )

    def timeline(
        self,
        launch: Chosen = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
        *,
        links: bool = False,
        waits: bool = True,
        fold: bool = True,
        rows: int = 16,
    ) -> TimeLine:
        """The timeline of a window (:meth:`window`, by default the launches). A notebook shows it.

        Args:
            launch: See :meth:`window`; ``from_ns`` and ``to_ns`` too.
            from_ns: Leave out what ended before.
            to_ns: Leave out what began after.
            links: With the links, memories, routers and CPUs that transactions crossed, most occupied first.
            waits: With what was queued before them.
            fold: PEs that did the same at the same times, and such links, once.
            rows: PEs to show at most, and as many links and other parts; 0 for all.

        Raises:
            UsageError: The run has no trace, or the window does not exist.
        """
        from kernbench.draw.timeline import Wanted, time_line

        if rows < 0:
            raise UsageError(f"rows={rows} cannot be shown; give a number from 1, or 0 for all")
        self.check_traced()
        window = self.window(launch, from_ns, to_ns)
        window.check_time()
        return time_line(self.properties, self.tables, window, Wanted(links, waits, fold, rows))

    def roofline(
        self, by: str = "operation", launch: int | str = "all", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """How close the work of launches came to what the hardware allows, farthest from it first.

        A row for each ``operation``, ``pe`` or ``launch``, at most ``limit`` of them, with ``launch op name
        source flops hbm_bytes sram_bytes tcm_bytes link_bytes package_bytes hbm_gbs sram_gbs
        tcm_gbs link_gbs package_gbs level intensity ns achieved_tflops attainable_tflops peak_tflops
        achieved_gbs peak_gbs light_ns share bound``: the columns of the question ``bottleneck/roofline``,
        which this asks. ``UsageError`` when the run is not kept,
        or has no such launch; ``QueryError`` for another ``by``.
        """
        params = {"by": by, "limit": summary.ALL if limit is None else limit}
        return self.query("bottleneck/roofline", launch=launch, **params).dicts()

    def query(self, name: str, /, **params: object) -> Result:
        """Ask this run the library question ``name``; ``kernbench query --list`` shows them."""
        return asking.ask(name, run=self.id, store=self.store, params=params)

    def cypher(self, text: str, /, *, engine: str | None = None, **params: object) -> Result:
        """Ask this run free Cypher, which may only read. ``$name`` in it is bound to ``params['name']``.

        ``$run`` is this run's id. ``EXPLAIN``, ``PROFILE`` and ``engine`` are as for
        :func:`kernbench.ask_cypher`.
        """
        return asking.ask_cypher(text, run=self.id, store=self.store, params=params, engine=engine)

    @property
    def traced(self) -> bool:
        """Whether it has a trace to look into."""
        return "Transaction" in self.tables and self.tables["Transaction"].num_rows > 0

    def check_traced(self) -> None:
        """``UsageError`` for a run without a trace."""
        if not self.traced:
            raise UsageError(f"the run of '{self.bench}' has no trace; run it with trace=True")

    @cached_property
    def _trace_index(self) -> TraceIndex:
        from kernbench.analysis.path.critical_path import trace_index

        return trace_index(self.tables, self.properties)

    @property
    def store(self) -> GraphStore:
        """The open store that has it. ``UsageError`` for a run that is not kept."""
        if self._store is None:
            raise UsageError(
                f"the run of '{self.bench}' was not saved, so it cannot be queried; run it with trace=True"
            )
        return self._store
