"""A server whose uses are decided one by one: who came later may have gone first."""

from __future__ import annotations

from typing import Any

from kernbench.sim.holding import HeldTimes as Parts
from kernbench.sim.server import Server

_NAMED = 8


class Booked(Server):
    """Remembers who has held it while others stood there, until that is forgotten (:meth:`forget_until`)."""

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` from ``time`` on; the server is free."""
        end = self.free
        if self.holder is not owner or time > end:
            if end > self.since:
                self.runs.add(self.since, end, self.holder)
            self.holder = owner
            self.since = time
        self.free = time + duration
        if self.watcher is not None:
            self.watcher.occupied(self, time, duration, time, owner)
        return time

    def forget_until(self, oldest: float) -> None:
        """Nobody stands here who came before ``oldest``: forget the runs that had ended by then."""
        runs = self.runs
        while runs.count and runs.end(0) <= oldest:
            runs.drop_oldest()

    def waits(self, owner: Any, begin: float, end: float) -> int:
        """See :meth:`Server.waits`. Others may have come later than ``owner`` and gone first."""
        if self.parts is None:
            self.parts = Parts()
        parts = self.parts
        runs = self.runs
        others: set[Any] | None = None
        n = 0
        stop = end
        at = runs.count
        since = self.since
        until = self.free
        holder = self.holder
        while stop > begin:
            if until < stop:
                stop = until  # it was idle from then on
            start = begin if begin > since else since
            if start < stop:
                if holder is not owner:
                    k = 0
                    while k < n and parts.holder[k] is not holder:
                        k += 1
                    if k == n and n == _NAMED - 1:
                        # One more, who shares an entry with all that is older; in the name of the oldest.
                        if others is None:
                            others = set()
                            parts.ns[k] = 0.0
                            parts.t_to[k] = stop
                        others.add(id(holder))
                        parts.holder[k] = holder
                    elif k == n:
                        parts.holder[k] = holder
                        parts.ns[k] = 0.0
                        parts.t_to[k] = stop
                        parts.holders[k] = 1
                        n += 1
                    if others is not None:
                        k = n
                    parts.ns[k] = parts.ns[k] + stop - start
                    parts.t_from[k] = start
                stop = start
            at -= 1
            if at < 0:
                break
            since, until, holder = runs.since(at), runs.end(at), runs.holder(at)
        if others is not None:
            parts.holders[n] = len(others)
            n += 1
        return n
