"""A condition on a shortest path is part of the search in Cypher: ArcadeDB, which puts it after, refuses."""

from __future__ import annotations

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.stores.arcade.dialect import dialect

import kernbench as kb

ENDS = "MATCH (a:Component {name: 'sip0.cube0.r0c0'}), (b:Component {name: 'sip0.cube0.r0c2'}) "
SHORTEST = f"{ENDS}MATCH p = shortestPath((a)-[c:CONNECTS*1..6]->(b)) "
ON_P = "only to the shortest path of all"
REFUSED = {
    "WHERE all(n IN nodes(p) WHERE n.name <> 'x') RETURN p": ON_P,
    "WHERE a.name > 'a' AND none(r IN relationships(p) WHERE r.weight > 2) RETURN p": ON_P,
    "WHERE length(p) > 2 RETURN p": ON_P,
    "MATCH (x:Run) WHERE x.seed < length(p) RETURN p": ON_P,
    ", (x:Run) WHERE x.seed < length(p) RETURN p": ON_P,
    "WHERE all(r IN c WHERE r.weight < 2) RETURN p": "has null for 'c'",
    "RETURN size(c) AS n": "has null for 'c'",
}
ANSWERED = (
    "RETURN p",
    "WHERE a.name <> b.name RETURN p",
    "WITH p WHERE length(p) > 2 RETURN p",
    "OPTIONAL MATCH (x:Run) WHERE length(p) > 2 RETURN x",
    "WHERE a.p = 1 RETURN [n IN nodes(p) WHERE n.name > ''] AS names",
)


@pytest.mark.parametrize("word", ["shortestPath", "allShortestPaths"])
@pytest.mark.parametrize("end", REFUSED)
def test_a_condition_in_the_search_is_refused(word: str, end: str) -> None:
    for before in ("", "OPTIONAL "):
        text = (SHORTEST + end).replace("shortestPath", word).replace("MATCH p", f"{before}MATCH p")
        with pytest.raises(QueryError, match=REFUSED[end]) as error:
            dialect(text)
        assert "ORDER BY length(p) LIMIT 1" in str(error.value)


@pytest.mark.parametrize(
    ("step", "why"),
    [("*2", "least length"), ("*3..6", "least length"), ("* {weight: 1.0}", "properties of the")],
)
def test_steps_that_the_engine_gets_wrong_are_refused(step: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        dialect(SHORTEST.replace("*1..6", step) + "RETURN p")


def test_within_a_subquery_it_is_refused_as_well() -> None:
    with pytest.raises(QueryError, match=ON_P):
        dialect(f"{ENDS}RETURN EXISTS {{ MATCH p = shortestPath((a)-[:OF*]->(b)) WHERE length(p) > 2 }} AS x")


@pytest.mark.parametrize("end", ANSWERED)
def test_what_is_found_alike_stays(end: str) -> None:
    assert dialect(SHORTEST + end) == SHORTEST + end


def test_what_is_to_be_written_instead_finds_the_longer_way() -> None:
    machine = kb.Topology("way", system={"flit_bytes": 64})
    machine.wire("hop", gbs=64.0, mm=1.0)
    for name in ("r0c0", "r0c1", "r0c2", "r1c0", "r1c2"):
        machine.part(f"sip0.cube0.{name}", kind="router", overhead_ns=1.0)
    machine.part("cpu", kind="m_cpu")
    machine.part("sram", kind="sram", overhead_ns=1.0)
    machine.connect(pair=["cpu", "sip0.cube0.r0c0"], wire="hop")
    machine.connect(pair=["sip0.cube0.r0c2", "sram"], wire="hop")
    for pair in ("r0c0 r0c1", "r0c1 r0c2", "r0c0 r1c0", "r1c0 r1c2", "r1c2 r0c2"):
        machine.connect(pair=[f"sip0.cube0.{end}" for end in pair.split()], wire="hop")
    messages = [{"src": "cpu", "dst": "sram", "bytes": 64}]
    run = kb.traffic(messages, machine, store="memory:")
    around = "WHERE all(n IN nodes(p) WHERE n.name <> 'sip0.cube0.r0c1') "
    assert run.cypher(f"{SHORTEST}RETURN length(p) AS hops").rows == [(2,)]
    with pytest.raises(QueryError, match=ON_P):
        run.cypher(f"{SHORTEST}{around}RETURN length(p) AS hops")
    instead = (
        f"{ENDS}MATCH p = (a)-[:CONNECTS*1..6]->(b) {around}RETURN length(p) AS hops ORDER BY hops LIMIT 1"
    )
    assert run.cypher(instead).rows == [(3,)]
