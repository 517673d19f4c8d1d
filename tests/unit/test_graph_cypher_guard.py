"""The fence in front of the engines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernbench_graph.errors import QueryError, ReadOnlyError
from kernbench_graph.query.guard import check_read_only, parameter_names, words
from kernbench_graph.query.limits import DEEPEST, LONGEST, MOST_CLAUSES, MOST_OPERATORS
from kernbench_graph.query.names import refuse_dates

GAPS = st.sampled_from([" ", "\n", "\t", "/* x */", " // x\n", "\r\n"])


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n:Run) RETURN n.id AS id",
        "  // first\n match (n) return n ;  ",
        "RETURN 'CREATE (n) SET x' AS text, \"it's; DELETE\" AS other",
        "RETURN 'it\\'s; DROP' AS x",
        "MATCH (n) RETURN n.set AS `delete`, n.call AS `load`",
        "MATCH (n) WITH n.x AS load, count(*) AS call WHERE load > 1 RETURN load, call ORDER BY load, call",
        "MATCH (n:Load)-[:COPY]->(m: Set) RETURN n",
        "RETURN $create AS x",
        "RETURN 1 /* ; DROP TABLE x */ AS x",
        "OPTIONAL MATCH (n) RETURN n",
        "WITH 1 AS x UNWIND [1, 2] AS y RETURN x, y",
        "MATCH (n) WHERE n.settled AND n.created RETURN n",
        "CALL { MATCH (r:Run) RETURN r } RETURN count(r) AS n",
        "CALL () { MATCH (r:Run) RETURN r } RETURN count(r) AS n",
    ],
)
def test_readers_pass(cypher: str) -> None:
    assert check_read_only(cypher) == cypher.rstrip().rstrip(";").rstrip()


@given(
    word=st.sampled_from(["CREATE", "sEt", "delete", "LOAD", "Copy", "MERGE", "ATTACH", "install"]),
    before=GAPS,
    after=GAPS,
    start=st.sampled_from(
        ["MATCH (n)", "RETURN 1", "WITH 1 AS x", "MATCH (n) RETURN 'a'", "RETURN $p", "RETURN `x`"]
    ),
)
def test_others_do_not_however_they_are_spaced(word: str, before: str, after: str, start: str) -> None:
    with pytest.raises(ReadOnlyError):
        check_read_only(f"{start}{before}{word}{after}(m)")
    with pytest.raises(ReadOnlyError):
        check_read_only(f"CALL {{ {start}{before}{word}{after}(m) }} RETURN 1")
    with pytest.raises(ReadOnlyError):
        check_read_only(f"{word}{after}(m)")


CALLS = [
    "CALL db.labels() YIELD label RETURN label",
    "MATCH (n) CALL threads=1 RETURN n",
    "CALL (n) { DELETE n } RETURN 1",
    "MATCH (n) CALL { WITH n DELETE n } RETURN 1",
]


@pytest.mark.parametrize("text", CALLS)
def test_procedures_are_not_called_and_subqueries_do_not_write(text: str) -> None:
    with pytest.raises(ReadOnlyError):
        check_read_only(text)


@pytest.mark.parametrize("begin", ["CALL (n) {", "call { WITH n"])
def test_subqueries_may_be_called(begin: str) -> None:
    text = f"MATCH (n:Run) {begin} RETURN n.id AS id }} RETURN id"
    assert check_read_only(text) == text


TOUCHING = ["1", "$1", "1.5", "'a'", "`a`", "1e5", "(1)", "[1]", "{a: 1}", "(", "[", "|"]


@pytest.mark.parametrize("text", [f"RETURN {value}CREATE (n)" for value in TOUCHING])
def test_words_that_touch_something_are_seen(text: str) -> None:
    with pytest.raises(ReadOnlyError):
        check_read_only(text)


@pytest.mark.parametrize(
    "text",
    ["RETURN 1; RETURN 2", "RETURN 1;;RETURN 2", ";RETURN 1", "MATCH (n) RETURN n; MATCH (n) RETURN n"],
)
def test_one_statement_only(text: str) -> None:
    with pytest.raises(ReadOnlyError, match="one statement"):
        check_read_only(text)


@pytest.mark.parametrize("text", ["RETURN 'x", 'RETURN "x', "RETURN `x", "RETURN 1 /* x", "", " ", "// x"])
def test_text_that_cannot_be_read(text: str) -> None:
    with pytest.raises(QueryError):
        check_read_only(text)


@given(st.text("MATCHRETURN ()'\"`;/*\\$n1.:\n{}[]=-><", max_size=40))
def test_any_text_is_accepted_or_refused_by_name(text: str) -> None:
    try:
        passed = check_read_only(text)
    except QueryError as error:
        passed = str(error)
    assert passed == text.rstrip().rstrip(";").rstrip() or ";" in text or "\n" not in passed


def test_names() -> None:
    text = "MATCH (a {x: $one}) WHERE a.y = '$two' AND a.z = $three // $four\n RETURN $one, `USED`"
    assert parameter_names(text) == ["one", "three"]
    assert "USED" in words(text)
    assert "two" not in words(text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("RETURN " + "(" * 3000 + "1" + ")" * 3000 + " AS x", f"more than {DEEPEST} deep at character 58;"),
        ("RETURN " + "[" * 51 + "1" + "]" * 51 + " AS x", f"more than {DEEPEST} deep"),
        ("RETURN " + "{a: [" * 26 + "1" + "]}" * 26 + " AS x", f"more than {DEEPEST} deep"),
        ("RETURN " + "abs(" * 51 + "1" + ")" * 51 + " AS x", f"more than {DEEPEST} deep"),
        ("RETURN " + "case when true then " * 51 + "1" + " else 0 end" * 51 + " AS x", "deep"),
        ("MATCH (a) WHERE " + "EXISTS { MATCH (a) WHERE " * 51 + "true" + " }" * 51 + " RETURN a", "deep"),
        ("RETURN " + "+".join(["1"] * 20_000) + " AS x", f"40,011 characters, but at most {LONGEST:,}"),
        ("RETURN '" + "a" * LONGEST + "' AS x", f"at most {LONGEST:,}"),
        ("RETURN " + "+".join(["1"] * 202) + " AS x", f"more than {MOST_OPERATORS} operators"),
        ("RETURN " + "NOT " * 201 + "true AS x", f"more than {MOST_OPERATORS} operators"),
        ("RETURN " + " or ".join(["true"] * 202) + " AS x", f"more than {MOST_OPERATORS} operators"),
        ("MATCH (a)" + "-->(b)" * 101 + " RETURN a", f"more than {MOST_OPERATORS} operators"),
        ("WITH 1 AS x " + "WITH x " * 200 + "RETURN x", f"more than {MOST_CLAUSES} clauses"),
    ],
)
def test_a_text_has_a_greatest_length_and_depth(text: str, limit: str) -> None:
    for asked in (text, f"  {text};"):
        with pytest.raises(QueryError, match=re.escape(limit) if asked is text else "the query ") as caught:
            check_read_only(asked)
        message = str(caught.value)
        assert "\n" not in message
        assert len(message) < 200


@pytest.mark.parametrize(
    "text",
    [
        "RETURN " + "(" * DEEPEST + "1" + ")" * DEEPEST + " AS x",
        "RETURN " + "+".join(["1"] * 201) + " AS x",
        "RETURN " + ", ".join(f"1 + {number} AS a{number}" for number in range(500)),
        "RETURN 5 IN [" + ", ".join(["-1"] * 3000) + "] AS x",
        "RETURN [" + ", ".join(["(1)"] * 3000) + "] AS x",
        "RETURN '" + "(" * 10_000 + "' AS x",
    ],
)
def test_what_is_wide_is_not_deep(text: str) -> None:
    assert check_read_only(text) == text


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("MATCH (r:Run) RETURN datetime(r.started_at).year AS y", True),
        ("RETURN DATE() AS d", True),
        ("RETURN duration.between(date('2020-01-01'), date()) AS d", True),
        ("RETURN datetime.truncate('year', $x) AS d", True),
        ("MATCH (time:Run) RETURN time.sim_ns AS date", False),
        ("MATCH (r:Run) WITH r.sim_ns AS duration RETURN duration", False),
        ("MATCH (n:`date`) RETURN 'datetime(x).year' AS t", False),
    ],
)
def test_functions_of_dates_are_refused_in_words(text: str, refused: bool) -> None:
    if not refused:
        refuse_dates(text)
        return
    with pytest.raises(QueryError, match=r"\(\) is refused, for stores differ on dates; times here are"):
        refuse_dates(text)
