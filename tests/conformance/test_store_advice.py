"""What the rules of advice find on every store, against plain Python, in runs that have something to find."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.kept_runs import copy_runs
from tests.advice_pairs import PAIRS
from tests.conformance import generated_runs
from tests.conformance.advice_oracle import ADVICE, Evidence, Rows
from tests.conformance.conftest import NewStore

OTHERS = 3
"""Of the runs that a rule is not for, it is asked in one of so many."""


@cache
def runs() -> tuple[Any, list[kb.Run]]:
    """A store in memory, and a run in it of the worse program of each pair."""
    store = kb.open_store("memory:")
    return store, [
        kb.run(pair.worse, pair.topology, topo=dict(pair.topo), store=store, verify=False) for pair in PAIRS
    ]


@cache
def wanted(number: int, rule: str) -> Rows:
    """What plain Python finds in a run, once for all stores."""
    return ADVICE[rule](evidence(number))


@cache
def evidence(number: int) -> Evidence:
    return Evidence(runs()[1][number])


def same(row: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(
        math.isclose(row[name], value, rel_tol=1e-9, abs_tol=1e-6)
        if isinstance(value, float)
        else row[name] == value
        for name, value in expected.items()
    )


def check(rule: str, rows: Rows, expected: Rows, run: kb.Run) -> None:
    key = [name for name, value in expected[0].items() if isinstance(value, str)] if expected else []
    order = sorted(rows, key=lambda row: [row[name] for name in key])
    wanted = sorted(expected, key=lambda row: [row[name] for name in key])
    assert len(rows) == len(expected), (rule, run.bench, rows, expected)
    for row, one in zip(order, wanted, strict=True):
        assert same(row, one), (rule, run.bench, row, one)
    assert [row["saves_ns"] for row in rows] == sorted((row["saves_ns"] for row in rows), reverse=True)


@pytest.mark.slow
def test_rules_find_what_plain_python_finds(new_store: NewStore, request: pytest.FixtureRequest) -> None:
    """Every rule in its own run and a third of the others; in memory, with the same engine, in its own."""
    source, found = runs()
    hits = dict.fromkeys(ADVICE, 0)
    in_memory = request.node.callspec.params["new_store"] == "memory"
    with new_store() as store:
        copy_runs([run.id for run in found], source, store)
        for number, (run, pair) in enumerate(zip(found, PAIRS, strict=True)):
            own = f"advice/{pair.rule}"
            rules = [
                rule for at, rule in enumerate(ADVICE)
                if rule == own or (not in_memory and (at + number) % OTHERS == 0)
            ]  # fmt: skip
            generated_runs.expected(store, run.id, rules)
            for rule in rules:
                rows = kb.ask(rule, run.id, store, {"limit": 1000}).dicts()
                check(rule, rows, wanted(number, rule), run)
                hits[rule] += bool(rows)
    assert [rule for rule, count in hits.items() if not count] == []
