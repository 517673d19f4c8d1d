"""The data bus of a pseudo-channel of DRAM: who held it when, so that waits can name them."""

from __future__ import annotations

from typing import Any

from kernbench.engine.core.occupancy import OccupancyLog
from kernbench.engine.core.server import ArbitratedServer
from kernbench.support.pgraph import Node

_FORGET_EVERY = 256
_LOOKED_AT = 64
"""Number of runs of a data bus that are looked at one by one to attribute a wait."""


class BusLog(OccupancyLog):
    """Runs of a data bus; of a long queue the newest are looked at, and the rest is one entry."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0.0
        """Time for which the bus has been in use, ns."""
        self.before_run = 0.0
        self.sums: list[float] = []
        self.gone = 0
        """For each run, the time in use before it; the first ``gone`` entries are dropped."""
        self.own_ns = 0.0
        """Time for which the one who asks about its waits has used it."""

    def add(self, since: float, until: float, holder: Any) -> None:
        """See :meth:`OccupancyLog.add`."""
        if until > since:
            self.sums.append(self.before_run)
        OccupancyLog.add(self, since, until, holder)

    def forget_until(self, time: float) -> None:
        """See :meth:`OccupancyLog.forget_until`."""
        count = self.runs.count
        OccupancyLog.forget_until(self, time)
        self.gone += count - self.runs.count
        if self.gone > _FORGET_EVERY and 2 * self.gone > len(self.sums):
            del self.sums[: self.gone]
            self.gone = 0

    def blockers(self, owner: Any, begin: float, end: float, holder: Any, since: float, until: float) -> int:
        """See :meth:`OccupancyLog.blockers`."""
        runs = self.runs
        cut = runs.count - _LOOKED_AT
        if cut <= 0 or runs.since(cut) <= begin:
            return OccupancyLog.blockers(self, owner, begin, end, holder, since, until)
        middle = runs.since(cut)
        n = OccupancyLog.blockers(self, owner, middle, end, holder, since, until)
        found = self.found
        own = self.own_ns - (self.total - self.sums[self.gone + cut])
        for k in range(n):
            own += found.ns.at[k]
        low = 0
        high = cut
        while low < high:  # the oldest run that had not ended by then
            at = (low + high) // 2
            if runs.end(at) <= begin:
                low = at + 1
            else:
                high = at
        oldest = runs.since(low)
        begun = begin if begin > oldest else oldest
        rest = self.sums[self.gone + cut] - self.sums[self.gone + low] - (begun - oldest)
        if own > 0.0:
            rest -= own
        first = low
        while first < cut and runs.holder(first) is owner:
            first += 1
        if rest > 1e-9 and first < cut:
            found.holder[n] = runs.holder(first)
            found.ns.at[n] = rest
            found.t_from.at[n] = begun
            found.t_to.at[n] = middle
            found.holders[n] = cut - low
            n += 1
        return n


class PseudoChannel(ArbitratedServer):
    """The data bus of one pseudo-channel: a part of its slice, ``node`` in the graph."""

    def __init__(self, node: Node, place: int) -> None:
        super().__init__(node.id)
        self.node = node
        self.place = place
        PseudoChannel.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        ArbitratedServer.reset(self)
        self.log = self.bus = BusLog()

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """See :meth:`ArbitratedServer.occupy`."""
        bus = self.bus
        follows = self.holder is owner and time <= self.free
        ArbitratedServer.occupy(self, time, duration, owner)
        if not follows:
            bus.before_run = bus.total
        bus.total += duration
        return time

    def forget_until(self, oldest: float) -> None:
        """Forget runs before ``oldest``: nobody who came earlier still waits here."""
        self.bus.forget_until(oldest)
