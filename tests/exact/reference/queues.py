"""Queues of the reference: senders and receivers as scripts over rings; shares no code with PE_IPCQ.

A sender waits its pause, sends, and goes on when the last part of its message is given away, or earlier, as
soon as no more messages wait for slots than there are; a receiver waits its pause, receives a message, and
goes on when the last part is read and its credit has left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernbench.support.pgraph import PropertyGraph
from tests.exact.reference.agenda import Queue
from tests.exact.reference.places import Access, Message, Piece, Tcm, Txn, flits
from tests.exact.reference.simulator import Simulator


@dataclass(frozen=True)
class Talk:
    """One queue: PEs by number, its ring, and what both ends do: (pause ns, bytes) and pauses, ns."""

    sender: int
    receiver: int
    kind: str
    slots: int
    slot_bytes: int
    sends: tuple[tuple[float, int], ...]
    pauses: tuple[float, ...]


class QueueEnds:
    """One queue under way. ``sent`` and ``received`` are when each message was given away and read."""

    def __init__(
        self,
        simulator: Simulator,
        graph: PropertyGraph,
        talk: Talk,
        pes: tuple[str, str],
        route: tuple[str, ...],
        bank: Callable[[int, int], list[Piece]],
        servers: dict[tuple[str, bool], Queue],
    ) -> None:
        self.simulator, self.talk, self.route, self._bank = simulator, talk, route, bank
        self.agenda = simulator.agenda
        self.sent: list[float] = []
        self.received: list[float] = []
        own = graph.node(f"{pes[1]}.pe_ipcq").properties
        self._gbs, self._overhead = (float(own[f"{talk.kind}_{key}"]) for key in ("gbs", "overhead_ns"))
        self._credit_bytes = int(own["credit_bytes"])
        self._units = [simulator.place(f"{pe}.pe_ipcq") for pe in pes]
        self._dma, self._tcm = f"{pes[1]}.pe_dma", f"{pes[1]}.pe_tcm"
        self._servers = servers
        simulator._wire(route)
        self._credits = talk.slots
        self._left: deque[list[int]] = deque()
        """Bytes of the parts that have no slot yet, a list a message."""
        self._begun = 0
        """Messages that were sent, given away or not."""
        self._blocked = False
        """The sender waits for the last message that it has sent."""
        self._given = 0
        self._arrived = 0
        self._visible: deque[tuple[int, int]] = deque()
        """(number, bytes) of parts that can be read."""
        self._written: dict[int, int] = {}
        self._head = 0
        self._wanted = -1
        """Parts that the receive under way still has to begin; -1 when there is none."""
        self._unread = self._tail = 0
        self._done: set[int] = set()
        self._sizes = [self._parts(nbytes) for _, nbytes in talk.sends]
        self._next_send(0.0)
        self._next_receive(0.0)

    def _parts(self, nbytes: int) -> list[int]:
        slot = self.talk.slot_bytes
        whole, rest = divmod(nbytes, slot)
        return [slot] * whole + ([rest] if rest or not whole else [])

    # -- the sender

    def _next_send(self, now: float) -> None:
        if self._begun < len(self.talk.sends):
            pause, _ = self.talk.sends[self._begun]
            self.agenda.callback(now + pause, lambda: self._through(0, self._send))

    def _through(self, end: int, act: Callable[[], None]) -> None:
        unit, ticket = self._units[end], self.agenda.ticket()
        if unit.overhead:
            unit.worker.enter(
                lambda: unit.overhead, lambda: self.agenda.callback(self.agenda.now, act, ticket)
            )
        else:
            act()

    def _send(self) -> None:
        self._left.append(list(self._sizes[self._begun]))
        self._begun += 1
        self._blocked = True
        self._give()

    def _give(self) -> None:
        while self._left and self._credits:
            self._credits -= 1
            self._message("token", self._left[0].pop(0), self.route, self._token_there)
            if not self._left[0]:
                self._left.popleft()
                self.sent.append(self.agenda.now)
            self._go_on()
        self._go_on()

    def _go_on(self) -> None:
        if self._blocked and len(self._left) <= self.talk.slots:
            self._blocked = False
            self._next_send(self.agenda.now)

    def _message(self, what: str, nbytes: int, route: Sequence[str], there: Callable[[Txn], None]) -> None:
        simulator = self.simulator
        txn = simulator._begin(Piece(route[-1], 0, nbytes, tuple(route)), True, self.agenda.now, there)
        sizes = flits(nbytes, simulator.flit_bytes)
        simulator.crossings += len(sizes) * (len(route) - 1)
        simulator.place(route[0]).send(Message(txn, tuple(route), sizes))

    def _credit_there(self, _: Txn) -> None:
        self._credits += 1
        self._give()

    # -- slots

    def _token_there(self, txn: Txn) -> None:
        number, nbytes = self._arrived, txn.piece.nbytes
        self._arrived += 1
        slot = number % self.talk.slots * self.talk.slot_bytes
        self._access(True, slot, nbytes, lambda: self._slot_written(number, nbytes))

    def _slot_written(self, number: int, nbytes: int) -> None:
        self._written[number] = nbytes
        while self._head in self._written:
            self._visible.append((self._head, self._written.pop(self._head)))
            self._head += 1
        self._read()

    def _access(self, writing: bool, slot: int, nbytes: int, after: Callable[[], None]) -> None:
        simulator, agenda = self.simulator, self.agenda
        if not nbytes:
            after()
            return
        tier = self._overhead + nbytes / self._gbs
        if self.talk.kind == "tcm":
            tcm = simulator.place(self._tcm)
            assert isinstance(tcm, Tcm)
            piece = Piece(self._tcm, 0, nbytes, (self._dma, self._tcm))
            txn = simulator._begin(piece, writing, agenda.now, lambda _: None)
            slower = self._overhead + nbytes / min(self._gbs, tcm._gbs[writing])

            def over() -> None:
                txn.done = agenda.now
                after()

            ticket = agenda.ticket()
            tcm._ports[writing].enter(
                lambda: tcm.overhead + slower, lambda: agenda.callback(agenda.now, over, ticket)
            )
            return
        pieces = self._bank(slot, nbytes)
        left = len(pieces)

        def answered(_: Txn) -> None:
            nonlocal left
            left -= 1
            if not left:
                after()

        for piece in pieces:
            simulator._wire(piece.route)
        txns = [simulator._begin(piece, writing, agenda.now, answered) for piece in pieces]
        if len(txns) > 1:
            access = Access(txns[0].number, len(txns), len(txns), len(txns))
            for txn in txns:
                txn.access = access

        def send() -> None:
            messages = [simulator._message(txn) for txn in txns]
            simulator.place(messages[0].route[0]).send_together(messages)

        server = self._servers.setdefault((self._dma, writing), Queue(agenda))
        ticket = agenda.ticket()
        server.enter(lambda: tier, lambda: agenda.callback(agenda.now, send, ticket))

    # -- the receiver

    def _next_receive(self, now: float) -> None:
        if len(self.received) < len(self.talk.pauses):
            pause = self.talk.pauses[len(self.received)]
            self.agenda.callback(now + pause, lambda: self._through(1, self._receive))

    def _receive(self) -> None:
        self._wanted = self._unread = len(self._sizes[len(self.received)])
        self._read()

    def _read(self) -> None:
        while self._wanted > 0 and self._visible:
            number, nbytes = self._visible.popleft()
            self._wanted -= 1
            slot = number % self.talk.slots * self.talk.slot_bytes
            self._access(False, slot, nbytes, lambda number=number: self._slot_read(number))

    def _slot_read(self, number: int) -> None:
        """Slots are freed in order, though their reads may end out of it."""
        self._done.add(number)
        while self._tail in self._done:
            self._tail += 1
            self._message("credit", self._credit_bytes, self.route[::-1], self._credit_there)
        self._unread -= 1
        if not self._unread:
            self.received.append(self.agenda.now)
            self._next_receive(self.agenda.now)
