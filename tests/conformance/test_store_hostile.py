"""Whatever users write as values and names is no Cypher: it selects and changes nothing, on any store.

The questions and their parameters are taken from the library, so a new question is covered as it comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from kernbench_graph.errors import QueryError, ReadOnlyError, StoreError, StoreUrlError
from kernbench_graph.opening import open_store
from kernbench_graph.projection import HISTORY
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.result import Result
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.api.comparing import compare
from kernbench.errors import KernBenchError
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import LIBRARY, SIZES
from tests.conformance.graph_records import EVERYTHING, made_here, nodes_of_run, sample

HOSTILE = (
    "x' OR 1=1 //",
    "x' OR '1'='1",
    '" OR "" = "',
    "'}) DETACH DELETE n //",
    "x'}) MATCH (n) DETACH DELETE n RETURN 1 AS x //",
    "'; MATCH (n) DETACH DELETE n; //",
    "') RETURN 1 AS x UNION MATCH (n) RETURN n.id AS x //",
    "`) DETACH DELETE (n",
    "``",
    "`",
    "\\",
    "\\'",
    "\\u0027 OR true //",
    "/* ",
    "$limit",
    "${limit}",
    "%s {0} {{limit}}",
    ".*",
    "(?i).*",
    "*",
    "%",
    "null",
    "true",
    "InRun1",
    "KernbenchRun",
    "../../runs",
    "a\nb",
    "\u202etxen",
    "ʼ OR 1=1",
    "x" * 70_000,
)
NEEDED: dict[str, Any] = {
    "transaction": 1, "op": 4, "other": 3, "steps": 2, "resource": "fabric.switch0", "bench": "gemm",
    "within_ns": 100.0, "key": "m",
    "src": "sip0.cube0.pe0.pe_dma", "dst": "sip0.cube0.hbm_ctrl.pe0", "before": "a", "after": "b",
    "other_src": "sip0.cube0.pe0.pe_dma", "other_dst": "sip0.cube0.hbm_ctrl.pe0",
    "lost": "sip0.cube0.hbm_ctrl.pe0",
}  # fmt: skip
"""Values for parameters that must be given, while another one is hostile."""
STRINGS = [
    (name, key)
    for name, question in LIBRARY.items()
    for key, param in question.params.items()
    if param.type == "string"
]
TOLD = (KernBenchError, StoreError)


@pytest.fixture
def victim(new_store: NewStore) -> Iterator[GraphStore]:
    """A store with two small made-up runs and a simulated one, so that every question can be asked."""
    with new_store() as store:
        for name in ("a", "b"):
            store.keep(*sample(id=name, tags=["tag"], params={"m": 1}))
        with kb.open_store("memory:") as source:
            run = kb.run("gemm-single-pe", kb.load_topology("minimal"), store=source)
            record = source.load(run.id)
            store.keep(
                RunRecord({**record.info, "id": "real"}, record.tables),
                source.load_topology(run.info["topology_id"]),
            )
        yield store


def dump(store: GraphStore) -> Any:
    """All that a store holds: records, and every node and relationship of every graph."""
    kept = []
    ids = [info["id"] for info in store.runs()]
    for info in store.runs():
        record = store.load(info["id"])
        kept.append((info, {name: table.to_pylist() for name, table in record.tables.items()}))
        topology = store.load_topology(info["topology"])
        kept.append((topology.spec, {name: t.to_pylist() for name, t in topology.tables.items()}))
    graphs = [
        sorted(map(str, store.query(text, run=run, engine=store.engines[-1], proved=True).rows))
        for run in (None, *ids)
        for text in (*([EVERYTHING] if run else []), *_everything(run))
    ]
    return kept, graphs


def _everything(run: str | None) -> Iterator[str]:
    computed = SCHEMA.computed_names()  # from what is looked at already
    for label in SCHEMA.labels:
        if label.name not in computed and (run or label.name in HISTORY):
            yield f"{nodes_of_run(label.name) if run else f'MATCH (n:{label.name})'} RETURN n AS n"
    for rel in SCHEMA.relationships:
        for source, target in rel.pairs if rel.type not in computed and (run or rel.type in HISTORY) else ():
            if run or {source, target} <= set(HISTORY):
                begin = nodes_of_run(source) if run else f"MATCH (n:{source})"
                then = f"MATCH (n)-[r:`{rel.type}`]->(b:{target})"
                yield f"{begin} {then} RETURN n.id AS a, r AS r, b.id AS b"


@pytest.fixture(params=SIZES)
def hostile(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Hostile values: some, fewer on a server, or all of them."""
    few, many = (8, 3) if request.node.callspec.params["new_store"] == "neo4j" else (15, 1)
    return HOSTILE[:: many if request.param == "many" else few]


def needed(name: str) -> dict[str, Any]:
    # The smallest machine has one cube, so no seams of the kind that is asked about by default.
    seams = ("bottleneck/ucie-seams", "bottleneck/seam-senders")
    given = {"kind": "router_mesh"} if name in seams else {}
    if "launch" in LIBRARY[name].params:
        given["launch"] = "run"
    if name == "history/configured-differently":
        given["after"] = "real"  # the two small runs are configured alike
    return given | {
        key: NEEDED[key]
        for key, param in LIBRARY[name].params.items()
        if param.default is None and key not in given
    }


def rows_of(call: Callable[[], Result]) -> list[Any]:
    """The rows of an answer; none where the question is refused, in one line."""
    try:
        return call().rows
    except TOLD as error:
        caught = str(error)
    assert "\n" not in caught.replace("a\nb", "")
    return []


def in_parameters_of_every_question(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    for name, key in STRINGS if hostile == HOSTILE else STRINGS[::5]:
        for value in hostile:
            params = {**needed(name), key: value}
            rows = rows_of(partial(kb.ask, name, "real", victim, params))
            assert rows == [], (name, key, value)


def where_a_number_is_wanted(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    for name, question in LIBRARY.items():
        for key, param in question.params.items():
            for value in hostile if param.type in ("int", "float", "bool") else ():
                with pytest.raises(QueryError, match=f"parameter '{key}' is .* must be") as caught:
                    kb.ask(name, "real", victim, {**needed(name), key: value})
                assert "\n" not in str(caught.value)


def as_names_of_runs_tags_topologies_and_questions(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    calls: tuple[Callable[[str], object], ...] = (
        victim.resolve,
        victim.load,
        victim.remove,
        victim.load_topology,
        lambda text: victim.change_tags(text, ["x"]),
        lambda text: victim.query("MATCH (n {id: $run}) RETURN count(n) AS n", run=text),
        lambda text: kb.ask("bottleneck/busiest-links", text, victim),
        lambda text: kb.ask(text, "real", victim),
        lambda text: kb.ask("history/runs", "real", victim, {text: "x"}),
        lambda text: kb.open_run(text, victim),
        lambda text: compare(text, "real", victim),
        lambda text: victim.keep(*sample(id=f"{text}/")),
        lambda text: victim.keep(sample()[0], TopologyRecord(f"{text}/", "n", "s", sample()[1].tables)),
    )
    for value in hostile:
        for call in calls:
            with pytest.raises((*TOLD, LookupError)) as caught:
                call(value)
            assert str(caught.value).count("\n") <= value.count("\n"), value


def test_what_users_call_things_is_kept_as_it_is(new_store: NewStore, hostile: tuple[str, ...]) -> None:
    """Names of benches, topologies, tags, parameters and machines are found by value, and only by it."""
    with new_store() as store:
        store.keep(*sample(id="plain"))
        before = dump(store)
        for value in hostile:
            run, topology = sample(value, id="mean", tags=[value], params={value: value}, host=value)
            named = type(topology)("mean", value, value, topology.tables)
            if store.engines == ("neo4j",) and len(value) > 8_000:
                # A gap: names of benches are indexed, and Neo4j's indexes hold no longer values.
                with pytest.raises(StoreError, match="too large to index"):
                    store.keep(run, named)
                continue
            store.keep(run, named)
            store.change_tags("mean", ["more"])
            rows = kb.ask("history/runs", store=store, params={"bench": value}).dicts()
            assert [(row["run"], row["bench"], row["topology"]) for row in rows] == [("mean", value, value)]
            (over,) = kb.ask(
                "history/bench-over-time", None, store, {"bench": value, "topology": value}
            ).dicts()
            assert (over["run"], over["topology"]) == ("mean", value)
            assert store.load("mean").info["host"] == value
            assert store.load_topology("mean").spec == value
            store.remove("mean")
            assert [info["id"] for info in store.runs()] == ["plain"]
        after = dump(store)
        assert after[0] == before[0]
        assert after[1][2:] == before[1][2:]


WRITES = (
    "CREATE (:Run {id: 'x'})",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) SET n.id = 'x'",
    "MATCH (n) REMOVE n.id",
    "MATCH (r:Run) MERGE (x:Run {id: r.id + 'x'}) RETURN x",
    "RETURN 1 AS x; MATCH (n) DETACH DELETE n",
    "MATCH (n) CALL { WITH n DETACH DELETE n } RETURN 1 AS x",
    "MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS RETURN 1 AS x",
    "FOREACH (x IN [1] | CREATE (:Run))",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "CALL dbms.listConfig() YIELD name RETURN name",
    "CALL apoc.cypher.doIt('MATCH (n) DETACH DELETE n', {}) YIELD value RETURN value",
    "CREATE INDEX FOR (n:Run) ON (n.x)",
    "DROP CONSTRAINT kernbench_run",
    "DROP TABLE Run",
    "COPY Run FROM 'x'",
    "USE system SHOW USERS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'x'",
    "MATCH (n) RETURN 1CREATE (:Run {id: 'x'})",
    "MATCH (n) /* */ DELETE n // */",
    "MATCH (n) WITH n AS `x` DELETE `x`",
    "WITH 1 AS x INSERT (:Run)",
    "MATCH (n) \\u0044ELETE n",
)


def in_free_cypher_that_writes(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    for cypher in WRITES:
        for run in ("real", None):
            with pytest.raises(QueryError) as caught:
                kb.ask_cypher(cypher, run, victim)
            # One line, or one with the query's line and a caret beneath it.
            assert str(caught.value).count("\n") in (0, 2)
    with pytest.raises(ReadOnlyError):
        kb.ask_cypher(WRITES[0], None, victim)


def as_values_and_names_in_free_cypher(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    for value in hostile:
        asked = kb.ask_cypher(
            "MATCH (r:Run) WHERE r.bench = $x RETURN r.id AS id", None, victim, {"x": value}
        )
        assert asked.rows == []
        # What the text does not use is not looked at, whatever it is called.
        rows = kb.ask_cypher(
            "MATCH (r:Run {id: $run}) RETURN $x AS x", "a", victim, {"x": value, value: value}
        ).rows
        assert rows == [(value,)]
        if "`" not in value and "\\" not in value and len(value) < 100:
            text = f"MATCH (r:Run {{id: $run}}) RETURN $`{value}` AS x"
            rows = rows_of(partial(kb.ask_cypher, text, "a", victim, {value: 7}))
            assert rows in ([], [(7,)])


STRINGS_ARE = (
    in_parameters_of_every_question,
    where_a_number_is_wanted,
    as_names_of_runs_tags_topologies_and_questions,
    as_values_and_names_in_free_cypher,
    in_free_cypher_that_writes,
)


@pytest.mark.slow
def test_strings_select_and_nothing_changes(victim: GraphStore, hostile: tuple[str, ...]) -> None:
    before = dump(victim)  # of whole graphs, which takes longer than most of the checks
    for check in STRINGS_ARE:
        check(victim, hostile)
    assert dump(victim) == before


DATABASE_NAMES = [n for n in HOSTILE if len(n) < 1000 and "/" not in n and n != "InRun1"]


def test_names_of_databases_on_a_server(neo4j_url: str) -> None:
    with open_store(neo4j_url) as store:
        store.computed = made_here(store)
        store.keep(*sample(id="a"))
        before = dump(store)
        for name in DATABASE_NAMES:
            good = re.fullmatch(r"[A-Za-z][A-Za-z0-9.-]{2,}", name)
            with pytest.raises(StoreError) as caught:
                open_store(f"{neo4j_url}/{name}")
            assert isinstance(caught.value, StoreUrlError) != bool(good), name
            assert "\n" not in str(caught.value)
        assert dump(store) == before
