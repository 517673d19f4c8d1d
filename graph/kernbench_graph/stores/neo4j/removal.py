"""Removing a run from Neo4j, and what pushes and removals that died have left.

A removed run is no longer ``kept`` first; in a transaction after that it loses its label ``Run``. So a query
that finds its run kept at its end has had all of its rows (push.py says why these must be two). Then the
relationships of its transactions, most of what there is, are deleted in two lanes at once, as they were made;
and its nodes lot by lot, with the relationships that are left, found by the beginning of their ids. Every lot
is deleted under the token of who removes: when it was given up for dead meanwhile, and the run's id is
another run's, it deletes nothing more.

Each lane has its own range of the transactions, in order of number. The relationships next to each other at
a component are then of the same lane, and lanes do not wait for each other. Of nodes that are deleted with
their relationships they would: the server locks whatever is joined to them.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path

from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.neo4j.ddl import HIDDEN
from kernbench_graph.stores.neo4j.lanes import LANES, end_lanes, holding, in_lanes, lane_id, more_lanes
from kernbench_graph.stores.neo4j.server import RETRY_S, WRITE_TIMEOUT_S, Neo4jServer, Transaction
from kernbench_graph.stores.neo4j.topologies import remove_unused_topologies

DEAD_AFTER_S = 2 * (WRITE_TIMEOUT_S + RETRY_S)
"""A process of another machine that has not been heard of for this long is taken for dead.

It is heard of at least once in every transaction, which may take its time and be tried again."""
NODES_AT_ONCE, RELATIONSHIPS_AT_ONCE = 4_000, 20_000
"""Nodes that are deleted in one transaction: as many as have no more than so many relationships in all."""
_FIRST = "Transaction"
"""The label whose nodes have most relationships and few each; those of others go with them."""
IN_A_LANE = 10_000
"""Relationships, about, that are deleted in one transaction of a lane."""
_FENCE = """MATCH (k:KernbenchRun {id: $id}) SET k.busy = true
WITH k WHERE k.token IN [$token, $new] AND ($kept OR k.state <> 'kept')
SET k.state = 'removing', k.token = $new, k.beat = timestamp(), k.owner = $owner RETURN count(k) AS fenced"""
_HIDE = f"MATCH (r:Run {{id: $id}}) REMOVE r:Run SET r:{HIDDEN}"
_BEGIN_LANES = "UNWIND $lanes AS lane MERGE (l:KernbenchLane {id: lane}) SET l.token = $new"
_SPAN = f"""MATCH (n:{_FIRST}) WHERE n.id STARTS WITH $prefix
RETURN min(n.number) AS low, max(n.number) AS high, sum(COUNT {{(n)-->()}}) AS relationships"""
_JOINED = f"""UNWIND range($low, $high) AS i MATCH (n:{_FIRST} {{id: $first + toString(i)}})-[r]->()
WITH r LIMIT $limit DELETE r RETURN count(*) AS n"""
_LEFT = """MATCH (k:KernbenchRun) WHERE NOT k.state IN ['kept', 'upgrading']
RETURN k.id AS id, k.token AS token, k.owner AS owner, (timestamp() - k.beat) / 1000.0 AS silent"""


def remove(server: Neo4jServer, run_id: str, token: str, kept: bool = True) -> bool:
    """Remove a run, or what there is of one, and its topology where it was the last on it.

    False when there is none with that token, or when it is there whole and ``kept`` is False. It is invisible
    at once, and then deleted.
    """
    new = secrets.token_hex(12)
    values = {"id": run_id, "token": token, "new": new, "owner": owner(), "kept": kept}

    def fence(tx: Transaction) -> bool:
        fenced = bool(tx.run(_FENCE, values).single(strict=True)["fenced"])
        if fenced:
            end_lanes(tx, run_id)
            tx.run(_BEGIN_LANES, lanes=more_lanes(run_id), new=new).consume()
        return fenced

    if not server.write(fence):
        return False
    remove_graph(server, run_id, new)
    _sweep(server, run_id, new)
    remove_unused_topologies(server)
    return True


def remove_graph(server: Neo4jServer, run_id: str, token: str) -> None:
    """Remove the nodes of a run whose token is ours, but for its own, which is hidden; its record stays."""

    def hide(tx: Transaction) -> None:
        if _held(tx, run_id, token):
            tx.run(_HIDE, id=run_id).consume()

    server.write(hide)
    _part_transactions(server, run_id, token)
    _sweep_nodes(server, run_id, token)


def clean(server: Neo4jServer) -> int:
    """Remove what dead pushers and removers left; returns how many runs that were.

    A process that has ended may have kept its run after we read that it was pushing it: that run stays.
    """
    rows = server.read(lambda tx: tx.run(_LEFT).data())
    dead = [row for row in rows if is_dead(row["owner"], row["silent"])]
    return sum(remove(server, row["id"], row["token"], kept=False) for row in dead)


def owner() -> str:
    """Who this process is: machine, since when it runs, and number, for others to see whether it lives."""
    return f"{_machine()} {os.getpid()}"


_WINDOWS = os.name == "nt"


def is_dead(owner_: str, silent_s: float) -> bool:
    """Whether that process has ended, or has not been heard of for too long."""
    machine, _, pid = owner_.rpartition(" ")
    # On Windows os.kill ends the process, whatever the signal.
    if machine == _machine() and pid.isdigit() and len(pid) < 10 and not _WINDOWS:
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


def files_owner(run_id: str) -> str:
    """Owner of the archived files of a run."""
    return f"run/{run_id}"


def added_owner(run_id: str) -> str:
    """Owner of the files of what was added to a run."""
    return f"added/{run_id}"


def _held(tx: Transaction, run_id: str, token: str, lane: int = 0) -> bool:
    """Whether the run is still ours to remove; no other process takes it before the transaction is over."""
    text = holding(lane) + " RETURN k.id AS id"
    return tx.run(text, id=lane_id(run_id, lane), token=token).single() is not None


def _part_transactions(server: Neo4jServer, run_id: str, token: str) -> None:
    """Delete the relationships that lead from a run's transactions, in lanes."""
    first = f"{run_id}/{SCHEMA.label(_FIRST).prefix}"
    found = server.read(lambda tx: tx.run(_SPAN, prefix=first).single(strict=True))
    if not found["relationships"]:
        return
    low, count = int(found["low"]), int(found["high"]) - int(found["low"]) + 1
    step = max(1, count * IN_A_LANE // int(found["relationships"]))

    def some(tx: Transaction, lane: int, values: dict[str, int]) -> int:
        if not _held(tx, run_id, token, lane):
            return 0  # another process does it
        return int(tx.run(_JOINED, values, first=first).single(strict=True)["n"])

    def steps(lane: int) -> Iterator[None]:
        begin, end = low + count * lane // LANES, low + count * (lane + 1) // LANES
        for at in range(begin, end, step):
            values = {"low": at, "high": min(at + step, end) - 1, "limit": 2 * IN_A_LANE}
            while server.write(partial(some, lane=lane, values=values)) == values["limit"]:
                yield
            yield

    in_lanes("kernbench-remove", steps)


def _some(tx: Transaction, run_id: str, token: str, text: str, limit: int) -> int:
    """Delete some of what belongs to a run that is invisible already."""
    if not _held(tx, run_id, token):
        return 0  # another process does it
    owners = [files_owner(run_id), added_owner(run_id)]
    found = tx.run(text, prefix=f"{run_id}/", owners=owners, limit=limit)
    return int(found.single(strict=True)["n"])


def _sweep_nodes(server: Neo4jServer, run_id: str, token: str) -> None:
    """Delete the nodes of a run that is invisible already, but for its own."""

    def nodes(tx: Transaction, label: str) -> int:
        counting = counting_relationships(label)
        found = tx.run(counting, prefix=f"{run_id}/", limit=NODES_AT_ONCE).single(strict=True)
        totals = accumulate(found["counts"])
        fitting = sum(1 for total in totals if total <= RELATIONSHIPS_AT_ONCE)
        return _some(tx, run_id, token, deleting_nodes(label), max(1, fitting))

    labels = [label.name for label in SCHEMA.labels if label.record == "run" and label.name != "Run"]
    for label in sorted(labels, key=lambda name: name != _FIRST):
        while server.write(partial(nodes, label=label)):
            pass


def _sweep(server: Neo4jServer, run_id: str, token: str) -> None:
    """Delete the record of a run whose nodes have gone, its own node, and its entry in the catalogue."""
    while server.write(partial(_some, run_id=run_id, token=token, text=_FILES, limit=20)):
        pass

    def last(tx: Transaction) -> None:
        if _held(tx, run_id, token):
            end_lanes(tx, run_id)
            tx.run(_LAST, id=run_id, token=token).consume()

    server.write(last)


_FILES = "MATCH (n:KernbenchFile) WHERE n.owner IN $owners WITH n LIMIT $limit DELETE n RETURN count(*) AS n"
_LAST = f"""MATCH (k:KernbenchRun {{id: $id}}) WHERE k.token = $token
OPTIONAL MATCH (r:{HIDDEN} {{id: $id}}) DETACH DELETE r, k"""


def counting_relationships(label: str) -> str:
    """Statement that counts the relationships of some nodes of a run, of one label.

    >>> print(counting_relationships("Op"))
    MATCH (n:Op) WHERE n.id STARTS WITH $prefix WITH n LIMIT $limit RETURN collect(COUNT {(n)--()}) AS counts
    """
    return (
        f"MATCH (n:{label}) WHERE n.id STARTS WITH $prefix WITH n LIMIT $limit "
        "RETURN collect(COUNT {(n)--()}) AS counts"
    )


def deleting_nodes(label: str) -> str:
    """Statement that deletes some nodes of a run, of one label, and counts them.

    >>> print(deleting_nodes("Op"))
    MATCH (n:Op) WHERE n.id STARTS WITH $prefix WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS n
    """
    return (
        f"MATCH (n:{label}) WHERE n.id STARTS WITH $prefix WITH n LIMIT $limit "
        "DETACH DELETE n RETURN count(*) AS n"
    )
