"""The data bus of a pseudo-channel of DRAM: who held it when, so that waits can name them."""

from __future__ import annotations

from typing import Any

from kernbench.pgraph import Node
from kernbench.sim.booked import Booked

_FORGET_EVERY = 256
_LOOKED_AT = 64
"""Runs of a data bus that a wait is made out from one by one."""


class PseudoChannel(Booked):
    """The data bus of one pseudo-channel: a part of its slice, in the graph as ``node``."""

    def __init__(self, node: Node, place: int) -> None:
        super().__init__(node.id)
        self.node = node
        self.place = place
        self.total = 0.0
        """Time for which it has been in use, ns."""
        self.before_run = 0.0
        self.sums: list[float] = []
        self.gone = 0
        """For each run the time for which it had been in use before; the first ``gone`` are forgotten."""
        self.own_ns = 0.0
        """For how long who asks for its waits has used it."""

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """See :meth:`Booked.occupy`."""
        count = self.runs.count
        follows = self.holder is owner and time <= self.free
        Booked.occupy(self, time, duration, owner)
        if self.runs.count > count:
            self.sums.append(self.before_run)
        if not follows:
            self.before_run = self.total
        self.total += duration
        return time

    def forget_until(self, oldest: float) -> None:
        """See :meth:`Booked.forget_until`."""
        count = self.runs.count
        Booked.forget_until(self, oldest)
        self.gone += count - self.runs.count
        if self.gone > _FORGET_EVERY and 2 * self.gone > len(self.sums):
            del self.sums[: self.gone]
            self.gone = 0

    def waits(self, owner: Any, begin: float, end: float) -> int:
        """See :meth:`Server.waits`. Of a long queue the newest runs are looked at, the rest is one entry."""
        runs = self.runs
        cut = runs.count - _LOOKED_AT
        if cut <= 0 or runs.since(cut) <= begin:
            return Booked.waits(self, owner, begin, end)
        middle = runs.since(cut)
        n = Booked.waits(self, owner, middle, end)
        parts = self.parts
        own = self.own_ns - (self.total - self.sums[self.gone + cut])
        for k in range(n):
            own += parts.ns[k]
        low = 0
        high = cut
        while low < high:  # the oldest run that had not ended by then
            at = (low + high) // 2
            if runs.end(at) <= begin:
                low = at + 1
            else:
                high = at
        since = runs.since(low)
        begun = begin if begin > since else since
        rest = self.sums[self.gone + cut] - self.sums[self.gone + low] - (begun - since)
        if own > 0.0:
            rest -= own
        first = low
        while first < cut and runs.holder(first) is owner:
            first += 1
        if rest > 1e-9 and first < cut:
            parts.holder[n] = runs.holder(first)
            parts.ns[n] = rest
            parts.t_from[n] = begun
            parts.t_to[n] = middle
            parts.holders[n] = cut - low
            n += 1
        return n
