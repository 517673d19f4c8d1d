"""Rebuilds the graphs of runs that an older KernBench pushed, from their records in the database.

Records do not change; the nodes and relationships that follow from them are replaced, run by run. Meanwhile
the run is ``upgrading``: it is listed and can be loaded, but not queried. The next upgrade completes a run
whose upgrade was interrupted. The database has the new schema version once all topologies and runs have.
"""

from __future__ import annotations

from kernbench_graph.projection import Projection
from kernbench_graph.records import TopologyRecord
from kernbench_graph.schema import SCHEMA_VERSION
from kernbench_graph.stores.neo4j.removal import is_dead, owner
from kernbench_graph.stores.neo4j.rows import batches_of, merging, run_batches_in
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction
from kernbench_graph.stores.neo4j.topologies import LOCK

_OLDER = """MATCH (k:KernbenchRun) WHERE k.state = 'upgrading'
OR (k.state = 'kept' AND (coalesce(k.schema, 0) < $schema OR coalesce(k.facts, 0) < $facts))
RETURN k.id AS id, k.state AS state, k.owner AS owner, (timestamp() - k.beat) / 1000.0 AS silent
ORDER BY k.seq"""
_OLD_TOPOLOGIES = "MATCH (t:KernbenchTopology) WHERE coalesce(t.schema, 0) < $schema RETURN t.id AS id"
_THERE = """MATCH (n) WHERE n.id = $id OR n.id STARTS WITH $prefix
MATCH (n)-[r]->() UNWIND labels(n) AS label RETURN collect(DISTINCT [label, type(r)]) AS types"""
_CURRENT = "MATCH (t:KernbenchTopology {id: $id}) SET t.schema = $schema"
_DONE = """MATCH (d:KernbenchDatabase {name: 'kernbench'})
WHERE NOT EXISTS { MATCH (k:KernbenchRun) WHERE coalesce(k.schema, 0) < $schema }
SET d.schema_version = $schema"""


def older_runs(server: Neo4jServer, facts: int) -> list[str]:
    """Ids of runs whose graph is of an older schema or has older facts, and that nobody else upgrades."""
    rows = server.read(lambda tx: tx.run(_OLDER, schema=SCHEMA_VERSION, facts=facts).data())
    return [
        row["id"]
        for row in rows
        if row["state"] == "kept" or row["owner"] == owner() or is_dead(row["owner"], row["silent"])
    ]


def older_topologies(server: Neo4jServer) -> list[str]:
    """Ids of the topologies whose graph is of an older schema."""
    return [
        row["id"] for row in server.read(lambda tx: tx.run(_OLD_TOPOLOGIES, schema=SCHEMA_VERSION).data())
    ]


def upgrade_topology(server: Neo4jServer, topology: TopologyRecord) -> None:
    """Give a topology the nodes, properties and types of relationships that it lacks, in one transaction."""
    parts = list(Projection(topology, by_id=True).parts("topology"))
    values = {"id": topology.id, "prefix": f"{topology.id}/", "schema": SCHEMA_VERSION}

    def work(tx: Transaction) -> None:
        tx.run(LOCK).consume()
        there = tx.run(_THERE, values).single(strict=True)["types"]
        run_batches_in(tx, batches_of((part for part in parts if not part.ends), make=merging))
        missing = [part for part in parts if part.ends and [part.ends[0], part.name] not in there]
        run_batches_in(tx, batches_of(missing))
        tx.run(_CURRENT, values).consume()

    server.write(work)


def finish(server: Neo4jServer) -> None:
    """Say that all of the database is of this schema, if it is."""
    server.write(lambda tx: tx.run(_DONE, schema=SCHEMA_VERSION).consume())
