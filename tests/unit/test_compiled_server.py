"""The compiled server does what the Python one does, to the last bit, whatever it is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.compiled import core
from kernbench.sim.server import PlainServer, Server

pytestmark = pytest.mark.skipif(core is None, reason="there is no compiled core to compare")

DURATIONS = st.sampled_from([0.0, 0.1, 0.3, 1.0, 1 / 3, 7.7])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["occupy"] * 12 + ["arrive", "leave", "forget", "end"]),
        st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.7, 30.0]),
        DURATIONS,
        st.integers(0, 40),
        st.booleans(),
    ),
    max_size=300,
)


class Owner:
    def __init__(self, number: int) -> None:
        self.id = number


def play(server: Any, owners: list[Owner], steps: Any) -> list[Any]:
    """Its answers and its attributes, step by step."""
    seen: list[Any] = []
    now = 0.0
    for what, gap, duration, owner, further in steps:
        now += gap
        if what == "occupy":
            start = server.occupy(now, duration, owners[owner])
            # Also of the past of another, of which something behind it may be known, and of a time to come.
            for asked, until in ((owner, start), (owner // 2, start), (owner, server.free)):
                held = server.waited_for(owners[asked], now, until)
                seen.append([(h.holder.id, *h[1:]) for h in held])
            seen.append(start)
        elif what == "arrive":
            server.arrive(now)
        elif what == "leave":
            server.leave(now + duration, owner, duration, duration if further else 0.0)
        elif what == "forget" and further:
            server.forget_runs()
        elif what == "end" and server.holder is not None:
            server.end_run(now)
            server.holder, server.since = owners[owner], now
        seen.append([(since, end, holder.id) for since, end, holder in server._runs])
        seen.append((server.free, server.since, None if server.holder is None else server.holder.id))
        seen.append((server.bytes, server.busy_ns, server.wait_ns, server.transactions, server.max_queue))
    return seen


@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_every_answer_is_the_same(steps: Any) -> None:
    owners = [Owner(i) for i in range(41)]
    assert repr(play(Server("s"), owners, steps)) == repr(play(PlainServer("s"), owners, steps))


def test_a_queue_of_thousands() -> None:
    owners = [Owner(i) for i in range(4000)]
    steps = [("occupy", 0.0, 0.1 * (1 + i % 7), i % 4000, False) for i in range(4100)]
    mine, plain = Server("s"), PlainServer("s")
    for number, (_, _, duration, owner, _) in enumerate(steps):
        answers = []
        for server in (mine, plain):
            start = server.occupy(0.0, duration, owners[owner])
            answers.append((start, server.waited_for(owners[owner], 0.0, start)))
        assert answers[0] == answers[1], number
