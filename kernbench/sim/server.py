"""A FIFO server as arithmetic on the time at which it is free.

Anything that serves one flit or message at a time in order of arrival (a link, a router's worker, an
HBM pseudo-channel, a TCM port) is one number: when it will be free. Beside it the server remembers who
holds it, so that a wait can name who it waited for.
"""

from __future__ import annotations

from typing import Any

from kernbench.sim.holding import Departures, HolderShares, Runs
from kernbench.sim.holding import HeldTimes as Parts
from kernbench.sim.records import Held

HOLDERS_NAMED = 8
"""How many holders one wait tells apart."""
_NAMED = 8
_INFINITY = float("inf")


class Server:
    """One FIFO server with its use counted. ``owner`` is whatever holds it: a transaction, an op.

    Subclasses may override any of its methods.
    """

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.index = -1
        """Number of this resource in the machine's table; set when it is wired."""
        self.free = 0.0
        self.holder: Any = None
        self.since = 0.0
        self.bytes = 0
        self._busy_ns = 0.0
        self.wait_ns = 0.0
        self.transactions = 0
        self.max_queue = 0
        self.present = 0
        self.runs = Runs()
        self.queued = False
        """Whether there are runs: a look at these costs a look into memory for each flit."""
        self.shares: HolderShares | None = None
        self.departures = Departures()
        self.leaving = 0
        """How many ``departures`` there are."""
        self.left = _INFINITY
        """One departure more, of one that left while no other was about to: most servers need no others."""
        self.parts: Any = None  # Parts, when it has been waited for
        self.watcher: Any = None
        """An instrument whose ``occupied(server, time, duration, start, owner)`` is called for each use."""

    @property
    def busy_ns(self) -> float:
        """Time for which it was in use, ns."""
        return self._busy_ns

    @busy_ns.setter
    def busy_ns(self, value: float) -> None:
        self._busy_ns = value

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` for ``duration`` ns at the earliest moment from ``time`` on; return that moment.

        Calls must come in order of arrival (``time`` never falls).
        """
        begun = self.free
        if time >= begun:
            if self.queued:
                self.forget_runs()
            self.holder = owner
            self.since = begun = time
        elif self.holder is not owner:
            self.drop_runs(time)  # later questions are about times after ``time``
            self.end_run(begun)
            self.holder = owner
            self.since = begun
        self.free = begun + duration
        if self.watcher is not None:
            self.watcher.occupied(self, time, duration, begun, owner)
        return begun

    def end_run(self, end: float) -> None:
        """The present holder's run ends at ``end``: keep it for the waits of those behind it."""
        since = self.since
        if end > since:
            self.runs.add(since, end, self.holder)
            self.queued = True
            if self.shares is None:
                self.shares = HolderShares()
            self.shares.add(self.holder, end - since)

    def forget_runs(self) -> None:
        """The server is idle: there is nothing to wait behind."""
        self.runs.clear()
        self.queued = False
        if self.shares is not None:
            self.shares.clear()

    def drop_runs(self, time: float) -> None:
        """Forget the runs that ended by ``time``."""
        runs = self.runs
        while runs.count and runs.end(0) <= time:
            assert self.shares is not None
            self.shares.take(runs.holder(0), runs.end(0) - runs.since(0))
            runs.drop_oldest()
        self.queued = runs.count > 0

    def waited_for(self, owner: Any, begin: float, end: float) -> list[Held]:
        """Who else held the server between ``begin`` (now) and ``end``, oldest first.

        ``end`` is when ``owner`` got it. The server was busy all that time, so what is missing from
        ``end - begin`` was held by ``owner`` itself (its earlier flits). Up to :data:`HOLDERS_NAMED` holders
        are named each. In a longer queue the newest are, and the rest are one entry in the name of the
        oldest: neither the time that this takes nor its result grows with the queue.
        """
        n = self.waits(owner, begin, end)
        parts = self.parts
        return [
            Held(parts.holder[k], parts.ns[k], parts.t_from[k], parts.t_to[k], parts.holders[k])
            for k in range(n - 1, -1, -1)
        ]

    def waits(self, owner: Any, begin: float, end: float) -> int:
        """As :meth:`waited_for`; the answer is left in ``parts``, newest first. Returns how many."""
        runs = self.runs
        if runs.count:
            self.drop_runs(begin)
        count = runs.count
        if not count and self.holder is owner:
            return 0  # it stood behind its own earlier flits
        if self.parts is None:
            self.parts = Parts()
        parts = self.parts
        n = 0
        stop = end
        own_walked = 0.0
        step = 0 if self.holder is None else -1
        while step < count and stop > begin:
            if step < 0:
                since, until, holder = self.since, _INFINITY, self.holder
            else:
                at = count - 1 - step
                since, until, holder = runs.since(at), runs.end(at), runs.holder(at)
            if since < stop:
                start = begin if begin > since else since
                if holder is not owner:
                    k = 0
                    while k < n and parts.holder[k] is not holder:
                        k += 1
                    if k == n and n == _NAMED - 1:
                        others = self.others(owner, n, step if step > 0 else 0)
                        if others > 1:
                            self.rest(owner, n, begin, stop, own_walked)
                            parts.holders[n] = others
                            return n + 1
                    if k == n:
                        parts.holder[k] = holder
                        parts.ns[k] = stop - start
                        parts.t_from[k] = start
                        parts.t_to[k] = stop
                        parts.holders[k] = 1
                        n += 1
                    else:
                        parts.ns[k] = parts.ns[k] + stop - start
                        parts.t_from[k] = start
                stop = start
            if step >= 0 and holder is owner:
                own_walked += until - since
            step += 1
        return n

    def others(self, owner: Any, n: int, walked: int) -> int:
        """How many holders there are among the runs not walked, besides ``owner`` and the ``n`` named."""
        runs, shares, parts = self.runs, self.shares, self.parts
        assert shares is not None
        over = 1 if shares.has(owner) else 0
        for k in range(n):
            if shares.has(parts.holder[k]):
                over += 1
        last = runs.count - 1
        for j in range(walked):
            shares.walk(runs.holder(last - j))
        for j in range(walked):
            holder = runs.holder(last - j)
            if not shares.walked(holder) or holder is owner:
                continue
            known = False
            for k in range(n):
                if parts.holder[k] is holder:
                    known = True
            if not known:  # behind ``owner`` alone, in a queue that went on behind it
                over += 1
        return shares.count - over

    def rest(self, owner: Any, n: int, begin: float, stop: float, own_walked: float) -> None:
        """Part ``n``: the oldest holder of ``[begin, stop)``, how much of it was not ``owner``'s."""
        runs, parts = self.runs, self.parts
        assert self.shares is not None
        own = self.shares.ns(owner) - own_walked if self.shares.has(owner) else 0.0
        i = 0
        if runs.holder(0) is owner:
            own -= begin - runs.since(0)
            while runs.holder(i) is owner:
                i += 1
        since = runs.since(i)
        parts.holder[n] = runs.holder(i)
        parts.ns[n] = stop - begin - own
        parts.t_from[n] = begin if begin > since else since
        parts.t_to[n] = stop

    def arrive(self, time: float) -> None:
        """Count one more transaction present from ``time`` on."""
        present = self.present + 1
        if self.left <= time:
            self.left = _INFINITY
            present -= 1
        if self.leaving:
            gone = self.departures.gone(time)
            self.leaving -= gone
            present -= gone
        self.present = present
        self.transactions += 1
        if present > self.max_queue:
            self.max_queue = present

    def leave(self, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        """Count a transaction as gone from ``time`` on, with what it moved, used and waited."""
        if self.left == _INFINITY:
            self.left = time
        else:
            self.departures.add(time)
            self.leaving += 1
        self.bytes += nbytes
        self._busy_ns += busy_ns
        self.wait_ns += wait_ns
