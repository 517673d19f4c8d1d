"""Simulated time: SimPy's environment plus two kinds of plain callbacks on the same event queue.

A flit that crosses a link costs one queue entry and one function call. It needs no SimPy event, no
process and no resource. SimPy processes (a user's component, a host program) live on the same queue and
the same ``now``.

Order at equal times: flits first, by transaction, then place, then flit number; then callbacks and then
SimPy events, each in the order in which they were scheduled. A flit's order does not depend on who
pushed it first, so another engine that moves whole messages can reproduce it.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Protocol, cast

import simpy

FLIT = -2
CALL = -1
_REPORT_EVERY = 1 << 16


class Finishable(Protocol):
    """Something that simulated time can be run for."""

    done: bool


class Clock(simpy.Environment):
    """A SimPy environment in ns whose queue also holds flits and callbacks."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Any] = cast("list[Any]", self._queue)
        """The queue: (time, order at equal times, tie-break, what)."""
        self.on_flit: Callable[[float, int, Any], None] | None = None
        """Called for each flit entry with (time, key, packet); set by the fabric."""
        self.on_progress: Callable[[float, int], None] | None = None
        """Called now and then with (simulated ns, events so far)."""
        self.events = 0

    def call_at(self, time: float, function: Callable[..., None], *args: Any) -> None:
        """Call ``function(*args)`` at ``time`` ns (not before now)."""
        heappush(self.entries, (time, CALL, next(self._eid), (function, args)))

    def step(self) -> None:
        """Carry out the next entry. Raises :class:`simpy.core.EmptySchedule` when there is none."""
        if not self.entries:
            raise simpy.core.EmptySchedule
        self._carry_out(*heappop(self.entries))

    def _carry_out(self, time: float, priority: int, key: int, item: Any) -> None:
        self._now = time
        self.events += 1
        if priority == FLIT:
            assert self.on_flit is not None
            self.on_flit(time, key, item)
        elif priority == CALL:
            item[0](*item[1])
        else:
            callbacks, item.callbacks = item.callbacks, None
            for callback in callbacks:
                callback(item)
            if not item._ok and not item._defused:
                raise item._value

    def advance(self, goal: Finishable) -> bool:
        """Run until ``goal.done``. False when nothing is left to happen and it is still not done."""
        queue = self.entries
        on_flit = self.on_flit
        pending = 0
        try:
            while not goal.done:
                if not queue:
                    return False
                entry = heappop(queue)
                if entry[1] == FLIT:
                    self._now = entry[0]
                    pending += 1
                    on_flit(entry[0], entry[2], entry[3])  # type: ignore[misc]
                else:
                    self._carry_out(*entry)
                if pending >= _REPORT_EVERY:
                    self.events += pending
                    pending = 0
                    if self.on_progress is not None:
                        self.on_progress(self._now, self.events)
        finally:
            self.events += pending
        return True
