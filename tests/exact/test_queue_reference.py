"""Queues under load agree with the independent reference on every transaction and message, to 1e-9 ns."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.queue_ring import Outgoing
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.launches import Request
from kernbench.engine.program.messages import QueueMessage
from kernbench.engine.program.operations import Op, Operand
from kernbench.engine.program.queues import Message, Receive, RingEntry, Send, parts_of
from kernbench.hardware.kinds import Traffic
from tests import names
from tests.exact.reference.agenda import Queue
from tests.exact.reference.cases import Bench, Case, Ends, Flow, bench, cases
from tests.exact.reference.queues import QueueEnds, Talk
from tests.examples import examples

MACHINES = ["two cubes", "four cubes", "two SIPs", "penalties", "one to one"]
RING = 1 << 16
"""Bytes kept apart for each ring in its memory."""

PAUSES = st.integers(0, 4000).map(lambda n: n / 7.0)
SIZES = st.one_of(st.integers(0, 700), st.integers(0, 6000))


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    sends = tuple(draw(st.lists(st.tuples(PAUSES, SIZES), min_size=1, max_size=5)))
    sender, step = draw(st.integers(0, 7)), draw(st.integers(1, 7))
    return Talk(
        sender,
        sender + step,
        draw(st.sampled_from(["tcm", "sram", "hbm"])),
        draw(st.integers(1, 8)),
        draw(st.sampled_from([256, 600, 1024, 4096])),
        sends,
        tuple(draw(PAUSES) for _ in sends),
    )


class Rings:
    """The addresses of the rings of a case: one after the other in each memory, from some offset on."""

    def __init__(self, where: Bench) -> None:
        self._where = where
        self._used: dict[str, int] = {}

    def take(self, kind: str, pe: tuple[int, int, int]) -> int:
        addresses = self._where.addresses
        number = self._used[kind] = self._used.get(kind, 0) + 1
        if kind == "tcm":
            return addresses.allocatable_tcm(*pe)[0] + number * RING
        if kind == "sram":
            return addresses.sram(*pe[:2], number * RING)
        return addresses.hbm(*pe, number * RING)


def ends_of(where: Bench, talk: Talk) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    count = len(where.pes)
    a, b = talk.sender % count, talk.receiver % count
    return where.pes[a], where.pes[b if a != b else (b + 1) % count]


def expected(where: Bench, conversation: list[Talk], traffic: Case) -> tuple[Any, list[QueueEnds]]:
    simulator = where.expected_before(traffic)
    rings, found = Rings(where), []
    servers: dict[tuple[str, bool], Queue] = {}
    for talk in conversation:
        ends = ends_of(where, talk)
        rings.take(talk.kind, ends[0])
        ring = rings.take(talk.kind, ends[1])
        dma = names.pe_part(*ends[1], "pe_dma")
        route = where.router.route(names.pe_part(*ends[0], "pe_dma"), dma, Traffic.PE_DMA).nodes

        def bank(offset: int, nbytes: int, ring: int = ring, dma: str = dma) -> list[Any]:
            return where.pieces_at(ring + offset, nbytes, dma, Traffic.PE_DMA)

        pes = (names.pe(*ends[0]), names.pe(*ends[1]))
        found.append(QueueEnds(simulator, where.graph, talk, pes, route, bank, servers))
    simulator.run()
    return simulator, found


class Script:
    """One queue on the engine: commands given to the two PE_IPCQs, one after the other."""

    def __init__(self, machine: Machine, number: int, talk: Talk, ends: Any, rings: Rings) -> None:
        self.machine, self.talk, self.direction = machine, talk, f"q{number}"
        units = [machine.component(names.pe_part(*end, "pe_ipcq")) for end in ends]
        back, ring = (rings.take(talk.kind, end) for end in ends)
        for unit, end, peer, own, other in (
            (units[0], ends[0], ends[1], back, ring),
            (units[1], ends[1], ends[0], ring, back),
        ):
            assert isinstance(unit, PeIpcq)
            entry = RingEntry(self.direction, peer, own, other, talk.slots, talk.slot_bytes, talk.kind)
            unit.set_up(QueueMessage(Request("rings", 0.0), {end[1:]: (entry,)}, True))
        self.sender, self.receiver = units
        self.sent: list[float] = []
        self.received: list[float] = []
        self.begun = 0
        self._next(self.talk.sends, 0, self._send)
        self._next(self.talk.pauses, 0, self._receive)

    def _next(self, script: Any, done: int, act: Any) -> None:
        if done < len(script):
            entry = script[done]
            pause = entry[0] if isinstance(entry, tuple) else entry
            self.machine.clock.call_at(self.machine.clock.now + pause, act)

    def _send(self) -> None:
        _, nbytes = self.talk.sends[self.begun]
        self.begun += 1
        op = Op(self.machine.next_op_id(), "queue", "ipcq_send")
        if nbytes:
            op.inputs = (Operand((nbytes,), "i8", handle=0),)
        message = Message((nbytes,), "i8", nbytes, parts_of(nbytes, self.talk.slot_bytes), op.id)
        command = Send(op, self.direction, message)
        self.sender.submit_send(command, partial(self._posted, command))  # type: ignore[attr-defined]

    def _posted(self, command: Send, by: int) -> None:
        if command.completion is None:
            self._sent()
        else:
            command.completion.then(self._sent)
        self._next(self.talk.sends, self.begun, self._send)

    def _sent(self) -> None:
        self.sent.append(self.machine.clock.now)

    def _receive(self) -> None:
        op = Op(self.machine.next_op_id(), "queue", "ipcq_recv")
        self.receiver.submit_receive(Receive(op, self.direction), self._got)  # type: ignore[attr-defined]

    def _got(self) -> None:
        self.received.append(self.machine.clock.now)
        self._next(self.talk.pauses, len(self.received), self._receive)


def measured(where: Bench, conversation: list[Talk], traffic: Case) -> tuple[Any, list[Script]]:
    seen = Ends()
    machine = where.started(seen, True)
    for flow in traffic:
        machine.clock.call_at(flow.start, where._start, machine, flow)
    rings = Rings(where)
    scripts = [
        Script(machine, number, talk, ends_of(where, talk), rings) for number, talk in enumerate(conversation)
    ]
    while machine.clock.entries:
        machine.clock.step()
    machine.settle()
    return seen.transactions, scripts


def compare(name: str, conversation: list[Talk], traffic: Case) -> int:
    where = bench(name)
    simulator, ends = expected(where, conversation, traffic)
    transactions, scripts = measured(where, conversation, traffic)
    for wanted, got in zip(ends, scripts, strict=True):
        assert got.sent == pytest.approx(wanted.sent, abs=1e-9)
        assert got.received == pytest.approx(wanted.received, abs=1e-9)
    mine = sorted((t.dst, t.nbytes, round(t.t_submit, 6), t.t_done) for t in transactions)
    theirs = sorted((t.piece.target, t.piece.nbytes, round(t.submitted, 6), t.done) for t in simulator.txns)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert a[:3] == b[:3]
        assert abs(a[3] - b[3]) < 1e-9
    return len(mine)


@pytest.mark.daily("two cubes", "penalties", "one to one")
@pytest.mark.parametrize("name", MACHINES)
@examples(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(conversation=st.lists(talks(), min_size=1, max_size=3), traffic=cases(5))
def test_queues_and_traffic_agree_with_the_reference(
    name: str, conversation: list[Talk], traffic: Case
) -> None:
    compare(name, conversation, traffic)


CROWDED = [Talk(a, a + 1, kind, 2, 1024, ((3.0, 5000), (1.0, 300)), (2.0, 40.0)) for a, kind in
           enumerate(["tcm", "hbm", "sram", "tcm", "hbm"])]  # fmt: skip
TRAFFIC = [Flow(pe, "hbm", pe + 1, 4096 * pe, 6000, pe % 2 == 0, 11.0 * pe) for pe in range(6)]


@pytest.mark.parametrize("name", MACHINES)
def test_five_queues_at_once(name: str) -> None:
    assert compare(name, CROWDED, TRAFFIC) > 60


def test_an_engine_with_one_credit_too_many_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    credits = Outgoing.credits.fget
    assert credits is not None
    monkeypatch.setattr(Outgoing, "credits", property(lambda self: max(0, credits(self) - 1)))
    with pytest.raises(AssertionError):
        compare("two cubes", CROWDED, [])
