"""Pushing a run into Neo4j so that it is there whole or not at all, whatever happens on the way.

A catalogue node ``KernbenchRun`` is claimed first, with a token and the state ``pushing``. Every
transaction of the push checks the token and counts a step on that node: one that was committed although
its answer got lost is not done twice, and a pusher that was given up for dead can do no more harm. The last
transaction makes the run part of the graph over all runs and sets the state ``kept``; only then does
anybody see it. What a dead pusher left is removed at the next opening or push.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from graph.store import RunRecord, StoreError, TopologyRecord
from graph.stores.neo4j_files import Archived
from graph.stores.neo4j_history import Place, add_run
from graph.stores.neo4j_remove import owner, remove
from graph.stores.neo4j_rows import Batch, run_batches
from graph.stores.neo4j_server import Server, Transaction
from graph.stores.neo4j_write import run_batches_in, write_files

ROWS_AT_ONCE = 40_000
"""Rows in one transaction, in several batches: about 100 MB of the server's heap."""
_PIECES_AT_ONCE = 8

_CLAIM = """MATCH (d:KernbenchDatabase {name: 'kernbench'})
MERGE (k:KernbenchRun {key: $key})
  ON CREATE SET k.token = $token, k.state = 'pushing', k.step = 0, k.store = $store, k.id = $id,
                k.owner = $owner, k.topology = $topology, k.beat = timestamp()
WITH d, k, k.number IS NULL AND k.token = $token AS fresh
FOREACH (_ IN CASE WHEN fresh THEN [1] ELSE [] END | SET d.busy = true)
FOREACH (_ IN CASE WHEN fresh THEN [1] ELSE [] END | SET d.graphs = d.graphs + 1, k.number = d.graphs)
RETURN k.token = $token AS mine, k.number AS number, k.state AS state, k.content AS content"""
_STEP = """MATCH (k:KernbenchRun {key: $key, token: $token})
SET k.beat = timestamp() WITH k, k.step AS before SET k.step = $step RETURN before"""
_FINISH = """MATCH (k:KernbenchRun {key: $key, token: $token}) MATCH (d:KernbenchDatabase {name: 'kernbench'})
SET d.busy = true, d.kept = d.kept + 1
SET k.seq = d.kept, k.state = 'kept', k.content = $content, k.manifest = $manifest"""


class Push:
    """One run on its way into the database."""

    def __init__(self, server: Server, place: Place, run_id: str, topology: str) -> None:
        """``topology`` is the id of the one that it is on, which stays from now on."""
        self._server, self._place, self._id, self._topology = server, place, run_id, topology
        self._key = place.key(run_id)
        self._token = secrets.token_hex(12)
        self._step = 0
        self.number = -1

    def claim(self) -> Mapping[str, Any] | None:
        """Begin; None, or, when the id is taken already, ``state`` and ``content`` of what has it."""
        values = {"key": self._key, "token": self._token, "store": self._place.name, "id": self._id,
                  "owner": owner(), "topology": self._topology}  # fmt: skip
        row = self._server.write(lambda tx: tx.run(_CLAIM, values).single(strict=True))
        if not row["mine"]:
            return dict(row)
        self.number = row["number"]
        return None

    def fill(self, run: RunRecord, topology: TopologyRecord, archived: Archived) -> None:
        """Archive first, then nodes, then relationships."""
        pieces = archived.pieces()
        while some := list(islice(pieces, _PIECES_AT_ONCE)):
            self._once(partial(write_files, owner=f"run/{self.number}", pieces=some))
        for group in _grouped(run_batches(f"InRun{self.number}", self.number, run, topology)):
            self._once(partial(run_batches_in, found=group))

    def finish(self, run: RunRecord, manifest: bytes, content: str) -> None:
        """Make the run visible, in one transaction."""
        values = {"key": self._key, "token": self._token, "content": content, "manifest": manifest}

        def work(tx: Transaction) -> None:
            add_run(tx, self._place, run, self.number)
            tx.run(_FINISH, values).consume()

        self._once(work)

    def give_up(self) -> None:
        """Remove what has been pushed so far."""
        remove(self._server, self._place, self._id, self._key, self.number)

    def _once(self, work: Callable[[Transaction], None]) -> None:
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


def _grouped(found: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Batches that go together into one transaction."""
    group: list[Batch] = []
    for batch in found:
        if group and sum(other.rows.num_rows for other in group) + batch.rows.num_rows > ROWS_AT_ONCE:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group
