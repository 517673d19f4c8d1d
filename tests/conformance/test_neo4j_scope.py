"""Questions are confined to one run's graph, whatever they look like."""

from __future__ import annotations

import pytest

from graph.store import GraphStore, QueryError, StoreError, open_store
from graph.stores.neo4j_scope import Scope, confine
from tests.conformance.graph_records import sample

REWRITTEN = {
    "MATCH (t:Transaction) RETURN t": "MATCH (t:(Transaction)&`InRun7`) RETURN t",
    "MATCH (n) RETURN n": "MATCH (n:`InRun7`) RETURN n",
    "MATCH (a:A:B)-->(:C|:D) RETURN a": "MATCH (a:(A&B)&`InRun7`)-->(:(C|D)&`InRun7`) RETURN a",
    "MATCH (a {id: $x}), p = (b) RETURN p": "MATCH (a:`InRun7` {id: $x, _run: 7}), p = (b:`InRun7`) RETURN p",
    "MATCH (is:Run), (IS Run) RETURN is": "MATCH (is:(Run)&`InRun7`), (IS (Run)&`InRun7`) RETURN is",
    "MATCH (is), (is IS Run) RETURN is": "MATCH (is:`InRun7`), (is IS (Run)&`InRun7`) RETURN is",
    "MATCH (where) RETURN where": "MATCH (where:`InRun7`) RETURN where",
    "MATCH (WHERE 1 < 2) RETURN 1": "MATCH (:`InRun7`WHERE 1 < 2) RETURN 1",
    "MATCH where = (a), (b:Run) RETURN b": "MATCH where = (a:`InRun7`), (b:(Run)&`InRun7`) RETURN b",
    "WITH 1 AS a, 2 AS b RETURN (a) - (b) AS c": "WITH 1 AS a, 2 AS b RETURN (a) - (b) AS c",
    "RETURN '(n)' AS `(n)` // (n)": "RETURN '(n)' AS `(n)` // (n)",
}
REFUSED = [
    "MATCH (n:$(x)) RETURN n",
    "MATCH (n \\u0029 RETURN n",
    "MATCH (1) RETURN 1",
    "MATCH (n",
    "RETURN 1)",
]
SEES_TWO = [
    "MATCH (n:Transaction) RETURN count(n) AS n",
    "MATCH (n) WHERE n:Transaction RETURN count(n) AS n",
    "MATCH (n:Transaction), (r:Run) RETURN count(*) AS n",
    "MATCH (a:Run) RETURN COUNT { (a)-[:SENT]->() } AS n",
    "RETURN COUNT { (n:Transaction) } AS n",
    "RETURN COUNT { MATCH (n:Transaction) WHERE n.id >= 0 } AS n",
    "RETURN size(COLLECT { MATCH (n:Transaction) RETURN n.id }) AS n",
    "MATCH (a:Run) RETURN size([(a)-[:SENT]->(t) | t.id]) AS n",
    "MATCH (n:Transaction) WHERE (n)<-[:SENT]-(:Run) RETURN count(n) AS n",
    "MATCH (n:Transaction) WHERE EXISTS { (n)<-[:SENT]-() } RETURN count(n) AS n",
    "MATCH (r:Run)-[:SENT]->{1,2}(n) RETURN count(n) AS n",
    "MATCH (t:Transaction)-[*0..3]-(n:Transaction) RETURN count(DISTINCT n) AS n",
    "MATCH p = shortestPath((r:Run)-[*..3]-(n:Transaction)) RETURN count(p) AS n",
    "MATCH ((r:Run)-[:SENT]->(n)){1,1} RETURN size(collect(n)) AS n",
    "MATCH (r:Run) OPTIONAL MATCH (n:Transaction) RETURN count(n) AS n",
    "MATCH (r:Run) MATCH (r)-->(n:Transaction) RETURN count(n) AS n",
    "MATCH (n IS Transaction) RETURN count(n) AS n",
    "MATCH (n:Transaction WHERE n.id < 5) RETURN count(n) AS n",
    "MATCH (`a(`:Transaction /* ( */) RETURN count(`a(`) AS n",
    "UNWIND [1] AS x MATCH (n:Transaction) WITH n WHERE (n)--(:Run) RETURN count(n) AS n",
]


@pytest.mark.parametrize("cypher", REWRITTEN)
def test_node_patterns_get_the_label(cypher: str) -> None:
    assert confine(cypher, Scope("InRun7", 7)).text == REWRITTEN[cypher]


@pytest.mark.parametrize("cypher", REFUSED)
def test_what_cannot_be_confined_is_refused(cypher: str) -> None:
    with pytest.raises(QueryError) as caught:
        confine(cypher, Scope("InRun7", 7))
    assert "\n" not in str(caught.value)


@pytest.fixture
def three(neo4j_url: str) -> GraphStore:
    store = open_store(neo4j_url)
    for name in "abc":
        store.keep(*sample(id=name))
    return store


def test_each_run_sees_itself_only(three: GraphStore, neo4j_url: str) -> None:
    with three, open_store(f"{neo4j_url}-other") as other:
        other.keep(*sample(id="a"))
        for cypher in SEES_TWO:
            assert three.query(cypher, run="b").rows == [(2,)], cypher
        every = "MATCH (n) RETURN count(n) AS n"
        nodes = 1 + 4 + 6 + 1 + 2 + 2  # topology, components, links, run, transactions, operations
        assert [three.query(every, run=name).rows for name in "abc"] == [[(nodes,)]] * 3
        assert three.query(every).rows == [(1 + 4 + 6 + 3,)]
        assert other.query(every).rows == [(1 + 4 + 6 + 1,)]


NAMES = [
    "x' OR 1=1 //",
    "`",
    "``",
    "$x",
    "a`) DETACH DELETE (n",
    "'}) DETACH DELETE n //",
    "\\",
    "Run",
    "InRun1",
]


def test_no_value_is_taken_for_cypher(three: GraphStore) -> None:
    """In parameters, ids, tags, names, labels and kinds that users make up."""
    with three:
        for number, name in enumerate(NAMES):
            run, topology = sample(bench=name, tags=[name], params={name: name}, host=name)
            components = topology.tables["Component"]
            index = components.column_names.index("label")
            mean = components.set_column(index, "label", [[name] * len(components)])
            tables = {**topology.tables, "Component": mean}
            meant = type(topology)(f"t{number}", name, name, tables)
            kept = three.keep(run, meant)
            asked = "MATCH (r:Run {bench: $x}) RETURN r.host AS h, r.tags AS t"
            assert three.query(asked, {"x": name}, kept).rows[0][0] == name
            assert three.load_topology(meant.id).tables["Component"].to_pylist() == mean.to_pylist()
            for call in (
                lambda n=name: three.load(n),
                lambda n=name: three.remove(n),
                lambda n=name: three.resolve(n),
            ):
                with pytest.raises(StoreError):
                    call()
            three.set_tags(kept, [name])
            three.remove(kept)
        assert [run["id"] for run in three.runs()] == ["a", "b", "c"]
        assert three.query("MATCH (n:Run) RETURN count(n) AS n").rows == [(3,)]
