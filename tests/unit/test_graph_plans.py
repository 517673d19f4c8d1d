"""What asks for a plan, and the plans that engines print."""

from __future__ import annotations

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.query.plans import as_text, asked_for_plan
from kernbench_graph.stores.arcade.messages import plan_of


def test_a_plan_is_its_lines() -> None:
    found = as_text("\nPlan  \n\n  + MATCH (t)\n")
    assert (found.columns, found.rows) == (["plan"], [("Plan",), ("",), ("  + MATCH (t)",)])


def test_a_plan_that_cannot_be_made_is_an_error() -> None:
    text = "Execution Plan:\n+ UNION (2 queries)\n  Execution plan not available: LIMIT is negative\n"
    with pytest.raises(QueryError, match=r"^the query is not valid here: LIMIT is negative$"):
        plan_of(["executionPlan", "executionPlanAsString"], [[None, text]])
    assert plan_of(["executionPlanAsString"], [[None]]) == plan_of([], []) == ""


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("/* x */ explain // y\n MATCH (n) RETURN n", "EXPLAIN", "MATCH (n) RETURN n"),
        ("PROFILE", "PROFILE", ""),
        ("`EXPLAIN` MATCH (n) RETURN n", "", "`EXPLAIN` MATCH (n) RETURN n"),
        ("EXPLAIN PROFILE RETURN 1", "EXPLAIN", "PROFILE RETURN 1"),
        ("", "", ""),
    ],
)
def test_the_word_that_asks_for_a_plan(text: str, word: str, rest: str) -> None:
    assert asked_for_plan(text) == (word, rest)
