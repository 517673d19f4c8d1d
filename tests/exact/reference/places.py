"""Components and links of the reference: what each does with a flit that reaches it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.exact.reference.agenda import Act, Agenda, Queue

Properties = dict[str, Any]


@dataclass
class Piece:
    """The payload of one transaction: ``nbytes`` at byte ``offset`` of memory ``target``, over ``route``.

    With channel routers: the only ``channel`` that it touches, and whether it ``opens`` an access that others
    behind it belong to.
    """

    target: str
    offset: int
    nbytes: int
    route: tuple[str, ...]
    channel: int = -1
    opens: bool = True


@dataclass
class Access:
    """Transactions that stand for one: they pay together, and are stored and forwarded together."""

    first: int
    size: int
    unacknowledged: int
    unanswered: int
    held: dict[Any, list[Message]] = field(default_factory=dict)
    """Whole messages that wait for the others, by place."""
    through: dict[Any, float] = field(default_factory=dict)
    """When the flit that pays has passed a pipelined place; the others follow it."""


@dataclass
class Txn:
    """A transaction; ``end`` is called with its answer."""

    number: int
    piece: Piece
    writing: bool
    submitted: float
    end: Callable[[Txn], None]
    done: float = -1.0
    access: Access | None = None


@dataclass
class Message:
    """One direction of a transaction: flits of ``sizes`` bytes over ``route``."""

    txn: Txn
    route: tuple[str, ...]
    sizes: list[int]
    arrived: dict[int, int] = field(default_factory=dict)
    """Flits that have reached each place so far."""
    committed: int = 0
    ticket: int = -1
    pays: bool = True
    """Whether it pays overheads."""
    through: dict[Any, float] = field(default_factory=dict)
    """When its first flit has passed a pipelined place."""
    rooms: dict[int, Any] = field(default_factory=dict)
    """By place, the slots that it has at the far end of the wire from there."""
    copies: dict[int, list[Message]] = field(default_factory=dict)
    """By place, messages that begin there, a flit of them with each of its own."""
    before: str = ""
    """Of such a copy, where its flits came from."""

    def __post_init__(self) -> None:
        access = self.txn.access
        self.pays = access is None or access.first == self.txn.number

    @property
    def last(self) -> int:
        return len(self.sizes) - 1


class Wire:
    """A link: bytes / bandwidth of occupancy, then the flight."""

    def __init__(
        self, agenda: Agenda, gbs: float, flight_ns: float, far: Place, issue_ns: float = 0.0
    ) -> None:
        self._agenda, self._gbs, self._flight, self._far = agenda, gbs, flight_ns, far
        self._issue = issue_ns
        self._queue = Queue(agenda)

    def rest(self, message: Message, flit: int) -> float:
        """ns for which the wire is still taken behind a flit."""
        return self._issue if flit == message.last else 0.0

    def carry(self, message: Message, place: int, flit: int) -> None:
        """``place`` is where the flit stands on the message's route."""

        self._queue.enter(
            lambda: message.sizes[flit] / self._gbs,
            lambda: self.arrive(message, place, flit),
            self.rest(message, flit),
        )

    def arrive(self, message: Message, place: int, flit: int) -> None:
        """The flit is off the sender's end of the wire: it flies to the other."""
        self._agenda.flit(
            self._agenda.now + self._flight,
            message.txn.number,
            place + 1,
            flit,
            lambda: self._far.reach(message, place + 1, flit),
        )


class Place:
    """A component: one worker, and the links that leave it."""

    def __init__(self, agenda: Agenda, properties: Properties) -> None:
        self.agenda = agenda
        self.overhead = float(properties["overhead_ns"])
        self.worker = Queue(agenda)
        self.wires: dict[str, Wire] = {}

    def reach(self, message: Message, place: int, flit: int) -> None:
        """A flit arrives from a link. Flits of a message never overtake each other."""
        assert message.arrived.get(place, 0) == flit
        message.arrived[place] = flit + 1
        if place - 1 in message.rooms and self.takes(message, place):
            room = message.rooms[place - 1]
            room.wire.taken(room)
            if flit == message.last:
                del message.rooms[place - 1]
        if place == len(message.route) - 1:
            self.receive(message, flit)
        else:
            self.forward(message, place, flit)

    def takes(self, message: Message, place: int) -> bool:
        """Whether it takes flits in as they come, so that they leave the buffer that they came into."""
        return True

    def onward(self, message: Message, place: int, flit: int) -> None:
        for copy in message.copies.get(place, ()):
            if flit == message.last:
                copy.txn.submitted = self.agenda.now
            self.onward(copy, 0, flit)
        self.wires[message.route[place + 1]].carry(message, place, flit)

    def send(self, message: Message, place: int = 0) -> None:
        """All flits go onto their link now."""
        for flit in range(len(message.sizes)):
            self.onward(message, place, flit)

    def send_together(self, messages: list[Message], place: int = 0) -> None:
        """Flits of several go onto their link now: one of each, then the next of each."""
        for flit in range(max(len(message.sizes) for message in messages)):
            for message in messages:
                if flit < len(message.sizes):
                    self.onward(message, place, flit)

    def forward(self, message: Message, place: int, flit: int) -> None:
        raise AssertionError("no route leads through here")

    def receive(self, message: Message, flit: int) -> None:
        """Most components take whole messages and pay once, at the end."""
        if flit != message.last:
            return
        arrival, ticket = self.agenda.now, self.agenda.ticket()

        def paid() -> None:
            if self.agenda.now > arrival:
                self.agenda.callback(self.agenda.now, answered, ticket)
            else:
                answered()

        def answered() -> None:
            txn = message.txn
            txn.done = self.agenda.now
            txn.end(txn)

        pays, access = True, message.txn.access
        if access is not None:
            access.unanswered -= 1
            pays = access.unanswered == 0
        self.worker.enter(lambda: self.overhead if pays else 0.0, paid)


class Transit(Place):
    """Flits pass as they come; the first of a message pays: to one worker, or in a pipeline."""

    def __init__(self, agenda: Agenda, properties: Properties) -> None:
        super().__init__(agenda, properties)
        self.pipelined = properties.get("worker") == "pipelined"

    def takes(self, message: Message, place: int) -> bool:
        return place == len(message.route) - 1

    def forward(self, message: Message, place: int, flit: int) -> None:
        cost = self.cost(message) if flit == 0 else 0.0
        if self.pipelined:
            self.pass_on(message, place, flit, cost)
            return
        self.worker.enter(lambda: cost, lambda: self.onward(message, place, flit))

    def pass_on(self, message: Message, place: int, flit: int, cost: float) -> None:
        """No flit waits but those of a message, or of an access, whose first flit is still on its way."""
        now = self.agenda.now
        if flit == 0:
            message.through[self] = now + cost
        leaves, access = message.through[self], message.txn.access
        if access is not None:
            if flit == 0 and message.pays:
                access.through[self] = leaves
            leaves = max(leaves, access.through.get(self, 0.0))
        if leaves > now:
            self.agenda.finished(leaves, lambda: self.onward(message, place, flit))
        else:
            self.onward(message, place, flit)

    def cost(self, message: Message) -> float:
        """ns that the first flit of a message pays."""
        return self.overhead if message.pays else 0.0


class ChannelRouter(Transit):
    """Each request pays here: none shares its channel with another of its access."""

    def cost(self, message: Message) -> float:
        return self.overhead


class StoreAndForward(Place):
    """The worker takes whole messages, pays once, and sends them on whole; those of one access as one."""

    def forward(self, message: Message, place: int, flit: int) -> None:
        if flit != message.last:
            return
        whole, access = [message], message.txn.access
        if access is not None:
            held = access.held.setdefault(self, [])
            held.append(message)
            if len(held) < access.size:
                return
            whole = sorted(access.held.pop(self), key=lambda message: message.txn.number)
        ticket = self.agenda.ticket()

        def paid() -> None:
            self.agenda.callback(self.agenda.now, lambda: self.send_together(whole, place), ticket)

        self.worker.enter(lambda: self.overhead, paid)


class Memory(Place, ABC):
    """Commits written flits and acknowledges; fetches what a read asks for and sends it in order."""

    def __init__(self, agenda: Agenda, properties: Properties, flit_bytes: int) -> None:
        super().__init__(agenda, properties)
        self.flit_bytes = flit_bytes
        self.latency = float(properties["access_ns"])

    def entry(self) -> float:
        """ns that the first flit pays at the door."""
        return self.overhead

    @abstractmethod
    def array(self, message: Message, flit: int, nbytes: int, after: Act) -> None:
        """Move flit ``flit`` of ``nbytes`` into or out of the memory cells, then ``after()``."""

    def receive(self, message: Message, flit: int) -> None:
        cost = self.entry() if flit == 0 and message.pays else 0.0
        if not message.txn.writing:
            self.worker.enter(lambda: cost, lambda: self._fetch(message))
            return
        if flit == message.last:
            message.ticket = self.agenda.ticket()

        def committed() -> None:
            message.committed += 1
            if message.committed == len(message.sizes):
                self.agenda.callback(self.agenda.now + self.latency, acknowledge, message.ticket)

        def acknowledge() -> None:
            answer, access = Message(message.txn, message.route[::-1], [0]), message.txn.access
            if access is not None:
                access.unacknowledged -= 1
                answer.pays = access.unacknowledged == 0
            self.send(answer)

        self.worker.enter(lambda: cost, lambda: self.array(message, flit, message.sizes[flit], committed))

    def _fetch(self, command: Message) -> None:
        answer = Message(command.txn, command.route[::-1], flits(command.txn.piece.nbytes, self.flit_bytes))
        ready = [False] * len(answer.sizes)
        released = 0

        def fetched(flit: int) -> None:
            nonlocal released
            ready[flit] = True
            while released < len(ready) and ready[released]:
                number = released
                self.agenda.flit(
                    self.agenda.now + self.latency,
                    command.txn.number,
                    0,
                    number,
                    lambda number=number: self.onward(answer, 0, number),
                )
                released += 1

        for flit, size in enumerate(answer.sizes):
            self.array(command, flit, size, lambda flit=flit: fetched(flit))


class Sram(Memory):
    """As fast as its link."""

    def array(self, message: Message, flit: int, nbytes: int, after: Act) -> None:
        after()


class Hbm(Memory):
    """Pseudo-channels by address; a channel serves whole bursts and pays for a change of direction."""

    def __init__(self, agenda: Agenda, properties: Properties, flit_bytes: int) -> None:
        super().__init__(agenda, properties, flit_bytes)
        self._channels = [Queue(agenda) for _ in range(int(properties["n_channels"]))]
        self._direction: list[bool | None] = [None] * len(self._channels)
        self._burst = int(properties["burst_bytes"])
        self._burst_ns = self._burst / float(properties["channel_gbs"])
        self._penalty = float(properties["switch_penalty_ns"])

    def array(self, message: Message, flit: int, nbytes: int, after: Act) -> None:
        txn = message.txn
        number = txn.piece.channel
        if number < 0:
            number = (txn.piece.offset + flit * self.flit_bytes) // self._burst % len(self._channels)

        def duration() -> float:
            before, self._direction[number] = self._direction[number], txn.writing
            turned = before is not None and before != txn.writing
            return self._burst_ns + self._penalty if turned else self._burst_ns

        self._channels[number].enter(duration, after)


class Tcm(Memory):
    """A read port and a write port; an access pays the overhead there, with its first bytes."""

    def __init__(self, agenda: Agenda, properties: Properties, flit_bytes: int) -> None:
        super().__init__(agenda, properties, flit_bytes)
        self._ports = {False: Queue(agenda), True: Queue(agenda)}
        self._gbs = {False: float(properties["read_gbs"]), True: float(properties["write_gbs"])}

    def entry(self) -> float:
        return 0.0

    def array(self, message: Message, flit: int, nbytes: int, after: Act) -> None:
        self.access(message.txn.writing, nbytes, after, pays=flit == 0)

    def access(self, writing: bool, nbytes: int, after: Act, *, pays: bool = True) -> None:
        overhead = self.overhead if pays else 0.0
        self._ports[writing].enter(lambda: overhead + nbytes / self._gbs[writing], after)


class Engines:
    """DMA engines for reading and for writing; a line in front of each kind.

    An engine translates one job at a time and has up to ``outstanding`` of them unanswered.
    """

    def __init__(
        self, agenda: Agenda, reading: int = 1, writing: int = 1, outstanding: int = 1, tlb_ns: float = 0.0
    ) -> None:
        self._agenda, self._tlb = agenda, tlb_ns
        self._most = outstanding
        self._unanswered = {False: [0] * reading, True: [0] * writing}
        self._translating = {False: [False] * reading, True: [False] * writing}
        self._line: dict[bool, deque[Callable[[int], None]]] = {False: deque(), True: deque()}

    def submit(self, writing: bool, issue: Callable[[int], None]) -> None:
        """``issue(engine)`` when an engine has taken the job and translated its address."""
        self._line[writing].append(issue)
        self._next(writing)

    def release(self, writing: bool, engine: int) -> None:
        """A job of that engine is over."""
        self._unanswered[writing][engine] -= 1
        self._next(writing)

    def _next(self, writing: bool) -> None:
        loads, busy = self._unanswered[writing], self._translating[writing]
        ready = [(loads[e], e) for e in range(len(loads)) if loads[e] < self._most and not busy[e]]
        if not ready or not self._line[writing]:
            return
        engine = min(ready)[1]
        issue = self._line[writing].popleft()
        loads[engine] += 1
        if self._tlb <= 0.0:
            issue(engine)
            return
        busy[engine] = True

        def translated() -> None:
            busy[engine] = False
            issue(engine)
            self._next(writing)

        self._agenda.callback(self._agenda.now + self._tlb, translated)


def flits(nbytes: int, flit_bytes: int) -> list[int]:
    """Sizes of the flits of a message: whole ones, then the rest; one of 0 for a message without bytes."""
    whole, rest = divmod(nbytes, flit_bytes)
    return [flit_bytes] * whole + ([rest] if rest or not whole else [])
