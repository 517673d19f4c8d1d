"""Rows are folded first and cut then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kernbench.api.folding import ask_folded
from kernbench.support.pgraph import Result

QUESTION = {
    "params": [{"name": "kind", "default": ""}, {"name": "limit", "default": 20}],
    "folds": ["resource"],
    "returns": [{"name": "resource", "type": "string"}, {"name": "ns", "type": "float"}],
}


class Store:
    """Rows of which 128 are alike each, in order; remembers what was asked."""

    def __init__(self, groups: int) -> None:
        self.rows = [(f"pe{n}.{'abcdefghij'[g]}", float(g)) for g in range(groups) for n in range(128)]
        self.limits: list[int] = []

    def ask(self, params: Mapping[str, Any]) -> Result:
        limit = int(params.get("limit", 20))
        self.limits.append(limit)
        return Result(["resource", "ns"], self.rows[:limit], ["a remark"])


def test_as_many_rows_as_were_asked_for_are_left_after_folding() -> None:
    store = Store(10)
    columns, rows, notes = ask_folded(store.ask, {"limit": "3"}, QUESTION)
    assert columns == ["resource", "ns", "count"]
    assert [row[1] for row in rows] == [0.0, 1.0, 2.0]
    assert [row[2] for row in rows[:2]] == [128, 128]
    assert store.limits == [3, 24, 192, 1536]
    assert notes == ["a remark"]


def test_counts_are_of_all_where_there_are_fewer() -> None:
    store = Store(2)
    _, rows, notes = ask_folded(store.ask, {}, QUESTION)
    assert rows == [["pe0.a", 0.0, 128], ["pe0.b", 1.0, 128]]
    assert notes == ["a remark"]
    assert store.limits == [20, 160, 1280]


def test_a_search_that_is_given_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench.api.folding._MOST", 100)
    _, rows, notes = ask_folded(Store(10).ask, {"limit": 4}, QUESTION)
    assert [row[2] for row in rows] == [100]
    assert notes == ["a remark", "rows were folded from the first 100; further rows may fold into these"]


def test_rows_that_are_all_different_are_asked_for_once() -> None:
    asked: list[Mapping[str, Any]] = []

    def ask(params: Mapping[str, Any]) -> Result:
        asked.append(params)
        return Result(["ns"], [(float(n),) for n in range(int(params["limit"]))])

    columns, rows, notes = ask_folded(ask, {"limit": 5}, QUESTION)
    assert (columns, len(rows), notes, asked) == (["ns"], 5, [], [{"limit": 5}])


def test_a_question_without_a_limit_is_asked_once() -> None:
    store = Store(1)
    assert ask_folded(store.ask, {}, {"params": [], "folds": ["resource"]})[1] == [["pe0.a", 0.0, 20]]
    assert store.limits == [20]


def test_rows_that_are_the_answer_are_asked_for_once_and_stay() -> None:
    store = Store(1)
    columns, rows, notes = ask_folded(store.ask, {}, {**QUESTION, "folds": []})
    assert (columns, rows, notes) == (["resource", "ns"], store.rows[:20], ["a remark"])
    assert store.limits == [20]


def test_no_rows_are_wanted() -> None:
    assert ask_folded(Store(2).ask, {"limit": 0}, QUESTION)[1] == []
