"""The networkx view has the nodes, relationships and properties that the Cypher engine has."""

from __future__ import annotations

from collections import Counter

from graph.schema import SCHEMA
from graph.store import open_store
from graph.stores.networkx_view import run_graph
from tests.conformance.graph_records import sample


def test_same_graph_as_the_store() -> None:
    store = open_store("memory:")
    record = store.load(store.keep(*sample(id="a")))
    topology = store.load_topology(record.info["topology"])
    graph = run_graph(record, topology)
    labels = Counter(data["labels"][0] for _, data in graph.nodes(data=True))
    types = Counter(data["type"] for _, _, data in graph.edges(data=True))
    for label in SCHEMA.labels:
        (row,) = store.query(f"MATCH (n:`{label.name}`) RETURN count(n) AS n", run="a").rows
        assert row == (labels[label.name],), label.name
    for rel in SCHEMA.relationships:
        (row,) = store.query(f"MATCH ()-[r:`{rel.type}`]->() RETURN count(r) AS n", run="a").rows
        assert row == (types[rel.type],), rel.type


def test_labels_keys_and_properties() -> None:
    store = open_store("memory:")
    record = store.load(store.keep(*sample(id="a")))
    graph = run_graph(record, store.load_topology(record.info["topology"]))
    assert graph.nodes["Component", "r0"]["labels"] == ("Component", "Router")
    assert graph.nodes["Transaction", 1]["wait_ns"] == 1.0
    assert graph.nodes["Run", "a"]["bench"] == "gemm"
    (hop,) = graph.get_edge_data(("Transaction", 1), ("Link", "dma->r0")).values()
    assert (hop["type"], hop["seq"], hop["wait_ns"]) == ("HOP", 0, 1.0)
    (wait,) = graph.get_edge_data(("Transaction", 1), ("Transaction", 0)).values()
    assert wait == {"type": "WAITED_FOR", "resource": "dma->r0", "ns": 1.0, "holders": 1}
    assert graph.has_edge(("Component", "r0"), ("Link", "r0->r1"))
    assert graph.has_edge(("Link", "r0->r1"), ("Component", "r1"))
