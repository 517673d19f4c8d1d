"""Lanes of a push or removal: all of them go on, until one fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from kernbench_graph.stores.neo4j.lanes import LANES, in_lanes

WAIT_S = 30.0


def test_all_lanes_are_gone_through_at_once() -> None:
    together, done = threading.Barrier(LANES), list[tuple[int, str]]()

    def steps(number: int) -> Iterator[None]:
        for _ in range(3):
            together.wait(WAIT_S)
            done.append((number, threading.current_thread().name.rpartition("_")[0]))
            yield

    in_lanes("mine", steps)
    assert sorted(done) == sorted([(number, "mine") for number in range(LANES)] * 3)


@pytest.mark.parametrize("failing", range(LANES))
def test_a_lane_that_fails_stops_the_others(failing: int) -> None:
    begun, ended = threading.Barrier(LANES), list[int]()

    def steps(number: int) -> Iterator[None]:
        begun.wait(WAIT_S)
        if number == failing:
            raise RuntimeError("no more")
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            time.sleep(0.001)
            yield
        ended.append(number)

    with pytest.raises(RuntimeError, match="no more"):
        in_lanes("mine", steps)
    assert ended == []
