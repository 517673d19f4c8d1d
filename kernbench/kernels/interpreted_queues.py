"""Queues between interpreted programs: rings with slots as on the machine, without time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.program.commands import Completion
from kernbench.program.queues import Location, Message, Receive, RingEntry
from kernbench.topology.neighbours import MachineShape, Neighbours, neighbours, pairs

Bytes = np.ndarray[Any, Any]


class Parcel:
    """A message under way: how many of its parts are in the ring or beyond, and how many have been read.

    ``posted`` is done when all are in the ring.
    """

    def __init__(self, message: Message, data: Bytes, posted: Completion) -> None:
        self.message = message
        self.data = data
        self.posted = posted
        self.arrived = 0
        self.read = 0


class ReceiveRing:
    """The receive ring of one direction of one PE."""

    def __init__(self, entry: RingEntry) -> None:
        self.entry = entry
        self.parcels: deque[Parcel] = deque()
        self.reader: Receive | None = None
        """The receive that has read some of the first parcel's parts."""
        self.moved = 0
        """Parts put and read so far."""

    def put(self, parcel: Parcel) -> None:
        """Fill slots with parts of ``parcel``, behind those that wait for slots, as they become free."""
        self.parcels.append(parcel)
        self._fill()

    @property
    def waiting(self) -> int:
        """Messages with parts that have no slot."""
        return sum(not parcel.posted.done for parcel in self.parcels)

    def _fill(self) -> None:
        free = self.entry.slots - sum(one.arrived - one.read for one in self.parcels)
        for parcel in self.parcels:
            if parcel.posted.done:
                continue
            fits = min(free, parcel.message.parts - parcel.arrived)
            parcel.arrived += fits
            self.moved += fits
            free -= fits
            if parcel.arrived < parcel.message.parts:
                return
            parcel.posted.complete()

    def take(self, reader: Receive) -> Parcel | None:
        """Read what is there of the first parcel; the parcel once all of it has been read."""
        if not self.parcels or not self.parcels[0].arrived or self.reader not in (None, reader):
            return None
        parcel = self.parcels[0]
        self.reader = reader
        self.moved += parcel.arrived - parcel.read
        parcel.read = parcel.arrived
        self._fill()
        if parcel.read < parcel.message.parts:
            return None
        self.reader = None
        return self.parcels.popleft()

    def __str__(self) -> str:
        held = sum(one.arrived - one.read for one in self.parcels)
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
        self.rings: dict[tuple[Location, str], ReceiveRing] = {
            (location, direction): ReceiveRing(RingEntry(direction, peer, 0, 0, slots, slot_bytes, "tcm"))
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

    def peer_ring(self, location: Location, direction: str) -> ReceiveRing:
        """The ring that PE ``location`` fills by sending in ``direction``."""
        return self.rings[self._heard[location, direction]]

    def filled_by(self, location: Location) -> list[ReceiveRing]:
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
            if ring.reader is None and ring.parcels and ring.parcels[0].arrived:
                self._turn[location] = index + 1
                return directions[index]
        return None
