"""What a server remembers of those that held it.

Most servers never have two at a time, so all of them begin empty and small: a machine has tens of thousands.
What is asked of them, and why they keep no more, says :mod:`kernbench.engine.core.occupancy`.
"""

from __future__ import annotations

from typing import Any

from kernbench.engine.core.columns import Doubles

_INFINITY = float("inf")


class Runs:
    """Intervals in which a server had one holder, oldest first: a ring of ``room`` places."""

    def __init__(self) -> None:
        self.count = 0
        """Number of runs."""
        self.head = 0
        self.room = 0
        self.times: Any = None
        """When each run began and ended."""
        self.holders: list[Any] = []

    def add(self, since: float, end: float, holder: Any) -> None:
        """Add a run after all others."""
        if self.count == self.room:
            self.grow()
        at = (self.head + self.count) & (self.room - 1)
        self.times.at[2 * at] = since
        self.times.at[2 * at + 1] = end
        self.holders[at] = holder
        self.count += 1

    def grow(self) -> None:
        """Make room for twice as many."""
        room = 2 * self.room if self.room else 4
        times = Doubles().sized(2 * room)
        holders: list[Any] = [None] * room
        for i in range(self.count):
            times.at[2 * i] = self.since(i)
            times.at[2 * i + 1] = self.end(i)
            holders[i] = self.holder(i)
        self.times = times
        self.holders = holders
        self.head = 0
        self.room = room

    def since(self, i: int) -> float:
        """When run ``i`` began, counted from the oldest."""
        return self.times.at[2 * ((self.head + i) & (self.room - 1))]  # type: ignore[no-any-return]

    def end(self, i: int) -> float:
        """When run ``i`` ended."""
        return self.times.at[2 * ((self.head + i) & (self.room - 1)) + 1]  # type: ignore[no-any-return]

    def holder(self, i: int) -> Any:
        """The holder of run ``i``."""
        return self.holders[(self.head + i) & (self.room - 1)]

    def drop_oldest(self) -> None:
        """Drop the oldest run. There must be one."""
        self.holders[self.head] = None
        self.head = (self.head + 1) & (self.room - 1)
        self.count -= 1

    def clear(self) -> None:
        """Drop all of them."""
        while self.count:
            self.drop_oldest()


class Share:
    """One holder's total time on a server, ns, its runs, and how many of these a walk has visited."""

    def __init__(self) -> None:
        self.ns = 0.0
        self.runs = 0
        self.walked = 0


class HolderShares:
    """The :class:`Share` of each holder, by identity."""

    def __init__(self) -> None:
        self.shares: dict[Any, Share] = {}

    @property
    def count(self) -> int:
        """Number of holders."""
        return len(self.shares)

    def add(self, holder: Any, ns: float) -> None:
        """Count one more run of ``holder``."""
        share = self.shares.get(holder)
        if share is None:
            share = self.shares[holder] = Share()
        share.ns += ns
        share.runs += 1

    def take(self, holder: Any, ns: float) -> None:
        """Count one run less; a holder without runs is dropped."""
        share = self.shares[holder]
        share.ns -= ns
        share.runs -= 1
        if not share.runs:
            del self.shares[holder]

    def has(self, holder: Any) -> bool:
        """Whether it has a run."""
        return holder in self.shares

    def ns(self, holder: Any) -> float:
        """How long it held the server in its runs."""
        share = self.shares.get(holder)
        return 0.0 if share is None else share.ns

    def walk(self, holder: Any) -> None:
        """Mark one of its runs as looked at."""
        share = self.shares[holder]
        share.walked += 1

    def walked(self, holder: Any) -> bool:
        """Whether all of its runs are marked; takes the marks away."""
        share = self.shares[holder]
        whole = share.walked == share.runs
        share.walked = 0
        return whole

    def clear(self) -> None:
        """Drop all of them."""
        self.shares.clear()


class Departures:
    """The times at which those present leave, in order; mostly they are added in that order."""

    def __init__(self) -> None:
        self.gone_by = 0
        self.count = 0
        self.room = 0
        self.ends: Any = None
        """Those from place ``gone_by`` to ``count`` are still to come."""

    def add(self, time: float) -> None:
        """Add a departure at ``time``."""
        if self.count == self.room:
            self.make_room()
        ends = self.ends
        at = self.count
        while at > self.gone_by and ends.at[at - 1] > time:
            ends.at[at] = ends.at[at - 1]
            at -= 1
        ends.at[at] = time
        self.count += 1

    def make_room(self) -> None:
        """Forget those that have left, and make room for twice as many where these are less than half."""
        left = self.count - self.gone_by
        ends = self.ends
        if 2 * left >= self.room:
            self.room = 2 * self.room if self.room else 4
            ends = Doubles().sized(self.room)
        for at in range(left):
            ends.at[at] = self.ends.at[self.gone_by + at]
        self.ends = ends
        self.gone_by = 0
        self.count = left

    def gone(self, time: float) -> int:
        """Drop those that left by ``time``; return their number."""
        before = self.gone_by
        while self.gone_by < self.count and self.ends.at[self.gone_by] <= time:
            self.gone_by += 1
        return self.gone_by - before

    def first(self) -> float:
        """When the next one leaves; infinity if there is none."""
        return self.ends.at[self.gone_by] if self.gone_by < self.count else _INFINITY


class HeldTimes:
    """The parts of a wait, newest first: whom it was for, for how long, from when to when, for how many."""

    def __init__(self) -> None:
        self.holder: list[Any] = [None] * 16
        self.ns = Doubles().sized(16)
        self.t_from = Doubles().sized(16)
        self.t_to = Doubles().sized(16)
        self.holders = [1] * 16
