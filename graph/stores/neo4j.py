"""The store behind ``neo4j://`` and ``bolt://``: runs shared through a Neo4j server.

Every run is pushed twice, for two purposes: as the files of its archive, from which :meth:`Neo4jStore.load`
gives back exactly what was pushed, and as a graph of its own, with its own nodes for the topology, in which
questions are asked (:mod:`graph.stores.neo4j_scope`). Nodes that runs share would take less room and be much
worse: a question would have to look at every run's hops to find its own, and pushers would wait for each
other's locks. The graph over all runs is one more, in which topologies are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph import manifest
from graph.archive import canonical_topology, complete_info
from graph.columns import canonical_tables, check_references
from graph.cypher_guard import bound, check_read_only
from graph.schema import SCHEMA_VERSION
from graph.store import (
    QUERY_TIMEOUT_S,
    ArchiveError,
    Result,
    RunRecord,
    StoreError,
    TopologyRecord,
    check_id,
    resolve_ref,
)
from graph.stores import neo4j_ddl as ddl
from graph.stores import neo4j_files as files
from graph.stores.common import OpenedStore, taken
from graph.stores.neo4j_address import parse
from graph.stores.neo4j_catalogue import Catalogue, run_info
from graph.stores.neo4j_history import Place, ensure_place, push_topology
from graph.stores.neo4j_push import Push
from graph.stores.neo4j_query import query
from graph.stores.neo4j_remove import clean, remove
from graph.stores.neo4j_scope import Scope
from graph.stores.neo4j_server import Server


class Neo4jStore(OpenedStore):
    """Keeps runs in a Neo4j server. See :class:`graph.store.GraphStore`."""

    engine = "neo4j"

    def __init__(self, url: str) -> None:
        """Connect. ``StoreError`` when that fails, ``SchemaVersionError`` where another version wrote.

        A database of an older layout is brought up to date, what dead pushers left is removed.
        """
        super().__init__(url)
        address = parse(url)
        self._place: Place | None = None
        self._server = Server(address, url)
        self._catalogue = Catalogue(self._server, address.name)
        try:
            if found := ddl.version(self._server, url):
                if found < ddl.VERSION:
                    ddl.migrate(self._server, url)
                    self._note(f"database brought from layout version {found} to {ddl.VERSION}")
                place = self._known_place()
                if place.number:
                    clean(self._server, place)
        except BaseException:
            self._server.close()
            raise

    @property
    def schema_version(self) -> int | None:
        """Of the schema that the database holds; None while no KernBench has used it."""
        return SCHEMA_VERSION if ddl.version(self._server, self._url) else None

    def keep(self, run: RunRecord, topology: TopologyRecord) -> str:
        """Keep a run and its topology; return the run id. ``StoreError`` when the id is taken."""
        run_id, pushed = self.push(run, topology)
        if not pushed:
            raise taken(run_id)
        return run_id

    def push(self, run: RunRecord, topology: TopologyRecord) -> tuple[str, bool]:
        """Keep a run unless the very same is there; return its id and whether anything was done.

        ``StoreError`` when another run has its id.
        """
        self._check_open()
        info = complete_info(run.info, topology)
        run_id, what = str(info["id"]), f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        topology = canonical_topology(topology)
        check_references({**topology.tables, **tables}, what)
        record = RunRecord(info, tables)
        with files.archived_run(info, tables) as archived:
            content = files.run_content(archived.manifest)
            place = self._made_place()
            clean(self._server, place)
            push = Push(self._server, place, run_id, topology.id)
            other = push.claim()
            if other is not None:
                if other["state"] == "kept" and other["content"] == content:
                    return run_id, False
                if other["state"] != "kept":
                    raise StoreError(f"{what} is being pushed by another process; wait, or give another id")
                raise taken(run_id)
            try:
                with files.archived_topology(topology) as machine:
                    push_topology(self._server, place, topology, machine)
                kept = self.load_topology(topology.id)
                check_references({**kept.tables, **tables}, what)
                push.fill(record, kept, archived)
                push.finish(record, archived.manifest, content)
            except BaseException as error:
                try:
                    push.give_up()
                except StoreError:
                    self._note(f"what was pushed of {what} goes at the next push or opening ({error})")
                raise
        return run_id, True

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""
        self._check_open()
        found = []
        for entry in self._catalogue.runs():
            try:
                found.append(run_info(entry.id, entry.manifest))
            except ArchiveError as error:
                self._note(f"run '{entry.id}' is left out: {error}")
        return found

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        self._check_open()
        return resolve_ref(ref, self._catalogue.ids())

    def remove(self, run_id: str) -> None:
        """Forget a run, and its topology where it was the last on it."""
        number, place = self._number(run_id), self._known_place()
        if not remove(self._server, place, run_id, place.key(run_id), number):
            raise self._unknown(run_id)

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replace a run's tags, in its record and in both graphs, at once."""
        self._check_open()
        text = manifest.json_text([str(tag) for tag in tags], "tags")
        if not self._catalogue.set_tags(self._known_place(), run_id, text):
            raise self._unknown(run_id)

    def load(self, run_id: str) -> RunRecord:
        """The record of a run, from its archived files; its tables are fetched when first looked at."""
        self._check_open()
        entry = self._catalogue.run(run_id)
        if entry is None:
            raise self._unknown(run_id)
        fetch = self._catalogue.files(f"run/{entry.number}", entry.manifest)
        return files.run_record(entry.manifest, run_id, fetch)

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        self._check_open()
        data = self._catalogue.topology(check_id("topology", topology_id))
        if data is None:
            raise StoreError(f"no topology '{topology_id}' in store '{self.url}'; keep a run on it first")
        key = self._known_place().key(topology_id)
        return files.topology_record(data, self._catalogue.files(f"topology/{key}", data))

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        run: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> Result:
        """Ask Cypher of one run's graph, or of the history when ``run`` is None."""
        self._check_open()
        text = check_read_only(cypher)
        values = bound(text, params or {})
        if run is None:
            return query(self._server, text, values, Scope(self._known_place().label), timeout_s)
        run_id = self.resolve(run)
        number = self._number(run_id)
        result = query(self._server, text, values, Scope(f"InRun{number}", number), timeout_s)
        if self._number(run_id) != number:
            raise self._unknown(run_id)  # removed meanwhile: the rows may be some of them
        return result

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            if not self._closed:
                super().close()
                self._server.close()

    def _number(self, run_id: str) -> int:
        self._check_open()
        number = self._catalogue.number(run_id)
        if number is None:
            raise self._unknown(run_id)
        return number

    def _known_place(self) -> Place:
        """The store in the database; number 0 as long as nothing has been kept in it."""
        if self._place is None:
            place = self._catalogue.place()
            if not place.number:
                return place
            self._place = place
        return self._place

    def _made_place(self) -> Place:
        with self._lock:
            if self._place is None:
                ddl.migrate(self._server, self._url)
                self._place = ensure_place(self._server, self._known_place().name)
            return self._place
