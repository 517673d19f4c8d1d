"""Loading the question library: what is wrong is said with the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from kernbench_graph.errors import QueryError
from kernbench_graph.query.library import ask, find_question, load_library
from kernbench_graph.query.question import Question
from kernbench_graph.result import Result

QUERIES = Path(__file__).parents[2] / "queries"
GOOD: dict[str, Any] = {
    "name": "topic/name",
    "title": "What is there to see?",
    "scope": "run",
    "params": {"limit": {"type": "int", "default": 3, "help": "Rows at most."}},
    "returns": [{"name": "id", "type": "string"}],
    "cypher": "MATCH (r:Run {id: $run}) RETURN r.id AS id ORDER BY id LIMIT $limit",
}


def load(tmp_path: Path, content: dict[str, Any] | str) -> Question:
    path = tmp_path / "topic" / "name.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_library(tmp_path)["topic/name"]


def test_a_good_question(tmp_path: Path) -> None:
    question = load(tmp_path, GOOD | {"cypher_other": GOOD["cypher"] + " // other"})
    assert question.text("ladybug") == GOOD["cypher"]
    assert question.text("other").endswith("// other")
    assert question.bind({"limit": "7"}) == {"limit": 7}
    assert question.bind({"limit": None}) == question.bind({}) == {"limit": 3}


def test_shared_parameters_are_written_by_name(tmp_path: Path) -> None:
    """The default is the file's where it says one."""
    window = "$kind = $launch AND $from_ns < $to_ns"
    text = f"MATCH (r:Run {{id: $run}}) WHERE {window} RETURN r.id AS id LIMIT $limit"
    params = {"transaction_kind": None, "window": None, "limit": 7}
    question = load(tmp_path, GOOD | {"cypher": text, "params": params})
    values = {"kind": "", "launch": "all", "from_ns": 0.0, "to_ns": -1.0, "limit": 7}
    assert question.bind({}) == values
    assert question.params["kind"].refers == "transaction_kind"
    with pytest.raises(QueryError, match="'limit' is -1, but must be of type int, 0 or more"):
        question.bind({"limit": -1})
    assert load(tmp_path, GOOD | {"params": {"limit": None}}).bind({}) == {"limit": 20}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "topic/other"}, "the file's place makes it 'topic/name'"),
        ({"name": "Topic"}, "not of the form topic/name"),
        ({"title": "short"}, "title: "),
        ({"scope": "all"}, "scope: "),
        ({"colour": 1}, "colour: "),
        ({"returns": []}, "returns: "),
        ({"returns": [{"name": "id", "type": "text"}]}, r"returns\.0\.type: "),
        ({"returns": [{"name": "id", "type": "string"}] * 2}, "names a column twice"),
        ({"params": {}}, "declared are"),
        ({"params": {"limit": {"type": "int", "help": "many", "default": "three"}}}, "not of type int"),
        ({"params": {"limit": {"type": "int"}}}, r"params\.limit\.help: "),
        ({"params": {"limit": "many"}}, r"params\.limit: .*'many' is not of type int"),
        ({"params": {"limits": 5}}, "params: .*'limits' has no type and help, and is not shared: window, "),
        (
            {"params": {"limit": {"type": "int", "help": "many", "default": 3, "minimum": 4}}},
            "less than the minimum",
        ),
        ({"params": {"limit": {"type": "string", "help": "many", "minimum": 4}}}, "a minimum is for numbers"),
        ({"params": {"run": {"type": "int", "help": "many"}}, "cypher": "RETURN $run AS id"}, "another name"),
        ({"cypher": "MATCH (r) DELETE r RETURN $limit AS id"}, "only read"),
        ({"cypher_other": "CREATE (:Run {id: $limit})"}, "cypher_other: queries only read"),
        ({"cypher": "RETURN 'open"}, "close the string"),
        ({"cypher": "MATCH (r:Run) RETURN r.id AS id LIMIT $limit"}, "start from \\(:Run"),
        ({"scope": "history"}, "start from \\(:Run"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        load(tmp_path, GOOD | change)
    assert "topic/name.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["name: [", "- a\n- b", "", "\tx"])
def test_what_is_not_a_question_at_all(tmp_path: Path, text: str) -> None:
    with pytest.raises(QueryError, match=r"name\.yaml:(\d: bad YAML| is not a mapping)"):
        load(tmp_path, text)


def test_finding_by_name() -> None:
    library = load_library(QUERIES)
    assert list(library) == sorted(library)
    assert find_question(library, "routing/path") is find_question(library, "path")
    with pytest.raises(QueryError, match=f"no question 'nothing'; .*--list.* {len(library)}, of .*routing"):
        find_question(library, "nothing")
    with pytest.raises(QueryError, match="with --cypher"):
        find_question(library, "MATCH (r:Run) RETURN r")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("bottleneck/busiest-link", "bottleneck/busiest-links"),
        ("buisiest-links", "bottleneck/busiest-links"),
        ("busiest", "bottleneck/busiest-links or bottleneck/busiest-engines"),
        ("waits by resource", "contention/waits-by-resource"),
        ("Routing/Path", "routing/path"),
    ],
)
def test_what_was_meant(typed: str, meant: str) -> None:
    library = load_library(QUERIES)
    with pytest.raises(QueryError, match=f"no question '{typed}'; did you mean .*{meant}"):
        find_question(library, typed)


def test_a_last_part_that_several_have() -> None:
    library = load_library(QUERIES)
    path = library["routing/path"]
    with pytest.raises(QueryError, match=r"did you mean routing/path or other/path\?"):
        find_question(library | {"other/path": path}, "path")


class Answering:
    """A store that gives one answer to everything."""

    engines = ("arcadedb", "ladybug")

    def __init__(self, result: Result) -> None:
        self.result = result

    def query(self, *_: Any, proved: bool) -> Result:
        assert not proved
        return self.result


def test_answers_must_be_as_declared(tmp_path: Path) -> None:
    question = load(tmp_path, GOOD)

    def answer(result: Result) -> Result:
        return ask(Answering(result), question)  # type: ignore[arg-type]

    assert answer(Result(["id"], [("a",), (None,)])).dicts() == [{"id": "a"}, {"id": None}]
    with pytest.raises(QueryError, match=r"returned columns \['x'\], but declares \['id'\]"):
        answer(Result(["x"], []))
    with pytest.raises(QueryError, match="returned 3 as 'id', but declares string"):
        answer(Result(["id"], [("a",), (3,)]))


def test_a_parameter_of_a_kind_is_checked_against_those_that_there_are() -> None:
    """A kind with a typo would have no rows, and no word why."""
    for question in load_library(QUERIES).values():
        for name, parameter in question.params.items():
            if parameter.type == "string" and name.endswith(("kind", "link", "component", "resource", "tag")):
                assert parameter.refers or parameter.choices, (question.name, name)


def test_no_line_of_a_question_is_longer_than_a_line_of_code() -> None:
    """Texts are read in files, on pages and in terminals."""
    long = [
        f"{path.relative_to(QUERIES)}:{number}"
        for path in sorted(QUERIES.glob("**/*.yaml"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 110
    ]
    assert not long


def test_a_part_has_another_form_where_a_window_is_cut(tmp_path: Path) -> None:
    parts = {"use": "MATCH (r)\n", "use_within": "MATCH (r) WHERE $from_ns < $to_ns OR $to_ns < 0.0\n"}
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(parts))
    time = {name: {"type": "float", "help": "Time.", "default": -1.0} for name in ("from_ns", "to_ns")}
    text = GOOD["cypher"].replace(" RETURN", "\n{{use}}\nRETURN")
    question = load(tmp_path, GOOD | {"cypher": text, "params": GOOD["params"] | time})
    assert question.text("ladybug", {"from_ns": 0.0, "to_ns": -1.0}).splitlines()[1] == "MATCH (r)"
    assert question.text("neo4j", {"to_ns": 3.0}).splitlines()[1] == parts["use_within"].strip()
