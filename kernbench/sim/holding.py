"""What a server remembers of those that held it.

Containers in two forms: these, and compiled ones (``holding.pyx``). Most servers never have two at a time, so
all of them begin empty and small: a machine has tens of thousands. What is asked of them, and why they keep
no more, says :mod:`kernbench.sim.occupancy`.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from math import inf
from typing import Any


class Runs:
    """Intervals in which a server had one holder, oldest first."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: deque[tuple[float, float, Any]] = deque()

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self._runs)

    def add(self, since: float, end: float, holder: Any) -> None:
        """Add a run after all others."""
        self._runs.append((since, end, holder))

    def since(self, i: int) -> float:
        """When run ``i`` began, counted from the oldest."""
        return self._runs[i][0]

    def end(self, i: int) -> float:
        """When run ``i`` ended."""
        return self._runs[i][1]

    def holder(self, i: int) -> Any:
        """The holder of run ``i``."""
        return self._runs[i][2]

    def drop_oldest(self) -> None:
        """Drop the oldest run. There must be one."""
        self._runs.popleft()

    def clear(self) -> None:
        """Drop all of them."""
        self._runs.clear()


class HolderShares:
    """For each holder, by identity: how long it held the server in total, and in how many runs."""

    __slots__ = ("_shares",)

    def __init__(self) -> None:
        self._shares: dict[Any, list[Any]] = {}

    @property
    def count(self) -> int:
        """Number of holders."""
        return len(self._shares)

    def add(self, holder: Any, ns: float) -> None:
        """Count one more run of ``holder``."""
        share = self._shares.get(holder)
        if share is None:
            self._shares[holder] = [ns, 1, 0]
        else:
            share[0] += ns
            share[1] += 1

    def take(self, holder: Any, ns: float) -> None:
        """Count one run less; a holder without runs is dropped."""
        share = self._shares[holder]
        share[0] -= ns
        share[1] -= 1
        if not share[1]:
            del self._shares[holder]

    def has(self, holder: Any) -> bool:
        """Whether it has a run."""
        return holder in self._shares

    def ns(self, holder: Any) -> float:
        """How long it held the server in its runs."""
        return self._shares[holder][0] if holder in self._shares else 0.0

    def walk(self, holder: Any) -> None:
        """Mark one of its runs as looked at."""
        self._shares[holder][2] += 1

    def walked(self, holder: Any) -> bool:
        """Whether all of its runs are marked; takes the marks away."""
        share = self._shares[holder]
        whole: bool = share[2] == share[1]
        share[2] = 0
        return whole

    def clear(self) -> None:
        """Drop all of them."""
        self._shares.clear()


class Departures:
    """The times at which those present leave."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends: list[float] = []

    def add(self, time: float) -> None:
        """Add a departure at ``time``."""
        heappush(self._ends, time)

    def gone(self, time: float) -> int:
        """Drop those that left by ``time``; return their number."""
        ends, gone = self._ends, 0
        while ends and ends[0] <= time:
            heappop(ends)
            gone += 1
        return gone

    def first(self) -> float:
        """When the next one leaves; infinity if there is none."""
        return self._ends[0] if self._ends else inf


class HeldTimes:
    """The parts of a wait, newest first: whom it was for, for how long, from when to when, for how many."""

    __slots__ = ("holder", "holders", "ns", "t_from", "t_to")

    def __init__(self) -> None:
        self.holder: list[Any] = [None] * 16
        self.ns = [0.0] * 16
        self.t_from = [0.0] * 16
        self.t_to = [0.0] * 16
        self.holders = [1] * 16
