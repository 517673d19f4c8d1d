"""Topologies in a Neo4j database: one wired graph for all runs that are on it.

A topology is there as long as a run refers to it. A process that adds or removes one holds the database's
node locked, and a run says what it refers to when it is claimed, before its topology is looked for; so none
is removed that a run is about to need.
"""

from __future__ import annotations

from kernbench_graph.records import TopologyRecord
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.stores.neo4j.files import Archived, write_files
from kernbench_graph.stores.neo4j.rows import run_batches_in, topology_batches
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction

LOCK = "MATCH (d:KernbenchDatabase {name: 'kernbench'}) SET d.busy = true"
_UNUSED = """MATCH (t:KernbenchTopology)
WHERE NOT EXISTS {MATCH (k:KernbenchRun) WHERE k.topology = t.id} RETURN t.id AS id"""


def push_topology(server: Neo4jServer, topology: TopologyRecord, archived: Archived) -> None:
    """Keep a topology and its part of the graph, in one transaction; once only."""

    def work(tx: Transaction) -> None:
        tx.run(LOCK).consume()  # before it is looked for: another process may be about to remove it
        found = tx.run("MATCH (t:KernbenchTopology {id: $id}) RETURN t.id AS id", id=topology.id)
        if found.single() is not None:
            return
        write_files(tx, owner(topology.id), archived.pieces())
        run_batches_in(tx, topology_batches(topology))
        tx.run("CREATE (t:KernbenchTopology {id: $id, manifest: $manifest, schema: $schema})",
               id=topology.id, manifest=archived.manifest, schema=SCHEMA_VERSION).consume()  # fmt: skip

    server.write(work)


def remove_unused_topologies(server: Neo4jServer) -> None:
    """Remove the topologies that no run refers to, each with its part of the graph."""
    if not server.read(lambda tx: tx.run(_UNUSED).data()):
        return

    def work(tx: Transaction) -> None:
        tx.run(LOCK).consume()
        for row in tx.run(_UNUSED).data():
            values = {"id": row["id"], "prefix": f"{row['id']}/", "owner": owner(row["id"])}
            for label in SCHEMA.labels:
                if label.record == "topology":
                    tx.run(deleting_topology(label.name), values).consume()
            tx.run("MATCH (f:KernbenchFile {owner: $owner}) DELETE f", values).consume()
            tx.run("MATCH (t:KernbenchTopology {id: $id}) DELETE t", values).consume()

    server.write(work)


def deleting_topology(label: str) -> str:
    """Statement that deletes the nodes of one label that a topology has.

    >>> print(deleting_topology("Link"))
    MATCH (n:Link) WHERE n.id = $id OR n.id STARTS WITH $prefix DETACH DELETE n
    """
    return f"MATCH (n:{label}) WHERE n.id = $id OR n.id STARTS WITH $prefix DETACH DELETE n"


def owner(topology_id: str) -> str:
    """Owner of the archived files of a topology."""
    return f"topology/{topology_id}"
