"""A FIFO server's arithmetic against a queue that is played through slot by slot."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.sim.server import Server

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
            for holder, ns in server.waited_for(owner, float(now), start):
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
