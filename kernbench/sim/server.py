"""A FIFO server as arithmetic on the time at which it is free.

Anything that serves one flit or message at a time in order of arrival (a link, a router's worker, an
HBM pseudo-channel, a TCM port) is one number: when it will be free. Beside it the server remembers who
holds it, so that a wait can name who it waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.compiled import built_on, core

HOLDERS_NAMED = 8
"""How many holders one wait tells apart."""


class Held(NamedTuple):
    """A part of a wait: ``holder`` had the server for ``ns``; with ``holders`` > 1 so many had it in all.

    All of it lay between ``t_from`` and ``t_to``, ns.
    """

    holder: Any
    ns: float
    t_from: float
    t_to: float
    holders: int = 1


class Server:
    """One FIFO server with its use counted. ``owner`` is whatever holds it: a transaction, an op."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.index = -1
        """Number of this resource in the machine's table; set when it is wired."""
        self.free = 0.0
        self.holder: Any = None
        self.since = 0.0
        self._runs: deque[tuple[float, float, Any]] = deque()
        self._shares: dict[Any, list[Any]] = {}
        """Of each holder of a run: [ns in all, number of runs]."""
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
                self.forget_runs()
            self.holder = owner
            self.since = time
            self.free = time + duration
            return time
        if self.holder is not owner:
            self._drop_runs(time)  # later questions are about times after ``time``
            self.end_run(free)
            self.holder = owner
            self.since = free
        self.free = free + duration
        return free

    def end_run(self, end: float) -> None:
        """The present holder's run ends at ``end``: keep it for the waits of those behind it."""
        since, holder = self.since, self.holder
        if end > since:
            self._runs.append((since, end, holder))
            share = self._shares.get(holder)
            if share is None:
                self._shares[holder] = [end - since, 1]
            else:
                share[0] += end - since
                share[1] += 1

    def forget_runs(self) -> None:
        """The server is idle: there is nothing to wait behind."""
        self._runs.clear()
        self._shares.clear()

    def _drop_runs(self, time: float) -> None:
        """Forget the runs that ended by ``time``."""
        runs = self._runs
        while runs and runs[0][1] <= time:
            since, end, holder = runs.popleft()
            share = self._shares[holder]
            share[0] -= end - since
            share[1] -= 1
            if not share[1]:
                del self._shares[holder]

    def waited_for(self, owner: Any, begin: float, end: float) -> list[Held]:
        """Who else held the server between ``begin`` (now) and ``end``, oldest first.

        ``end`` is when ``owner`` got it. The server was busy all that time, so what is missing from
        ``end - begin`` was held by ``owner`` itself (its earlier flits). Up to :data:`HOLDERS_NAMED` holders
        are named each. In a longer queue the newest are, and the rest are one entry in the name of the
        oldest: neither the time that this takes nor its result grows with the queue.
        """
        runs = self._runs
        if runs:
            self._drop_runs(begin)
        if not runs and self.holder is owner:
            return []  # it stood behind its own earlier flits
        named: dict[Any, Held] = {}  # newest first
        walked: dict[Any, int] = {}
        own_walked = 0.0
        stop = end
        present = ((self.since, inf, self.holder),) if self.holder is not None else ()
        for since, until, holder in chain(present, reversed(runs)):
            if stop <= begin:
                break
            if since < stop:
                if holder is not owner:
                    if holder not in named and len(named) == HOLDERS_NAMED - 1:
                        others = self._others(owner, named, walked)
                        if others > 1:
                            rest = self._rest(owner, begin, stop, own_walked)
                            return [Held(*rest, others), *reversed(named.values())]
                    known = named.get(holder)
                    start = max(since, begin)
                    if known is None:
                        named[holder] = Held(holder, stop - start, start, stop)
                    else:
                        named[holder] = Held(holder, known.ns + stop - start, start, known.t_to)
                stop = max(since, begin)
            if until < inf:
                walked[holder] = walked.get(holder, 0) + 1
                if holder is owner:
                    own_walked += until - since
        return list(reversed(named.values()))

    def _others(self, owner: Any, named: Mapping[Any, Held], walked: Mapping[Any, int]) -> int:
        """How many holders there are among the runs not walked, besides ``owner`` and the ``named``."""
        shares = self._shares
        over = [holder for holder in {owner: None, **named} if holder in shares]
        # Those behind ``owner`` alone, in a queue that went on behind it.
        over += [
            holder
            for holder, runs in walked.items()
            if holder is not owner and holder not in named and shares[holder][1] == runs
        ]
        return len(shares) - len(over)

    def _rest(
        self, owner: Any, begin: float, stop: float, own_walked: float
    ) -> tuple[Any, float, float, float]:
        """The oldest holder of ``[begin, stop)``, how much of it was not ``owner``'s, from when, to when."""
        own = self._shares[owner][0] - own_walked if owner in self._shares else 0.0
        since, _, oldest = self._runs[0]
        if oldest is owner:
            own -= begin - since
            since, oldest = next((since, holder) for since, _, holder in self._runs if holder is not owner)
        return oldest, stop - begin - own, max(since, begin), stop

    def arrive(self, time: float) -> None:
        """Count one more transaction present from ``time`` on."""
        ends = self._ends
        present = self._present + 1
        while ends and ends[0] <= time:
            heappop(ends)
            present -= 1
        self._present = present
        self.transactions += 1
        if present > self.max_queue:
            self.max_queue = present

    def leave(self, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        """Count a transaction as gone from ``time`` on, with what it moved, used and waited."""
        heappush(self._ends, time)
        self.bytes += nbytes
        self.busy_ns += busy_ns
        self.wait_ns += wait_ns


PlainServer = Server
"""The class above, also where the compiled one takes its name."""

if not TYPE_CHECKING and core is not None:
    core.register_held(Held)
    Server = built_on(core.Server, Server)
