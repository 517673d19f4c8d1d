"""Nodes, relationships and paths in rows: whole, and the same from every store and engine."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
import pytest
from kernbench_graph.entities import GraphNode, GraphPath, GraphRelationship, plain_entities
from kernbench_graph.networkx_view import run_graph
from kernbench_graph.records import RunRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import add_to, nodes_of_run, sample, table, with_steps

PAIRS = [(source, rel.type, target) for rel in SCHEMA.relationships for source, target in rel.pairs]


@pytest.fixture
def kept(store: GraphStore) -> GraphStore:
    """A store with a run that has a relationship between every pair of labels."""
    one = {
        "kernel": "gemm",
        "rank": None,
        "pe_ns": 1.0,
        "sips": [0],
        "t_start": 0.0,
        "t_done": 7.0,
    }
    launches = [{**one, "launch": 0}, {**one, "launch": 1, "follows": 0}]
    run, topology = sample(id="a", params={"m": 4}, tags=["x"], launches=launches)
    tables = dict(run.tables)
    (launch,) = tables["Launch"].to_pylist()
    tables["Launch"] = table("Launch", [launch, {**launch, "number": 1}])
    (first, *_) = tables["Op"].to_pylist()
    one_of_two = {**first, "component": "gemm", "t_ready": 0.0, "t_start": 0.0, "t_end": 2.0}
    extra = [
        {**first, "number": 2, "launch": -1, "parent": 0},
        {**one_of_two, "number": 3},
        {**one_of_two, "number": 4, "t_start": 2.0, "t_end": 4.0},
    ]
    tables["Op"] = with_rows(tables["Op"], extra)
    (sent, *_), hops = tables["Transaction"].to_pylist(), tables["Hop"].to_pylist()
    alone = [{**sent, "number": 2, "op": -1}, {**sent, "number": 3, "op": -1, "launch": -1}]
    tables["Transaction"] = with_rows(tables["Transaction"], alone)
    again = [{**hop, "txn": one["number"]} for one in alone for hop in hops if hop["txn"] == 0]
    tables["Hop"] = with_rows(tables["Hop"], again)
    (used,) = (row for row in tables["Use"].to_pylist() if row["resource"] == "hbm")
    (placed,) = (row for row in topology.tables["Component"].to_pylist() if row["name"] == "hbm")
    channel = [{**placed, "name": "hbm.pc0", "parent": "hbm"}, {**placed, "name": "gemm", "kind": "pe_gemm"}]
    parts = {**topology.tables, "Component": with_rows(topology.tables["Component"], channel)}
    topology = dataclasses.replace(topology, tables=parts)
    more = [{**used, "resource": "hbm.pc0"}, {**used, "resource": "gemm", "kind": "pe_gemm"}]
    tables["Use"] = with_rows(tables["Use"], more)
    tables["DependsOn"] = with_rows(tables["DependsOn"], [{"op": 4, "on": 3, "hazard": "slot"}])
    tables["Split"] = table("Split", [{"txn": 1, "whole": 0}])
    found = {"resource": "hbm.pc0", "hits": 7, "misses": 1, "conflicts": 0, "refreshes": 1, "row_ns": 20.0}
    tables["RowUse"] = table("RowUse", [{**found, "txn": txn, "refresh_ns": 0.5} for txn in (0, -1)])
    made = {"hits": 1, "misses": 2, "again": 0, "merged": 0, "writes": 0, "evictions": 0}
    moved = {"resource": "hbm.pc0", "fetched_bytes": 512, "written_bytes": 0, "miss_ns": 3.0}
    tables["CacheUse"] = table("CacheUse", [{"txn": txn, **made, **moved} for txn in (0, -1)])
    spans = {"from_ns": 1.0, "to_ns": 3.0, "period_ns": 1.0, "before_ns": 1.0, "least_ns": 1.0}
    tables["Repeat"] = table(
        "Repeat", [{"number": 0, "kind": "repeat", "name": "layer", "simulated": 3, "times": 2, **spans}]
    )
    use = {"bytes": 256, "busy_ns": 1.0, "wait_ns": 0.0, "transactions": 1}
    tables["Beyond"] = table("Beyond", [{"repeat": 0, "resource": "hbm", "like": "hbm", **use}])
    spent = dict.fromkeys(("exec_ns", "dma_ns", "compute_ns", "wait_ns"), 1.0)
    tables["RanAt"] = table("RanAt", [{"launch": 0, "pe": "r0", **spent}])
    at = {"launch": 0, "pe": "r0", "x": 0, "y": 0, "z": 0, "t_start": 1.0, "t_end": 2.0}
    tables["Block"] = table("Block", [{"number": 0, **at}])
    tables["OfBlock"] = table("OfBlock", [{"op": op, "txn": -op - 1, "block": 0} for op in (0, -1)])
    tables["Dealt"] = table("Dealt", [{"txn": 0, "resource": "hbm.pc0", "bytes": 256}])
    store.keep(RunRecord(run.info, tables), topology)
    add_to(store, "a")
    return store


def with_rows(some: pa.Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.concat_tables([some, pa.Table.from_pylist(rows, schema=some.schema)])


@pytest.mark.slow
def test_a_path_between_every_pair_of_labels(kept: GraphStore) -> None:
    run = kept.load("a")
    topology = kept.load_topology(run.info["topology"])
    graph = run_graph(with_steps(run, topology), topology)
    nodes = {data["id"]: data for _, data in graph.nodes(data=True)}
    texts = [
        f"{nodes_of_run(source)} MATCH p = (n)-[r:{type_}]->(b:{target}) RETURN p, n, r, b, {{n: [n], r: r}}"
        for source, type_, target in PAIRS
    ]
    for engine in kept.engines:
        kept.expect("a", [(text, {}) for text in texts], engine)  # one graph for all of them
        for text, (source, type_, target) in zip(texts, PAIRS, strict=True):
            rows = kept.query(text, run="a", engine=engine, proved=True).rows
            assert rows, (engine, type_)
            for path, a, r, b, nested in rows:
                assert path == GraphPath((a, b), (r,))
                assert nested == {"n": [a], "r": r}
                assert isinstance(r, GraphRelationship)
                assert (r.type, r.start, r.end) == (type_, a.id, b.id)
                known = {prop.name for prop in SCHEMA.relationship(type_).properties}
                numeric = "value" in r.properties  # only a configured number has it
                assert list(r.properties) == sorted(known if numeric else known - {"value"})
                for node, label in ((a, source), (b, target)):
                    wanted = {k: v for k, v in nodes[node.id].items() if v is not None and k != "labels"}
                    assert isinstance(node, GraphNode)
                    assert dict(node.properties) == wanted, engine
                    assert node.labels == tuple(nodes[node.id]["labels"].split(":"))
                    assert node.labels[0] == label


def test_every_engine_gives_the_same(kept: GraphStore) -> None:
    dma = f"{nodes_of_run('Component')} WITH n WHERE n.name = 'dma'"
    sent = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction {number: 0})"
    texts = (
        f"{nodes_of_run('Component')} WITH n WHERE n.name = 'r0' RETURN n",
        f"{dma} MATCH p = (n)-[:CONNECTS*2]->(d:Component {{name: 'r1'}}) RETURN p",
        f"{dma} MATCH (n)-[r:CONNECTS*2]->(d:Component {{name: 'r1'}}) RETURN r",
        f"{sent} MATCH p = (t)<-[:WAITED_FOR]-(a:Transaction) RETURN p",
        f"{sent} MATCH p = (t) RETURN p, collect(t) AS l",
        f"{sent} OPTIONAL MATCH p = (t)-[:SENT_FOR]->(o:Op {{number: 7}}) RETURN p, o",
    )
    for text in texts:
        found = [kept.query(text, run="a", engine=engine, proved=True) for engine in kept.engines]
        shown = [(answer.columns, plain_entities(answer.rows)) for answer in found]
        assert shown == shown[:1] * len(shown), text
        assert len(shown[0][1]) == 1, text
    ((c,),) = kept.query(texts[0], run="a", proved=True).rows
    assert c.labels == ("Component", "Router")
    assert (c["row"], c.get("channel"), str(c)) == (1, None, "(:Component r0)")
    ((path,),) = kept.query(texts[3], run="a").rows
    assert str(path) == "(:Transaction dma_read 0)<-[:WAITED_FOR]-(:Transaction dma_read 1)"


def test_columns_are_named_as_they_are_written(kept: GraphStore) -> None:
    text = (
        "MATCH (:Run {{id: $run}})-[:SENT]->(t:Transaction) WHERE t.number {} "
        "RETURN t.kind, count( * ), t.bytes + 1 AS `more bytes`"
    )
    for engine in kept.engines:
        for which in ("= 0", "> 7"):
            found = kept.query(text.format(which), run="a", engine=engine, proved=True)
            assert found.columns == ["t.kind", "count( * )", "more bytes"]


def test_equality_is_by_id() -> None:
    node = GraphNode(("Run",), {"id": "a", "name": "x"})
    same: Any = GraphNode(("Run",), {"id": "a", "name": "y"})
    assert node == same
    assert len({node, same}) == 1
    assert node != GraphNode(("Run",), {"id": "b", "name": "x"})
    rel = GraphRelationship("OF", "a", "b", {"seq": 1})
    assert rel == GraphRelationship("OF", "a", "b", {"seq": 1})
    assert rel != GraphRelationship("OF", "a", "b", {"seq": 2})
