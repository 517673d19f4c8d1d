"""The store behind ``neo4j://`` and ``bolt://``: runs shared through a Neo4j server.

Every run is pushed twice, for two purposes: as the files of its archive, from which :meth:`Neo4jStore.load`
gives back exactly what was pushed, and as nodes and relationships, in which questions are asked. A topology
is one graph that all of its runs share: their Uses are what leads to it. A database is one store: questions
start from a run by its id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kernbench_graph.archive.brief import listed_info
from kernbench_graph.archive.canonical import canonical_tables, check_references
from kernbench_graph.archive.record import canonical_topology, complete_info
from kernbench_graph.errors import ArchiveError, QueryError, StoreError
from kernbench_graph.query.conditions import TOPOLOGY
from kernbench_graph.query.confined import confined
from kernbench_graph.query.guard import bound
from kernbench_graph.query.looked_at import ADDED
from kernbench_graph.query.names import refuse_dates
from kernbench_graph.records import RunRecord, TopologyRecord, check_id, resolve_ref
from kernbench_graph.result import Result
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.schema_worked_out import FACTS_VERSION
from kernbench_graph.store import GraphQuery, GraphStore, taken
from kernbench_graph.stores.neo4j import ddl, files, reading, topologies, upgrade
from kernbench_graph.stores.neo4j.additions import InServer
from kernbench_graph.stores.neo4j.catalogue import Catalogue, KeptEntry, Pushed, run_info
from kernbench_graph.stores.neo4j.detail import DETAILS, least_detail, left_out
from kernbench_graph.stores.neo4j.push import Push
from kernbench_graph.stores.neo4j.removal import clean, files_owner, remove
from kernbench_graph.stores.neo4j.server import Neo4jServer, parse
from kernbench_graph.stores.view import check_computed, check_history, named_runs

if TYPE_CHECKING:
    import pyarrow as pa


_PLANS = 500
"""Queries whose plans are remembered as reading ones."""
_RECORDS = 4
"""Runs and topologies whose tables are kept at hand: two runs are compared, each on a topology."""
_WORKED_OUT = SCHEMA.computed_names() | SCHEMA.fact_names() | SCHEMA.described_names() | {"latency_ns"}


class Neo4jStore(GraphStore):
    """Keeps runs in a Neo4j server. See :class:`kernbench_graph.store.GraphStore`."""

    engines = ("neo4j",)
    details: tuple[str, ...] = DETAILS

    def __init__(self, url: str) -> None:
        """Connect, and write nothing.

        ``StoreError`` when that fails, ``SchemaVersionError`` where a newer version wrote.
        """
        super().__init__(url)
        self._server = Neo4jServer(parse(url), url)
        self._catalogue = Catalogue(self._server)
        self._prepared = False
        self._planned: dict[tuple[str, str, bool], reading.Planned] = {}
        self._fetched: dict[str, files.FetchedTables] = {}
        try:
            self._is_current = ddl.schema_of(self._server, url) in (None, SCHEMA_VERSION)
        except BaseException:
            self._server.close()
            raise

    @property
    def schema_version(self) -> int | None:
        """Of the schema that the database holds; None while no KernBench has used it."""
        return ddl.schema_of(self._server, self._url)

    def keep(self, run: RunRecord, topology: TopologyRecord, detail: str = "full") -> str:
        """Keep a run and its topology; return the run id. ``StoreError`` when the id is taken."""
        run_id, pushed = self.push(run, topology, detail)
        if not pushed:
            raise taken(run_id)
        return run_id

    def push(self, run: RunRecord, topology: TopologyRecord, detail: str = "full") -> tuple[str, bool]:
        """Keep a run unless the very same is there; return its id and whether anything was done.

        ``StoreError`` when another run has its id, or this one is there in less detail.
        """
        self._check_open()
        self._check_detail(detail)
        info = complete_info(run.info, topology)
        run_id, what = str(info["id"]), f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        topology = canonical_topology(topology)
        check_references({**topology.tables, **tables}, what)
        record = self._with_computed(RunRecord(info, tables))
        with files.archived_run(info, tables) as archived:
            content = files.run_content(archived.manifest)
            self._prepare()
            clean(self._server)
            facts = FACTS_VERSION if self.computed is not None else 0
            push = Push(self._server, run_id, topology.id, detail, facts)
            other = push.claim()
            if other is not None:
                return run_id, _there_already(run_id, other, content, detail)
            try:
                with files.archived_topology(topology) as machine:
                    topologies.push_topology(self._server, topology, machine)
                kept = self.load_topology(topology.id)
                check_references({**kept.tables, **tables}, what)
                push.fill(record, kept, archived)
                push.finish(archived.manifest, content)
            except BaseException as error:
                try:
                    push.give_up()
                except StoreError:
                    self._note(f"what was pushed of {what} goes at the next push or opening ({error})")
                raise
        return run_id, True

    def runs(self) -> list[Mapping[str, Any]]:
        """Properties of every run, in the order in which they were kept."""
        self._check_open()
        found: list[Mapping[str, Any]] = []
        for entry in self._catalogue.runs():
            try:
                if entry.manifest is not None:
                    found.append(run_info(entry.id, bytes(entry.manifest)))
                else:
                    short, left_out = json.loads(entry.brief or "")
                    found.append(listed_info(short, left_out, partial(self._info, entry.id)))
            except ArchiveError as error:
                self._note(f"run '{entry.id}' is left out: {error}")
        return found

    def _info(self, run_id: str) -> Mapping[str, Any]:
        return run_info(run_id, self._entry(run_id).manifest)

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        self._check_open()
        return ref if self._catalogue.pushed([ref]) else resolve_ref(ref, self._catalogue.ids())

    def remove(self, run_id: str) -> None:
        """Forget a run, and its topology where it was the last on it."""
        if not remove(self._server, run_id, self._entry(run_id).token):
            raise self._unknown(run_id)
        clean(self._server)

    def upgrade(self) -> list[str]:
        """Rebuild the graphs of an older schema or with older facts; see :class:`GraphStore`."""
        self._check_open()
        if ddl.schema_of(self._server, self._url) is None:
            return []
        ddl.create(self._server)
        clean(self._server)
        for topology_id in upgrade.older_topologies(self._server):
            upgrade.upgrade_topology(self._server, self.load_topology(topology_id))
        facts = FACTS_VERSION if self.computed is not None else 0
        done = [one for one in upgrade.older_runs(self._server, facts) if self._upgrade(one, facts)]
        upgrade.finish(self._server)
        return done

    def _upgrade(self, run_id: str, facts: int) -> bool:
        entry, run = self._entry(run_id), self.load(run_id)
        topology = self.load_topology(str(run.info["topology"]))
        try:
            check_references({**topology.tables, **run.tables}, f"run '{run_id}'")
        except ArchiveError as error:  # before anything of its graph is removed
            self._note(f"run '{run_id}' is left as it is: {error}")
            return False
        push = Push(self._server, run_id, topology.id, entry.detail, facts)
        return push.again(entry.token, self._with_computed(run), topology)

    def change_tags(self, run_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> list[str]:
        """Add and remove tags of a run, in its record and in the graph, at once."""
        self._check_open()
        tags = self._catalogue.change_tags(run_id, add, remove)
        if tags is None:
            raise self._unknown(run_id)
        return tags

    def load(self, run_id: str) -> RunRecord:
        """The record of a run, from its archived files; its tables are fetched when first looked at."""
        entry = self._entry(run_id)
        fetch = self._catalogue.files(files_owner(run_id), entry.manifest)
        tables = self._tables(f"run {entry.token}", lambda: files.FetchedTables("run", fetch))
        run = files.run_record(entry.manifest, run_id, tables)
        topology_id, content = str(run.info["topology"]), files.run_content(entry.manifest)
        added = InServer(self._server, run, lambda: self.load_topology(topology_id), content, entry)
        return self._whole(run, added=added)

    def add(self, run_id: str, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Add tables to a run; see :meth:`kernbench_graph.store.GraphStore.add`."""
        self._prepare()  # a database that an older KernBench made ready lacks constraints of new labels
        super().add(run_id, name, tables)

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        self._check_open()
        data = self._catalogue.topology(check_id("topology", topology_id))
        if data is None:
            raise StoreError(f"no topology '{topology_id}' in store '{self.url}'; keep a run on it first")
        fetch = self._catalogue.files(topologies.owner(topology_id), data)
        key = f"topology {hashlib.sha256(data).hexdigest()}"
        tables = self._tables(key, lambda: files.FetchedTables("topology", fetch))
        return files.topology_record(data, tables)

    def _answer(self, asked: GraphQuery) -> Result:
        """Ask Cypher, of a run by its ``$run``, or of the history when ``run`` is None.

        ``QueryError`` for a text that may reach other runs than those that it names, all of which the server
        would show it, and for one that asks for what a run was not pushed with.
        """
        self._check_open()
        if not self._is_current:
            ddl.check_current(self._server, self._url)
            self._is_current = True
        cypher, params, run, timeout_s, engine, proved = asked
        if engine not in (None, *self.engines):
            raise QueryError(f"store '{self.url}' has no engine '{engine}'; leave the engine out")
        shown, text = reading.split(cypher)
        refuse_dates(text)
        if run is None:
            check_history(text)
            values = bound(text, params)
            query = self._plan(shown, text, values, timeout_s, proved)
            if self._needs_more(query):
                self._check_pushed(query, self._catalogue.pushed(values.values()))
            return self._rows(query, values, timeout_s)
        # One look for all runs that the text may name: a transaction takes as long as many an answer.
        pushed = self._catalogue.pushed([run, *params.values()])
        run = run if run in pushed else self.resolve(run)
        values = bound(text, {"run": run, **params})
        query = self._plan(shown, text, values, timeout_s, proved)
        if run not in pushed:
            pushed |= self._catalogue.pushed([run])
        if run not in pushed:
            if self._catalogue.run(run):
                raise StoreError(
                    f"the graph of run '{run}' is being rebuilt; wait, or complete that with "
                    "kernbench runs upgrade"
                )
            raise self._unknown(run)
        notes = self._check_pushed(query, pushed)
        if not proved and query.reads_graph:
            named = named_runs(text, run, values, pushed.__contains__)
            own = confined(text, tuple(named), self._is_closed(query, named.values()))
            if own != text:
                topologies = {f"{TOPOLOGY}{name}": pushed[id_].topology for name, id_ in named.items()}
                values = {**values, **named, **topologies}
                query = self._plan(shown, own, values, timeout_s, proved)
        result = self._rows(query, values, timeout_s)
        result = replace(result, notes=[*result.notes, *notes])
        if self._token(run) != pushed[run].token:
            raise self._unknown(run)  # removed meanwhile: the rows may be some of them
        return result

    def _is_closed(self, query: reading.Planned, runs: Collection[str]) -> bool:
        """Whether a relationship without a type may lead to what was added to a run since it was kept."""
        return query.follows_anything and not query.names & ADDED and any(map(self.added, runs))

    def _token(self, run_id: str) -> str:
        """What tells a run from others that had its id; empty where there is none of that id."""
        found = self._catalogue.pushed([run_id])
        return found[run_id].token if found else ""

    def _plan(
        self, shown: str, text: str, values: Mapping[str, Any], timeout_s: float, proved: bool
    ) -> reading.Planned:
        """The query, found to read only; plans of queries that were asked before are remembered."""
        found = self._planned.get((shown, text, proved))
        if found is None or shown:
            found = reading.plan_query(self._server, shown, text, values, timeout_s, proved)
            with self._lock:
                if len(self._planned) >= _PLANS:
                    self._planned.clear()
                self._planned[shown, text, proved] = found
        return found

    def _needs_more(self, query: reading.Planned) -> bool:
        """Whether it may look at what a run was pushed without."""
        return query.follows_anything or bool(query.names & (left_out("summary") | _WORKED_OUT))

    def _check_pushed(self, query: reading.Planned, pushed: Mapping[str, Pushed]) -> list[str]:
        """Remarks on runs that are not in the graph in full; ``QueryError`` where one lacks what is asked."""
        notes: list[str] = []
        for run_id, (_, detail, facts, _) in pushed.items():
            if lacking := _first(query.names & left_out(detail)):
                raise QueryError(
                    f"run '{run_id}' was pushed with --detail {detail}, without {lacking}; push it with "
                    f"--detail {least_detail(lacking)} after 'runs rm', or ask a store that has all of it"
                )
            if self.computed is None and facts != FACTS_VERSION:
                check_computed(query.names)
            old = self.computed is not None and facts != FACTS_VERSION
            if old and (lacking := _first(query.names & _WORKED_OUT)):
                raise QueryError(
                    f"run '{run_id}' was pushed without {lacking} as this version of KernBench works it out; "
                    "add it with kernbench runs upgrade"
                )
            if query.follows_anything and detail != DETAILS[-1]:
                notes.append(f"run '{run_id}' was pushed with --detail {detail}: the graph has no more of it")
            if query.follows_anything and old:
                notes.append(
                    f"run '{run_id}' was pushed without what this version of KernBench works out from it; "
                    "add it with kernbench runs upgrade"
                )
        return notes

    def _rows(self, query: reading.Planned, values: Mapping[str, Any], timeout_s: float) -> Result:
        """The server's answer."""
        result = reading.rows(self._server, query, values, timeout_s)
        return replace(result, engine=self.engines[0])

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            if not self._closed:
                self._fetched.clear()
                super().close()
                self._server.close()

    def _tables(self, key: str, fetched: Callable[[], files.FetchedTables]) -> files.FetchedTables:
        """Tables of a record, which never change; those last looked at are not fetched again."""
        with self._lock:
            found = self._fetched.pop(key, None) or fetched()
            self._fetched[key] = found
            while len(self._fetched) > _RECORDS:
                self._fetched.pop(next(iter(self._fetched)))
            return found

    def _entry(self, run_id: str) -> KeptEntry:
        self._check_open()
        entry = self._catalogue.run(run_id)
        if entry is None:
            raise self._unknown(run_id)
        return entry

    def _prepare(self) -> None:
        with self._lock:
            if not self._prepared:
                ddl.prepare(self._server, self._url)
                self._prepared = True


def _there_already(run_id: str, other: Mapping[str, Any], content: str, detail: str) -> bool:
    """False when ``other``, which has the id already, is that very run; ``StoreError`` else."""
    if other["state"] != "kept":
        doing = "pushed" if other["state"] == "pushing" else "removed"
        raise StoreError(f"run '{run_id}' is being {doing} by another process; wait, or give another id")
    if other["content"] != content:
        raise taken(run_id)
    if DETAILS.index(other["detail"]) < DETAILS.index(detail):
        raise StoreError(
            f"run '{run_id}' is in the store with --detail {other['detail']}; remove it there to push more"
        )
    return False


def _first(names: Collection[str]) -> str:
    """One of ``names`` to speak of, a label rather than a type; empty for none."""
    return min(names, key=lambda name: (name.isupper(), name), default="")
