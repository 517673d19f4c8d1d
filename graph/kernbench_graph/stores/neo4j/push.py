"""Pushing a run into Neo4j so that it is there whole or not at all.

A catalogue node ``KernbenchRun`` is claimed first, with a token and the state ``pushing``. Every
transaction of the push checks the token and counts a step on that node: one that was committed although
its answer got lost is not done twice, and a pusher that was given up for dead can do no more harm. The run's
own node is a ``KernbenchHidden`` until all else is there. Then it becomes a ``Run``, and in a transaction
after that the state becomes ``kept``: only then is there a run that anything can be asked of.

Those must be two. The server writes what a transaction changed piece by piece and its indexes last, and a
reader in another connection sees each piece at once: it would find a run ``kept`` whose ``Run`` no index
knows yet, and every question about it would be answered with no rows.

Rows are pushed in several lanes at once, each with a node of its own for token and steps (lanes.py). Nodes
are all there before the first relationship is made.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby, islice
from threading import Lock
from typing import Any

from kernbench_graph.errors import StoreError
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA_VERSION
from kernbench_graph.stores.neo4j.catalogue import SET_BRIEF, brief_values
from kernbench_graph.stores.neo4j.ddl import HIDDEN
from kernbench_graph.stores.neo4j.files import Archived, write_files
from kernbench_graph.stores.neo4j.lanes import LANES, end_lanes, holding, in_lanes, lane_id, more_lanes
from kernbench_graph.stores.neo4j.removal import files_owner, owner, remove, remove_graph
from kernbench_graph.stores.neo4j.rows import Batch, run_batches, run_batches_in
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction

ROWS_AT_ONCE = 20_000
"""Rows in one transaction of a lane, in several batches: about 50 MB of the heap that all pushers share."""
_PIECES_AT_ONCE = 8

_CLAIM = """MATCH (d:KernbenchDatabase {name: 'kernbench'})
MERGE (k:KernbenchRun {id: $id})
  ON CREATE SET k.token = $token, k.state = 'pushing', k.step = 0, k.owner = $owner, k.topology = $topology,
                k.detail = $detail, k.facts = $facts, k.schema = $schema, k.additions = 0,
                k.beat = timestamp()
FOREACH (lane IN CASE WHEN k.token = $token THEN $lanes ELSE [] END |
  MERGE (l:KernbenchLane {id: lane}) SET l.token = $token, l.step = 0)
RETURN k.token = $token AS mine, k.state AS state, k.content AS content, k.detail AS detail"""
_TAKE = """MATCH (k:KernbenchRun {id: $id}) SET k.busy = true
WITH k WHERE k.token = $before AND k.state IN ['kept', 'upgrading']
SET k.state = 'upgrading', k.token = $token, k.owner = $owner, k.step = 0, k.beat = timestamp()
FOREACH (lane IN $lanes | MERGE (l:KernbenchLane {id: lane}) SET l.token = $token, l.step = 0)
RETURN count(k) AS taken"""
_GONE = f"OPTIONAL MATCH (r:{HIDDEN} {{id: $id}}) DETACH DELETE r"
_SHOW_AGAIN = f"MATCH (r:{HIDDEN} {{id: $id}}) SET r:Run REMOVE r:{HIDDEN}"
_KEEP_AGAIN = "MATCH (k:KernbenchRun {id: $id}) SET k.state = 'kept', k.facts = $facts, k.schema = $schema"
_STEP = "WITH k, k.step AS before SET k.step = $step RETURN before"
_SHOW = f"""MATCH (k:KernbenchRun {{id: $id}}) MATCH (r:{HIDDEN} {{id: $id}})
SET k.content = $content, k.manifest = $manifest, {SET_BRIEF}, r:Run REMOVE r:{HIDDEN}"""
_KEEP = """MATCH (k:KernbenchRun {id: $id}) MATCH (d:KernbenchDatabase {name: 'kernbench'})
SET d.kept = d.kept + 1
SET k.seq = d.kept, k.state = 'kept'"""


class Push:
    """One run on its way into the database."""

    def __init__(self, server: Neo4jServer, run_id: str, topology: str, detail: str, facts: int) -> None:
        """``topology`` is the id of the one that it is on, which stays from now on.

        ``facts`` is the version (:data:`~kernbench_graph.schema_worked_out.FACTS_VERSION`) of the tables that
        are worked out from the run's others and pushed with them; 0 where nothing works them out.
        """
        self._server, self._id, self._topology, self._detail = server, run_id, topology, detail
        self._facts = facts
        self._token = secrets.token_hex(12)
        self._steps = [0] * LANES

    def claim(self) -> Mapping[str, Any] | None:
        """Begin; None, or ``state``, ``content`` and ``detail`` of what has the id already."""
        values = {"id": self._id, "token": self._token, "owner": owner(), "topology": self._topology,
                  "detail": self._detail, "facts": self._facts, "lanes": more_lanes(self._id),
                  "schema": SCHEMA_VERSION}  # fmt: skip
        row = self._server.write(lambda tx: tx.run(_CLAIM, values).single(strict=True))
        return None if row["mine"] else dict(row)

    def again(self, before: str, run: RunRecord, topology: TopologyRecord) -> bool:
        """Rebuild the graph of a kept run; its record and its place in the order of runs do not change.

        Args:
            before: the token that the run has.
            run: its record, with what was added to it.
            topology: the record of its topology.

        Returns:
            Whether it was rebuilt; false where another process has taken the run.
        """
        values = {"id": self._id, "before": before, "token": self._token, "owner": owner(),
                  "lanes": more_lanes(self._id)}  # fmt: skip

        def take(tx: Transaction) -> bool:
            end_lanes(tx, self._id)
            return bool(tx.run(_TAKE, values).single(strict=True)["taken"])

        if not self._server.write(take):
            return False
        remove_graph(self._server, self._id, self._token)
        self._once(lambda tx: tx.run(_GONE, id=self._id).consume())
        self.fill(run, topology)
        self._once(lambda tx: tx.run(_SHOW_AGAIN, id=self._id).consume())
        now = {"id": self._id, "facts": self._facts, "schema": SCHEMA_VERSION}
        self._once(lambda tx: tx.run(_KEEP_AGAIN, now).consume())
        self._server.write(lambda tx: end_lanes(tx, self._id))
        return True

    def fill(self, run: RunRecord, topology: TopologyRecord, archived: Archived | None = None) -> None:
        """Archive first, if there is one, then nodes, then relationships."""
        pieces = archived.pieces() if archived else iter(())
        lots = iter(lambda: list(islice(pieces, _PIECES_AT_ONCE)), [])
        self._in_lanes(partial(write_files, owner=files_owner(self._id), pieces=some) for some in lots)
        batches = run_batches(run, topology, self._detail)
        for _, found in groupby(batches, key=lambda batch: batch.joins):
            self._in_lanes(partial(run_batches_in, found=group) for group in _group(found))

    def _in_lanes(self, works: Iterator[Callable[[Transaction], Any]]) -> None:
        """Run each of ``works`` in a transaction of its own, in the lane that is free."""
        taking = Lock()

        def steps(number: int) -> Iterator[None]:
            while True:
                with taking:
                    work = next(works, None)
                if work is None:
                    return
                self._once(work, number)
                yield

        in_lanes("kernbench-push", steps)

    def finish(self, manifest: bytes, content: str) -> None:
        """Make the run visible: first everything that belongs to it, then that it is kept."""
        values = {"id": self._id, "content": content, "manifest": manifest}
        values |= brief_values(self._id, manifest)

        def show(tx: Transaction) -> None:
            end_lanes(tx, self._id)
            tx.run(_SHOW, values).consume()

        self._once(show)
        self._once(lambda tx: tx.run(_KEEP, id=self._id).consume())

    def give_up(self) -> None:
        """Remove what has been pushed so far."""
        remove(self._server, self._id, self._token)

    def _once(self, work: Callable[[Transaction], Any], lane: int = 0) -> None:
        """Run ``work`` in a transaction that is committed once, even where its answer was lost."""
        self._steps[lane] += 1
        values = {"id": lane_id(self._id, lane), "token": self._token, "step": self._steps[lane]}

        def guarded(tx: Transaction) -> None:
            row = tx.run(f"{holding(lane)} {_STEP}", values).single()
            if row is None:
                raise StoreError(
                    f"run '{self._id}' was given up while it was being pushed, for its pusher seemed "
                    "to be dead; push it again"
                )
            if row["before"] < self._steps[lane]:
                work(tx)

        self._server.write(guarded)


def _group(found: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Batches that go together into one transaction."""
    group: list[Batch] = []
    for batch in found:
        if group and sum(other.rows.num_rows for other in group) + batch.rows.num_rows > ROWS_AT_ONCE:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group
