"""A FIFO server as arithmetic on the time at which it is free.

Anything that serves one flit or message at a time in order of arrival (a link, a router's worker, an
HBM pseudo-channel, a TCM port) is one number: when it will be free. Beside it the server remembers who
holds it, so that a wait can name who it waited for.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import chain
from typing import Any


class Server:
    """One FIFO server with its use counted. ``owner`` is whatever holds it: a transaction, an op."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.index = -1
        """Number of this resource in the machine's table; set when it is wired."""
        self.free = 0.0
        self.holder: Any = None
        self.since = 0.0
        self._runs: deque[tuple[float, Any]] = deque()
        self.bytes = 0
        self.busy_ns = 0.0
        self.wait_ns = 0.0
        self.transactions = 0
        self.max_queue = 0
        self._present = 0
        self._ends: list[float] = []

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` for ``duration`` ns at the earliest moment from ``time`` on; return that moment.

        Calls must come in order of arrival (``time`` never falls).
        """
        free = self.free
        if time >= free:
            if self._runs:
                self._runs.clear()
            self.holder = owner
            self.since = time
            self.free = time + duration
            return time
        if self.holder is not owner:
            runs = self._runs
            # Whoever asks from now on asks about what comes after ``time``.
            while len(runs) > 1 and runs[1][0] <= time:
                runs.popleft()
            runs.append((self.since, self.holder))
            self.holder = owner
            self.since = free
        self.free = free + duration
        return free

    def waited_for(self, owner: Any, begin: float, end: float) -> list[tuple[Any, float]]:
        """Who else held the server between ``begin`` (now) and ``end``, and for how many ns each.

        ``end`` is when ``owner`` got it. The server was busy all that time, so what is missing from
        ``end - begin`` was held by ``owner`` itself (its earlier flits).
        """
        runs = self._runs
        while len(runs) > 1 and runs[1][0] <= begin:
            runs.popleft()
        found: list[tuple[Any, float]] = []
        begun, holder = begin, owner
        for start, following in chain(runs, ((self.since, self.holder),)):
            if start > begun:
                if start >= end:
                    break
                if holder is not owner:
                    found.append((holder, start - begun))
                begun = start
            holder = following
        if holder is not owner and end > begun:
            found.append((holder, end - begun))
        return found

    def arrive(self, time: float) -> None:
        """Count one more transaction present from ``time`` on."""
        ends = self._ends
        while ends and ends[0] <= time:
            heappop(ends)
            self._present -= 1
        self._present += 1
        self.transactions += 1
        if self._present > self.max_queue:
            self.max_queue = self._present

    def leave(self, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        """Count a transaction as gone from ``time`` on, with what it moved, used and waited."""
        heappush(self._ends, time)
        self.bytes += nbytes
        self.busy_ns += busy_ns
        self.wait_ns += wait_ns
