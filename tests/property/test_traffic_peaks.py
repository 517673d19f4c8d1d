"""Max-min fair shares equal an independent solution by linear programs, and have the defining property."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from kernbench.workloads.probes.traffic_peaks import max_min_shares
from tests.examples import examples

CAPACITIES = st.lists(st.sampled_from([1.0, 2.0, 32.0, 128.0, 256.0, 512.0, 0.3]), min_size=1, max_size=6)


@st.composite
def networks(draw: st.DrawFn, flows: int) -> tuple[list[list[int]], list[float]]:
    capacity = draw(CAPACITIES)
    way = st.lists(st.integers(0, len(capacity) - 1), min_size=1, unique=True)
    return draw(st.lists(way, min_size=1, max_size=flows)), capacity


def by_linear_programs(ways: list[list[int]], capacity: list[float]) -> list[float]:
    """Raise the least rate as far as it goes, fix the flows that cannot go higher, repeat."""
    flows = len(ways)
    uses = np.array([[float(r in way) for way in ways] for r in range(len(capacity))])
    fixed: dict[int, float] = {}
    while len(fixed) < flows:
        free = [f for f in range(flows) if f not in fixed]
        level = _maximise(uses, capacity, fixed, free, floor=None, goal=None)
        stuck = [
            f for f in free
            if _maximise(uses, capacity, fixed, free, floor=level, goal=f) <= level + 1e-7 * (1 + level)
        ]  # fmt: skip
        assert stuck
        fixed.update(dict.fromkeys(stuck, level))
    return [fixed[f] for f in range(flows)]


def _maximise(
    uses: np.ndarray,
    capacity: list[float],
    fixed: dict[int, float],
    free: list[int],
    floor: float | None,
    goal: int | None,
) -> float:
    """Without ``goal``: the largest least rate of ``free``. With it: its largest rate, others >= floor."""
    flows = uses.shape[1]
    variables = flows + 1  # the rates, and the level that none of the free is below
    rows = [np.append(row, 0.0) for row in uses]
    bounds_on = list(capacity)
    if goal is None:
        for f in free:
            row = np.zeros(variables)
            row[f], row[-1] = -1.0, 1.0
            rows.append(row)
            bounds_on.append(0.0)
    bounds = [
        (fixed[f], fixed[f]) if f in fixed else (0.0 if floor is None else floor * (1 - 1e-9), None)
        for f in range(flows)
    ]
    cost = np.zeros(variables)
    cost[-1 if goal is None else goal] = -1.0
    solved = linprog(cost, A_ub=np.array(rows), b_ub=bounds_on, bounds=[*bounds, (0, None)], method="highs")
    assert solved.status == 0, solved.message
    return float(-solved.fun)


@examples(60)
@given(networks(flows=6))
def test_shares_are_those_of_the_linear_programs(network: tuple[list[list[int]], list[float]]) -> None:
    ways, capacity = network
    assert max_min_shares(ways, capacity) == pytest.approx(by_linear_programs(ways, capacity), rel=1e-5)


@given(networks(flows=40))
def test_every_flow_has_a_full_resource_on_which_nobody_gets_more(
    network: tuple[list[list[int]], list[float]],
) -> None:
    ways, capacity = network
    shares = max_min_shares(ways, capacity)
    load = [sum(s for s, way in zip(shares, ways, strict=True) if r in way) for r in range(len(capacity))]
    for resource, used in enumerate(load):
        assert used <= capacity[resource] * (1 + 1e-9)
    for share, way in zip(shares, ways, strict=True):
        assert any(
            load[r] >= capacity[r] * (1 - 1e-9)
            and share >= max(s for s, w in zip(shares, ways, strict=True) if r in w) * (1 - 1e-9)
            for r in way
        )


def test_two_short_flows_and_a_long_one() -> None:
    """A parking lot: link 0 carries three flows; link 1, twice as fast, one of them and another."""
    assert max_min_shares([[0], [0], [0, 1], [1]], [90.0, 180.0]) == [30.0, 30.0, 30.0, 150.0]


def test_no_flow_and_no_resource() -> None:
    assert max_min_shares([], [1.0]) == []
    assert max_min_shares([[]], []) == [float("inf")]
