"""The flits of a message at one place, as a train: what links, overheads and memories do to it.

But for the last flit, which may be short, flit j of a :class:`Train` passes a location at the latest of a few
lines ``start + j * gap``. A link that takes ``s`` ns a flit maps a line (c, g) to (c + s, g) and adds the
line (first + s, s): a train is spread by the narrowest link that it has met. Overhead that only the first
flit pays adds a line of gap 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Train:
    """The flits of a message at one place: ``whole`` full ones, then the last.

    Full flit j is there at the latest of ``starts[gap] + j * gap`` over all gaps (ns), the last one at
    ``last``. ``leads`` says that the first of them is the message's first flit, which pays overheads.
    """

    starts: dict[float, float]
    last: float
    whole: int
    leads: bool = True

    @classmethod
    def at_once(cls, time: float, flits: int, leads: bool = True) -> Train:
        """All flits stand there at ``time``."""
        return cls({0.0: time}, time, flits - 1, leads)

    def flit(self, number: int) -> float:
        """When full flit ``number`` is there."""
        return max(start + number * gap for gap, start in self.starts.items())

    @property
    def first(self) -> float:
        """When the first flit is there."""
        return self.flit(0) if self.whole else self.last

    def later(self, ns: float) -> Train:
        """All of them, ``ns`` later."""
        starts = {gap: start + ns for gap, start in self.starts.items()}
        return replace(self, starts=starts, last=self.last + ns)

    def cross(self, flit_ns: float, last_ns: float, flight_ns: float) -> Train:
        """Over a link that takes ``flit_ns`` for a full flit and ``last_ns`` for the last one."""
        starts = {gap: start + flit_ns for gap, start in self.starts.items()}
        last = self.last
        if self.whole:
            starts[flit_ns] = self.flit(0) + flit_ns
            last = max(last, replace(self, starts=starts).flit(self.whole - 1))
        return Train(
            {gap: start + flight_ns for gap, start in starts.items()},
            last + last_ns + flight_ns,
            self.whole,
            self.leads,
        )

    def pay(self, ns: float) -> Train:
        """Past a worker that takes ``ns`` for the message's first flit and nothing for the others."""
        if not self.leads or ns == 0.0:
            return self
        paid = self.first + ns
        if not self.whole:
            return replace(self, last=paid)
        starts = {**self.starts, 0.0: max(self.starts.get(0.0, paid), paid)}
        return replace(self, starts=starts, last=max(self.last, paid))


def last_commit(train: Train, channels: int, burst_ns: float) -> float:
    """When the last burst of a write is done.

    The last flit's channel has served every ``channels``-th flit before it. Counted from the end, the m-th
    of them was followed by m more bursts; its arrival falls convexly with m, so that only the nearest and the
    farthest can have delayed the last one.
    """
    before = train.whole // channels
    ends = [train.last + burst_ns]
    for bursts in sorted({1, before} & set(range(1, before + 1))):
        arrived = train.flit(train.whole - bursts * channels)
        ends.append(arrived + (bursts + 1) * burst_ns)
    return max(ends)


def fetch_trains(asked: Train, channels: int, burst_ns: float) -> list[Train]:
    """The batches of a read's flits that decide when the last one arrives anywhere."""
    flits, start = asked.whole + 1, asked.last
    final = (flits - 1) // channels
    return [
        Train.at_once(start + (batch + 1) * burst_ns, flits - batch * channels, batch == 0)
        for batch in sorted({0, 1, final - 1, final} & set(range(final + 1)))
    ]
