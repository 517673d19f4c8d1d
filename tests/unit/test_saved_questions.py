"""A text that was asked is saved as a question and asked by its name; what cannot be one is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench.api.contents.schema import labels

KINDS = (
    "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)\nRETURN t.kind AS kind, count(t) AS n ORDER BY kind;"
)
TITLE = "Which kinds of transaction were there?"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kb.Run:
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("KERNBENCH_QUERIES", str(tmp_path / "own"))
    monkeypatch.setenv("KERNBENCH_STORE", str(tmp_path / "store"))
    return kb.run("gemm-single-pe", "minimal", store=str(tmp_path / "store"))


def test_a_saved_text_is_a_question(kept: kb.Run, tmp_path: Path) -> None:
    assert "mine/kinds" not in [one["name"] for one in kb.questions()]
    file = kb.save_question("mine/kinds", TITLE, KINDS, kept.id)
    assert file == tmp_path / "own" / "mine" / "kinds.yaml"
    found = kb.ask("mine/kinds", kept.id)
    assert (found.columns, found.rows) == (["kind", "n"], kb.ask_cypher(KINDS, kept.id).rows)
    kb.save_question("mine/runs", "Which runs are there?", "MATCH (r:Run) RETURN r.id AS run, r.sim_ns AS ns")
    assert kb.ask("mine/runs").rows == [(kept.id, kept.sim_ns)]


@pytest.mark.parametrize(
    ("name", "title", "text", "said"),
    [
        ("../kinds", TITLE, KINDS, "not a name of the form topic/name"),
        ("Mine/kinds", TITLE, KINDS, "Mine/kinds.yaml: name: .* in lower case"),
        ("kernel/races", TITLE, KINDS, "there is a question 'kernel/races' already"),
        ("mine/x", "kinds", KINDS, "mine/x.yaml: title: String should have at least 10"),
        ("mine/x", TITLE, "MATCH (r:Run) RETURN r.id AS run", "start from"),
        ("mine/x", TITLE, "MATCH (r:Run {id: $run}) RETURN r", "column 'r' has GraphNode"),
        ("mine/x", TITLE, "MATCH (r:Run {id: $run}) RETURN null AS x", "column 'x' has no value"),
        ("mine/x", TITLE, "MATCH (r:Run {id: $run}) SET r.x = 1", "only read"),
    ],
)
def test_what_cannot_be_a_question_is_not_kept(
    kept: kb.Run, tmp_path: Path, name: str, title: str, text: str, said: str
) -> None:
    with pytest.raises(kb.KernBenchError, match=said):
        kb.save_question(name, title, text, kept.id)
    assert not list((tmp_path / "own").rglob("*.yaml"))


def test_without_a_folder_it_says_which_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNBENCH_QUERIES", raising=False)
    with pytest.raises(kb.KernBenchError, match=r"set \$KERNBENCH_QUERIES"):
        kb.save_question("mine/kinds", TITLE, KINDS)


def test_every_relationship_and_property_is_among_the_words_of_the_schema() -> None:
    found = {one.name: one for one in labels()}
    assert "(:Op)-[:ON_PART]->(:Use)" in found["Op"].patterns
    assert ("t_start", "ns") in found["Op"].properties
