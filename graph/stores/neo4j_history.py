"""The graph over all runs of a store in Neo4j, and the topologies in it, which runs share.

A topology is there as long as a run refers to it. Whoever adds or removes one holds the store's node locked,
and a run says what it refers to when it is claimed, before its topology is looked for; so none is removed
that a run is about to need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from graph.schema import SCHEMA
from graph.store import RunRecord, TopologyRecord
from graph.stores.neo4j_files import Archived
from graph.stores.neo4j_rows import Batch, batches, joining, property_map
from graph.stores.neo4j_server import Server, Transaction
from graph.stores.neo4j_write import run_batches_in, write_files
from graph.stores.run_parts import Part, by_place, node_table, topology_node, used_by

_STORE = """MATCH (d:KernbenchDatabase {name: 'kernbench'}) SET d.busy = true
MERGE (s:KernbenchStore {name: $name})
FOREACH (_ IN CASE WHEN s.number IS NULL THEN [1] ELSE [] END |
         SET d.graphs = d.graphs + 1, s.number = d.graphs)
RETURN s.number AS number"""
_LOCK = "MATCH (s:KernbenchStore {name: $store}) SET s.busy = true"
_UNUSED = """MATCH (t:KernbenchTopology {store: $store})
WHERE NOT EXISTS {MATCH (k:KernbenchRun {store: $store}) WHERE k.topology = t.id AND k.state <> 'removing'}
  AND NOT EXISTS {MATCH (k:KernbenchRun {store: $store}) WHERE k.topology IS NULL AND k.state = 'pushing'}
RETURN t.id AS id"""
"""A run that an older version is pushing does not say what it refers to."""


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

    def key(self, id_: str) -> str:
        """Identifies a run or topology of this store in the catalogue."""
        return f"{self.name}/{id_}"


def ensure_place(server: Server, name: str) -> Place:
    """The store of that name, made when it is not there yet."""
    row = server.write(lambda tx: tx.run(_STORE, name=name).single(strict=True))
    return Place(name, row["number"])


def push_topology(server: Server, place: Place, topology: TopologyRecord, archived: Archived) -> None:
    """Keep a topology and its part of the graph over all runs, in one transaction; once only."""
    key = place.key(topology.id)

    def work(tx: Transaction) -> None:
        tx.run(_LOCK, store=place.name).consume()
        found = tx.run("MATCH (t:KernbenchTopology {key: $key}) RETURN t.id AS id", key=key).single()
        if found is not None:
            return
        write_files(tx, f"topology/{key}", archived.pieces())
        run_batches_in(tx, _nodes(place, Part("Topology", topology_node(topology))))
        for label in ("Component", "Link"):
            names = [prop.name for prop in SCHEMA.label(label).properties]
            plain = topology.tables[label].select(names)
            keyed = plain.append_column("key", _keys(f"{topology.id}/", plain["id"]))
            run_batches_in(tx, _nodes(place, Part(label, keyed)))
        tx.run("CREATE (t:KernbenchTopology {key: $key, manifest: $manifest, id: $id, store: $store})",
               key=key, manifest=archived.manifest, id=topology.id, store=place.name).consume()  # fmt: skip

    server.write(work)


def remove_unused_topologies(server: Server, place: Place) -> None:
    """Remove the topologies that no run refers to, each with its part of the graph over all runs."""
    values = {"store": place.name}
    if not server.read(lambda tx: tx.run(_UNUSED, values).data()):
        return

    def work(tx: Transaction) -> None:
        tx.run(_LOCK, values).consume()
        for row in tx.run(_UNUSED, values).data():
            id_ = row["id"]
            tx.run(
                "MATCH (f:KernbenchFile {owner: $owner}) DELETE f", owner=f"topology/{place.key(id_)}"
            ).consume()
            tx.run(
                "MATCH (h:KernbenchHistory) WHERE h._key = $topology OR h._key STARTS WITH $components "
                "OR h._key STARTS WITH $links DETACH DELETE h",
                topology=place.history_key("Topology", id_),
                components=place.history_key("Component", f"{id_}/"),
                links=place.history_key("Link", f"{id_}/"),
            ).consume()
            tx.run("MATCH (t:KernbenchTopology {key: $key}) DELETE t", key=place.key(id_)).consume()

    server.write(work)


def add_run(tx: Transaction, place: Place, run: RunRecord, number: int) -> None:
    """Make a run part of the graph over all runs."""
    run_id, topology = run.info["id"], run.info["topology"]
    # One at a time per topology: its nodes are where the runs' relationships meet.
    tx.run("MATCH (t:KernbenchTopology {key: $key}) SET t.busy = $number",
           key=place.key(topology), number=number).consume()  # fmt: skip
    run_batches_in(tx, _nodes(place, Part("Run", node_table("Run", [run.info]))))
    tx.run("MATCH (r:KernbenchHistory {_key: $run}) MATCH (t:KernbenchHistory {_key: $topology}) "
           "SET r._number = $number CREATE (r)-[:ON]->(t)", run=place.history_key("Run", run_id),
           topology=place.history_key("Topology", topology), number=number).consume()  # fmt: skip
    used = used_by(place.history_key("Run", run_id), run.tables["Used"])
    for part in by_place("USED", "Run", used):
        label = part.ends[1] if part.ends else ""
        ends = _keys(place.history_key(label, f"{topology}/"), part.data["resource"])
        data = part.data.set_column(1, part.data.column_names[1], ends)
        node = "KernbenchHistory {_key: @}"
        cypher = joining("USED", node, node, data.column_names[2:])
        run_batches_in(tx, batches(cypher, Part("USED", data, part.ends, part.where), {}))


def _nodes(place: Place, part: Part) -> Iterator[Batch]:
    """Nodes of the graph over all runs; ``key``, else ``id``, tells them apart within their label."""
    names = part.data.column_names
    keyed = f"$c{names.index('key' if 'key' in names else 'id')}[i]"
    cypher = (
        f"UNWIND range(0, $rows - 1) AS i CREATE (n:{part.name}:KernbenchHistory:$($scope) "
        f"{{{property_map(names)}, _key: $prefix + {keyed}}}) RETURN count(n) AS made"
    )
    return batches(cypher, part, {"scope": place.label, "prefix": place.history_key(part.name, "")})


def _keys(prefix: str, ids: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(pa.scalar(prefix), ids, "")
