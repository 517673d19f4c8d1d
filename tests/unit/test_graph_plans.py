"""The plans that engines print and draw, as rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernbench_graph.errors import QueryError
from kernbench_graph.query.plans import PLAN_COLUMNS, asked_for_plan
from kernbench_graph.stores.arcade.plan import plan_result, plan_rows
from kernbench_graph.stores.embedded import plan as drawn

HEAD = "OpenCypher Native Execution Plan\n=================================\n\n"
COSTED = f"""{HEAD}Using Cost-Based Query Optimizer

Physical Plan:
+ Filter [predicate=a.number = b.bytes, cost=896.00, rows=76]
  + ValueHashJoin [on=a.number = b.bytes] [compact buffer] [cost=819.50, rows=153]
    + NodeByLabelScan(a:Transaction) [filter: a.kind = 'x [cost=1.00, rows=2]'] [cost=153.00, rows=153]
    + ExpandInto(b)-[:HOP]->(a) [cost=118.00, rows=1.5E3] ⭐ BOUND-TARGET

Total Estimated Cost: 896.00
Total Estimated Rows: 76

Steps After the Optimized Match:
+ GROUP BY AGGREGATION [u.resource] COUNT(h)
OrderByStep
+ LIMIT 3
"""
IN_STEPS = f"""{HEAD}Using Traditional Execution (Non-Optimized)

Reason: Query pattern not yet supported by optimizer

Execution Plan:
+ MATCH NODE (a:Transaction)
+ OPTIONAL MATCH (variables: b)
    + MATCH NODE (a)
+ FILTER WHERE NOT a.kind = 'x
y'
+ PROJECT RETURN DISTINCT N
"""
UNION = f"""{HEAD}Using Per-Branch Planning (UNION)

Reason: each on its own

Execution Plan:
+ UNION ALL (2 queries)
  Branch 1:
  Execution Plan:
  + OPTIMIZED MATCH (physical operators)
  Physical Plan:
  -------------
  Anchor: AnchorSelection{{variable='t'}}
{"  "}
  Operator Tree:
  + Filter [predicate=t.x > 1, cost=3.00, rows=1]
    + NodeByLabelScan(t:Transaction) [cost=2.00, rows=2]
{"  "}
  Estimated Cost: 3.00
  Estimated Rows: 1
{"  "}
  + LIMIT 3
  Branch 2:
  Execution Plan:
  + MATCH NODE (u:Use)
  OrderByStep
"""
COUNTED = f"""{HEAD}Using Count Push-Down

Execution Plan:
+ TYPE COUNT OPTIMIZATION (Transaction)

Using Cost-Based Query Optimizer (superseded by the count push-down above)

Physical Plan:
+ NodeByLabelScan(t:Transaction) [cost=153.00, rows=153]
"""
REPLACED = f"""{HEAD}Using Cost-Based Query Optimizer

Physical Plan:
+ NodeByLabelScan(r:Run) [cost=1.00, rows=1]

Total Estimated Cost: 1.00
Total Estimated Rows: 1

Steps Run Instead of the Physical Plan Above:
+ MATCH NODE (r:Run)
+ COUNT EDGES RETURN (r OUT [USED] -> n)
"""


def test_operators_and_the_steps_after_them_are_one_sequence() -> None:
    assert plan_rows(COSTED) == (
        ["the plan: Using Cost-Based Query Optimizer"],
        [
            (0, "LIMIT", "3", None),
            (1, "OrderBy", "", None),
            (2, "GROUP BY AGGREGATION", "[u.resource] COUNT(h)", None),
            (3, "Filter", "[predicate=a.number = b.bytes, cost=896.00]", 76.0),
            (4, "ValueHashJoin", "[on=a.number = b.bytes] [compact buffer] [cost=819.50]", 153.0),
            (5, "NodeByLabelScan",
             "(a:Transaction) [filter: a.kind = 'x [cost=1.00, rows=2]'] [cost=153.00]", 153.0),
            (5, "ExpandInto", "(b)-[:HOP]->(a) [cost=118.00] ⭐ BOUND-TARGET", 1500.0),
        ],
    )  # fmt: skip


def test_steps_hold_steps_and_texts_go_on() -> None:
    assert plan_rows(IN_STEPS) == (
        ["the plan: Using Traditional Execution (Non-Optimized); "
         "Reason: Query pattern not yet supported by optimizer"],
        [
            (0, "PROJECT RETURN DISTINCT", "N", None),
            (1, "FILTER WHERE", "NOT a.kind = 'x y'", None),
            (2, "OPTIONAL MATCH", "(variables: b)", None),
            (3, "MATCH NODE", "(a)", None),
            (3, "MATCH NODE", "(a:Transaction)", None),
        ],
    )  # fmt: skip


def test_branches_of_a_union_stand_side_by_side() -> None:
    notes, rows = plan_rows(UNION)
    assert notes == ["the plan: Using Per-Branch Planning (UNION); Reason: each on its own"]
    assert rows == [
        (0, "UNION ALL", "(2 queries)", None),
        (1, "Branch 1", "", None),
        (2, "LIMIT", "3", None),
        (3, "OPTIMIZED MATCH", "(physical operators) Anchor: AnchorSelection{variable='t'}", None),
        (4, "Filter", "[predicate=t.x > 1, cost=3.00]", 1.0),
        (5, "NodeByLabelScan", "(t:Transaction) [cost=2.00]", 2.0),
        (1, "Branch 2", "", None),
        (2, "OrderBy", "", None),
        (3, "MATCH NODE", "(u:Use)", None),
    ]


def test_what_is_not_run_is_not_shown() -> None:
    assert plan_rows(COUNTED)[1] == [(0, "TYPE COUNT OPTIMIZATION", "(Transaction)", None)]
    assert plan_rows(REPLACED)[1] == [
        (0, "COUNT EDGES RETURN", "(r OUT [USED] -> n)", None),
        (1, "MATCH NODE", "(r:Run)", None),
    ]


def test_a_plan_that_cannot_be_made_is_an_error() -> None:
    text = f"{HEAD}Execution Plan:\n+ UNION (2 queries)\n  Execution plan not available: LIMIT is negative\n"
    with pytest.raises(QueryError, match=r"^the query is not valid here: LIMIT is negative$"):
        plan_result(["executionPlan", "executionPlanAsString"], [[None, text]])


def test_no_plan_is_no_row() -> None:
    assert plan_result([], []).rows == []
    assert plan_result(["executionPlanAsString"], [[None]]).rows == []


@given(st.lists(st.sampled_from([*COSTED.split("\n"), *IN_STEPS.split("\n"), *UNION.split("\n"), "Branch 7:"])
                | st.text(st.characters(exclude_characters="\n"), max_size=20)))  # fmt: skip
def test_no_text_is_too_strange(lines: list[str]) -> None:
    notes, rows = plan_rows("\n".join(lines))
    assert all(row[0] >= 0 for row in rows)
    shown = " ".join([*notes, *(f"{operator} {details}" for _, operator, details, _ in rows)])
    if not any("superseded" in line or "Instead" in line for line in lines):
        for line in lines:
            if line.strip().startswith("+ ") and "cost=" not in line:
                assert " ".join(line.strip()[2:].split()) in " ".join(shown.split()), line


DRAWING = """\
┌─────────────────────────┐
│┌───────────────────────┐│
││     Logical Plan      ││
│└───────────────────────┘│
└─────────────────────────┘
┌─────────────────────────┐
│      PROJECTION[3]      │
│   -------------------   │
│   Cardinality: 1490     │
└────────────┬────────────┘
┌────────────┴────────────┐
│        HASH_JOIN        │
│   -------------------   │
│   -------------------   │────────────┬───────────────────────────┐
│   Cardinality: 1490     │            │                           │
└────────────┬────────────┘            │                           │
┌────────────┴────────────┐ ┌──────────┴──────────────┐ ┌──────────┴──────────────┐
│         EXTEND          │ │     SCAN_NODE_TABLE     │ │    RESULT_COLLECTOR     │
│   -------------------   │ │   -------------------   │ │   -------------------   │
│      (t)-[h]->(u)       │ │      Tables: u._ID      │ │       Order By: r       │
│   -------------------   │ │      Properties :r      │ │     Expressions: r      │
│   Cardinality: 1490     │ │           u.id          │ │            n            │
│                         │ │   -------------------   │ │   -------------------   │
│                         │ │    Cardinality: 118     │ │    Cardinality: 2.5     │
└────────────┬────────────┘ └─────────────────────────┘ └────────────┬────────────┘
┌────────────┴────────────┐                             ┌────────────┴────────────┐
│     SCAN_NODE_TABLE     │                             │       DUMMY_SCAN        │
│   -------------------   │                             │   -------------------   │
│     Tables: t._ID       │                             │   -------------------   │
│     Properties :        │                             │     Cardinality: 1      │
│   -------------------   │                             │                         │
│    Cardinality: 153     │                             │                         │
└─────────────────────────┘                             └─────────────────────────┘
"""


def test_boxes_are_rows() -> None:
    found = drawn.plan_result("EXPLAIN", DRAWING)
    assert found.columns == list(PLAN_COLUMNS)
    assert found.rows == [
        (0, "PROJECTION", "", 1490.0),
        (1, "HASH_JOIN", "", 1490.0),
        (2, "EXTEND", "(t)-[h]->(u)", 1490.0),
        (3, "SCAN_NODE_TABLE", "Tables: t._ID", 153.0),
        (2, "SCAN_NODE_TABLE", "Tables: u._ID; Properties: r, u.id", 118.0),
        (2, "RESULT_COLLECTOR", "Order By: r; Expressions: r, n", 2.5),
        (3, "DUMMY_SCAN", "", 1.0),
    ]


@given(
    st.text("┌─┴┬┐│└┘- \nAB:1.", max_size=200)
    | st.permutations(DRAWING.split("\n")).map(lambda lines: "\n".join(lines))
)
def test_no_drawing_is_too_strange(drawing: str) -> None:
    for word in ("EXPLAIN", "PROFILE"):
        found = drawn.plan_result(word, drawing)
        assert all(len(row) == len(found.columns) for row in found.rows)


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
