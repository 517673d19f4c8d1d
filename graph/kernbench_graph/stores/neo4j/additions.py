"""What is added to runs in a Neo4j database: its rows in the graph, and beside them the files of folders.

An addition is made in one transaction that holds the run's entry in the catalogue locked: it is there whole
or not at all, and one that replaces another takes that one's place at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

from kernbench_graph.added import Additions, Tables, file_name, pack, unpack
from kernbench_graph.errors import StoreError
from kernbench_graph.projection import Projection
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.neo4j.catalogue import KeptEntry
from kernbench_graph.stores.neo4j.detail import kept_names
from kernbench_graph.stores.neo4j.files import PIECE, Piece, read_files, write_files
from kernbench_graph.stores.neo4j.removal import added_owner
from kernbench_graph.stores.neo4j.rows import Batch, batches_of, run_batches_in
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction

_STATE = "MATCH (k:KernbenchRun {id: $id}) RETURN coalesce(k.additions, 0) AS changes"
_FILE = """MATCH (f:KernbenchFile {owner: $owner, name: $name})
WITH f ORDER BY f.part RETURN collect(f.data) AS data"""
_LOCK = """MATCH (k:KernbenchRun {id: $id, token: $token}) WHERE k.state = 'kept'
SET k.additions = coalesce(k.additions, 0) + 1 RETURN k.id AS id"""
_REMOVE = "MATCH (f:KernbenchFile {owner: $owner, name: $name}) DELETE f"


class InServer(Additions):
    """What was added to one run in a server."""

    def __init__(
        self,
        server: Neo4jServer,
        run: RunRecord,
        machine: Callable[[], TopologyRecord],
        content: str,
        entry: KeptEntry,
    ) -> None:
        """``machine`` reads the topology of the run, ``content`` is that of the run, ``entry`` its own."""
        self._server, self._run, self._machine = server, run, machine
        self._content, self._token, self._detail = content, entry.token, entry.detail
        self._id = str(run.info["id"])
        self._known: tuple[str, Mapping[str, Tables]] = ("", {})

    def state(self) -> str:
        """How often something was added."""
        row = self._server.read(lambda tx: tx.run(_STATE, id=self._id).single())
        return str(row["changes"]) if row is not None and row["changes"] else ""

    def all(self) -> Mapping[str, Tables]:
        """The tables of each addition."""
        state = self.state()
        if state != self._known[0]:
            files = self._server.read(lambda tx: read_files(tx, added_owner(self._id)))
            found = (unpack(data, self._content) for data in files.values())
            self._known = state, dict(sorted(entry for entry in found if entry))
        return self._known[1]

    def put(self, name: str, tables: Tables) -> None:
        """Add tables, or remove those of that name; ``StoreError`` when the run has gone."""
        values = {"id": self._id, "token": self._token, "owner": added_owner(self._id),
                  "name": file_name(name)}  # fmt: skip
        data = pack(name, tables, self._content) if tables else b""
        batches = list(self._batches(tables))

        def work(tx: Transaction) -> None:
            if tx.run(_LOCK, values).single() is None:
                raise StoreError(f"run '{self._id}' has gone; nothing can be added to it")
            before = b"".join(bytes(piece) for piece in tx.run(_FILE, values).single(strict=True)["data"])
            if before == data:
                return
            old = unpack(before, self._content) if before else None
            for text, ids in self._nodes(old[1] if old else tables):
                tx.run(text, ids=ids).consume()
            tx.run(_REMOVE, values).consume()
            if data:
                write_files(tx, values["owner"], _pieces(values["name"], data))
                run_batches_in(tx, batches)

        self._server.write(work)

    def _batches(self, tables: Tables) -> Iterator[Batch]:
        """The rows of the graph that ``tables`` make, but for relationships to what was not pushed."""
        there = kept_names(self._detail) | kept_names("summary")
        projection = Projection(self._machine(), RunRecord(self._run.info, tables), by_id=True)
        parts = list(projection.parts("run", SCHEMA.added_names()))
        return batches_of(part for part in parts if part.ends is None or {*part.ends} <= there)

    def _nodes(self, tables: Tables) -> Iterator[tuple[str, list[str]]]:
        """Statements that delete the nodes that ``tables`` made, and the ids of these."""
        for label in SCHEMA.labels:
            if label.name in tables:
                keys = tables[label.name][label.key].to_pylist()
                yield deleting(label.name), [f"{self._id}/{label.prefix}{key}" for key in keys]


def _pieces(name: str, data: bytes) -> Iterable[Piece]:
    for number, start in zip(itertools.count(), range(0, len(data), PIECE), strict=False):
        yield Piece(name, number, data[start : start + PIECE])


def deleting(label: str) -> str:
    """Statement that deletes nodes of a label by their ids.

    >>> print(deleting("Way"))
    UNWIND $ids AS id MATCH (n:Way {id: id}) DETACH DELETE n
    """
    return f"UNWIND $ids AS id MATCH (n:{label} {{id: id}}) DETACH DELETE n"
