"""Several transactions at once of one push or removal, each in a lane: a thread with a connection.

Transactions that write to one node wait for each other, so every lane has one of its own for the token of who
pushes or removes: of the first lane it is the run's ``KernbenchRun``, of others a ``KernbenchLane``. The
process that takes the run over removes those, and so waits for what is under way and stops the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

from kernbench_graph.stores.neo4j.server import Transaction

LANES = 2
"""Transactions at once: the server works on one while it commits another."""
_END = "MATCH (l:KernbenchLane) WHERE l.id STARTS WITH $prefix DELETE l"
_DONE = object()


def lane_id(run_id: str, number: int) -> str:
    """The id of the node that belongs to a lane; of the first one it is the run's in the catalogue."""
    return f"{run_id}/{number}" if number else run_id


def more_lanes(run_id: str) -> list[str]:
    """Ids of the nodes that a push or removal makes for its lanes: for all but the first."""
    return [lane_id(run_id, number) for number in range(1, LANES)]


def holding(number: int) -> str:
    """Beginning of a statement: the node of a lane as ``k``, while it has ``$token``.

    It is written to first, so that the token is looked at when no other process can change it any more.

    >>> print(holding(1))
    MATCH (k:KernbenchLane {id: $id}) SET k.beat = timestamp()
    WITH k WHERE k.token = $token
    """
    label = "KernbenchLane" if number else "KernbenchRun"
    return f"MATCH (k:{label} {{id: $id}}) SET k.beat = timestamp()\nWITH k WHERE k.token = $token"


def end_lanes(tx: Transaction, run_id: str) -> None:
    """Remove the lanes of a push or removal, once what is under way in them is committed.

    None of them does more then.
    """
    tx.run(_END, prefix=f"{run_id}/").consume()


def in_lanes(name: str, steps: Callable[[int], Iterator[None]]) -> None:
    """Go through ``steps(number)`` of all lanes at once; the threads are called ``name``.

    A step is a transaction, over when it has been yielded. When one fails, none is begun any more in any
    lane, and once those under way are over the error is raised: of several, the first.
    """
    stop = Event()
    failed: list[BaseException] = []

    def lane(number: int) -> None:
        try:
            doing = steps(number)
            while not stop.is_set() and next(doing, _DONE) is not _DONE:
                pass
        except BaseException as error:
            failed.append(error)
            stop.set()

    with ThreadPoolExecutor(LANES, name) as pool:
        try:
            wait([pool.submit(lane, number) for number in range(LANES)])
        finally:
            stop.set()
    if failed:
        raise failed[0]
