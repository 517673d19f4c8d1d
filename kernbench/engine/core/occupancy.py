"""Who held a resource, and when: what a wait is made out from.

A transaction that waited is owed an answer to "for whom, and for how long each". So a server keeps a run for
each holder, from when it got the server to when it gave it up, for as long as somebody may ask about that
time. :meth:`OccupancyLog.blockers` reads a window of them, newest first, and names at most ``NAMED`` holders;
all that is older is one entry in the name of the oldest. Without that bound a queue of n messages would cost
n * n looks, and as many rows of the trace.

Servers ask at two different times, hence two ways to sum up what is older. One that serves first come first
served knows, when a transaction comes, when its turn will be: it asks about a future that has no gaps and
that nobody can change, and a queue may be thousands long. ``counts`` keeps how much each holder has in the
log, so that the rest of a window is a subtraction. One at which an arbiter decides asks afterwards, and
others may have come later and gone first, with gaps between them: there the rest is added up run by run.

Also tried: a list of all holders with each wait (n * n), and waits worked out from the trace when a run is
kept (a second simulation, as a hop does not say who else stood there).
"""

from __future__ import annotations

from typing import Any

from kernbench.engine.core.holding import HeldTimes, HolderShares, Runs

NAMED = 8
"""Maximum number of holders that one wait names."""
_NAMED = 8


class OccupancyLog:
    """The runs of one server, oldest first. ``counts``: first come first served, see above."""

    def __init__(self, counts: bool = False) -> None:
        self.runs = Runs()
        self.shares: Any = HolderShares() if counts else None
        self.found = HeldTimes()
        """The last result, newest first."""

    def add(self, since: float, until: float, holder: Any) -> None:
        """Add a run of ``holder`` from ``since`` to ``until``, after all earlier runs."""
        if until > since:
            self.runs.add(since, until, holder)
            if self.shares is not None:
                self.shares.add(holder, until - since)

    def forget_until(self, time: float) -> None:
        """Drop what lies before ``time``: nobody will ask about it."""
        runs = self.runs
        while runs.count and runs.end(0) <= time:
            if self.shares is not None:
                self.shares.take(runs.holder(0), runs.end(0) - runs.since(0))
            runs.drop_oldest()

    def clear(self) -> None:
        """Forget everything."""
        self.runs.clear()
        if self.shares is not None:
            self.shares.clear()

    def blockers(self, owner: Any, begin: float, end: float, holder: Any, since: float, until: float) -> int:
        """Put who but ``owner`` held it between ``begin`` and ``end`` into ``found``; return how many.

        ``holder`` has it now, from ``since`` to ``until``, which is not a run yet. If nobody has it, both are
        infinite.
        """
        runs, found = self.runs, self.found
        n = 0
        stop = end
        own = 0.0
        at = runs.count
        while stop > begin:
            if until < stop:
                stop = until  # it was idle from then on
            start = begin if begin > since else since
            if start < stop:
                if holder is not owner:
                    k = 0
                    while k < n and found.holder[k] is not holder:
                        k += 1
                    if k == n and n == _NAMED - 1:
                        others = self.older(owner, n, at, begin, stop, own, holder, start)
                        if others:
                            found.holders[n] = others
                            return n + 1
                    if k == n:
                        found.holder[k] = holder
                        found.ns.at[k] = 0.0
                        found.t_to.at[k] = stop
                        found.holders[k] = 1
                        n += 1
                    found.ns.at[k] = found.ns.at[k] + stop - start
                    found.t_from.at[k] = start
                stop = start
            if holder is owner and at < runs.count:
                own += until - since
            at -= 1
            if at < 0:
                break
            since, until, holder = runs.since(at), runs.end(at), runs.holder(at)
        return n

    def older(
        self, owner: Any, n: int, at: int, begin: float, stop: float, own: float, holder: Any, start: float
    ) -> int:
        """Entry ``n``: all before ``stop``, from run ``at`` on, that of ``holder``. Returns how many held it.

        Of ``own`` ns of the owner is known that they came later. 0: it is ``holder`` alone, to be named.
        """
        if self.shares is not None:
            others = self.others(owner, n, self.runs.count - 1 - at)
            if others < 2:
                return 0
            self.rest(owner, n, begin, stop, own)
            return others
        runs, found = self.runs, self.found
        seen: set[int] = set()
        found.ns.at[n] = 0.0
        found.t_to.at[n] = stop
        while True:
            if start < stop:
                if holder is not owner:
                    k = 0
                    while k < n and found.holder[k] is not holder:
                        k += 1
                    if k == n:
                        seen.add(id(holder))
                        found.holder[n] = holder
                    found.ns.at[n] = found.ns.at[n] + stop - start
                    found.t_from.at[n] = start
                stop = start
            at -= 1
            if at < 0 or stop <= begin:
                return len(seen)
            since, until, holder = runs.since(at), runs.end(at), runs.holder(at)
            if until < stop:
                stop = until
            start = begin if begin > since else since

    def others(self, owner: Any, n: int, walked: int) -> int:
        """How many held it before the ``walked`` newest runs, besides ``owner`` and the ``n`` named."""
        runs, shares, found = self.runs, self.shares, self.found
        over = 1 if shares.has(owner) else 0
        for k in range(n):
            if shares.has(found.holder[k]):
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
                if found.holder[k] is holder:
                    known = True
            if not known:  # behind ``owner`` alone, in a queue that went on behind it
                over += 1
        left: int = shares.count - over
        return left

    def rest(self, owner: Any, n: int, begin: float, stop: float, own_walked: float) -> None:
        """Entry ``n``: the oldest holder of ``[begin, stop)``, how much of it was not ``owner``'s."""
        runs, found = self.runs, self.found
        own = self.shares.ns(owner) - own_walked if self.shares.has(owner) else 0.0
        i = 0
        if runs.holder(0) is owner:
            own -= begin - runs.since(0)
            while runs.holder(i) is owner:
                i += 1
        since = runs.since(i)
        found.holder[n] = runs.holder(i)
        found.ns.at[n] = stop - begin - own
        found.t_from.at[n] = begin if begin > since else since
        found.t_to.at[n] = stop

    def answer(self, n: int) -> list[tuple[Any, float, float, float, int]]:
        """The ``n`` entries found last, oldest first: holder, ns, from, to, for how many holders."""
        f = self.found
        return [
            (f.holder[k], f.ns.at[k], f.t_from.at[k], f.t_to.at[k], f.holders[k])
            for k in range(n - 1, -1, -1)
        ]
