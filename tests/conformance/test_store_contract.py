"""Behaviour that all stores share."""

from __future__ import annotations

import json
import threading
from inspect import isfunction, signature
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from kernbench_graph.archive.brief import has
from kernbench_graph.archive.canonical import canonical_tables
from kernbench_graph.errors import (
    ArchiveError,
    QueryError,
    QueryTimeoutError,
    ReadOnlyError,
    RunNotFoundError,
    StoreError,
    UnknownNameError,
)
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.store import GraphStore

from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import runs, sample, topologies
from tests.examples import examples

FEW = examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
COUNT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"


CONTRACT = sorted(
    name
    for name, member in vars(GraphStore).items()
    if isfunction(member) and (not name.startswith("_") or name == "__enter__")
)


def test_every_store_takes_the_arguments_of_the_contract(store: GraphStore) -> None:
    assert {"keep", "load", "query", "remove", "runs", "close", "__enter__"} <= set(CONTRACT)
    for name in CONTRACT:
        wanted, has = (
            signature(getattr(kind, name)).parameters.values() for kind in (GraphStore, type(store))
        )
        assert [(p.name, p.kind, p.default) for p in has] == [(p.name, p.kind, p.default) for p in wanted], (
            name
        )
    assert (type(store.url), type(store.engines), store.notes) == (str, tuple, [])


@FEW
@given(data=st.data())
def test_a_record_comes_back_as_it_was_kept(new_store: NewStore, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    run = data.draw(runs(topology))
    with new_store() as store:
        run_id = store.keep(run, topology)
        loaded = store.load(run_id)
        assert dict(loaded.tables) == canonical_tables("run", run.tables, "run")
        assert loaded.info["bench"] == run.info["bench"]
        assert loaded.info["topology_name"] == topology.name
        assert loaded.info in store.runs()
        kept = store.load_topology(topology.id)
        assert (kept.id, kept.name, kept.spec) == (topology.id, topology.name, topology.spec)
        assert dict(kept.tables) == canonical_tables("topology", topology.tables, "topology")


def test_encoding_and_order_of_columns_do_not_matter(store: GraphStore) -> None:
    run, topology = sample()
    encoded = {
        name: table.select(table.column_names[::-1]).unify_dictionaries()
        for name, table in run.tables.items()
    }
    hop = encoded["Hop"]
    index = hop.column_names.index("resource")
    encoded["Hop"] = hop.set_column(index, "resource", hop["resource"].dictionary_encode())
    loaded = store.load(store.keep(RunRecord(run.info, encoded), topology))
    assert dict(loaded.tables) == canonical_tables("run", run.tables, "run")


def test_defaults_ids_and_further_keys(store: GraphStore) -> None:
    run, topology = sample(id="first", latency={"mean": 3.5}, tags=["a", "b"], seed=None)
    assert store.keep(run, topology) == "first"
    info = store.load("first").info
    assert (info["verified"], info["seed"], info["tags"], info["params"]) == (
        "not asked",
        -1,
        '["a", "b"]',
        "{}",
    )
    assert info["latency"] == {"mean": 3.5}
    second = store.keep(sample()[0], topology)
    assert second != "first"
    assert [entry["id"] for entry in store.runs()] == ["first", second]


def test_references_to_runs(store: GraphStore) -> None:
    with pytest.raises(RunNotFoundError, match="holds no runs"):
        store.resolve("last")
    for name in ("ab1", "ab2", "c"):
        store.keep(*sample(id=name))
    assert [store.resolve(ref) for ref in ("last", "last~0", "last~2", "ab1", "c")] == [
        "c",
        "c",
        "ab1",
        "ab1",
        "c",
    ]
    with pytest.raises(RunNotFoundError, match="ab1, ab2"):
        store.resolve("ab")
    for wrong in ("last~3", "zz", "", "last~x", "../c", "c'"):
        with pytest.raises(RunNotFoundError, match="c, ab2, ab1"):
            store.resolve(wrong)
    with pytest.raises(LookupError):
        store.load("zz")


@pytest.mark.daily("embedded")
def test_removing_and_tagging(store: GraphStore) -> None:
    for name in ("a", "b"):
        store.keep(*sample(id=name))
    tag = "MATCH (r:Run) RETURN r.id AS id, r.tags AS tags ORDER BY id"
    own = "MATCH (r:Run {id: $run}) RETURN r.id AS id, r.tags AS tags"
    assert store.query(own, run="a").rows == [("a", "[]")]
    assert store.change_tags("a", ["it's", "Ü", "it's"]) == ["it's", "Ü"]
    assert store.query(own, run="a").rows == [("a", '["it\'s", "Ü"]')]
    assert store.query(tag).rows == [("a", '["it\'s", "Ü"]'), ("b", "[]")]
    assert [run["id"] for run in store.runs()] == ["a", "b"]
    store.remove("a")
    assert [run["id"] for run in store.runs()] == ["b"]
    assert store.query(tag).rows == [("b", "[]")]
    for call in (lambda: store.remove("a"), lambda: store.load("a"), lambda: store.change_tags("a", ["x"]),
                 lambda: store.query(own, run="a")):  # fmt: skip
        with pytest.raises(RunNotFoundError):
            call()
    store.keep(*sample(id="a", bench="other"))
    assert store.query("MATCH (r:Run {id: $run}) RETURN r.bench AS b", run="a").rows == [("other",)]


@pytest.mark.daily("embedded")
def test_what_is_long_is_listed_when_it_is_looked_at(store: GraphStore) -> None:
    run, topology = sample(id="a")
    rows = [{"name": f"{number}", "bytes": number} for number in range(200)]
    store.keep(RunRecord({**run.info, "long": rows, "again": {"device": "all"}}, run.tables), topology)
    for tags in ([], ["new"]):
        store.change_tags("a", tags)
        (listed,) = store.runs()
        assert (has(listed, "long"), has(listed, "again"), has(listed, "pes")) == (True, True, False)
        assert listed["tags"] == json.dumps(tags)
        assert listed == store.load("a").info
        assert (listed["long"], "pes" in listed, len(listed)) == (rows, False, len(dict(listed)))


@pytest.mark.daily("embedded")
def test_a_topology_goes_with_its_last_run(store: GraphStore) -> None:
    run, topology = sample()
    other = TopologyRecord("other", "other", "", topology.tables)
    for name, machine in (("a", topology), ("b", topology), ("c", other)):
        store.keep(RunRecord({**run.info, "id": name}, run.tables), machine)
    names = "MATCH (t:Topology) RETURN t.name AS name ORDER BY name"
    store.remove("a")
    assert store.load_topology(topology.id).name == "small"
    store.remove("b")
    with pytest.raises(StoreError, match=f"no topology '{topology.id}'"):
        store.load_topology(topology.id)
    assert store.query(names).rows == [("other",)]
    parts = (
        "MATCH (:Run {id: $run})-[:RAN_ON]->(:Topology)-[:CONTAINS*1..8]->(p:Component) RETURN count(p) AS n"
    )
    assert store.query(parts, run="c").rows == [(4,)]
    store.keep(*sample(id="d"))
    assert store.query(names).rows == [("other",), ("small",)]
    assert store.query("MATCH (r:Run)-[:USED]->(p) RETURN r.id AS id, count(p) AS n ORDER BY id").rows == [
        ("c", 7),
        ("d", 7),
    ]


def test_an_id_is_taken_once(store: GraphStore) -> None:
    store.keep(*sample(id="a", bench="one"))
    with pytest.raises(StoreError, match="'a' is in the store already"):
        store.keep(*sample(id="a", bench="two"))
    assert [run["bench"] for run in store.runs()] == ["one"]


@pytest.mark.parametrize("name", ["", "last", "last~1", "../x", "a/b", ".hidden", "a b", "x" * 129, "a\n", 7])
def test_ids_are_safe_names(store: GraphStore, name: Any) -> None:
    run, topology = sample()
    if name != "":
        with pytest.raises(ArchiveError, match="cannot be used"):
            store.keep(RunRecord({**run.info, "id": name}, run.tables), topology)
    with pytest.raises(ArchiveError, match="cannot be used"):
        store.keep(run, TopologyRecord(name, "n", "s", topology.tables))
    assert store.runs() == []


def _broken(change: str) -> tuple[RunRecord, TopologyRecord]:
    run, topology = sample()
    info, tables = dict(run.info), dict(run.tables)
    hop, transaction = tables["Hop"], tables["Transaction"]
    if change == "stranger":
        column = hop["resource"].to_pylist()
        tables["Hop"] = hop.set_column(2, hop.schema.field(2), [["no->where", *column[1:]]])
    elif change == "orphan":
        tables["Transaction"] = transaction.slice(0, 1)
    elif change == "twice":
        tables["Transaction"] = transaction.take([0, 0])
    elif change == "column":
        tables["Hop"] = hop.drop_columns(["wait_ns"])
    elif change == "type":
        tables["Use"] = tables["Use"].set_column(1, "is_link", [["perhaps"] * tables["Use"].num_rows])
    elif change == "null":
        tables["Hop"] = hop.set_column(2, "resource", [[None, *hop["resource"].to_pylist()[1:]]])
    elif change == "table":
        tables["Hops"] = hop
    elif change == "bench":
        del info["bench"]
    elif change == "topology":
        info["topology"] = "another"
    elif change == "property":
        info["sim_ns"] = "long"
    elif change == "json":
        info["extra"] = object()
    return RunRecord(info, tables), topology


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("stranger", r"Hop\.resource refers to 'no->where'"),
        ("orphan", r"Hop\.txn refers to 1"),
        ("twice", r"Transaction\.number has an id twice"),
        ("column", "table Hop lacks column 'wait_ns'"),
        ("type", r"column Use\.is_link does not hold bool"),
        ("null", r"column Hop\.resource has empty values"),
        ("table", "unknown table 'Hops'"),
        ("bench", "'bench' is missing"),
        ("topology", "says topology 'another'"),
        ("property", "'sim_ns' is 'long'"),
        ("json", "JSON"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_whole(store: GraphStore, change: str, message: str) -> None:
    with pytest.raises(ArchiveError, match=message) as caught:
        store.keep(*_broken(change))
    assert "\n" not in str(caught.value)
    assert store.runs() == []


WRITES = [
    "CREATE (:Run {id: 'x'})",
    "MATCH (r:Run) SET r.bench = 'x'",
    "MATCH (r:Run) DELETE r",
    "MATCH (r:Run) DETACH DELETE r RETURN 1 AS one",
    "MATCH (r:Run) MERGE (x:Run {id: 'x'}) RETURN x",
    "RETURN 1 AS x; MATCH (r:Run) DELETE r",
    "RETURN 1CREATE (:Run {id: 'x'})",
    "MATCH (r:Run)/**/sEt r.bench='x'",
    "MATCH (r:Run) // harmless\n SET r.bench = 'x'",
    "DROP TABLE Run",
    "ALTER TABLE Run ADD x STRING",
    "CREATE NODE TABLE X(id STRING PRIMARY KEY)",
    "COPY Run FROM 'x.csv'",
    "COPY (MATCH (r:Run) RETURN r.id) TO 'out.csv'",
    "LOAD FROM 'manifest.json' RETURN *",
    "MATCH (r:Run) LOAD FROM 'manifest.json' RETURN *",
    "CALL show_tables() RETURN *",
    "CALL threads=1",
    "MATCH (r:Run) CALL show_tables() RETURN *",
    "ATTACH 'x' AS y (dbtype lbug)",
    "USE y",
    "INSTALL json",
    "LOAD EXTENSION json",
    "EXPORT DATABASE 'x'",
    "IMPORT DATABASE 'x'",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "EXPLAIN CREATE (:Run {id: 'x'})",
    "explain MATCH (r:Run) SET r.bench = 'x'",
    "EXPLAIN EXPLAIN MATCH (r:Run) RETURN r",
    "EXPLAIN RETURN 1 AS x; MATCH (r:Run) DELETE r",
    "PROFILE MATCH (r:Run) DETACH DELETE r",
    "MATCH (r:Run) EXPLAIN MATCH (r) RETURN r",
]


def test_queries_only_read(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    for cypher in WRITES:
        for run in ("a", None):
            with pytest.raises(ReadOnlyError, match=r"only read|one statement"):
                store.query(cypher, run=run)
    assert store.query("MATCH (r:Run) RETURN r.id AS id, r.bench AS bench").rows == [("a", "gemm")]


def test_the_engine_itself_refuses_to_write(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.keep(*sample(id="a"))
    monkeypatch.setattr("kernbench_graph.stores.embedded.base.check_read_only", str)
    monkeypatch.setattr("kernbench_graph.stores.embedded.engine.check_read_only", str)
    monkeypatch.setattr("kernbench_graph.stores.arcade.database.check_read_only", str)
    writes = ["MATCH (r:Run) SET r.bench = 'x'", "CREATE (:Run {id: 'x'})"]
    if store.engines == ("neo4j",):
        monkeypatch.setattr("kernbench_graph.stores.neo4j.reading.check_read_only", str)
        writes += ["MATCH (r:Run) DETACH DELETE r", "CREATE INDEX x FOR (n:Run) ON (n.host)"]
    else:
        with pytest.raises(ReadOnlyError):
            store.query("DROP TABLE USED", run="a", engine="ladybug", proved=True)
    for cypher in writes:
        for engine in store.engines:
            with pytest.raises(ReadOnlyError):
                store.query(cypher, run="a", engine=engine, proved=True)
    assert store.query("MATCH (r:Run {id: $run}) RETURN r.bench AS bench", run="a").rows == [("gemm",)]


@FEW
@given(
    value=st.one_of(
        st.text(max_size=20), st.sampled_from(["' OR 1=1 //", "x'}) DETACH DELETE r //", "`", "$x"])
    )
)
def test_parameters_are_values_whatever_they_spell(store: GraphStore, value: str) -> None:
    if not store.runs():
        store.keep(*sample(id="a"))
    value = value.replace("\0", "")  # which no Cypher string can hold
    rows = store.query(
        "MATCH (r:Run {id: $run}) WHERE r.bench <> $v RETURN $v AS v, count(r) AS n", {"v": value}, "a"
    ).rows
    assert rows == [(value, 1)]


WRONG = {
    "MATCH (t:Transaction": "not valid",
    "MATCH (t:Nope) RETURN t": "Nope",
    "MATCH (t:Transaction) RETURN t.nope AS x": "nope",
    "MATCH (t:Transaction) WHERE t.number = $id RETURN t": r"\$id",
    "RETURN 'open AS x": "close the string",
    "RETURN 1 AS x /* open": "close the string",
    "  // nothing\n": "empty",
}


def test_wrong_queries_are_explained_in_one_line(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    for cypher, message in WRONG.items():
        with pytest.raises(QueryError, match=message) as caught:
            store.query(cypher, run="a")
        assert "\n" not in str(caught.value)
        assert store.query(COUNT, run="a").rows == [(2,)]


def test_what_nothing_here_works_out_and_what_nothing_has_is_said(store: GraphStore) -> None:
    store.computed = None
    store.keep(*sample(id="a"))
    with pytest.raises(QueryError, match="Step: KernBench works that out; open the store with"):
        store.query("MATCH (s:Step) RETURN s.number AS n", run="a")
    with pytest.raises(UnknownNameError, match="did you mean 'bytes'"):
        store.query("MATCH (t:Transaction) RETURN t.byts AS b", run="a")


def test_the_history_says_what_it_lacks(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    with pytest.raises(QueryError, match="name a run"):
        store.query("MATCH (t:Transaction) RETURN count(t) AS n")


@pytest.mark.daily("embedded")
def test_the_history_sees_runs_topologies_and_use(store: GraphStore) -> None:
    for name in ("a", "b"):
        store.keep(*sample(id=name))
    rows = store.query(
        "MATCH (r:Run)-[:RAN_ON]->(t:Topology) RETURN r.id AS run, t.name AS topology ORDER BY run"
    ).rows
    assert rows == [("a", "small"), ("b", "small")]
    used = (
        "MATCH (r:Run)-[:USED]->(u:Use)-[:OF]->(l:Link) "
        "RETURN r.id AS run, count(l) AS n, sum(u.bytes) AS b ORDER BY run"
    )
    assert store.query(used).rows == [("a", 3, 1536), ("b", 3, 1536)]
    store.keep(*sample(id="c"))
    assert len(store.query(used)) == 3


def test_an_empty_store_can_be_asked(store: GraphStore) -> None:
    assert store.runs() == []
    assert store.query("MATCH (r:Run) RETURN r.id AS id").rows == []


@pytest.mark.daily("embedded")
def test_a_query_that_takes_too_long_is_stopped(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    slow = """UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b UNWIND range(1, 4000) AS c
              WITH a, b, c WHERE (a * b) % 7 = c % 5 RETURN sum(a % 3) AS n"""
    for engine in store.engines:
        with pytest.raises(QueryTimeoutError, match=r"stopped after 0\.2 s"):
            store.query(slow, run="a", timeout_s=0.2, engine=engine, proved=True)
        assert store.query(COUNT, run="a", engine=engine, proved=True).rows == [(2,)]


def test_values_are_plain_python(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    result = store.query(
        "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) "
        "RETURN sum(t.bytes) AS s, collect(t.number) AS l, avg(t.bytes) AS m",
        run="a",
    )
    assert [type(value) for value in result.rows[0]] == [int, list, float]
    (node,) = store.query("MATCH (r:Run {id: $run}) RETURN r AS r", run="a").rows[0]
    assert node["id"] == "a"
    assert not [key for key in node.properties if key.startswith("_")]


@pytest.mark.daily("embedded-3")
@pytest.mark.parametrize("turns", [3, 8])
def test_many_threads_may_ask_at_once(store: GraphStore, turns: int) -> None:
    names = [f"r{i}" for i in range(6)]  # more than the databases that are kept open
    for name in names:
        store.keep(*sample(id=name))
    wrong: list[Any] = []

    def ask(offset: int) -> None:
        for turn in range(turns):
            name = names[(turn + offset) % len(names)]
            try:
                rows = store.query(
                    "MATCH (r:Run {id: $run})-[:SENT]->(t) RETURN r.id AS id, count(t) AS n", run=name
                ).rows
            except StoreError as error:
                rows = [(str(error), 0)]
            if rows != [(name, 2)]:
                wrong.append(rows)

    threads = [threading.Thread(target=ask, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_closed_store_says_so(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    store.close()
    for call in (store.runs, lambda: store.query(COUNT, run="a"), lambda: store.keep(*sample())):
        with pytest.raises(StoreError, match="closed"):
            call()
