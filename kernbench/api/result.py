"""The result of a run: its times, its trace as frames, and the questions that can be asked of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from kernbench.analysis.time_window import PARTIAL
from kernbench.api.summary import busiest, busiest_by_class, most_waited_for
from kernbench.errors import UsageError
from kernbench.hints import did_you_mean
from kernbench.pgraph import GraphStore, Result, RunRecord, TopologyRecord

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from numpy.typing import NDArray

    from kernbench.analysis.critical_path import CriticalPath
    from kernbench.analysis.time_window import Window
    from kernbench.analysis.trace_index import TraceIndex
    from kernbench.api.advising import Advice
    from kernbench.api.energy_use import EnergyUse
    from kernbench.api.timelines import TimeLine
    from kernbench.report.content import Content

Frame: TypeAlias = "dict[str, NDArray[Any]]"
"""Columns by name, all of one length; ``pandas.DataFrame(frame)`` makes a data frame of it."""

Worked = TypeVar("Worked")

_ALL_ROWS = 2**31
"""More than any question has."""
_KEPT = 8
"""Paths and uses of windows that are kept."""
_VERIFIED = {"yes": True, "no": False, "race": False}


class Run:
    """One run, kept in a store or only in memory. Times in ns of simulated time, sizes in bytes.

    Comes from :func:`kernbench.run`, :func:`kernbench.open_run` or :func:`kernbench.runs`.
    """

    def __init__(
        self,
        properties: Mapping[str, Any],
        *,
        store: GraphStore | None,
        tables: Mapping[str, pa.Table] | None = None,
        topology: TopologyRecord | None = None,
    ) -> None:
        self._properties = properties
        self._store = store
        self._given_tables = tables
        self._given_topology = topology
        self._worked_out: dict[tuple[str, Window], Any] = {}

    @classmethod
    def kept(cls, store: GraphStore, properties: Mapping[str, Any]) -> Self:
        """The run with these properties in ``store``."""
        return cls(properties, store=store)

    def __repr__(self) -> str:
        name = self.id or "not kept"
        verdict = f", verified: {self.verdict}" if self.verdict not in ("yes", "not asked") else ""
        problem = f", {self.problem}" if self.problem else ""
        return f"<Run {name}: {self.bench} on {self.topology}, {self.latency_ns:.1f} ns{verdict}{problem}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # By the store's URL where another process can open it; else with all that was kept.
        from kernbench.api.stores import folder_of

        if self._store is None:
            return _unpickled, (type(self), dict(self._properties), dict(self.tables), self._given_topology)
        if folder := folder_of(self._store.url):
            return _unpickled, (type(self), dict(self._properties), str(folder.absolute()))
        record = self._store.load(self.id)
        kept = self._store.load_topology(str(self._properties["topology"]))
        return _unpickled, (type(self), dict(self._properties), dict(record.tables), kept, True)

    def _repr_html_(self) -> str:
        from kernbench.api.screens.overview import of_run

        return of_run(self, launch="all").html(summary=True)

    # -- what is known of it ------------------------------------------------------------------------

    @property
    def properties(self) -> Mapping[str, Any]:
        """All that its record says of the run itself; :attr:`info` has what is documented."""
        return self._properties

    @property
    def id(self) -> str:
        """Id in its store; empty when the run was not traced and so is not kept."""
        return str(self._properties.get("id", ""))

    @property
    def bench(self) -> str:
        """Name of the bench."""
        return str(self._properties["bench"])

    @property
    def topology(self) -> str:
        """Name of the topology."""
        return str(self._properties["topology_name"])

    @property
    def params(self) -> dict[str, Any]:
        """Values of the bench's parameters."""
        value: dict[str, Any] = json.loads(self._properties["params"] or "{}")
        return value

    @property
    def tags(self) -> list[str]:
        """Tags that the user gave the run."""
        value: list[str] = json.loads(self._properties["tags"] or "[]")
        return value

    @property
    def verified(self) -> bool | None:
        """Whether values were right and no accesses raced; None if not asked, or if nothing was checked."""
        return _VERIFIED.get(self.verdict)

    @property
    def verdict(self) -> str:
        """What verification found: ``yes``, ``no`` (values are wrong), ``race`` (accesses race),
        ``nothing checked`` (asked, but there was nothing to compare), or ``not asked``."""
        found = str(self._properties["verified"])
        # Earlier versions called a race with right values "no", and the run "ok".
        older = found == "no" and self._properties["status"] == "ok" and self._properties.get("races")
        return "race" if older else found

    @property
    def problem(self) -> str:
        """What is wrong where :attr:`verified` is False: the tensor and value, or the race; else empty."""
        if self.verified is not False:
            return ""
        races = self._properties.get("races") or [{"message": "accesses race"}]
        other = races[0]["message"] if self.verdict == "race" else "values are wrong"
        return str(self._properties.get("problem", other))

    @property
    def nothing_checked(self) -> bool:
        """Whether verification was asked for, and the bench gave nothing to compare."""
        return self.verdict == "nothing checked"

    @property
    def sim_ns(self) -> float:
        """Simulated time from the first host command to the last answer."""
        return float(self._properties["sim_ns"])

    @property
    def latency_ns(self) -> float:
        """Time during which at least one launch was under way, from its common start to its last answer."""
        return float(self._properties["latency_ns"])

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The kernel launches in order.

        Keys: ``launch kernel rank package pes t_submit t_start t_done latency_ns pe_ns late_ns pe_times``.
        ``rank`` submitted it, None for a bench without ranks; ``package`` has the PEs, several with a comma
        between them. In a run that failed, times that have not come are -1, and their differences 0.
        """
        return list(self._launches)

    @cached_property
    def _launches(self) -> list[dict[str, Any]]:
        return [
            {
                "launch": one.get("launch", number),
                "kernel": one.get("kernel", ""),
                "rank": one.get("rank"),
                "package": ", ".join(dict.fromkeys(pe.partition(".")[0] for pe in one.get("pe_times", ()))),
                **{key: value for key, value in one.items() if key != "rank"},
            }
            for number, one in enumerate(self._properties.get("launches") or [])
        ]

    @property
    def source_text(self) -> str:
        """The text of the bench's file as it was run; empty for traffic, and for what was typed in."""
        return str(self._properties.get("source_text", ""))

    @property
    def again(self) -> dict[str, Any]:
        """The settings for a re-run beside parameters and topology: ``bench device components topo code``.

        ``bench`` is as the user named it. ``UsageError`` for a run that was kept without them.
        """
        found = self._properties.get("again")
        if found is None:
            raise UsageError(
                f"the version that kept run '{self.id}' did not note how to re-run it; run its bench first"
            )
        if not _says_how(found):
            raise UsageError(f"run '{self.id}' does not say how to re-run it; run its bench first")
        return {"bench": "", "device": None, "components": None, **found}

    @property
    def asked_hash(self) -> str:
        """The hash of the configuration that was asked for, before kernels chose their own."""
        return str(self._properties.get("asked_hash", self._properties["config_hash"]))

    @property
    def info(self) -> dict[str, Any]:
        """All settings and figures of the run itself, without looking at its trace."""
        p = self._properties
        return {
            "run_id": self.id or None,
            "bench": self.bench,
            "params": self.params,
            "topology": self.topology,
            "topology_changes": (self._properties.get("again") or {}).get("topo", {}),
            "topology_id": p["topology"],
            "sim_ns": self.sim_ns,
            "latency_ns": self.latency_ns,
            "verified": self.verified,
            "nothing_checked": self.nothing_checked,
            "verdict": self.verdict,
            "problem": self.problem,
            **{key: p[key] for key in ("ops_verified", "tile_transfers") if key in p},
            "status": p["status"],
            "races": list(p.get("races", ())),
            "wall_s": float(p["wall_s"]),
            "events": int(p["events"]),
            "hops": int(p["hops"]),
            "flit_crossings": int(p["flit_crossings"]),
            "started_at": p["started_at"],
            "version": p["version"],
            "config_hash": p["config_hash"],
            "tags": self.tags,
        }

    def window(
        self, launch: int | str | None = "all", from_ns: float | None = None, to_ns: float | None = None
    ) -> Window:
        """A window of the run: a launch's number, ``"all"`` launches, ``"setup"``, or ``"run"``, the whole.

        None is the whole run too. Of plain traffic ``"all"`` is the makespan. ``from_ns`` and ``to_ns`` cut
        it further, in ns of simulated time. ``UsageError`` for a launch that there is not, or a window
        without time in it.
        """
        from kernbench.analysis.time_window import select

        return select(self._properties, launch, from_ns, to_ns)

    def use(
        self, launch: int | str | None = "all", from_ns: float | None = None, to_ns: float | None = None
    ) -> Frame:
        """Use of each component and link within a window, by default the launches; columns of :attr:`used`.

        Busy and waiting times are those of the window, ``utilisation`` is a share of its length.
        """
        from kernbench.analysis.window_use import resource_use

        window = self.window(launch, from_ns, to_ns)
        if window.spans == ((0.0, self.sim_ns),):
            return self.used
        self._check_traced()
        return self._once(("use", window), lambda: resource_use(self.tables, window, self.sim_ns))

    def _use(
        self, launch: int | str | None, from_ns: float | None = None, to_ns: float | None = None
    ) -> Frame:
        """:meth:`use`; of a run without a trace, which knows no windows, that of the whole run."""
        return self.use(launch, from_ns, to_ns) if self._traced else self.used

    def _once(self, key: tuple[str, Window], work: Callable[[], Worked]) -> Worked:
        """What ``work`` gives, kept: several screens show the same window."""
        known = self._worked_out
        if key not in known:
            found = work()
            while len(known) >= _KEPT:
                known.pop(next(iter(known)), None)
            known[key] = found
            return found
        kept: Worked = known[key]
        return kept

    def summary(
        self,
        top: int = 5,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> dict[str, Any]:
        """:attr:`info` with ``launches``, and where a window's time went, by default the launches'.

        Args:
            top: How many parts are listed.
            launch: Number of a launch, ``"all"``, ``"setup"`` or ``"run"``.
            from_ns: Start of a time range, ns.
            to_ns: Its end, ns.

        Returns:
            A dict of the above and

            - ``window``: ``name ns setup_ns`` of it; ``setup_ns`` is the run's time outside of launches;
            - ``by_cause``, ``by_line``: the window's critical path by cause and by source line, ns;
            - ``busiest`` and ``most_waited_for``: the ``top`` parts by utilisation, and by the time that
                others waited for them; ``busiest_links`` and ``busiest_engines``: links, and all else,
                ranked apart.

            A run without a trace knows neither windows nor causes: then these are empty and the busiest
            resources are those of the whole run.
        """
        traced = self._traced
        window = self.window(launch if traced else None, from_ns, to_ns)
        used = self._use(launch, from_ns, to_ns)
        path = self.critical_path(launch, from_ns, to_ns) if traced else None
        launched = self.window("all").ns if self.launches else 0.0
        return {
            **self.info,
            "launches": self.launches,
            "window": {"name": window.name, "ns": window.ns, "setup_ns": self.sim_ns - launched},
            "by_cause": path.by_cause() if path else {},
            "by_line": path.by_line() if path else {},
            "busiest": busiest(used, top),
            **busiest_by_class(used, top),
            "most_waited_for": most_waited_for(used, top),
        }

    def to_json(self) -> str:
        """:meth:`summary` as JSON text: what ``kernbench run --format json`` prints."""
        return json.dumps(self.summary(), ensure_ascii=False, allow_nan=False)

    # -- its trace ----------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The trace as Arrow tables by name, such as ``Transaction``, ``Hop``, ``Op`` and ``Use``."""
        if self._given_tables is not None:
            return self._given_tables
        assert self._store is not None
        return self._store.load(self.id).tables

    def frame(self, table: str) -> Frame:
        """One table of the trace as numpy columns. ``UsageError`` when the run has no such table."""
        if table not in self.tables:
            if self._store is None:
                raise UsageError(f"the run of '{self.bench}' was not traced; re-run it with trace=True")
            raise UsageError(f"a trace has no table '{table}'; it has {', '.join(self.tables)}")
        found = self.tables[table]
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
        of the time for which something was there, waiting or served; NaN in a run without a trace.
        ``wait_ns`` is what transactions and operations waited for the part.
        """
        from kernbench.analysis.window_use import resource_use

        self.frame("Use")  # or an error
        return resource_use(self.tables, self.window("run"), self.sim_ns)

    @cached_property
    def graph(self) -> nx.MultiDiGraph[Any]:
        """Topology and trace as one networkx graph, labels and keys as in the store; built on request.

        The critical path is in it too.
        """
        return self.subgraph()

    def subgraph(
        self,
        *names: str,
        launch: int | str | None = None,
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
            from_ns: Begin of the window, ns.
            to_ns: End of the window, ns.

        Raises:
            UsageError: The run is not kept, or there is no such launch, or no time in the window.
            QueryError: A name is neither a label nor a relationship type.
        """
        from kernbench.analysis.window_tables import tables_within
        from kernbench.analysis.worked_out import with_worked_out
        from kernbench.pgraph import run_graph

        topology = self.topology_record()
        kept = self._kept_in().load(self.id).tables
        tables = with_worked_out(RunRecord(self._properties, self.tables), names, kept, lambda: topology)
        window = self.window(launch, from_ns, to_ns)
        if window.spans != ((0.0, self.sim_ns),):
            tables = tables_within(tables, window)
        graph: nx.MultiDiGraph[Any] = run_graph(RunRecord(self._properties, tables), topology, names)
        return graph

    def topology_record(self) -> TopologyRecord:
        """The topology as it was compiled for the run. ``UsageError`` when the run is not kept."""
        store = self._kept_in()
        return self._given_topology or store.load_topology(str(self._properties["topology"]))

    def critical_path(
        self, launch: int | str | None = "all", from_ns: float | None = None, to_ns: float | None = None
    ) -> CriticalPath:
        """The critical path: the steps of work and waiting that make the time of a window (:meth:`window`).

        Its steps add up to the window's length, by default that of the launches.
        ``UsageError`` when the run was not traced or has no such launch.
        """
        from kernbench.analysis.critical_path import path_within

        window = self.window(launch, from_ns, to_ns)
        partial = self._properties["status"] == PARTIAL
        return self._once(
            ("path", window),
            lambda: path_within(self._trace_index, self.sim_ns, window, partial=partial),
        )

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
        params = {"by": by, "limit": _ALL_ROWS if limit is None else limit}
        return self.query("bottleneck/roofline", launch=launch, **params).dicts()

    def advice(self, launch: int | str = "all", least: float = 0.01) -> Advice:
        """What to do next, the largest saving first, as a list: see :func:`kernbench.advise`."""
        from kernbench.api.advising import advise

        found: Advice = advise(self, launch=launch, least=least)["advice"]
        return found

    def timeline(
        self,
        launch: int | str | None = "all",
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
            UsageError: The run has no trace, or there is no such window.
        """
        from kernbench.api.timelines import timeline

        self._check_traced()
        window = self.window(launch, from_ns, to_ns)
        return timeline(self, window, links=links, waits=waits, fold=fold, rows=rows)

    def screen(
        self,
        key: str,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> Content:
        """A tab as the page, the terminal UI and ``kernbench show --tab`` have it. A notebook shows it.

        Args:
            key: ``launches``, ``time``, ``path``, ``parts``, ``waits``, ``memory``, ``advice``, ``energy`` or
                ``roofline``.
            launch: See :meth:`window`; ``from_ns`` and ``to_ns`` too.
            from_ns: Start of the window, ns.
            to_ns: Its end, ns.

        Returns:
            Its ``grids``, each with ``key``, ``heading``, ``columns`` and ``rows``, and its lines.

        Raises:
            UsageError: There is no such tab or window, or the tab is not about such a window.
        """
        from kernbench.api.screens import SCREENS

        tabs = {screen.key: screen for screen in SCREENS}
        if key not in tabs:
            raise UsageError(f"there is no tab '{key}'; {did_you_mean(key, tabs)}")
        return tabs[key].work_out(self, launch=launch, from_ns=from_ns, to_ns=to_ns)

    def export(
        self,
        to: str,
        path: str | os.PathLike[str] | None = None,
        launch: int | str | None = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
        **options: object,
    ) -> list[str]:
        """Write it for another tool; gives the names of the files.

        Args:
            to: ``perfetto``, ``timeline`` (SVG), ``roofline`` (PNG), ``chakra``, ``npe``, ``csv``,
                ``parquet``, ``graphml``, ``gexf`` or ``json``; ``kernbench export --help`` says more of each.
            path: The file; for tables the folder; for chakra the start of its names. By default made from
                the run's id.
            launch: With ``from_ns`` and ``to_ns`` a window; see :meth:`window`. By default traces and
                pictures are of the launches, tables and graphs of the whole run.
            from_ns: Start of the window, ns.
            to_ns: Its end, ns.
            options: ``links``, ``waits`` and ``ticks`` of perfetto; those of :meth:`timeline`; ``names`` of a
                graph: see :meth:`subgraph`.

        Raises:
            UsageError: The run has no trace; there is no such format, window or option; or nothing to write.
            MissingExtraError: A PNG is wanted and matplotlib is not installed.
        """
        from kernbench.api.exporting import export

        return export(self, to, path, launch, from_ns, to_ns, **options)

    def to_perfetto(
        self,
        path: str | os.PathLike[str],
        launch: int | str | None = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
        **options: object,
    ) -> list[str]:
        """``export("perfetto", path, ...)``."""
        return self.export("perfetto", path, launch, from_ns, to_ns, **options)

    def energy(self, by: str = "kind", figures: Mapping[str, object] | None = None) -> EnergyUse:
        """Its energy by ``part``, ``kind``, ``line`` or ``launch``: see :func:`kernbench.energy`."""
        from kernbench.api.energy_use import energy

        return energy(self, by=by, figures=figures)

    @property
    def _traced(self) -> bool:
        return "Transaction" in self.tables and self.tables["Transaction"].num_rows > 0

    def _check_traced(self) -> None:
        if not self._traced:
            raise UsageError(f"the run of '{self.bench}' has no trace to look into; run it with trace=True")

    @cached_property
    def _trace_index(self) -> TraceIndex:
        from kernbench.analysis.critical_path import trace_index

        return trace_index(self.tables, self._properties)

    def query(self, name: str, /, **params: object) -> Result:
        """Ask this run the library question ``name``; ``kernbench query --list`` shows them."""
        from kernbench.api.asking import ask

        return ask(name, run=self.id, store=self._kept_in(), params=params)

    def cypher(self, text: str, /, *, engine: str | None = None, **params: object) -> Result:
        """Ask this run free Cypher, which may only read. ``$name`` in it is bound to ``params['name']``.

        ``$run`` is this run's id. ``EXPLAIN``, ``PROFILE`` and ``engine`` are as for
        :func:`kernbench.ask_cypher`.
        """
        from kernbench.api.asking import ask_cypher

        return ask_cypher(text, run=self.id, store=self._kept_in(), params=params, engine=engine)

    def _kept_in(self) -> GraphStore:
        if self._store is None:
            raise UsageError(
                f"the run of '{self.bench}' was not kept, so it cannot be asked; run it with trace=True"
            )
        return self._store


def _says_how(again: object) -> bool:
    """Whether the settings for a re-run, which may come from anybody, are of their types."""
    if not isinstance(again, dict) or not isinstance(again.get("bench", ""), str):
        return False
    texts = [again.get("components") or {}, again.get("topo", {}), again.get("code", {})]
    return all(isinstance(text, dict) and all(isinstance(v, str) for v in text.values()) for text in texts)


def _unpickled(
    kind: type[Run],
    properties: dict[str, Any],
    place: str | dict[str, pa.Table],
    topology: TopologyRecord | None = None,
    kept: bool = False,
) -> Run:
    """A run that was pickled: in the store at ``place``, or with these tables, kept in memory or not."""
    from kernbench.api.stores import as_store

    if isinstance(place, str):
        return kind.kept(as_store(place), properties)
    if not kept:
        return kind(properties, store=None, tables=place, topology=topology)
    assert topology is not None
    store = as_store("memory:")
    store.keep(RunRecord(properties, place), topology)
    return kind.kept(store, properties)
