"""Removing a run from Neo4j: invisible at once, deleted after that, by whoever comes next if need be."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from graph.stores.neo4j_history import Place, remove_unused_topologies
from graph.stores.neo4j_server import Server

DEAD_AFTER_S = 120
"""A pusher of another machine that has not been heard of for this long is taken for dead."""
_DELETED_AT_ONCE = (("Transaction", 500), ("Op", 2_000), ("", 2_000))
"""Nodes of a label that go in one transaction. First those that have most relationships and few each."""
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


def remove(server: Server, place: Place, run_id: str, key: str, number: int) -> bool:
    """Remove a run, or what there is of one, and its topology where it was the last on it.

    False when it was not there. It is invisible at once, and then deleted.
    """
    values = {"key": key, "number": number, "owner": owner(), "history": place.history_key("Run", run_id)}
    fenced = server.write(lambda tx: tx.run(_FENCE, values).single(strict=True)["fenced"])
    _sweep(server, number)
    remove_unused_topologies(server, place)
    return bool(fenced)


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
            _sweep(server, row["number"])
        else:
            remove(server, place, row["id"], row["key"], row["number"])
    remove_unused_topologies(server, place)
    return len(dead)


def _sweep(server: Server, number: int) -> None:
    """Delete what belongs to the graph of that number, whose run is invisible already."""
    scope, files = f"InRun{int(number)}", f"run/{int(number)}"
    for label, limit in _DELETED_AT_ONCE:
        text = f"MATCH (n:{scope}{label and '&' + label}) WITH n LIMIT $limit DETACH DELETE n"
        _until_none(server, f"{text} RETURN count(*) AS n", limit)
    text = f"MATCH (n:KernbenchFile {{owner: '{files}'}}) WITH n LIMIT $limit DELETE n RETURN count(*) AS n"
    _until_none(server, text, 20)
    server.write(
        lambda tx: tx.run(
            "MATCH (k:KernbenchRun {number: $n}) WHERE k.state = 'removing' DELETE k", n=number
        ).consume()
    )


def _until_none(server: Server, text: str, limit: int) -> None:
    while server.write(lambda tx: tx.run(text, limit=limit).single(strict=True)["n"]):
        pass
