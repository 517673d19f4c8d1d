"""The networkx view: labels, keys, properties; ``test_store_graph.py`` compares it with every store."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from kernbench_graph.networkx_view import run_graph
from kernbench_graph.opening import open_store

from tests.conformance.graph_records import sample


def test_labels_keys_and_properties() -> None:
    store = open_store("memory:")
    record = store.load(store.keep(*sample(id="a")))
    graph = run_graph(record, store.load_topology(record.info["topology"]))
    assert graph.nodes["Component", "r0"]["labels"] == "Component:Router"
    assert graph.nodes["Transaction", 1]["labels"] == "Transaction"
    assert graph.nodes["Component", "r0"]["row"] == 1
    assert "row" not in graph.nodes["Component", "hbm"]
    assert graph.nodes["Transaction", 1]["wait_ns"] == 1.0
    assert graph.nodes["Transaction", 1]["id"] == "a/txn1"
    assert graph.nodes["Transaction", 1]["name"] == "dma_read 1"
    assert graph.nodes["Run", "a"]["bench"] == "gemm"
    (hop,) = graph.get_edge_data(("Transaction", 1), ("Use", "dma->r0")).values()
    assert (hop["type"], hop["seq"], hop["wait_ns"]) == ("HOP", 0, 1.0)
    wait, cause = graph.get_edge_data(("Transaction", 1), ("Transaction", 0)).values()
    assert wait == {
        "type": "WAITED_FOR", "seq": 0, "resource": "dma->r0", "ns": 1.0, "t_from": 0.0, "t_to": 1.0,
        "holders": 1,
    }  # fmt: skip
    assert cause == {"type": "CAUSED_BY"}
    assert graph.has_edge(("Component", "r0"), ("Link", "r0->r1"))
    assert graph.has_edge(("Link", "r0->r1"), ("Component", "r1"))
    assert graph.has_edge(("Use", "dma->r0"), ("Link", "dma->r0"))


@pytest.mark.daily(but=("gml",))
@pytest.mark.parametrize("form", ["graphml", "gexf", "gml"])
def test_it_can_be_written_and_read_again(form: str, tmp_path: Path) -> None:
    """By networkx's own writers, which take no lists, tuples and missing values."""
    store = open_store("memory:")
    record = store.load(store.keep(*sample(id="a", tags=["x", "y"])))
    asked = store.query(
        "MATCH p = (:Run {id: $run})-[:SENT]->(:Transaction)-[:HOP]->(:Use) RETURN p", run="a"
    )
    for graph in (run_graph(record, store.load_topology(record.info["topology"])), asked.graph):
        file = tmp_path / f"graph.{form}"
        getattr(nx, f"write_{form}")(graph, file)
        again = getattr(nx, f"read_{form}")(file)
        assert (len(again), again.number_of_edges()) == (len(graph), graph.number_of_edges())
        labels = sorted(data["labels"] for _, data in graph.nodes(data=True))
        assert sorted(data["labels"] for _, data in again.nodes(data=True)) == labels
