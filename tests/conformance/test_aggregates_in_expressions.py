"""Aggregates within expressions, in random texts: rows are what Python works out by the rules of Cypher.

ArcadeDB by itself gives a row for each row that is counted where a condition, a function within a map or a
key of ORDER BY has an aggregate, and null as the standard deviation of nothing.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import sample

Row = dict[str, Any]
Of = Callable[[list[Row]], Any]
ROWS: list[Row] = [
    {"k": "abc"[n % 3], "n": n * 7 % 5, "w": None if n % 4 == 1 or n % 3 == 2 else n * 0.5} for n in range(17)
]
TEXTS = 150


def column(rows: list[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


NUMBERS: dict[str, Of] = {
    "count(*)": len,
    "count(r.w)": lambda rows: len(column(rows, "w")),
    "count(DISTINCT r.n)": lambda rows: len({row["n"] for row in rows}),
    "sum(r.n)": lambda rows: sum(column(rows, "n")),
    "sum(r.n * 2 + 1)": lambda rows: sum(2 * n + 1 for n in column(rows, "n")),
    "max(r.w)": lambda rows: max(column(rows, "w"), default=None),
    "min(r.n)": lambda rows: min(column(rows, "n"), default=None),
    "size(collect(r.w))": lambda rows: len(column(rows, "w")),
    "stDev(r.w)": lambda rows: statistics.stdev(column(rows, "w")) if len(column(rows, "w")) > 1 else 0.0,
    "stDevP(r.n)": lambda rows: statistics.pstdev(column(rows, "n")) if rows else 0.0,
    "reduce(s = 0, x IN collect(r.n) | s + x)": lambda rows: sum(column(rows, "n")),
    "3": lambda _: 3,
}


def of_both(first: Of, second: Of, work: Callable[[Any, Any], Any]) -> Of:
    def worked_out(rows: list[Row]) -> Any:
        a, b = first(rows), second(rows)
        return None if a is None or b is None else work(a, b)

    return worked_out


def number(dice: random.Random, depth: int) -> tuple[str, Of]:
    if depth == 0 or dice.random() < 0.4:
        text = dice.choice(list(NUMBERS))
        return text, NUMBERS[text]
    (a, of_a), (b, of_b) = number(dice, depth - 1), number(dice, depth - 1)
    kind = dice.randrange(4)
    if kind == 0:
        return f"coalesce({a}, {b})", lambda rows: of_b(rows) if of_a(rows) is None else of_a(rows)
    if kind == 1:
        truth, is_true = condition(dice, depth - 1)
        return f"CASE WHEN {truth} THEN {a} ELSE {b} END", (
            lambda rows: of_a(rows) if is_true(rows) else of_b(rows)
        )
    mark, work = [("+", lambda x, y: x + y), ("*", lambda x, y: x * y)][kind - 2]
    return f"({a} {mark} {b})", of_both(of_a, of_b, work)


def condition(dice: random.Random, depth: int) -> tuple[str, Of]:
    """A condition, which may be null."""
    kind = dice.randrange(6) if depth else dice.randrange(3)
    a, of_a = number(dice, max(0, depth - 1))
    if kind == 0:
        b, of_b = number(dice, max(0, depth - 1))
        return f"{a} > {b}", of_both(of_a, of_b, lambda x, y: x > y)
    if kind == 1:
        return f"{a} IS NULL", lambda rows: of_a(rows) is None
    if kind == 2:
        return f"{a} IN [1, 5, 17]", of_both(of_a, lambda _: [1, 5, 17], lambda x, some: x in some)
    c, of_c = condition(dice, depth - 1)
    if kind == 3:
        return f"NOT ({c})", lambda rows: None if of_c(rows) is None else not of_c(rows)
    d, of_d = condition(dice, depth - 1)
    decides = kind == 5  # what makes an OR true, and an AND false

    def joined(rows: list[Row]) -> Any:
        found = of_c(rows), of_d(rows)
        return decides if decides in found else None if None in found else not decides

    return f"(({c}) {'OR' if decides else 'AND'} ({d}))", joined


def expression(dice: random.Random) -> tuple[str, Of]:
    text, of = (condition if dice.random() < 0.6 else number)(dice, 2)
    shape = dice.randrange(4)
    if shape == 0:
        return f"{{a: {text}, b: [count(*), {text}]}}", lambda rows: {
            "a": of(rows),
            "b": [len(rows), of(rows)],
        }
    if shape == 1:
        return "{a: toString(sum(r.n))}", lambda rows: {"a": str(sum(column(rows, "n")))}
    return text, of


def texts() -> Iterator[tuple[str, list[list[Any]]]]:
    """Texts with the rows that they must have."""
    dice = random.Random(4)
    for _ in range(TEXTS):
        text, of = expression(dice)
        most = dice.choice((-1, 3, 100))
        word = dice.choice(("RETURN", "WITH"))
        begin = f"UNWIND $rows AS r WITH r WHERE r.n < {most} {word} "
        end = " RETURN x" if word == "WITH" else ""
        chosen = [row for row in ROWS if row["n"] < most]
        if dice.random() < 0.5:
            yield f"{begin}{text} AS x{end}", [[of(chosen)]]
            continue
        groups = {k: [row for row in chosen if row["k"] == k] for k in sorted({row["k"] for row in chosen})}
        order = sorted(groups, key=lambda k: (-len(groups[k]), k))
        end = " RETURN k, x" if word == "WITH" else ""
        yield (
            f"{begin}r.k AS k, {text} AS x ORDER BY -count(*), r.k{end}",
            [[k, of(groups[k])] for k in order],
        )


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    with open_store("memory:") as made:
        made.keep(*sample(id="a"))
        yield made


def test_random_texts_have_the_rows_of_cypher(store: GraphStore) -> None:
    for text, expected in texts():
        found = [list(row) for row in store.query(text, {"rows": ROWS}, run="a").rows]
        assert len(found) == len(expected), text
        assert found == [[_near(value) for value in row] for row in expected], text


def _near(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _near(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_near(item) for item in value]
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


SENT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) "
SAID = {
    "RETURN count(*) > 1": (["count(*) > 1"], [(True,)]),
    "RETURN t, count(*) > 1 AS x ORDER BY t.number DESC SKIP 1": (["t", "x"], None),
    "RETURN t.number AS n, {n: t.number, c: count(*)} AS m ORDER BY n": (
        ["n", "m"],
        [(0, {"n": 0, "c": 1}), (1, {"n": 1, "c": 1})],
    ),
    "RETURN DISTINCT count(*) > 1 AS x": (["x"], [(True,)]),
    "CALL (t) { MATCH (t)-[h:HOP]->() RETURN count(h) > 3 AS many } RETURN count(*) = 2 AS x, many": (
        ["x", "many"],
        [(True, True)],
    ),
    "RETURN COUNT { MATCH (a:Run) RETURN a } AS n": (["n"], [(1,), (1,)]),
}


@pytest.mark.parametrize("text", SAID)
def test_columns_and_scopes_are_as_written(store: GraphStore, text: str) -> None:
    columns, rows = SAID[text]
    found = store.query(SENT + text, run="a")
    assert found.columns == columns
    assert len(found.rows) == 1 if rows is None else found.rows == rows


def test_what_cannot_be_written_otherwise_is_refused(store: GraphStore) -> None:
    with pytest.raises(QueryError, match="name the columns that"):
        store.query(f"{SENT} RETURN *, count(*) > 1 AS x", run="a")
    with pytest.raises(QueryError, match="beside 't', by which rows are not grouped"):
        store.query(f"{SENT} RETURN t.number + count(*) > 1 AS x", run="a")
    for items in ("t.bytes + 1 AS y, t.bytes + 1 + count(*) AS x", "[n IN [1, 2] | n + count(*)] AS x"):
        for clause in (f"RETURN {items}", f"WITH {items} RETURN x"):
            with pytest.raises(QueryError, match="has an aggregate "):
                store.query(SENT + clause, run="a")
