"""Queues between interpreted programs: rings with slots as on the machine, without time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.engine.components.queue_ring import Incoming, Outgoing, QueueCredit, QueueToken
from kernbench.engine.program.commands import Completion
from kernbench.engine.program.queues import Message, Receive, RingEntry
from kernbench.errors import UsageError
from kernbench.hardware.topology.neighbours import MachineShape, Neighbours, neighbours, pairs
from kernbench.hardware.topology.nodes import Location

Bytes = np.ndarray[Any, Any]


class Parcel:
    """A message under way: how many of its parts have a slot, and how many have been read.

    ``posted`` is done when all have one.
    """

    def __init__(self, message: Message, data: Bytes, posted: Completion) -> None:
        self.message = message
        self.data = data
        self.posted = posted
        self.put = 0
        self.read = 0


class Ring:
    """One direction of one PE: both ends of its receive ring as on the machine, without time."""

    def __init__(self, entry: RingEntry) -> None:
        self.entry = entry
        self._outgoing, self._incoming = Outgoing(entry), Incoming(entry)
        self.reader: Receive | None = None
        """The receive that has read some of a message's parts."""
        self.moved = 0
        """Parts put and read so far."""

    def put(self, parcel: Parcel) -> None:
        """Fill slots with parts of ``parcel``, behind those that wait for slots, as they become free."""
        self._outgoing.sends.append(parcel)
        self._fill()

    @property
    def waiting(self) -> int:
        """Messages with parts that have no slot."""
        return len(self._outgoing.sends)

    def _fill(self) -> None:
        out, into = self._outgoing, self._incoming
        while out.sends and out.credits:
            parcel: Parcel = out.sends[0]
            into.written(into.arrive(QueueToken(out.take(), 0, parcel.message, parcel.put, parcel, 0)))
            self.moved += 1
            parcel.put += 1
            if parcel.put == parcel.message.parts:
                out.sends.popleft()
                parcel.posted.complete()

    def first(self) -> Parcel | None:
        """The message whose parts are read next, if one is there."""
        token = self._incoming.first()
        return None if token is None else token.op

    def take(self, reader: Receive) -> Parcel | None:
        """Read what is there of the first parcel; the parcel once all of it has been read."""
        parcel = self.first()
        if parcel is None or self.reader not in (None, reader):
            return None
        self.reader = reader
        while self.first() is parcel:
            self._incoming.read(self._incoming.begin_read())
            self._outgoing.give(QueueCredit(self.entry.address, self._incoming.tail, -1), -1)
            self.moved += 1
            parcel.read += 1
        self._fill()
        if parcel.read < parcel.message.parts:
            return None
        self.reader = None
        return parcel

    def __str__(self) -> str:
        held = self._incoming.arrived - self._incoming.tail
        return f"ring '{self.entry.direction}' holds {held} of {self.entry.slots} slots"


class InterpretedQueues:
    """The rings of all programs of one interpreted launch."""

    def __init__(
        self,
        counts: tuple[int, int, int],
        wiring: str | Sequence[str] | Neighbours,
        slots: int,
        slot_bytes: int,
        shape: MachineShape | None,
    ) -> None:
        pes, cubes, sips = counts
        if slots < 1 or slot_bytes < 1:
            raise UsageError(f"{slots} slots of {slot_bytes} bytes: a ring needs one of each at least")
        if not isinstance(wiring, dict):
            shape = shape or MachineShape(sips, (cubes, 1), pes)
            wiring = neighbours(wiring, shape)
        self._heard = pairs(wiring)
        self.rings: dict[tuple[Location, str], Ring] = {
            (location, direction): Ring(RingEntry(direction, peer, 0, 0, slots, slot_bytes, "tcm"))
            for location, directions in wiring.items()
            for direction, peer in directions.items()
        }
        self._turn: dict[Location, int] = {}

    @property
    def moved(self) -> int:
        """Parts put and read so far, in all rings."""
        return sum(ring.moved for ring in self.rings.values())

    def of(self, location: Location) -> dict[str, RingEntry]:
        """The queues of a PE by direction."""
        return {d: ring.entry for (at, d), ring in self.rings.items() if at == location}

    def peer_ring(self, location: Location, direction: str) -> Ring:
        """The ring that PE ``location`` fills by sending in ``direction``."""
        return self.rings[self._heard[location, direction]]

    def filled_by(self, location: Location) -> list[Ring]:
        """The rings that PE ``location`` sends to."""
        return [self.peer_ring(location, direction) for direction in self.of(location)]

    def take(self, location: Location, reader: Receive) -> Parcel | None:
        """The message that ``reader`` receives on PE ``location``, once it is whole; fills in its origin."""
        direction = reader.source or reader.direction or self._next(location)
        if direction is None:
            return None
        ring = self.rings[location, direction]
        parcel = ring.take(reader)
        if ring.reader is reader or parcel is not None:
            reader.source = direction
        return parcel

    def _next(self, location: Location) -> str | None:
        """The direction with a message whose turn it is, the one after the last served first."""
        directions = list(self.of(location))
        start = self._turn.get(location, 0)
        for step in range(len(directions)):
            index = (start + step) % len(directions)
            ring = self.rings[location, directions[index]]
            if ring.reader is None and ring.first() is not None:
                self._turn[location] = index + 1
                return directions[index]
        return None
