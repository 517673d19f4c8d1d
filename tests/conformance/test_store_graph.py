"""Every store holds the graph that networkx has, node by node and property by property."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from kernbench_graph.networkx_view import run_graph
from kernbench_graph.projection import Projection
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore

from kernbench.api.topologies import load_topology
from kernbench.support.pgraph import topology_graph, topology_id, topology_record
from tests.conformance.generated_runs import SIZES, made_up
from tests.conformance.graph_records import EVERYTHING, add_to, nodes_of_run, sample, table, with_steps


def compare(store: GraphStore, run_id: str, engine: str) -> None:
    run = store.load(run_id)
    topology = store.load_topology(run.info["topology"])
    graph = run_graph(with_steps(run, topology), topology)
    # The whole graph is made at once: of each of the texts below only what it names would be.
    store.query(EVERYTHING, run=run_id, engine=engine, proved=True)
    for label in SCHEMA.labels:
        names = _properties(label.name, topology)
        wanted = Counter(
            tuple(data.get(name) for name in names)
            for (kind, _), data in graph.nodes(data=True)
            if kind == label.name
        )
        text = f"{nodes_of_run(label.name)} RETURN {columns('n', names)}"
        assert Counter(store.query(text, run=run_id, engine=engine, proved=True).rows) == wanted, label.name
    for rel in SCHEMA.relationships:
        for source, target in rel.pairs:
            names = [prop.name for prop in rel.properties]
            expected: Counter[tuple[Any, ...]] = Counter()
            for a, b, data in graph.edges(data=True):
                if (data["type"], a[0], b[0]) == (rel.type, source, target):
                    expected[graph.nodes[a]["id"], graph.nodes[b]["id"], *(data.get(n) for n in names)] += 1
            then = f"MATCH (n)-[r:`{rel.type}`]->(b:`{target}`) RETURN n.id AS a, b.id AS b"
            text = f"{nodes_of_run(source)} {then}" + (", " + columns("r", names) if names else "")
            rows = store.query(text, run=run_id, engine=engine, proved=True).rows
            assert Counter(rows) == expected, (rel.type, source, target)


def _properties(label: str, topology: TopologyRecord) -> list[str]:
    names = [prop.name for prop in SCHEMA.label(label).properties]
    if label == "Component":
        names = Projection(topology).nodes(SCHEMA.label(label)).column_names
    return names


def columns(variable: str, names: list[str]) -> str:
    return ", ".join(f"{variable}.`{name}` AS `c{number}`" for number, name in enumerate(names))


@pytest.mark.slow
def test_the_graph_of_a_small_run(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    compare(store, "a", store.engines[-1])
    add_to(store, "a")
    for engine in store.engines:
        compare(store, "a", engine)
    text = (
        "MATCH (:Run {id: $run})-[:RAN_ON]->()-[:CONTAINS*]->(c:Component {name: 'r0'}) RETURN c.row AS row"
    )
    assert store.query(text, run="a").rows == [(1,)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.slow
def test_the_graphs_of_generated_runs(store: GraphStore, size: str) -> None:
    for number, case in enumerate(made_up(4 if size == "many" else 1, ())):
        run = RunRecord({**case.run.info, "id": f"g{number}"}, case.run.tables)
        store.keep(run, case.topology)
        for engine in store.engines:
            compare(store, f"g{number}", engine)
        store.remove(f"g{number}")


def test_a_run_is_kept_whatever_another_version_compiled_from_the_same_file(store: GraphStore) -> None:
    """A store has the machine of an older compiler: a newer one's is another machine, and its run is kept."""
    now = load_topology("minimal")
    older = topology_graph(topology_record(now))
    older.node("host.cpu").properties["overhead_ns"] = 99.0
    older.properties["id"] = topology_id(older)
    assert older.properties["spec"] == now.properties["spec"]
    assert older.properties["id"] != now.properties["id"]
    use = table("Use", [
        {"resource": "host.cpu", "is_link": False, "kind": "host_cpu", "bytes": 1, "busy_ns": 1.0,
         "wait_ns": 0.0, "utilisation": 0.5, "transactions": 1, "max_queue": 1}
    ])  # fmt: skip
    text = "MATCH (:Run {id: $run})-[:USED]->(:Use)-[:OF]->(c:Component) RETURN c.overhead_ns AS ns"
    found = []
    for name, graph in (("old", older), ("new", now)):
        run = RunRecord({"bench": "b", "id": name}, {"Use": use})
        store.keep(run, topology_record(graph))
        found.append(store.query(text, run=name).rows[0][0])
    assert found == [99.0, now.node("host.cpu").properties["overhead_ns"]]
