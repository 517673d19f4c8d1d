"""A queue under every order of sends and receives: nothing is lost, doubled or out of order, credits add up.

Each rule gives one more piece of work to the sender or the receiver, with a pause before it, so that each is
slow in turn; both run as launches on a checked machine. At the end of every example all is received.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kernbench.engine.components.queue_ring import Incoming, Outgoing, QueueCredit, QueueToken
from kernbench.engine.program.queues import Message, RingEntry, parts_of, split
from kernbench.errors import InvariantError
from tests.queue_runs import Rig

SENDER, RECEIVER = (0, 0, 0), (0, 0, 1)
SIZES = st.one_of(st.integers(0, 600), st.sampled_from([4096, 5000, 20_000, 65_536]))
PAUSES = st.sampled_from([0, 0, 10, 500, 5000])
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


class QueueOnTheMachine(RuleBasedStateMachine):
    """Messages from PE 0 to PE 1, sent and received by separate launches of random length."""

    @initialize(
        slots=st.integers(1, 8),
        slot_bytes=st.sampled_from([256, 1000, 4096]),
        kind=st.sampled_from(["tcm", "tcm", "sram", "hbm"]),
    )
    def start(self, slots: int, slot_bytes: int, kind: str) -> None:
        self.rig = Rig()
        self.slots, self.slot_bytes = slots, slot_bytes
        self.queues = self.rig.torch.install_ipcq(
            "intracube_pe_ring", slots=slots, slot_bytes=slot_bytes, buffer_kind=kind
        )
        self.work: list[tuple[str, int, int]] = []
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.numbers = np.random.default_rng(slots)

    @rule(nbytes=SIZES, pause=PAUSES, after=PAUSES, how=st.sampled_from(["recv", "async", "no_consume"]))
    def message(self, nbytes: int, pause: int, after: int, how: str) -> None:
        """One more message, ``pause`` cycles after the one before; received ``after`` cycles after it."""
        self.work.append((how, pause, after))
        self.sent.append(self.numbers.integers(0, 127, nbytes, np.int8).tobytes())

    @rule()
    def carry_out(self) -> None:
        """Send and receive all that was given so far, by one launch."""
        work, self.work = self.work, []
        if not work:
            return
        first = len(self.received)
        data = b"".join(self.sent[first:])
        tensor = self.rig.torch.from_numpy(np.frombuffer(data or b"\0", np.int8))
        sizes = [len(message) for message in self.sent[first:]]
        got: list[Any] = []

        def send(x: Any, tl: Any) -> None:
            at = 0
            for (_, pause, _), size in zip(work, sizes, strict=True):
                tl.cycles(pause)
                tl.send("pe_E", src_addr=x + at, nbytes=size)
                at += size

        def receive(x: Any, tl: Any) -> None:
            for how, _, after in work:
                tl.cycles(after)
                if how == "async":
                    got.append(tl.wait(tl.recv_async("pe_W")))
                else:
                    got.append((tl.recv if how == "recv" else tl.recv_no_consume)("pe_W"))
                if got[-1] is not None:
                    got[-1] = got[-1].data.tobytes()

        self.rig.run([send, receive], tensor)
        self.received += [message or b"" for message in got]

    @invariant()
    def what_arrived_is_what_was_sent(self) -> None:
        """In order, whole, and as often."""
        if hasattr(self, "rig") and not self.work:
            assert self.received == self.sent

    @invariant()
    def credits_add_up(self) -> None:
        """Nothing is under way: every slot is free, on both ends, and each token had one credit."""
        if not hasattr(self, "rig"):
            return
        sender, receiver = (
            self.rig.machine.component(f"sip0.cube0.pe{pe}.pe_ipcq")._queues for pe in (0, 1)  # type: ignore[attr-defined]
        )  # fmt: skip
        out, into = sender["pe_E"].sending, receiver["pe_W"].receiving
        assert out.credits == self.slots
        tokens = sum(parts_of(len(message), self.slot_bytes) for message in self.received)
        assert out.sent == out.freed == into.arrived == into.head == into.cursor == into.tail == tokens
        seen = self.rig.seen
        assert len(seen.of_kind("ipcq_token")) == len(seen.of_kind("ipcq_credit")) == tokens

    def teardown(self) -> None:
        if hasattr(self, "rig"):
            self.carry_out()
            self.what_arrived_is_what_was_sent()
            self.credits_add_up()
            self.queues.close()
            self.rig.close()


QueueOnTheMachine.TestCase.settings = settings(
    max_examples=8, stateful_step_count=12, deadline=None, suppress_health_check=QUIET
)
TestQueueOnTheMachine = QueueOnTheMachine.TestCase


@pytest.mark.slow
def test_many_orders_on_the_machine() -> None:
    class Many(QueueOnTheMachine.TestCase):  # type: ignore[name-defined]
        settings = settings(
            max_examples=int(os.environ.get("KERNBENCH_EXAMPLES", "50")), stateful_step_count=25,
            deadline=None, suppress_health_check=QUIET, database=None,
        )  # fmt: skip

    Many("runTest").runTest()


class RingByItself(RuleBasedStateMachine):
    """The accounting of both ends, with every interleaving of writing, reading and credits."""

    @initialize(slots=st.integers(1, 8))
    def start(self, slots: int) -> None:
        entry = RingEntry("E", (0, 0, 1), 4096, 8192, slots, 16, "tcm")
        there = RingEntry("W", (0, 0, 0), 8192, 4096, slots, 16, "tcm")
        self.out, self.into = Outgoing(entry), Incoming(there)
        self.flying: deque[QueueToken] = deque()
        self.writing: list[int] = []
        self.reading: list[int] = []
        self.credits: deque[QueueCredit] = deque()
        self.model: deque[int] = deque()
        self.seen: list[int] = []
        self.count = 0

    @rule()
    def send(self) -> None:
        if self.out.credits:
            address = self.out.take()
            self.flying.append(QueueToken(address, 16, Message((16,), "i8", 16, 1), 0, self.count, 0))
            self.model.append(self.count)
            self.count += 1

    @rule()
    def arrive(self) -> None:
        if self.flying:
            self.writing.append(self.into.arrive(self.flying.popleft()))

    @rule(data=st.data())
    def written(self, data: st.DataObject) -> None:
        if self.writing:
            self.into.written(self.writing.pop(data.draw(st.integers(0, len(self.writing) - 1))))

    @rule()
    def begin_read(self) -> None:
        token = self.into.first()
        if token is not None:
            self.seen.append(token.op)
            self.reading.append(self.into.begin_read())

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        if self.reading:
            freed = self.into.read(self.reading.pop(data.draw(st.integers(0, len(self.reading) - 1))))
            for i in range(freed):
                self.credits.append(QueueCredit(8192, self.into.tail - freed + i + 1, 0))

    @rule()
    def credit(self) -> None:
        if self.credits:
            self.out.give(self.credits.popleft(), 0)

    @invariant()
    def counts_are_in_order(self) -> None:
        if not hasattr(self, "out"):
            return
        out, into = self.out, self.into
        assert out.freed <= into.tail <= into.cursor <= into.head <= into.arrived <= out.sent
        assert out.sent - out.freed <= out.entry.slots
        assert self.seen == list(range(into.cursor))
        free, held = out.credits, into.arrived - into.tail
        assert free + len(self.flying) + held + len(self.credits) == out.entry.slots


RingByItself.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestRingByItself = RingByItself.TestCase


def test_a_token_for_a_slot_that_is_not_free_is_seen() -> None:
    entry = RingEntry("W", (0, 0, 0), 8192, 4096, 2, 16, "tcm")
    into = Incoming(entry)
    token = QueueToken(8192, 16, Message((16,), "i8", 16, 1), 0, 0, 32)
    into.arrive(token)
    with pytest.raises(InvariantError, match="not the next free one"):
        into.arrive(token)


@pytest.mark.parametrize("nbytes", [0, 1, 15, 16, 17, 160])
def test_parts_cover_a_message(nbytes: int) -> None:
    found = list(split(nbytes, 16))
    assert len(found) == parts_of(nbytes, 16)
    assert sum(length for _, length in found) == nbytes
    assert [offset for offset, _ in found] == list(range(0, max(1, nbytes), 16))
