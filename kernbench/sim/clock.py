"""Simulated time: SimPy's environment plus two kinds of plain callbacks on the same event queue.

A flit that crosses a link costs one queue entry and one function call. It needs no SimPy event, no
process and no resource. SimPy processes (a user's component, a host program) live on the same queue and
the same ``now``.

Order at equal times:

1. flits that leave a worker which has held them back, in the order in which it took them,
2. flits that reach a node, or are put onto their first link by a memory that streams them,
3. callbacks,
4. SimPy events.

Arriving flits go by transaction id, then hop on the path, then flit number. Ids are given in the order in
which transactions are issued. The hop is the number of nodes passed, counted from the first node of the
packet: a read's data count from the memory. Callbacks and events go in the order in which they were
scheduled. The further handling of a message that a component has taken whole (it is received, sent on or
acknowledged when its service is over) counts as scheduled when its last flit arrived. Anything that costs
no time happens with what caused it: a transfer that an answer lets start is issued while that answer's
last flit is handled.

A flit's order does not depend on who pushed it first, so another engine that moves whole messages can
reproduce it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol, cast

import simpy

from kernbench.errors import LimitError

LATE = -3
"""Flits that leave a worker: callbacks that come before arriving flits."""
FLIT = -2
CALL = -1
_FIRST = -1
"""Tie-break before all others: an event whose callbacks were cut short by ``StopSimulation``."""
_REPORT_EVERY = 1 << 16
PATIENCE = 1 << 20


class Finishable(Protocol):
    """Something that simulated time can be run for."""

    @property
    def done(self) -> bool:
        """Whether it is reached."""


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
        self.max_ns = inf
        """Simulated time after which the run ends in a LimitError."""
        self.max_events: float = inf
        """Number of events after which it does."""
        self.patience = PATIENCE
        """SimPy events in a row, with nothing else in the queue, after which nothing else is expected."""
        self._interrupted = False
        self._scheduled = 0
        """SimPy events in the queue."""
        self._background: set[simpy.Process] = set()

    def background(self, generator: Generator[simpy.Event, Any, Any]) -> simpy.Process:
        """As :meth:`simpy.Environment.process`, for one that may tick for ever: refresh, a power controller.

        Where the ticks of such processes are all that is left, nothing can happen any more: the run is over,
        or has come to a deadlock. So nothing else may depend on such a process alone to go on.
        """
        process = self.process(generator)
        self._background.add(process)
        return process

    def idle(self) -> bool:
        """Whether nothing is left to happen but ticks of background processes."""
        if len(self.entries) > self._scheduled:
            return False
        return not self.entries or (bool(self._background) and all(map(self._ticks, self._events())))

    def _events(self) -> Iterable[Any]:
        """The contents of a queue of SimPy events alone."""
        return [item for _, _, _, item in self.entries]

    def _ticks(self, event: Any) -> bool:
        """Whether ``event`` concerns background processes alone."""
        waiting = [getattr(callback, "__self__", None) for callback in event.callbacks or ()]
        if isinstance(event, simpy.events.Interruption):
            waiting = [event.process]
        for one in waiting:
            if isinstance(one, simpy.events.Condition):
                if one is not event and not self._ticks(one):
                    return False
            elif one not in self._background:
                return False
        return True

    def schedule(
        self, event: simpy.Event, priority: simpy.events.EventPriority = simpy.events.NORMAL, delay: float = 0
    ) -> None:
        """See :meth:`simpy.Environment.schedule`."""
        self._scheduled += 1
        super().schedule(event, priority, delay)

    def interrupt(self) -> None:
        """End the run with a KeyboardInterrupt at the next event; for where the exception itself is lost."""
        self._interrupted = True
        self.call_at(self._now, lambda: None)  # the mark is not looked at between flits alone

    def _beyond(self, time: float) -> LimitError:
        if time > self.max_ns:
            return LimitError(f"the run is not over at {self.max_ns:g} ns of simulated time, its limit")
        return LimitError(f"the run is not over after {self.max_events:g} events, its limit")

    def call_at(self, time: float, function: Callable[..., None], *args: Any) -> None:
        """Call ``function(*args)`` at ``time`` ns (not before now)."""
        heappush(self.entries, (time, CALL, next(self._eid), (function, args)))

    def leave_at(self, time: float, function: Callable[..., None], *args: Any) -> None:
        """As :meth:`call_at`, for a flit that leaves a worker: before all that arrives at ``time``."""
        heappush(self.entries, (time, LATE, next(self._eid), (function, args)))

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
        elif priority in (CALL, LATE):
            item[0](*item[1])
        else:
            self._scheduled -= 1
            callbacks, item.callbacks = item.callbacks, None
            try:
                for callback in callbacks:
                    callback(item)
            except simpy.core.StopSimulation:
                # As SimPy does: the callbacks that are left are called when the simulation goes on.
                item.callbacks = callbacks[callbacks.index(callback) + 1 :]
                self._scheduled += 1
                heappush(self.entries, (time, simpy.events.URGENT, _FIRST, item))
                raise
            if not item._ok and not item.defused:
                raise item._value

    def advance(self, goal: Finishable) -> bool:
        """Run until ``goal.done``.

        Returns:
            False when nothing is left to happen, ticks of processes aside (:meth:`background`; or any, once
            :attr:`patience` is over), and ``goal`` is still not done.

        Raises:
            Exception: what a SimPy process of a component raised and no other process waits for.
            LimitError: the next event is past ``max_ns``, or would be one more than ``max_events``.
            simpy.core.StopSimulation: a process has stopped the simulation; another call goes on.
        """
        queue = self.entries
        on_flit = self.on_flit
        pending = alone = 0
        ticked = True
        try:
            while not goal.done:
                if ticked:
                    alone = alone + 1 if len(queue) == self._scheduled else 0
                    if alone and (alone > self.patience or self.idle()):
                        return False
                elif not queue:
                    return False
                time, priority, key, item = heappop(queue)
                ticked = priority >= 0
                if priority == FLIT:
                    self._now = time
                    pending += 1
                    on_flit(time, key, item)  # type: ignore[misc]
                else:
                    if self._interrupted:
                        raise KeyboardInterrupt
                    if time > self.max_ns or self.events + pending >= self.max_events:
                        heappush(queue, (time, priority, key, item))
                        raise self._beyond(time)
                    self._carry_out(time, priority, key, item)
                if pending >= _REPORT_EVERY:
                    self.events += pending
                    pending = 0
                    if self._now > self.max_ns or self.events >= self.max_events:
                        raise self._beyond(self._now)
                    if self.on_progress is not None:
                        self.on_progress(self._now, self.events)
        finally:
            self.events += pending
        return True
