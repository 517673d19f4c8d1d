"""Queries on a server: they read, as its plan says, they say which run, and no value is taken for Cypher."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernbench_graph.errors import QueryError, ReadOnlyError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import sample
from tests.neo4j_server import Running, seen

SEES_TWO = [
    "MATCH (:Run {id: $run})-[:SENT]->(n:Transaction) RETURN count(n) AS n",
    "MATCH (r:Run {id: $run}) RETURN size(COLLECT { MATCH (r)-[:SENT]->(n) RETURN n.number }) AS n",
    "MATCH (r:Run {id: $run}) RETURN size([(r)-[:SENT]->(t) | t.number]) AS n",
    "MATCH (r:Run {id: $run})-[:SENT]->{1,2}(n) RETURN count(n) AS n",
    "MATCH p = shortestPath((r:Run {id: $run})-[:SENT*..3]-(n:Transaction)) RETURN count(p) AS n",
    "MATCH (r:Run {id: $run}) OPTIONAL MATCH (r)-[:SENT]->(n) RETURN count(n) AS n",
    "MATCH (r:Run {id: $run}) CALL (r) { MATCH (r)-[:SENT]->(n) RETURN count(n) AS n } RETURN n AS n",
    "MATCH (:Run {id: $run})-[:SENT]->(n) WITH n ORDER BY n.number LIMIT 2 RETURN count(n) AS n",
    "UNWIND [1] AS x MATCH (:Run {id: $run})-[:SENT]->(n) WITH DISTINCT n SKIP 0 RETURN count(n) AS n",
    "MATCH (:Run {id: $run})-[:SENT]->(n) RETURN count(n) AS n UNION RETURN 2 AS n",
    "CALL { MATCH (:Run {id: $run})-[:SENT]->(n) RETURN n } RETURN count(n) AS n",
    "MATCH p = ALL SHORTEST (:Run {id: $run})-[:SENT]->+(n) RETURN count(p) AS n",
]
OF_NO_RUN = [
    "MATCH (r:Run) WHERE r.id = $run RETURN COUNT { (r)-[:SENT]->() } AS n",
    "MATCH (n:Transaction) WHERE EXISTS { (n)<-[:SENT]-(:Run {id: $run}) } RETURN count(n) AS n",
    "MATCH (n:Transaction) WHERE n.id STARTS WITH $run + '/' RETURN count(n) AS n",
    "MATCH (t:Transaction) RETURN count(t) AS n",
    "MATCH (n) RETURN n AS n",
    "MATCH (c:Component {name: 'r0'}) RETURN c.id AS id",
    "MATCH ()-[h:HOP]->() RETURN count(h) AS n",
]
WRITES = [
    "MATCH (r:Run {id: $run}) SET r.bench = 'x'",
    "MATCH (r:Run {id: $run}) DETACH DELETE r",
    "MERGE (r:Run {id: $run}) RETURN r AS r",
    "MATCH (r:Run {id: $run}) CALL (r) { SET r.bench = 'x' } RETURN 1 AS x",
    "CREATE INDEX x FOR (n:Run) ON (n.host)",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "CALL db.labels() YIELD label RETURN label",
    "SHOW DATABASES",
    "FOREACH (x IN [1] | CREATE (:Run))",
]


@pytest.fixture
def three(neo4j_url: str) -> Iterator[GraphStore]:
    with open_store(neo4j_url) as store:
        for name in "abc":
            store.keep(*sample(id=name))
        yield store


def test_a_query_that_names_its_run_sees_that_run(three: GraphStore) -> None:
    for cypher in SEES_TWO:
        assert three.query(cypher, run="b").rows == [(2,)], cypher


def test_a_query_that_says_no_run_sees_that_run_as_well(three: GraphStore) -> None:
    with open_store("memory:") as alone:
        alone.keep(*sample(id="b"))
        for cypher in OF_NO_RUN:
            expected = alone.query(cypher, run="b").rows
            assert sorted(map(str, three.query(cypher, run="b").rows)) == sorted(map(str, expected)), cypher
    for cypher in OF_NO_RUN[0], "RETURN 1 + 1 AS two":
        assert three.query(cypher, run="b").engine == "neo4j"


def test_a_star_with_a_pattern_without_a_name_is_refused(three: GraphStore) -> None:
    with pytest.raises(QueryError, match=r"with '\*' every pattern needs a variable; begin"):
        three.query("MATCH (:Transaction)-[:HOP]->(u) RETURN *", run="b")


def test_two_runs_may_be_compared(three: GraphStore) -> None:
    text = "MATCH (a:Run {id: $run})-[:SENT]->(x), (b:Run {id: $b})-[:SENT]->(y) RETURN count(*) AS n"
    assert three.query(text, {"b": "c"}, run="a").rows == [(4,)]


def test_the_topology_is_there_once_with_its_wires(three: GraphStore, neo4j_server: Running) -> None:
    """However many runs: those share it."""
    counted = {
        "MATCH (t:Topology) RETURN count(t) AS n": 1,
        "MATCH (c:Component) RETURN count(c) AS n": 4,
        "MATCH (l:Link) RETURN count(l) AS n": 6,
        "MATCH (:Component)-[w:LEAVES_BY]->(:Link) RETURN count(w) AS n": 6,
        "MATCH (:Link)-[w:LEADS_TO]->(:Component) RETURN count(w) AS n": 6,
        "MATCH (:Component)-[w:CONNECTS]->(:Component) RETURN count(w) AS n": 6,
        "MATCH ()-[w:CONTAINS]->(:Component) RETURN count(w) AS n": 4,
        "MATCH (:Run)-[w:RAN_ON]->(:Topology) RETURN count(w) AS n": 3,
        "MATCH (:Use)-[w:OF]->() RETURN count(w) AS n": 21,
    }
    for cypher, count in counted.items():
        assert seen(neo4j_server, cypher) == [(count,)], cypher
    for name in "ab":
        three.remove(name)
    for cypher, count in counted.items():
        left = count // 3 if "RAN_ON" in cypher or "OF" in cypher else count
        assert seen(neo4j_server, cypher) == [(left,)], cypher
    three.remove("c")
    for cypher in counted:
        assert seen(neo4j_server, cypher) == [(0,)], cypher


def test_the_server_s_plan_decides_what_reads(
    three: GraphStore, neo4j_server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where our own lexer lets everything pass."""
    everything = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r"
    before = seen(neo4j_server, everything)
    for lexer in (True, False):
        if not lexer:
            monkeypatch.setattr("kernbench_graph.stores.neo4j.reading.check_read_only", str)
        for cypher in WRITES:
            for text in (cypher, f"EXPLAIN {cypher}", f"PROFILE {cypher}"):
                with pytest.raises(ReadOnlyError, match="only read"):
                    three.query(text, run="a")
    assert seen(neo4j_server, everything) == before


def test_plans_are_shown(three: GraphStore) -> None:
    text = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"
    explained = three.query(f"EXPLAIN {text}", run="a")
    assert explained.columns == ["depth", "operator", "details", "estimated_rows"]
    assert explained.rows[0][:2] == (0, "ProduceResults")
    assert explained.rows[-1][1] == "NodeUniqueIndexSeek"
    profiled = three.query(f"profile {text};", run="a").dicts()
    assert profiled[0]["rows"] == 1
    assert sum(row["db_hits"] for row in profiled) > 2


NAMES = ["x' OR 1=1 //", "`", "``", "$x", "a`) DETACH DELETE (n", "'}) DETACH DELETE n //", "\\", "Run"]


def test_no_value_is_taken_for_cypher(three: GraphStore) -> None:
    """In parameters, ids, tags, names, labels and kinds that users make up."""
    for number, name in enumerate(NAMES):
        run, topology = sample(bench=name, tags=[name], params={name: name}, host=name)
        components = topology.tables["Component"]
        index = components.column_names.index("label")
        mean = components.set_column(index, "label", [[name] * len(components)])
        tables = {**topology.tables, "Component": mean}
        meant = type(topology)(f"t{number}", name, name, tables)
        kept = three.keep(run, meant)
        asked = "MATCH (r:Run {id: $run}) WHERE r.bench = $x RETURN r.host AS h, r.tags AS t"
        assert three.query(asked, {"x": name}, kept).rows[0][0] == name
        assert three.load_topology(meant.id).tables["Component"].to_pylist() == mean.to_pylist()
        for call in (three.load, three.remove, three.resolve):
            with pytest.raises(StoreError):
                call(name)
        three.change_tags(kept, [name])
        three.remove(kept)
    assert [run["id"] for run in three.runs()] == ["a", "b", "c"]
    assert three.query("MATCH (n:Run) RETURN count(n) AS n").rows == [(3,)]
