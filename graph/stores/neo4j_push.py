"""Pushing a run into Neo4j so that it is there whole or not at all, whatever happens on the way.

A catalogue node ``KernbenchRun`` is claimed first, with a token and the state ``pushing``. Every
transaction of the push checks the token and counts a step on that node: one that was committed although
its answer got lost is not done twice, and a pusher that was given up for dead can do no more harm. The last
transaction makes the run part of the graph over all runs and sets the state ``kept``; only then does
anybody see it. What a dead pusher left is removed at the next opening or push.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from graph.schema import SCHEMA
from graph.store import RunRecord, StoreError, TopologyRecord
from graph.stores.neo4j_files import Pieces
from graph.stores.neo4j_rows import BATCH, Batch, batches, by_place, property_map, run_graph, vars_of
from graph.stores.neo4j_server import Server, Transaction

DEAD_AFTER_S = 120
"""A pusher of another machine that has not been heard of for this long is taken for dead."""
_DELETED_AT_ONCE = 2_000
_PIECES_AT_ONCE = 8

_CLAIM = """MATCH (d:KernbenchDatabase {name: 'kernbench'})
MERGE (k:KernbenchRun {key: $key})
  ON CREATE SET k.token = $token, k.state = 'pushing', k.step = 0, k.store = $store, k.id = $id,
                k.owner = $owner, k.beat = timestamp()
WITH d, k, k.number IS NULL AND k.token = $token AS fresh
FOREACH (_ IN CASE WHEN fresh THEN [1] ELSE [] END | SET d.busy = true)
FOREACH (_ IN CASE WHEN fresh THEN [1] ELSE [] END | SET d.graphs = d.graphs + 1, k.number = d.graphs)
RETURN k.token = $token AS mine, k.number AS number, k.state AS state, k.content AS content"""
_STEP = """MATCH (k:KernbenchRun {key: $key, token: $token})
SET k.beat = timestamp() WITH k, k.step AS before SET k.step = $step RETURN before"""
_STORE = """MATCH (d:KernbenchDatabase {name: 'kernbench'}) SET d.busy = true
MERGE (s:KernbenchStore {name: $name})
FOREACH (_ IN CASE WHEN s.number IS NULL THEN [1] ELSE [] END |
         SET d.graphs = d.graphs + 1, s.number = d.graphs)
RETURN s.number AS number"""
_FINISH = """MATCH (k:KernbenchRun {key: $key, token: $token}) MATCH (d:KernbenchDatabase {name: 'kernbench'})
SET d.busy = true, d.kept = d.kept + 1
SET k.seq = d.kept, k.state = 'kept', k.content = $content, k.manifest = $manifest, k.topology = $topology"""
_FENCE = """MATCH (k:KernbenchRun {key: $key}) WHERE k.number = $number
SET k.state = 'removing', k.token = null, k.key = k.key + '#' + toString(k.number), k.beat = timestamp(),
    k.owner = $owner
WITH k OPTIONAL MATCH (h:KernbenchHistory {_key: $history}) WHERE h._number = k.number
DETACH DELETE h RETURN count(k) AS fenced"""


def owner() -> str:
    """Who this process is: machine, since when it runs, and number, for others to see whether it lives."""
    return f"{_machine()} {os.getpid()}"


def is_dead(owner_: str, silent_s: float) -> bool:
    """Whether that process has ended, or has not been heard of for too long."""
    machine, _, pid = owner_.rpartition(" ")
    if machine == _machine() and pid.isdigit():
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
    return silent_s > DEAD_AFTER_S


def _machine() -> str:
    parts = [socket.gethostname()]
    for name in ("/proc/sys/kernel/random/boot_id",):
        with suppress(OSError):
            parts.append(Path(name).read_text(encoding="ascii").strip())
    with suppress(OSError):
        parts.append(str(os.stat("/proc/self/ns/pid").st_ino))
    return "/".join(parts)


@dataclass(frozen=True, slots=True)
class Place:
    """A store in a database: its name, and the number of its graph over all runs."""

    name: str
    number: int

    @property
    def label(self) -> str:
        """What all nodes of the graph over all runs carry."""
        return f"InHistory{self.number}"

    def history_key(self, label: str, id_: str) -> str:
        """Identifies a node of the graph over all runs."""
        return f"{self.number}/{label}/{id_}"


def ensure_place(server: Server, name: str) -> Place:
    """The store of that name, made when it is not there yet."""
    row = server.write(lambda tx: tx.run(_STORE, name=name).single(strict=True))
    return Place(name, row["number"])


def push_topology(server: Server, place: Place, topology: TopologyRecord, files: Pieces) -> None:
    """Keep a topology and its part of the graph over all runs, in one transaction; once only."""
    key = f"{place.name}/{topology.id}"

    def work(tx: Transaction) -> None:
        fresh = tx.run(
            "MERGE (t:KernbenchTopology {key: $key}) ON CREATE SET t.busy = $token "
            "WITH t, t.manifest IS NULL AS fresh SET t.busy = $token RETURN fresh", key=key,
            token=secrets.token_hex(8),
        ).single(strict=True)["fresh"]  # fmt: skip
        if not fresh:
            return
        _files(tx, f"topology/{key}", [piece for piece in files if piece[0] != "manifest.json"])
        _history_nodes(tx, place, "Topology", [[topology.id, *vars_of(topology).values()]])
        for label in ("Component", "Link"):
            names = [prop.name for prop in SCHEMA.label(label).properties]
            rows = topology.tables[label].select(names).to_pylist()
            keyed = [[f"{topology.id}/{row['id']}", *(row[name] for name in names)] for row in rows]
            for batch in batches(keyed):
                _history_nodes(tx, place, label, batch)
        manifest = b"".join(data for name, _, data in files if name == "manifest.json")
        tx.run("MATCH (t:KernbenchTopology {key: $key}) "
               "SET t.manifest = $manifest, t.id = $id, t.store = $store",
               key=key, manifest=manifest, id=topology.id, store=place.name).consume()  # fmt: skip

    server.write(work)


def _history_nodes(tx: Transaction, place: Place, label: str, rows: list[list[Any]]) -> None:
    """Nodes of the graph over all runs; each row begins with the node's key there."""
    names = [prop.name for prop in SCHEMA.label(label).properties]
    key = "key: row[0], " if label in ("Component", "Link") else ""
    tx.run(
        f"UNWIND $rows AS row CREATE (n:{label}:KernbenchHistory:$($scope) {{{key}"
        f"{property_map(names, start=1)}, _key: $prefix + row[0]}})",
        rows=rows, scope=place.label, prefix=place.history_key(label, ""),
    ).consume()  # fmt: skip


def _files(tx: Transaction, owner_: str, pieces: Sequence[tuple[str, int, bytes]]) -> None:
    tx.run(
        "UNWIND $pieces AS piece CREATE (:KernbenchFile {owner: $owner, name: piece[0], part: piece[1], "
        "data: piece[2]})",
        pieces=[list(piece) for piece in pieces], owner=owner_,
    ).consume()  # fmt: skip


class Push:
    """One run on its way into the database."""

    def __init__(self, server: Server, place: Place, run_id: str) -> None:
        self._server, self._place, self._id = server, place, run_id
        self._key = f"{place.name}/{run_id}"
        self._token = secrets.token_hex(12)
        self._step = 0
        self.number = -1

    def claim(self) -> Mapping[str, Any] | None:
        """Begin; None, or, when the id is taken already, ``state`` and ``content`` of what has it."""
        values = {"key": self._key, "token": self._token, "store": self._place.name, "id": self._id,
                  "owner": owner()}  # fmt: skip
        row = self._server.write(lambda tx: tx.run(_CLAIM, values).single(strict=True))
        if not row["mine"]:
            return dict(row)
        self.number = row["number"]
        return None

    def fill(self, run: RunRecord, topology: TopologyRecord, files: Pieces) -> None:
        """Archive first, then nodes, then relationships."""
        data = [piece for piece in files if piece[0] != "manifest.json"]
        for pieces in batches(data, _PIECES_AT_ONCE):
            self._once(lambda tx, these=pieces: _files(tx, f"run/{self.number}", these))
        for group in _grouped(run_graph(f"InRun{self.number}", self.number, run.info, run.tables, topology)):
            self._once(lambda tx, these=group: _run_batches(tx, these))

    def finish(self, run: RunRecord, manifest: bytes, content: str) -> None:
        """Make the run visible, in one transaction."""
        info, topology = run.info, run.info["topology"]
        names = [prop.name for prop in SCHEMA.label("Run").properties]
        values = {"key": self._key, "token": self._token, "content": content, "manifest": manifest,
                  "topology": topology}  # fmt: skip
        place, key = self._place, self._place.history_key

        def work(tx: Transaction) -> None:
            # One at a time per topology: its nodes are where the runs' relationships meet.
            tx.run("MATCH (t:KernbenchTopology {key: $key}) SET t.busy = $token",
                   key=f"{place.name}/{topology}", token=self._token).consume()  # fmt: skip
            _history_nodes(tx, place, "Run", [[self._id, *(info[name] for name in names)]])
            tx.run("MATCH (r:KernbenchHistory {_key: $run}) MATCH (t:KernbenchHistory {_key: $topology}) "
                   "SET r._number = $number CREATE (r)-[:ON]->(t)", run=key("Run", self._id),
                   topology=key("Topology", topology), number=self.number).consume()  # fmt: skip
            for batch in _used(run.tables["Used"], place, self._id, topology):
                _run_batches(tx, [batch])
            tx.run(_FINISH, values).consume()

        self._once(work)

    def give_up(self) -> None:
        """Remove what has been pushed so far."""
        remove(self._server, self._place, self._id, self._key, self.number)

    def _once(self, work: Any) -> None:
        """Run ``work`` in a transaction that is committed once, even where its answer was lost."""
        self._step += 1
        values = {"key": self._key, "token": self._token, "step": self._step}

        def guarded(tx: Transaction) -> None:
            row = tx.run(_STEP, values).single()
            if row is None:
                raise StoreError(
                    f"run '{self._id}' was given up while it was being pushed, for its pusher seemed "
                    "to be dead; push it again"
                )
            if row["before"] < values["step"]:
                work(tx)

        self._server.write(guarded)


def _used(data: pa.Table, place: Place, run_id: str, topology: str) -> Iterable[Batch]:
    for label, part in by_place(data.add_column(0, "run", pa.repeat(run_id, data.num_rows)), "run"):
        names = part.column_names[2:]
        rows = [list(row.values())[1:] for row in part.to_pylist()]
        cypher = (
            "MATCH (a:KernbenchHistory {_key: $run}) UNWIND $rows AS row "
            "MATCH (b:KernbenchHistory {_key: $prefix + row[0]}) "
            f"CREATE (a)-[r:USED {{{property_map(names, start=1)}}}]->(b) RETURN count(r) AS made"
        )
        fixed = {"run": place.history_key("Run", run_id), "prefix": place.history_key(label, f"{topology}/")}
        for batch in batches(rows):
            yield Batch(cypher, batch, fixed)


def _grouped(found: Iterable[Batch]) -> Iterable[list[Batch]]:
    """Batches that go together into one transaction, about ten thousand rows."""
    group: list[Batch] = []
    for batch in found:
        if group and sum(len(other.rows) for other in group) + len(batch.rows) > BATCH:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def _run_batches(tx: Transaction, found: Iterable[Batch]) -> None:
    for batch in found:
        made = tx.run(batch.cypher, rows=batch.rows, **batch.parameters).single(strict=True)["made"]
        if made != len(batch.rows):
            raise StoreError(
                f"only {made} of {len(batch.rows)} rows could be pushed: the database has lost nodes "
                "meanwhile; push the run again"
            )


def remove(server: Server, place: Place, run_id: str, key: str, number: int) -> bool:
    """Make a run, or what there is of one, invisible at once, and then delete it; False when not there."""
    values = {"key": key, "number": number, "owner": owner(), "history": place.history_key("Run", run_id)}
    fenced = server.write(lambda tx: tx.run(_FENCE, values).single(strict=True)["fenced"])
    sweep(server, number)
    return bool(fenced)


def sweep(server: Server, number: int) -> None:
    """Delete what belongs to the graph of that number, whose run is invisible already."""
    for text in (
        f"MATCH (n:InRun{int(number)}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS n",
        f"MATCH (n:KernbenchFile {{owner: 'run/{int(number)}'}}) WITH n LIMIT 20 DELETE n "
        "RETURN count(*) AS n",
    ):
        while server.write(lambda tx, t=text: tx.run(t, limit=_DELETED_AT_ONCE).single(strict=True)["n"]):  # type: ignore[misc]
            pass
    server.write(
        lambda tx: tx.run(
            "MATCH (k:KernbenchRun {number: $n}) WHERE k.state = 'removing' DELETE k", n=number
        ).consume()
    )


def clean(server: Server, place: Place) -> int:
    """Remove what dead pushers and removers left in the store; returns how many runs that were."""
    rows = server.read(
        lambda tx: tx.run(
            "MATCH (k:KernbenchRun) WHERE k.store = $store AND k.state <> 'kept' RETURN k.id AS id, "
            "k.key AS key, k.number AS number, k.owner AS owner, (timestamp() - k.beat) / 1000.0 AS silent",
            store=place.name,
        ).data()
    )  # fmt: skip
    dead = [row for row in rows if is_dead(row["owner"], row["silent"])]
    for row in dead:
        if "#" in row["key"]:
            sweep(server, row["number"])
        else:
            remove(server, place, row["id"], row["key"], row["number"])
    return len(dead)
