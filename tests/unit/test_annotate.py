"""kb.annotate: a user's numbers and texts on the nodes of a run, in Cypher and in networkx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import kernbench as kb
from kernbench.api.kept_runs import copy_runs
from kernbench.errors import UsageError

TEXT = (
    "MATCH (:Run {id: $run})-[:ANNOTATED]->(a:Annotation {name: $name})-[m:MARKS]->(n) "
    "RETURN n.id AS id, m.value AS value, m.text AS text ORDER BY id"
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, kb.Run]:
    folder = tmp_path_factory.mktemp("store")
    return folder, kb.run("gemm-single-pe", "minimal", store=folder)


def test_every_name_of_a_node_will_do(kept: tuple[Path, kb.Run]) -> None:
    folder, run = kept
    topology = run.properties["topology"]
    link = run.tables["Use"].filter(run.tables["Use"]["is_link"])["resource"][0].as_py()
    queried = kb.ask_cypher(
        "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction {number: 2}) RETURN t", run.id, folder
    )
    values: dict[Any, float] = {
        "host.cpu": 1, link: 2.5, ("Op", 3): True, f"{run.id}/txn1": 4, queried.rows[0][0]: 5,
        f"{run.id}/use:host.cpu": 6, ("Launch", 0): 7, f"{topology}/fabric.switch0": 8,
    }  # fmt: skip
    assert kb.annotate(run.id, "heat", values, store=folder) == len(values)
    found = {row[0]: row[1] for row in kb.ask_cypher(TEXT, run.id, folder, {"name": "heat"}).rows}
    assert found == {
        f"{topology}/host.cpu": 1.0, f"{topology}/{link}": 2.5, f"{run.id}/op3": 1.0, f"{run.id}/txn1": 4.0,
        f"{run.id}/txn2": 5.0, f"{run.id}/use:host.cpu": 6.0, f"{run.id}/launch0": 7.0,
        f"{topology}/fabric.switch0": 8.0,
    }  # fmt: skip


@pytest.mark.slow
def test_it_is_replaced_kept_copied_and_removed(kept: tuple[Path, kb.Run], tmp_path: Path) -> None:
    folder, run = kept
    kb.annotate(run.id, "team", {"host.cpu": "io", "fabric.switch0": "io"}, store=folder)
    kb.annotate(run.id, "team", {"host.cpu": "host's"}, store=folder)
    with kb.open_store(tmp_path) as copy, kb.open_store("memory:") as memory:
        for store in (copy, memory):
            copy_runs([run.id], folder, store)
            for engine in store.engines:
                text = TEXT.replace("(n)", "(n:Component)")
                found = kb.ask_cypher(text, run.id, store, {"name": "team"}, engine=engine).rows
                assert [row[1:] for row in found] == [(0.0, "host's")], (store.url, engine)
    graph = kb.open_run(run.id, folder).graph
    marks = [(a, b) for a, b, data in graph.edges(data=True) if data["type"] == "MARKS" and a[1] == "team"]
    assert marks == [(("Annotation", "team"), ("Component", "host.cpu"))]
    assert kb.annotate(run.id, "team", {}, store=folder) == 0
    assert not kb.ask_cypher(TEXT, run.id, folder, {"name": "team"}).rows


def test_a_centrality_of_networkx_is_asked_with_what_the_run_did(kept: tuple[Path, kb.Run]) -> None:
    folder, run = kept
    wires = kb.open_run(run.id, folder).subgraph("CONNECTS")
    values = nx.degree_centrality(nx.DiGraph(wires))
    kb.annotate(run.id, "degree", values, store=folder)
    text = (
        "MATCH (r:Run {id: $run})-[:ANNOTATED]->(:Annotation {name: 'degree'})-[m:MARKS]->(c:Component)"
        "<-[:OF]-(u:Use)<-[:USED]-(r) RETURN c.name AS name, m.value AS value, u.bytes AS bytes"
    )
    rows = kb.ask_cypher(text, run.id, folder).rows
    used = {row["resource"]: row["bytes"] for row in run.tables["Use"].to_pylist() if not row["is_link"]}
    wanted = {name: (value, used[name]) for (_, name), value in values.items() if name in used}
    assert {row[0]: row[1:] for row in rows} == wanted


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("heat", {"host.cpux": 1.0}, "no node 'host.cpux' .*did you mean.*host.cpu"),
        ("heat", {("Op", 10**6): 1.0}, "no node"),
        ("heat", {("Hop", 1): 1.0}, "labels of those that can are Component, Link"),
        (
            "heat",
            {"host.cpu": float("nan")},
            "is nan; leave out what is not a finite number",
        ),
        ("heat", {"host.cpu": None}, "that of 'host.cpu' is None; use a text, a number or a boolean"),
        ("heat", {"host.cpu": 1.0, "fabric.switch0": "x"}, "some are numbers and some are texts"),
        ("heat", {"host.cpu": 1.0, ("Component", "host.cpu"): 2.0}, "twice"),
        ("", {"host.cpu": 1.0}, "cannot be a name"),
        ("pagerank", {"host.cpu": 1.0}, "is reserved for results of questions"),
    ],
)
def test_what_is_wrong_is_said(kept: tuple[Path, kb.Run], name: str, values: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        kb.annotate(kept[1].id, name, values, store=kept[0])
    assert "\n" not in str(caught.value)
