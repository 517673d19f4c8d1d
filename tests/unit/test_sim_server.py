"""A FIFO server's arithmetic against a queue that is played through slot by slot."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.engine.core.holding import Runs
from kernbench.engine.core.occupancy import NAMED
from kernbench.engine.core.server import Server
from tests.conftest import patches_the_engine


class Held(NamedTuple):
    """An entry of the answer to who held a server."""

    holder: Any
    ns: float
    t_from: float
    t_to: float
    holders: int = 1


def blockers(server: Server, owner: Any, begin: float, end: float) -> list[Held]:
    """Who held ``server`` between two times, oldest first."""
    n = server.blockers(owner, begin, end)
    return [Held(*entry) for entry in server.log.answer(n)] if n else []


ARRIVALS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.sampled_from("abc")), min_size=1, max_size=40
)


@settings(deadline=None)
@given(ARRIVALS)
def test_starts_and_holders_are_those_of_a_queue_played_through(steps: list[tuple[int, int, str]]) -> None:
    server = Server("s")
    now = 0
    free = 0
    timeline: list[str] = []  # who holds each ns
    for gap, duration, owner in steps:
        now += gap
        start = server.occupy(float(now), float(duration), owner)
        expected = max(now, free)
        assert start == expected
        free = expected + duration
        timeline.extend("-" * (expected - len(timeline)))
        timeline.extend(owner * duration)
        if start > now:
            shares: dict[str, float] = {}
            for holder, ns, _, _, _ in blockers(server, owner, float(now), start):
                shares[holder] = shares.get(holder, 0.0) + ns
            window = timeline[now:expected]
            assert "-" not in window, "a server stood idle while something waited for it"
            assert shares == {h: float(window.count(h)) for h in sorted(set(window) - {owner})}


def test_use_counts_the_most_that_were_there_at_once() -> None:
    server = Server("s")
    server.arrive(0.0)
    server.arrive(1.0)
    server.leave(2.0, 256, 1.0, 0.0)
    server.leave(3.0, 256, 1.0, 1.0)
    server.arrive(2.5)
    assert (server.max_queue, server.transactions, server.bytes) == (2, 3, 512)
    assert (server.busy_ns, server.wait_ns) == (2.0, 1.0)


def test_one_that_leaves_as_another_arrives_makes_no_queue() -> None:
    server = Server("s")
    for time in (0.0, 1.0, 2.0):
        server.arrive(time)
        server.leave(time + 1.0, 1, 1.0, 0.0)
    assert server.max_queue == 1


def _held(window: list[int], begin: int, holder: int) -> Held:
    """The part of a wait that ``holder`` makes up; ``window`` has the holder of each ns from ``begin`` on."""
    first, last = window.index(holder), len(window) - window[::-1].index(holder)
    return Held(holder, float(window.count(holder)), float(begin + first), float(begin + last))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 24)), min_size=1, max_size=80),
)
def test_in_a_long_queue_the_newest_holders_are_named_and_the_rest_is_one_sum(
    steps: list[tuple[int, int, int]],
) -> None:
    server = Server("s")
    now = free = 0
    timeline: list[int] = []
    for gap, duration, owner in steps:
        now += gap
        start = server.occupy(float(now), float(duration), owner)
        timeline.extend([-1] * (max(now, free) - len(timeline)))
        free = max(now, free) + duration
        timeline.extend([owner] * duration)
        if start == now:
            continue
        window = timeline[now : int(start)]
        others = [h for h in dict.fromkeys(reversed(window)) if h != owner]  # newest first
        held = blockers(server, owner, float(now), start)
        assert sum(entry.ns for entry in held) == len([h for h in window if h != owner])
        if len(others) <= NAMED:
            assert held == [_held(window, now, h) for h in reversed(others)]
            continue
        named = others[: NAMED - 1]
        # What they held earlier still, before one that is not named, is in the sum.
        recent = int(held[0].t_to)
        assert held[1:] == [_held(timeline[recent : int(start)], recent, h) for h in named[::-1]]
        assert held[0].holder == next(h for h in window if h != owner)
        assert held[0].holders == len(others) - len(named)
        rest = [at for at, h in enumerate(window, now) if h != owner]
        assert held[0].t_from == rest[0]
        assert held[0].t_from + held[0].ns <= held[0].t_to <= max(entry.t_to for entry in held[1:])


def test_a_queue_that_went_on_behind_the_one_that_asks() -> None:
    server = Server("s")
    for owner in range(20):
        server.occupy(0.0, 1.0, owner)
    # Number 12 asks when seven more stand behind it.
    assert [tuple(h) for h in blockers(server, 12, 0.0, 12.0)] == [
        (0, 5.0, 0.0, 5.0, 5), *((n, 1.0, float(n), n + 1.0, 1) for n in range(5, 12)),
    ]  # fmt: skip


@patches_the_engine
def test_attribution_takes_no_longer_in_a_longer_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is counted rather than timed: entries of the queue that are looked at."""
    seen = 0
    holder = Runs.holder

    def counted(self: Runs, i: int) -> Any:
        nonlocal seen
        seen += 1
        return holder(self, i)

    monkeypatch.setattr(Runs, "holder", counted)
    server = Server("s")
    for owner in range(4000):
        start = server.occupy(0.0, 1.0, owner)
        assert len(blockers(server, owner, 0.0, start)) <= NAMED
    assert seen < 4000 * 4 * (NAMED + 2)
