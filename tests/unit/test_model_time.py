"""Time of a critical path by nodes and lines of a compiled model."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.analysis.path.model_time import (
    LaunchAt,
    by_model,
    carried_out,
    launch_name,
    nodes_of_lines,
    on_lines_of,
)
from kernbench.analysis.path.path_steps import CriticalPath, Step

LAUNCHES: list[dict[str, Any]] = [
    {"kernel": "addmm", "source": "out.py:3", "t_start": 10.0, "t_done": 30.0, "model_nodes": "linear",
     "model_line": "model.py:7"},
    {"kernel": "gelu_0", "source": "out.py:9", "t_start": 30.0, "t_done": 40.0, "model_nodes": "gelu",
     "model_line": "model.py:7"},
    {"kernel": "addmm", "source": "out.py:3", "t_start": 38.0, "t_done": 39.0},
]  # fmt: skip


def path(*steps: tuple[float, float, str, str]) -> CriticalPath:
    made = [Step(a, b, cause, place, "") for a, b, cause, place in steps]
    return CriticalPath(made[0].t_start, made[-1].t_end, tuple(made))


def test_a_launch_is_called_by_what_it_carries_out() -> None:
    assert [launch_name(one) for one in LAUNCHES] == [
        "addmm (linear at model.py:7)", "gelu_0 (gelu at model.py:7)", "addmm",
    ]  # fmt: skip
    assert (carried_out({"model_line": "model.py:7"}), carried_out({})) == ("model.py:7", "")


def test_of_launches_under_way_the_last_to_begin_counts() -> None:
    at = LaunchAt(LAUNCHES)
    assert [at(time) for time in (9.9, 10, 29.9, 30, 38.5, 39, 40)] == [-1, 0, 0, 1, 2, 1, -1]


def test_rows_name_the_longest_part_and_leave_nothing_out() -> None:
    found = by_model(
        path((0, 10, "host", "cpu"), (10, 14, "link", "b"), (14, 19, "hbm", "a"), (19, 28, "link", "b"),
             (28, 30, "queue", "c"), (30, 38, "compute", "pe"), (38, 39, "link", "c")),
        LAUNCHES,
    )  # fmt: skip
    assert [tuple(row.values()) for row in found] == [
        ("linear", "model.py:7", "addmm", 1, 20, 20 / 39, "link", "b"),
        ("", "", "", 0, 10, 10 / 39, "host", "cpu"),
        ("gelu", "model.py:7", "gelu_0", 1, 8, 8 / 39, "compute", "pe"),
        ("", "", "addmm", 1, 1, 1 / 39, "link", "c"),
    ]


def test_time_is_at_the_files_own_lines_and_else_at_those_of_its_model() -> None:
    steps = tuple(
        Step(a, b, "link", "x", "", line=line)
        for a, b, line in ((0, 12, ""), (12, 20, "out.py:4"), (20, 30, "model.py:2"), (30, 40, "out.py:9"))
    )
    whole = CriticalPath(0.0, 40.0, steps)
    assert on_lines_of("model.py", whole, LAUNCHES) == {"": 12, "model.py:7": 18, "model.py:2": 10}
    assert on_lines_of("out.py", whole, LAUNCHES)["out.py:4"] == 8
    assert nodes_of_lines(whole, LAUNCHES) == {
        "model.py:7": "linear; gelu", "out.py:3": "linear", "out.py:9": "gelu", "out.py:4": "linear",
        "model.py:2": "linear",
    }  # fmt: skip


@given(st.lists(st.tuples(st.floats(0.1, 9), st.sampled_from("ab"), st.sampled_from("xy")), min_size=1))
def test_rows_add_up(lengths: list[tuple[float, str, str]]) -> None:
    at, steps = 0.0, []
    for ns, cause, place in lengths:
        steps.append((at, at + ns, cause, place))
        at += ns
    whole = path(*steps)
    rows = by_model(whole, LAUNCHES)
    assert math.fsum(row["ns"] for row in rows) == pytest.approx(whole.ns)
    assert [row["ns"] for row in rows] == sorted((row["ns"] for row in rows), reverse=True)
    assert math.fsum(on_lines_of("model.py", whole, LAUNCHES).values()) == pytest.approx(whole.ns)
