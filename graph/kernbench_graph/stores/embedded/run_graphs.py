"""The graphs of the runs of a store that needs no server: made when they are asked for, and kept open.

A graph has the labels and relationship types that the texts look at which were asked of it. It is kept in the
cache for other processes, with a note of what it has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import cache as remembered
from typing import Any

from kernbench_graph.archive.record import row_count
from kernbench_graph.projection import GraphPart, graph_parts
from kernbench_graph.query.looked_at import ADDED
from kernbench_graph.query.windows import BY_WINDOW, covers, joined, plain, windows_in
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore, additions_state
from kernbench_graph.stores.embedded.cache import About, Base, D, Database, DatabaseEngine, ProjectionCache
from kernbench_graph.stores.embedded.engines import ARCADE, ENGINES, LADYBUG, files_of
from kernbench_graph.stores.embedded.open_graphs import OpenGraphs

_OPEN_DATABASES = 2
_SAID_FROM = 500_000
"""Nodes and relationships of a graph from which on its size is said before it is built."""
_COST = {ARCADE: (35e-6, 1.8e-3), LADYBUG: (5e-6, 0.4e-3)}
"""About how many seconds and MB each takes, by engine; measured on 1.5 million hops."""
_COMPUTED = SCHEMA.computed_names()
_ALWAYS = frozenset({"Run"})
"""A graph has its runs, whatever is asked of it: they show that it is whole."""
Names = frozenset[str]
"""Labels and relationship types."""


class RunGraphs(GraphStore):
    """The databases of a store's runs. :class:`kernbench_graph.stores.embedded.base.LocalStore` asks them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._open = OpenGraphs(_OPEN_DATABASES)

    @abstractmethod
    def _content(self, run_id: str) -> str:
        """Identifies the record of a run except its tags."""

    @abstractmethod
    def _cache(self, engine: DatabaseEngine[D]) -> ProjectionCache[D]:
        """Where the databases of an engine are cached."""

    def close(self) -> None:
        """Let go of all databases."""
        super().close()
        self._open.close()

    def _runs_database(self, ids: Sequence[str], engine: str, names: Names) -> Database:
        """The graph of these runs with at least the labels and types ``names``, ready to be read."""
        runs = [self.load(run_id) for run_id in ids]
        states = [additions_state(run) for run in runs] if names & ADDED else [""]
        # Graphs with what was added are others: an addition leaves those that need nothing of it as they are.
        added = any(states)
        contents = [
            f"{run_id} {self._content(run_id)} {run.info['tags']} {run.info['topology']}"
            for run_id, run in zip(ids, runs, strict=True)
        ] + states * added
        kind = f"run {' '.join(ids)} {engine} {'with' if added else 'without'} additions "
        group = f"{kind}{' '.join(contents)} has "
        if self._rows(runs, plain(names) & BY_WINDOW) < _SAID_FROM:
            names = plain(names)  # one graph for all windows
        names |= _ALWAYS
        for has in self._held(group):
            there = self._open.find(_key(group, has))
            if covers(has, names) and there is not None and not there.is_closed:
                return self._cached(
                    _key(group, has), lambda: self._entry(engine, ids, runs, contents, names, added)[1]()
                )
        wanted, build = self._entry(engine, ids, runs, contents, names, added)

        def make() -> Database:
            database = build()
            for has in self._held(group):
                if has != wanted and covers(wanted, has):
                    self._forget(_key(group, has))
            return database

        self._forget(kind, but=group)
        return self._cached(_key(group, wanted), make)

    def _held(self, group: str) -> list[Names]:
        """What the open databases of a group have."""
        return [Names(key.removeprefix(group).split()) for key in self._open if key.startswith(group)]

    def _entry(
        self,
        engine: str,
        ids: Sequence[str],
        runs: Sequence[RunRecord],
        contents: Sequence[str],
        names: Names,
        added: bool,
    ) -> tuple[Names, Callable[[], Database]]:
        """The tables that the graph will hold, and a function that opens it.

        A graph without a table that is needed gets it added where the engine can do that. Otherwise a new
        graph is built, with the tables of an existing one as well if that costs no more.
        """
        files = files_of(engine)
        cache = self._cache(files)
        prefix, of, held = _entries(cache, files.prefixes[added], ids, contents)
        fits = [has for has in held.values() if covers(has, names)]
        largest, there, wanted = "", Names(), names
        if fits:
            wanted = min(fits, key=lambda has: (len(has), sorted(has)))
        elif files.grows:
            grows = [name for name, has in held.items() if not (plain(has) & names) - has]
            largest = max(grows, key=lambda name: (len(held[name]), name), default="")
            there = held.get(largest, there)
            wanted = joined(names, there)
        else:
            for has in sorted(held.values(), key=sorted):
                if self._rows(runs, has - wanted) <= self._rows(runs, wanted):
                    wanted = joined(wanted, has)
        whole, more = self._parts(runs, wanted), self._parts(runs, wanted - there)
        several = len(ids) > 1

        named = () if files.grows else plain(wanted)  # what grows has all types from the start

        def fill(database: Any) -> None:
            files.project(database, whole(), named, self.progress, by_id=several)

        def add(database: Any) -> None:
            files.project(database, more(), named, self.progress, by_id=several, there=there)

        def open_it() -> Database:
            if not fits:
                self._say_size(runs, wanted - there, engine)
            base = Base(largest, add) if there else None
            found: Database = _open(cache, prefix, of, contents, held, wanted, len(ids), fill, whole, base)
            return found

        return wanted, open_it

    def _parts(self, runs: Sequence[RunRecord], names: Names) -> Callable[[], list[GraphPart]]:
        """Makes the nodes and relationships ``names`` of runs, once."""

        @remembered
        def parts() -> list[GraphPart]:
            worked_out = not _COMPUTED.isdisjoint(names) and self.computed is not None
            whole = [self._with_computed(run) for run in runs] if worked_out else runs
            return graph_parts(whole, self._topologies_of(runs), names, by_id=len(runs) > 1)

        return parts

    def _rows(self, runs: Sequence[RunRecord], names: Names) -> int:
        """About how many rows the nodes and relationships ``names`` of runs have."""
        types = plain(names) - BY_WINDOW
        sources = [label.name for label in SCHEMA.labels if label.name in names]
        sources += [rows.table for rel in SCHEMA.relationships if rel.type in types for rows in rel.rows]
        tables = [run.tables for run in runs] + [topology.tables for topology in self._topologies_of(runs)]
        rows = sum(row_count(some, name) for some in tables for name in sources)
        for type_ in plain(names) & BY_WINDOW:
            chosen = windows_in(names, type_)
            for some in tables[: len(runs)]:  # at most so many: some windows touch little
                windows = row_count(some, "Launch") if chosen is None else len(chosen)
                rows += windows * row_count(some, "Use")
        return rows

    def _say_size(self, runs: Sequence[RunRecord], names: Names, engine: str) -> None:
        """Announce what is read for a graph with ``names``, and about what that costs, where it is much."""
        rows = {name: self._rows(runs, Names({name})) for name in names}
        total = sum(rows.values())
        if total < _SAID_FROM or self.announce is None:
            return
        seconds, mb = (total * each for each in _COST[engine])
        most = sorted(rows, key=lambda name: (-rows[name], name))[:3]
        listed = ", ".join(f"{rows[name]:,} {name.partition('=')[0]}" for name in most if rows[name])
        self.announce(
            f"the graph for this text has {total:,} nodes and relationships ({listed}); building it takes "
            f"about {seconds:.0f} s and {mb / 1000:.1f} GB, once; texts that name none of these take less"
        )

    def _topologies_of(self, runs: Sequence[RunRecord]) -> list[TopologyRecord]:
        return [self.load_topology(id_) for id_ in dict.fromkeys(str(run.info["topology"]) for run in runs)]

    def _prune(self, run_id: str) -> None:
        """Remove the caches of a run's graph."""
        for engine in ENGINES:
            for prefix in files_of(engine).prefixes:
                self._cache(files_of(engine)).prune(f"{prefix}-{run_id}~")

    def _cached(self, key: str, make: Callable[[], Database]) -> Database:
        """The open database of that key, made where there is none."""
        return self._open.get(key, make)

    def _forget(self, prefix: str, but: str = "\0") -> None:
        """Close the open databases whose key starts with ``prefix``, and not with ``but``."""
        for key in self._open:
            if key.startswith(prefix) and not key.startswith(but):
                self._open.forget(key)


def _key(group: str, names: Names) -> str:
    """The key of the open database in a group of databases of the same runs that has these names."""
    return f"{group}{' '.join(sorted(names))}\n"


def _entries(
    cache: ProjectionCache[D], prefix: str, ids: Sequence[str], contents: Sequence[str]
) -> tuple[str, str, dict[str, Names]]:
    """The prefix of the entries for these runs, what identifies their content, and what each of them has."""
    prefix = f"{prefix}-{ids[0]}" if len(ids) == 1 else f"{prefix}-together"
    of = cache.name(prefix, *contents)
    held = {
        name: Names(about["names"])
        for name, about in cache.entries(f"{prefix}~")
        if about.get("of") == of and "names" in about
    }
    return prefix, of, held


def _open(
    cache: ProjectionCache[D],
    prefix: str,
    of: str,
    contents: Sequence[str],
    held: dict[str, Names],
    wanted: Names,
    runs: int,
    fill: Callable[[D], None],
    parts: Callable[[], Collection[GraphPart]],
    base: Base[D] | None = None,
) -> D:
    """The entry that has ``wanted``, built when needed; entries that it makes useless are removed."""
    name = cache.name(prefix, *contents, *sorted(wanted))
    about: About = {"of": of, "names": sorted(wanted)}

    def size() -> int:
        return sum(part.data.nbytes for part in parts())

    database = cache.open(name, fill, runs, size, about, base)
    if runs == 1:
        useful = {other for other, has in held.items() if not covers(wanted, has)}
        cache.prune(f"{prefix}~", keep=useful | {name})
    return database
