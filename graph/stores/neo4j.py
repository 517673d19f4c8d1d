"""The store behind ``neo4j://`` and ``bolt://``: runs shared through a Neo4j server.

Every run is pushed twice, for two purposes: as the files of its archive, from which :meth:`Neo4jStore.load`
gives back exactly what was pushed, and as a graph of its own, with its own nodes for the topology, in which
questions are asked (:mod:`graph.stores.neo4j_scope`). Nodes that runs share would take less room and be much
worse: a question would have to look at every run's hops to find its own, and pushers would wait for each
other's locks. The graph over all runs is one more, in which topologies are shared.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

from graph import manifest
from graph.archive import complete_info
from graph.columns import canonical_tables, check_references
from graph.cypher_guard import check_read_only, parameter_names
from graph.schema import SCHEMA, SCHEMA_VERSION
from graph.store import (
    QUERY_TIMEOUT_S,
    ArchiveError,
    QueryError,
    Result,
    RunNotFoundError,
    RunRecord,
    SchemaVersionError,
    StoreError,
    TopologyRecord,
    check_id,
    resolve_ref,
)
from graph.stores import neo4j_ddl as ddl
from graph.stores import neo4j_files as files
from graph.stores import neo4j_push as pushing
from graph.stores.ladybug_ddl import HISTORY_LABELS, HISTORY_TYPES
from graph.stores.neo4j_address import parse
from graph.stores.neo4j_scope import KNOWN, Scope, confine
from graph.stores.neo4j_server import Server, Transaction, plain

_KEPT = "MATCH (k:KernbenchRun) WHERE k.store = $store AND k.state = 'kept' "
_UNKNOWN = ("UnknownLabel", "UnknownRelationshipType", "UnknownPropertyKey")


class Neo4jStore:
    """Keeps runs in a Neo4j server. See :class:`graph.store.GraphStore`."""

    engine = "neo4j"

    def __init__(self, url: str) -> None:
        """Connect. ``StoreError`` when that fails, ``SchemaVersionError`` where another version wrote."""
        self._url, self._address = url, parse(url)
        self._closed = False
        self._lock = threading.RLock()
        self._place: pushing.Place | None = None
        self.notes: list[str] = []
        self._server = Server(self._address, url)
        try:
            if ddl.version(self._server, url) == ddl.VERSION:
                place = self._known_place()
                if place.number:
                    pushing.clean(self._server, place)
        except BaseException:
            self._server.close()
            raise

    @property
    def url(self) -> str:
        """What the store was opened with."""
        return self._url

    def keep(self, run: RunRecord, topology: TopologyRecord) -> str:
        """Keep a run and its topology; return the run id. ``StoreError`` when the id is taken."""
        run_id, pushed = self.push(run, topology)
        if not pushed:
            raise self._taken(run_id)
        return run_id

    def push(self, run: RunRecord, topology: TopologyRecord) -> tuple[str, bool]:
        """Keep a run unless the very same is there; return its id and whether anything was done.

        ``StoreError`` when another run has its id.
        """
        self._check_open()
        info = complete_info(run.info, topology)
        what = f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        parts = canonical_tables("topology", topology.tables, f"topology '{topology.id}'")
        values = {
            prop.name: manifest.typed(prop, getattr(topology, prop.name), f"topology '{topology.id}'")
            for prop in SCHEMA.label("Topology").properties
        }
        topology = TopologyRecord(**values, tables=parts)
        check_references({**parts, **tables}, what)
        record = RunRecord(info, tables)
        archived = files.run_files(info, tables)
        written = b"".join(data for name, _, data in archived if name == manifest.NAME)
        content = files.run_content(written)

        place = self._made_place()
        pushing.clean(self._server, place)
        push = pushing.Push(self._server, place, info["id"])
        other = push.claim()
        if other is not None:
            if other["state"] == "kept" and other["content"] == content:
                return str(info["id"]), False
            if other["state"] != "kept":
                raise StoreError(f"{what} is being pushed by another process; wait, or give another id")
            raise self._taken(info["id"])
        try:
            pushing.push_topology(self._server, place, topology, files.topology_files(topology))
            kept = self.load_topology(topology.id)
            check_references({**kept.tables, **tables}, what)
            push.fill(record, kept, archived)
            push.finish(record, written, content)
        except BaseException as error:
            try:
                push.give_up()
            except StoreError:
                self.notes.append(f"what was pushed of {what} goes at the next push or opening ({error})")
            raise
        return str(info["id"]), True

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""
        self._check_open()
        rows = self._server.read(
            lambda tx: tx.run(
                _KEPT + "RETURN k.manifest AS manifest, k.id AS id ORDER BY k.seq", store=self._address.name
            ).data()
        )
        found = []
        for row in rows:
            try:
                found.append(_info(row["id"], row["manifest"]))
            except ArchiveError as error:
                self._note(f"run '{row['id']}' is left out: {error}")
        return found

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        self._check_open()
        rows = self._server.read(
            lambda tx: tx.run(_KEPT + "RETURN k.id AS id ORDER BY k.seq", store=self._address.name).data()
        )
        return resolve_ref(ref, [row["id"] for row in rows])

    def remove(self, run_id: str) -> None:
        """Forget a run."""
        number, place = self._number(run_id), self._known_place()
        if not pushing.remove(self._server, place, run_id, self._key(run_id), number):
            raise self._unknown(run_id)

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replace a run's tags, in its record and in both graphs, at once."""
        number, place = self._number(run_id), self._known_place()
        text = manifest.json_text([str(tag) for tag in tags], "tags")

        def work(tx: Transaction) -> bool:
            row = tx.run(
                "MATCH (k:KernbenchRun {key: $key}) WHERE k.state = 'kept' SET k.beat = timestamp() "
                "RETURN k.manifest AS manifest", key=self._key(run_id),
            ).single()  # fmt: skip
            if row is None:
                return False
            content = json.loads(bytes(row["manifest"]))
            content["wall"]["tags"] = text
            tx.run(
                "MATCH (k:KernbenchRun {key: $key}) MATCH (h:KernbenchHistory {_key: $history}) "
                "MATCH (r:Run {id: $id, _run: $number}) "
                "SET k.manifest = $manifest, h.tags = $tags, r.tags = $tags",
                key=self._key(run_id), history=place.history_key("Run", run_id), id=run_id, number=number,
                manifest=manifest.encode(content, run_id), tags=text,
            ).consume()  # fmt: skip
            return True

        if not self._server.write(work):
            raise self._unknown(run_id)

    def load(self, run_id: str) -> RunRecord:
        """The record of a run, from its archived files; its tables are fetched when first looked at."""
        self._check_open()
        row = self._server.read(
            lambda tx: tx.run(
                "MATCH (k:KernbenchRun {key: $key}) WHERE k.state = 'kept' "
                "RETURN k.manifest AS manifest, k.number AS number", key=self._key(run_id),
            ).single()
        )  # fmt: skip
        if row is None:
            raise self._unknown(run_id)
        data, number = bytes(row["manifest"]), row["number"]
        return files.run_record(data, run_id, lambda: self._fetch(f"run/{number}", data))

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        self._check_open()
        key = f"{self._address.name}/{check_id('topology', topology_id)}"
        row = self._server.read(
            lambda tx: tx.run(
                "MATCH (t:KernbenchTopology {key: $key}) RETURN t.manifest AS manifest", key=key
            ).single()
        )
        if row is None or row["manifest"] is None:
            raise StoreError(f"no topology '{topology_id}' in store '{self.url}'; keep a run on it first")
        data = bytes(row["manifest"])
        return files.topology_record(data, lambda: self._fetch(f"topology/{key}", data))

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        run: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> Result:
        """Ask Cypher of one run's graph, or of the history when ``run`` is None."""
        text = check_read_only(cypher)
        self._check_open()
        used = parameter_names(text)
        missing = [name for name in used if name not in (params or {})]
        if missing:
            raise QueryError(f"the query uses ${missing[0]}, which was not given; give {', '.join(used)}")
        bound = {name: (params or {})[name] for name in used}
        if run is None:
            return self._ask(text, bound, Scope(self._known_place().label), timeout_s, None)
        run_id = self.resolve(run)
        number = self._number(run_id)
        return self._ask(text, bound, Scope(f"InRun{number}", number), timeout_s, run_id)

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(
        self, text: str, bound: dict[str, Any], scope: Scope, timeout_s: float, run_id: str | None
    ) -> Result:
        confined = confine(text, scope)
        if run_id is None:
            known = {label.name for label in SCHEMA.labels}
            strangers = sorted((confined.labels & known) - set(HISTORY_LABELS))
            if strangers:
                raise QueryError(
                    f"the query asks for {strangers[0]}, but the graph over all runs has "
                    f"{', '.join((*HISTORY_LABELS, *HISTORY_TYPES))}; name a run for the rest"
                )

        def work(tx: Transaction) -> tuple[Result, list[Any]]:
            answer = tx.run(confined.text, bound)
            columns = list(answer.keys())
            rows = [tuple(plain(value) for value in record.values()) for record in answer]
            return Result(columns, rows), list(answer.consume().notifications or [])

        result, notifications = self._server.read(work, timeout_s)
        for entry in notifications:
            code, description = str(entry.get("code", "")), str(entry.get("description", ""))
            name = description.rpartition(": ")[2].rstrip(")")
            if any(part in code for part in _UNKNOWN) and name not in KNOWN and not name.startswith("In"):
                raise QueryError(f"the query is not valid here: nothing is called '{name}'; see the schema")
        if run_id is not None and self._number(run_id) != scope.number:
            raise self._unknown(run_id)  # removed meanwhile: the rows may be some of them
        return result

    def _fetch(self, owner: str, written: bytes) -> dict[str, bytes]:
        def work(tx: Transaction) -> dict[str, bytes]:
            found: dict[str, bytearray] = {}
            for row in tx.run(
                "MATCH (f:KernbenchFile {owner: $owner}) "
                "RETURN f.name AS name, f.data AS data ORDER BY f.name, f.part", owner=owner,
            ):  # fmt: skip
                found.setdefault(row["name"], bytearray()).extend(row["data"])
            return {name: bytes(data) for name, data in found.items()}

        return {**self._server.read(work), manifest.NAME: written}

    def _number(self, run_id: str) -> int:
        self._check_open()
        row = self._server.read(
            lambda tx: tx.run(
                "MATCH (k:KernbenchRun {key: $key}) WHERE k.state = 'kept' RETURN k.number AS number",
                key=self._key(run_id),
            ).single()
        )
        if row is None:
            raise self._unknown(run_id)
        return int(row["number"])

    def _known_place(self) -> pushing.Place:
        """The store in the database; number 0 as long as nothing has been kept in it."""
        if self._place is None:
            row = self._server.read(
                lambda tx: tx.run(
                    "MATCH (s:KernbenchStore {name: $name}) RETURN s.number AS number",
                    name=self._address.name,
                ).single()
            )
            if row is None:
                return pushing.Place(self._address.name, 0)
            self._place = pushing.Place(self._address.name, row["number"])
        return self._place

    def _made_place(self) -> pushing.Place:
        with self._lock:
            if self._place is None:
                ddl.migrate(self._server, self._url)
                self._place = pushing.ensure_place(self._server, self._address.name)
            return self._place

    def _key(self, run_id: str) -> str:
        return f"{self._address.name}/{run_id}"

    def _taken(self, run_id: str) -> StoreError:
        return StoreError(
            f"run '{run_id}' is in the store already; give another id, or remove that run first"
        )

    def _unknown(self, run_id: str) -> RunNotFoundError:
        return RunNotFoundError(f"no run '{run_id}' in store '{self.url}'; list the runs to see their ids")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"store '{self._url}' is closed; open it again")


def _info(run_id: str, data: bytes) -> dict[str, Any]:
    """Properties of a run from its manifest, as :func:`graph.archive.read_info` gives them."""
    try:
        content = json.loads(bytes(data))
        version = content["schema_version"]
        if version != SCHEMA_VERSION:
            raise SchemaVersionError(
                f"it has schema version {version!r}, but this KernBench reads version {SCHEMA_VERSION}; "
                "use the KernBench that wrote it"
            )
        values: dict[str, Any] = {"id": run_id} | content["run"] | content["wall"]
        extra: dict[str, Any] = content["extra"]
        return {prop.name: values.get(prop.name) for prop in SCHEMA.run_info} | extra
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError("its manifest is damaged; remove it") from error
