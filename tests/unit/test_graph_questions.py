"""Loading the question library: what is wrong is said with the file's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from kernbench_graph.errors import QueryError
from kernbench_graph.query.library import ask, exact_sum, find_question, load_library
from kernbench_graph.query.question import Question
from kernbench_graph.store import Result

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
    with pytest.raises(QueryError, match=r"name\.yaml: (cannot be read as YAML|is not a mapping)"):
        load(tmp_path, text)


def test_finding_by_name() -> None:
    library = load_library(QUERIES)
    assert list(library) == sorted(library)
    assert find_question(library, "routing/path") is find_question(library, "path")
    with pytest.raises(QueryError, match=f"no question 'nothing'; there are {next(iter(library))}, "):
        find_question(library, "nothing")


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


WHOLE = {
    "f.hits", "f.misses", "f.conflicts", "hits", "misses", "conflicts", "row_fs", "refresh_fs",
    "s.energy_fj", "pes", "beside", "of_sip",
    "number", "within", "CASE within WHEN 1 THEN bytes ELSE 0 END", "moved", "payload", "fs", "within_fs",
    "t.bytes", "h.bytes", "a.bytes", "b.bytes",
    "at.steps", "d.bytes", "u.bytes", "transactions", "bytes",
    "CASE WHEN k.t_from < start THEN k.bytes ELSE 0 END", "CASE WHEN x.since < t0 THEN x.bytes ELSE 0 END",
    "CASE WHEN y.level > x.level OR (y.level = x.level AND y.place <= x.place) THEN 1 ELSE 0 END",
    "blocks", "times", "first_there", "then_there", "(then_there - first_there) * fs", "part.side * h.fs",
    "size * times",
    "size * (times - 1)", "same", "(then_there - first_there) * floor((o.t_end - o.t_start) * 1e6 + 0.5)",
    "CASE WHEN b.ns <= a.ns AND b.price <= a.price AND (b.ns < a.ns OR b.price < a.price) THEN 1 ELSE 0 END",
    "CASE WHEN other.nth < part.nth THEN other.taken ELSE 0 END",
    "CASE WHEN c.kind <> 'pe_scheduler' THEN 1 ELSE 0 END",
    "CASE WHEN u.resource = m.resource THEN a.bytes ELSE 0 END", "ops", "size",
    "CASE WHEN one.stage = longest THEN 0 ELSE one.ops END",
    "ceil(1.0 * t.bytes / c.burst_bytes) * c.burst_bytes", "asked", "done",
    "CASE WHEN x.cause = 'queue' THEN 1 ELSE 0 END", "waits", "strided", "needed",
    "ceil(1.0 * s.bytes / c.burst_bytes) * c.burst_bytes", "CASE WHEN stage = 'product' THEN ops ELSE 0 END",
    "CASE WHEN one.stage = 'compute' THEN 1 ELSE 0 END",
    "CASE WHEN u.dtype IN ['f16', 'bf16'] THEN 0 ELSE 1 END",
}  # fmt: skip
"""What the library adds up that is whole: counts, bytes, multiplications, femtoseconds that a sum gave."""
OF_TWO = {
    "side * busy", "side * waited", "side * moved",
    "CASE WHEN x.id = r.id THEN u.busy_ns ELSE -u.busy_ns END",
    "CASE WHEN x.id = r.id THEN u.wait_ns ELSE -u.wait_ns END",
}  # fmt: skip
"""What it adds up of two runs, one value each: there is but one sum of two."""


def test_sums_do_not_depend_on_the_order_of_rows() -> None:
    """Whole numbers alone have the same sum in any order; others are split into such, or rounded to them."""
    for question in load_library(QUERIES).values():
        for text in (question.text("ladybug"), question.text("neo4j")):
            flat = " ".join(text.split())
            for exact in re.findall(r"sum\(floor\((\S+|\([^()]*\)) \* 4194304\.0\)\)", flat):
                flat = flat.replace(exact_sum(exact.strip("()")), "exact")
            flat = flat.replace("reduce(text = ''", "joined(")
            assert not re.search(r"\b(avg|stdev\w*|reduce|percentileCont)\(", flat, re.I), question.name
            for start in (found.end() for found in re.finditer(r"\bsum\(", flat)):
                depth, end = 1, start
                while depth:
                    depth += {"(": 1, ")": -1}.get(flat[end], 0)
                    end += 1
                added = flat[start : end - 1]
                unit = "1e3" if "distance_mm" in added or "product" in added else "1e6"  # bytes mm are many
                rounded = re.fullmatch(rf"floor\(.* \* {unit} \+ 0\.5\)", added)
                stretches = "s.t_to" in added or added == "b - a"  # of a window: the last bit changes nothing
                assert rounded or stretches or added in WHOLE | OF_TWO, (question.name, added)


def test_a_parameter_of_a_kind_is_checked_against_those_that_there_are() -> None:
    """A kind with a typo would have no rows, and no word why."""
    for question in load_library(QUERIES).values():
        for name, parameter in question.params.items():
            if parameter.type == "string" and name.endswith(("kind", "link", "component", "resource", "tag")):
                assert parameter.refers or parameter.choices, (question.name, name)
