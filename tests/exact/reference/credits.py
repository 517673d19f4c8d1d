"""Wires with finite buffers: slots that are filled and emptied one by one, credits that travel back.

Everything here is an event of its own: a flit that has left, a credit that is back, a channel that is usable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.exact.reference.agenda import Agenda
from tests.exact.reference.contest import POLICIES, Flit
from tests.exact.reference.places import Message, Place, Wire


@dataclass
class Waiting:
    """A message in a lane: the flits of it that are there, and the room that it has at the far end."""

    message: Message
    place: int
    came: int
    """Flits that have come so far."""
    order: int
    """Place of the message among those that have come to this wire."""
    sent: int = 0
    room: Room | None = None
    usable: bool = False


@dataclass
class Lane:
    """Messages that go one after the other, each with all of its flits."""

    number: int
    room: Room | None = None
    """Whose slots they are in; None: there is no limit."""
    line: list[Waiting] = field(default_factory=list)
    moving: bool = False


@dataclass
class Room:
    """The slots at the far end of a wire for one of its virtual channels."""

    wire: CreditWire
    slots: int
    credits: int
    lane: Lane
    owner: Message | None = None


@dataclass(frozen=True)
class Limits:
    """What is said of a wire's buffers; ``flits`` of 0: it has none."""

    flits: int
    vcs: int
    credit_ns: float
    allocation_ns: float


class CreditWire(Wire):
    """A wire that is let on by credits, or that leaves a place which is reached by such wires."""

    def __init__(
        self, agenda: Agenda, gbs: float, flight_ns: float, far: Place, issue_ns: float, policy: str,
        number: int, inputs: Mapping[str, int], limits: Limits, spread: int, place: Node,
    ) -> None:  # fmt: skip
        super().__init__(agenda, gbs, flight_ns, far, issue_ns)
        self._choose = POLICIES[policy]
        self._number, self._inputs, self._limits, self._spread = number, inputs, limits, spread
        self._node = place
        self._carrying = self._deciding = self.reading = False
        self._came = 0
        self._own: dict[int, Lane] = {}
        self._served = self._given = -1
        self.rooms = [
            Room(self, limits.flits, limits.flits, Lane(number * spread + vc))
            for vc in range(limits.vcs if limits.flits else 0)
        ]
        for room in self.rooms:
            room.lane.room = room
        self.held_up = 0
        """Flits that stood while the wire was idle and no room was free."""
        place.wires.append(self)

    def carry(self, message: Message, place: int, flit: int) -> None:
        """See :class:`Wire`."""
        room = message.rooms.get(place - 1)
        if isinstance(room, Room):
            lane = room.lane
        else:
            source = self._inputs[message.route[place - 1]] if place else -1
            lane = self._own.setdefault(source, Lane(source * self._spread))
        for one in lane.line:
            if one.message is message:
                one.came += 1
                break
        else:
            self._came += 1
            lane.line.append(Waiting(message, place, 1, self._came))
        self._node.changed()

    def wake(self) -> None:
        """Something has changed: look again when all else of this moment has happened."""
        if not self._deciding:
            self._deciding = True
            self._agenda.decision(self._agenda.now, self._number, self._decide)

    def lanes(self) -> list[Lane]:
        """Those whose first message takes this wire."""
        own = [lane for lane in self._own.values() if lane.line]
        return own + [lane for lane in self._node.rooms() if lane.line and self._leads_here(lane)]

    def _leads_here(self, lane: Lane) -> bool:
        head = lane.line[0]
        return self._node.wire_to(head.message.route[head.place + 1]) is self

    def _decide(self) -> None:
        self._deciding = False
        lanes = self.lanes()
        if self._limits.flits:
            self._allocate(lanes)
        if self._carrying:
            return
        ready = {lane.number: lane for lane in lanes if self._can_go(lane)}
        if not ready:
            self.held_up += bool(lanes)
            return
        self._served = self._pick(ready, self._served)
        self._let_go(ready[self._served])

    def _pick(self, lanes: Mapping[int, Lane], before: int) -> int:
        heads = {number: lane.line[0] for number, lane in lanes.items()}
        return self._choose(
            {n: Flit(one.message, one.place, one.sent, 0.0, one.order) for n, one in heads.items()}, before
        )

    def _allocate(self, lanes: list[Lane]) -> None:
        while free := [room for room in self.rooms if room.owner is None]:
            asking = {lane.number: lane for lane in lanes if lane.line[0].room is None and not lane.moving}
            if not asking:
                return
            self._given = self._pick(asking, self._given)
            waiting = asking[self._given].line[0]
            room = max(free, key=lambda room: room.credits)
            room.owner = waiting.message
            waiting.room = room
            waiting.message.rooms[waiting.place] = room
            if self._limits.allocation_ns:
                self._agenda.finished(
                    self._agenda.now + self._limits.allocation_ns, lambda one=waiting: self._usable(one)
                )
            else:
                waiting.usable = True

    def _usable(self, waiting: Waiting) -> None:
        waiting.usable = True
        self.wake()

    def _can_go(self, lane: Lane) -> bool:
        head = lane.line[0]
        if lane.moving or head.sent == head.came or (lane.room and lane.room.wire.reading):
            return False
        if not self._limits.flits:
            return True
        return head.room is not None and head.usable and head.room.credits > 0

    def _let_go(self, lane: Lane) -> None:
        head, now = lane.line[0], self._agenda.now
        message, flit = head.message, head.sent
        head.sent += 1
        if head.room is not None:
            head.room.credits -= 1
            assert head.room.credits >= 0
        self._carrying = lane.moving = True
        inside = lane.room
        if inside is not None:
            inside.wire.reading = True

        def over() -> None:
            lane.moving = False
            if inside is not None:
                inside.wire.reading = False
                inside.wire.give_back(inside)
            if flit == message.last:
                lane.line.pop(0)
                if head.room is not None:
                    head.room.owner = None
            self.arrive(message, head.place, flit)
            self._node.changed()

        def free() -> None:
            self._carrying = False
            self.wake()

        end = now + message.sizes[flit] / self._gbs
        self._agenda.finished(end, over)
        self._agenda.finished(end + self.rest(message, flit), free)

    def taken(self, room: Room) -> None:
        """The far end has taken a flit as it came: its slot is empty at once."""
        self.give_back(room)

    def give_back(self, room: Room) -> None:
        """A slot is empty: the credit travels back."""

        def back() -> None:
            room.credits += 1
            assert room.credits <= room.slots
            self.wake()

        self._agenda.finished(self._agenda.now + self._limits.credit_ns, back)


class Node:
    """The wires at a place: those that leave it, and the lanes of those that lead to it."""

    def __init__(self, wire_to: Callable[[str], Wire | None], lanes: Callable[[], list[Lane]]) -> None:
        self.wires: list[CreditWire] = []
        self.wire_to, self.rooms = wire_to, lanes

    def changed(self) -> None:
        """A flit has come or gone: all wires look again."""
        for wire in self.wires:
            wire.wake()
