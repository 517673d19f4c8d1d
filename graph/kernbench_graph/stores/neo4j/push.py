"""Pushing a run into Neo4j so that it is there whole or not at all.

A catalogue node ``KernbenchRun`` is claimed first, with a token and the state ``pushing``. Every
transaction of the push checks the token and counts a step on that node: one that was committed although
its answer got lost is not done twice, and a pusher that was given up for dead can do no more harm. The run's
own node is a ``KernbenchHidden`` until the last transaction makes it a ``Run``, and the state ``kept``: only
then is there a run that anything can be asked of.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from kernbench_graph.errors import StoreError
from kernbench_graph.store import RunRecord, TopologyRecord
from kernbench_graph.stores.neo4j.ddl import HIDDEN
from kernbench_graph.stores.neo4j.files import Archived, write_files
from kernbench_graph.stores.neo4j.removal import files_owner, owner, remove
from kernbench_graph.stores.neo4j.rows import Batch, run_batches, run_batches_in
from kernbench_graph.stores.neo4j.server import Server, Transaction

ROWS_AT_ONCE = 40_000
"""Rows in one transaction, in several batches: about 100 MB of the heap that all pushers share."""
_PIECES_AT_ONCE = 8

_CLAIM = """MATCH (d:KernbenchDatabase {name: 'kernbench'})
MERGE (k:KernbenchRun {id: $id})
  ON CREATE SET k.token = $token, k.state = 'pushing', k.step = 0, k.owner = $owner, k.topology = $topology,
                k.detail = $detail, k.beat = timestamp()
RETURN k.token = $token AS mine, k.state AS state, k.content AS content, k.detail AS detail"""
_STEP = """MATCH (k:KernbenchRun {id: $id}) WHERE k.token = $token
SET k.beat = timestamp() WITH k, k.step AS before SET k.step = $step RETURN before"""
_FINISH = f"""MATCH (k:KernbenchRun {{id: $id}}) MATCH (d:KernbenchDatabase {{name: 'kernbench'}})
MATCH (r:{HIDDEN} {{id: $id}})
SET d.kept = d.kept + 1
SET k.seq = d.kept, k.state = 'kept', k.content = $content, k.manifest = $manifest, r:Run
REMOVE r:{HIDDEN}"""


class Push:
    """One run on its way into the database."""

    def __init__(self, server: Server, run_id: str, topology: str, detail: str) -> None:
        """``topology`` is the id of the one that it is on, which stays from now on."""
        self._server, self._id, self._topology, self._detail = server, run_id, topology, detail
        self._token = secrets.token_hex(12)
        self._step = 0

    def claim(self) -> Mapping[str, Any] | None:
        """Begin; None, or ``state``, ``content`` and ``detail`` of what has the id already."""
        values = {"id": self._id, "token": self._token, "owner": owner(), "topology": self._topology,
                  "detail": self._detail}  # fmt: skip
        row = self._server.write(lambda tx: tx.run(_CLAIM, values).single(strict=True))
        return None if row["mine"] else dict(row)

    def fill(self, run: RunRecord, topology: TopologyRecord, archived: Archived) -> None:
        """Archive first, then nodes, then relationships."""
        pieces = archived.pieces()
        while some := list(islice(pieces, _PIECES_AT_ONCE)):
            self._once(partial(write_files, owner=files_owner(self._id), pieces=some))
        for group in _grouped(run_batches(run, topology, self._detail)):
            self._once(partial(run_batches_in, found=group))

    def finish(self, manifest: bytes, content: str) -> None:
        """Make the run visible, in one transaction."""
        values = {"id": self._id, "content": content, "manifest": manifest}
        self._once(lambda tx: tx.run(_FINISH, values).consume())

    def give_up(self) -> None:
        """Remove what has been pushed so far."""
        remove(self._server, self._id, self._token)

    def _once(self, work: Callable[[Transaction], Any]) -> None:
        """Run ``work`` in a transaction that is committed once, even where its answer was lost."""
        self._step += 1
        values = {"id": self._id, "token": self._token, "step": self._step}

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
