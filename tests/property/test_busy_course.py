"""When a place was busy, as worked out from hops, fits every way in which it could have served them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.analysis.windows.busy_course import course_of
from kernbench.analysis.windows.time_window import Window

FLITS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.0, 0.5, 7.0]), st.sampled_from([0.25, 1.0, 3.0]), st.integers(0, 5)),
    min_size=1, max_size=40,
)  # fmt: skip
"""Idle time before each flit, its service, and the message that it is of: what one port did, in order."""
EDGES = st.lists(st.floats(0.0, 1.0), max_size=12)


@given(FLITS, EDGES)
def test_windows_partition_what_a_port_served(
    flits: list[tuple[float, float, int]], cuts: list[float]
) -> None:
    now = 0.0
    stays: dict[int, list[float]] = {}
    for idle, ns, message in flits:
        now += idle
        stay = stays.setdefault(message, [0.0, now, 0.0])
        now += ns
        stay[0] += ns
        stay[2] = now
    work, begin, end = np.array(list(stays.values())).T
    course = course_of(np.zeros(len(work), np.int64), work, begin, end)

    def served(since: float, until: float) -> float:
        return float(course.within(Window("", ((since, until),)), 1)[0])

    edges = sorted({0.0, now, *(cut * now for cut in cuts), *begin.tolist(), *end.tolist()})
    parts = [served(since, until) for since, until in itertools.pairwise(edges)]
    assert sum(parts) == pytest.approx(work.sum(), abs=1e-9)
    assert served(0.0, now) == pytest.approx(work.sum(), abs=1e-9)
    for (since, until), part in zip(itertools.pairwise(edges), parts, strict=True):
        assert -1e-12 <= part <= until - since + 1e-9
    for edge in edges:
        done = served(0.0, edge) if edge > 0 else 0.0
        assert work[end <= edge].sum() - 1e-9 <= done <= work[begin < edge].sum() + 1e-9


@given(st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=1, max_size=12))
def test_messages_in_one_queue_are_served_one_after_another(works: list[float]) -> None:
    """All are there from the start on, and the port never rests."""
    work = np.array(works)
    end = np.cumsum(work)
    course = course_of(np.zeros(len(work), np.int64), work, np.zeros(len(work)), end)
    assert course.begin.tolist() == [0.0]
    assert course.end.tolist() == [end[-1]]
    assert course.ns == pytest.approx([end[-1]])
