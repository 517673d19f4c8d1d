"""What was configured, tagged, launched again, and came from which line, as every store's graph has it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.graph_records import sample

LAUNCHES = [
    {
        "launch": number,
        "kernel": kernel,
        "rank": rank,
        "sips": sips,
        "pe_ns": 4.0,
        "t_start": 10.0 * number,
        "t_done": 10.0 * number + 4.0,
    }
    for number, (kernel, rank, sips) in enumerate(
        [
            ("a", 0, [0]),
            ("a", 1, [12]),
            ("b", 0, [0, 1]),
            ("a", 0, []),
        ]
    )
]


LAUNCHED = "MATCH (:Run {id: $run})-[:LAUNCHED]->(l:Launch)"


def asked(store: GraphStore, text: str, run: str | None = "last") -> list[tuple[Any, ...]]:
    text = text.replace("(r:Run)", "(r:Run {id: $run})") if run else text
    return store.query(text, run=run).rows


def test_parameters_tags_and_keys_are_in_the_graph_of_one_run_and_of_all(store: GraphStore) -> None:
    again = {"bench": "mine.py", "device": "sip:0", "components": {"pe_gemm": "mine.py:Gemm"}}
    given = {"params": {"m": 4, "dtype": "f16", "fast": True}, "tags": ["x", "it's"], "again": again}
    store.keep(*sample(id="one", **given, source_text="a = 1\n\nb = 2\na = 1\n"))
    store.keep(*sample(id="two", tags=["x"], params={}))
    for run in ("one", None):
        where = "MATCH (r:Run) WHERE r.id = 'one' "
        params = "MATCH (r)-[:HAS_PARAM]->(p:Param) RETURN p.name AS n, p.text AS t, p.value AS v ORDER BY n"
        assert asked(store, where + params, run) == [
            ("dtype", "f16", None), ("fast", "true", 1.0), ("m", "4", 4.0)
        ]  # fmt: skip
        tags = "MATCH (r)-[:TAGGED]->(t:Tag) RETURN t.name AS tag ORDER BY tag"
        assert asked(store, where + tags, run) == [("it's",), ("x",)]
        settings = (
            "MATCH (r)-[c:CONFIGURED]->(:Topology) WHERE c.what IN ['device', 'component', 'source'] "
            "RETURN c.what AS what, c.name AS name, c.text AS t, c.number AS n ORDER BY what, n"
        )
        rows = asked(store, where + settings, run)
        assert [row[:3] for row in rows] == [
            ("component", "pe_gemm", "mine.py:Gemm"), ("device", "device", "sip:0"),
            ("source", "a = 1", "2"), ("source", "b = 2", "1"),
        ]  # fmt: skip
        assert [row[3] for row in rows[2:]] == [1, 3]
    counts = "MATCH (r:Run)-[:TAGGED]->(t:Tag) RETURN t.name AS t, count(r) AS n ORDER BY t"
    assert asked(store, counts, None) == [("it's", 1), ("x", 2)]


def test_tags_that_are_changed_are_changed_in_the_graph(store: GraphStore) -> None:
    store.keep(*sample(id="one", tags=["x", "gone"]))
    text = "MATCH (r:Run)-[:TAGGED]->(t:Tag) RETURN t.name AS tag ORDER BY tag"
    used = (
        "MATCH (r:Run)-[:USED]->(u:Use) MATCH (r)-[:TAGGED]->(t:Tag) "
        "RETURN DISTINCT t.name AS tag ORDER BY tag"
    )
    for add, remove, left in (
        ([], [], ["gone", "x"]),
        (["new"], ["gone"], ["new", "x"]),
        ([], ["new", "x"], []),
    ):
        store.change_tags("one", add, remove)
        for run in ("one", None):
            assert [row[0] for row in asked(store, text, run)] == left
            assert [row[0] for row in asked(store, used, run)] == left


def test_launches_say_their_rank_their_sip_and_which_one_they_repeat(store: GraphStore) -> None:
    run, machine = sample(id="one", launches=LAUNCHES)
    (launch,) = run.tables["Launch"].to_pylist()
    table = pa.Table.from_pylist([{**launch, "number": number} for number in range(len(LAUNCHES))])
    store.keep(RunRecord(run.info, {**run.tables, "Launch": table}), machine)
    rows = asked(
        store,
        f"{LAUNCHED} RETURN l.number AS n, l.rank AS rank, l.sip AS sip, l.latency_ns AS ns ORDER BY n",
    )
    assert rows == [
        (number, one["rank"], sip, 4.0)
        for number, (one, sip) in enumerate(zip(LAUNCHES, (0, 12, -1, -1), strict=True))
    ]
    repeated = f"{LAUNCHED}-[:REPEATS]->(m:Launch) RETURN l.number AS n, m.number AS m"
    assert asked(store, repeated) == [(3, 0)]


def test_a_record_that_tells_of_more_launches_than_it_has_is_kept(store: GraphStore) -> None:
    run, machine = sample(id="one", launches=LAUNCHES)
    assert run.tables["Launch"].num_rows == 1
    store.keep(run, machine)
    repeated = f"{LAUNCHED}-[:REPEATS]->(m:Launch) RETURN l.number AS n, m.number AS m"
    assert asked(store, repeated) == []


def test_lines_of_the_benchs_file_have_their_text(store: GraphStore) -> None:
    source = "import kernbench as kb\n\n@kb.bench('mine')\ndef mine(torch):\n    pass\n"
    again = {"bench": "folder/mine.py"}
    run, machine = sample(id="one", again=again, source_text=source)
    op = run.tables["Op"]
    sources = pa.array(["mine.py:4", "other.py:4", *[""] * (op.num_rows - 2)], pa.string())
    other = [name for name in op.column_names if name != "source"]
    op = op.select(other).append_column("source", sources)
    store.keep(RunRecord(run.info, {**run.tables, "Op": op}), machine)
    rows = asked(
        store,
        "MATCH (:Run {id: $run})-[:LAUNCHED]->()-[:DID]->(:Op)-[:AT_LINE]->(l:Line) "
        "RETURN l.file AS f, l.line AS n, l.text AS t ORDER BY f",
    )
    assert rows == [("mine.py", 4, "def mine(torch):"), ("other.py", 4, "")]


def test_transactions_follow_each_other_where_they_end(store: GraphStore) -> None:
    run = kb.run("qkv-gemm", "minimal", store=store)
    sent, hops = (run.tables[name].to_pylist() for name in ("Transaction", "Hop"))
    ends = {row["number"]: {row["src"], row["dst"]} for row in sent}
    at_ends = [hop["resource"] for hop in hops if hop["resource"] in ends[hop["txn"]]]
    text = (
        "MATCH (:Run {id: $run})-[:SENT]->(:Transaction)-[f:FOLLOWED]->(:Transaction) "
        "RETURN f.resource AS resource, count(f) AS n, min(f.gap_ns) AS least ORDER BY resource"
    )
    rows = asked(store, text, run.id)
    expected = {place: at_ends.count(place) - 1 for place in at_ends}
    assert {row[0]: row[1] for row in rows} == {place: n for place, n in expected.items() if n}
    assert min(row[2] for row in rows) == 0.0
