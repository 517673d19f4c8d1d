"""Simulated time: SimPy's environment plus two kinds of plain callbacks on the same event queue.

A flit that crosses a link costs one queue entry and one function call. It needs no SimPy event, no
process and no resource. SimPy processes (a user's component, a host program) live on the same queue and
the same ``now``.

Order at equal times:

1. flits that leave a worker which has held them back, in the order in which it took them,
2. flits that reach a node, or are put onto their first link by a memory that streams them,
3. callbacks,
4. SimPy events,
5. decisions of arbiters, by number of their link: they see all that has come by then.

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

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol

import simpy

from kernbench.engine.core.queue import Queue
from kernbench.errors import LimitError

if TYPE_CHECKING:
    from kernbench.engine.core.transaction import Packet

_EVENT, _CALL, _STEP = 0, 1, 2
_REPORT_EVERY = 1 << 16
_INFINITY = float("inf")
PATIENCE = 1 << 20


class Finishable(Protocol):
    """A condition up to which simulated time can run."""

    @property
    def done(self) -> bool:
        """Whether the condition is reached."""


class QueuedStep:
    """An object with steps of its own in the event queue (:meth:`Loop.step_at`)."""

    def go(self, number: int) -> None:
        """Carry out step ``number``, which is due."""
        raise NotImplementedError


class Carrier:
    """Receiver of the clock's packets: the fabric."""

    def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
        """Called when a flit reaches node ``hop`` of its path."""
        raise NotImplementedError

    def step(self, what: int, item: Any, hop: int, flit: int) -> None:
        """Carry out a due step of a packet or a port, of a kind that the carrier knows."""
        raise NotImplementedError


class Loop:
    """The event queue and the loop over it; :class:`Clock` is the whole clock."""

    def __init__(self) -> None:
        self.entries = Queue()
        """The entries still to come."""
        self.carrier = Carrier()
        Loop.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`: nothing has happened, and nothing is to come."""
        self.entries.clear()
        self.time = 0.0
        self.begun = False
        self.touched = True
        """Set by everything that may have reached the goal of :meth:`Clock.advance`; flits do not."""
        self.on_progress: Callable[[float, int], None] | None = None
        """Called from time to time with (simulated ns, events so far)."""
        self.events = 0
        self.patience = PATIENCE
        """SimPy events in a row, with nothing else in the queue, after which nothing else is expected."""
        self.scheduled = 0
        """SimPy events in the queue."""
        self.max_ns = _INFINITY
        """Simulated time after which the run ends in a LimitError."""
        self.max_events = _INFINITY
        """Number of events after which the run ends in a LimitError."""
        self.interrupted = False

    @property
    def now(self) -> float:
        """Simulated time, ns: that of the entry being carried out, or of the last one."""
        return self.time if self.begun else 0

    def idle(self) -> bool:
        """Whether nothing is left to happen."""
        return not len(self.entries)

    def interrupt(self) -> None:
        """End the run with a KeyboardInterrupt at the next event; for where the exception itself is lost."""
        self.interrupted = True
        self.entries.put_call(self.time, (_nothing, ()))  # the mark is not looked at between flits alone

    def beyond(self, time: float) -> LimitError:
        """The error for a run that has reached a limit."""
        if time > self.max_ns:
            return LimitError(f"stopped at the limit of {self.max_ns:g} ns of simulated time")
        return LimitError(f"stopped at the limit of {self.max_events:g} events")

    def call_at(self, time: float, function: Callable[..., None], *args: Any) -> None:
        """Call ``function(*args)`` at ``time`` ns (not before now)."""
        self.entries.put_call(time, (function, args))

    def step_at(self, time: float, step: QueuedStep, number: int) -> None:
        """Call ``step.go(number)`` at ``time``, in its turn among calls."""
        self.entries.put_step(time, _STEP, 0, number, step)

    def event_due(self, time: float, event: Any) -> None:
        """Carry out an event of SimPy's that is due."""
        raise NotImplementedError

    def carry_out(self, item: Any) -> None:
        """Carry out the entry that was taken out of the queue."""
        queue = self.entries
        self.time = queue.time
        self.begun = True
        self.events += 1
        if queue.is_flit:
            self.carrier.flit_arrives(queue.time, item, queue.hop, queue.flit)
        elif queue.what == _CALL:
            self.touched = True
            item[0](*item[1])
        elif queue.what == _STEP:
            self.touched = True
            item.go(queue.flit)
        elif queue.what == _EVENT:
            self.touched = True
            self.scheduled -= 1
            self.event_due(queue.time, item)
        else:
            self.carrier.step(queue.what, item, queue.hop, queue.flit)

    def run_for(self, goal: Finishable) -> bool:
        """See :meth:`Clock.advance`."""
        queue = self.entries
        carrier = self.carrier
        pending = turns = alone = 0
        ticked = True
        # A goal that works out whether it is reached may see that time has passed.
        asked = hasattr(getattr(type(goal), "done", None), "__get__")
        self.touched = True
        try:
            while True:
                if self.touched or asked:
                    if goal.done:
                        return True
                    self.touched = False
                if ticked:
                    alone = alone + 1 if queue.size == self.scheduled else 0
                    if alone and (alone > self.patience or self.idle()):
                        return False
                elif not queue.size:
                    return False
                turns += 1
                if not turns & 1023:
                    queue.poll_signals()
                item = queue.pop()
                ticked = queue.what == _EVENT
                if queue.is_flit:
                    self.time = queue.time
                    self.begun = True
                    pending += 1
                    carrier.flit_arrives(queue.time, item, queue.hop, queue.flit)
                else:
                    if self.interrupted:
                        raise KeyboardInterrupt
                    if queue.time > self.max_ns or self.events + pending >= self.max_events:
                        queue.put_back(item)
                        raise self.beyond(queue.time)
                    Loop.carry_out(self, item)
                if pending >= _REPORT_EVERY:
                    self.events += pending
                    pending = 0
                    if self.time > self.max_ns or self.events >= self.max_events:
                        raise self.beyond(self.time)
                    if self.on_progress is not None:
                        self.touched = True
                        self.on_progress(self.time, self.events)
        finally:
            self.events += pending


class Clock(Loop, simpy.Environment):
    """A SimPy environment in ns whose queue also holds flits and callbacks."""

    def __init__(self) -> None:
        Loop.__init__(self)
        self.reset()

    def reset(self) -> None:
        """See :meth:`Loop.reset`."""
        Loop.reset(self)
        simpy.Environment.__init__(self)
        self._background: set[simpy.Process] = set()

    def background(self, generator: Generator[simpy.Event, Any, Any]) -> simpy.Process:
        """Like :meth:`simpy.Environment.process`, for one that may tick for ever (refresh, power control).

        When only ticks of such processes are left, the run is over or deadlocked. So nothing else may depend
        only on such a process to make progress.
        """
        process = self.process(generator)
        self._background.add(process)
        return process

    def idle(self) -> bool:
        """Whether only ticks of background processes are left."""
        if len(self.entries) > self.scheduled:
            return False
        if not len(self.entries):
            return True
        return bool(self._background) and all(map(self._ticks, self.entries.objects()))

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
        return self.run_for(goal)

    def schedule(self, event: Any, priority: int = simpy.events.NORMAL, delay: float = 0) -> None:
        """See :meth:`simpy.Environment.schedule`."""
        self.entries.put_event(self.now + delay, priority, event)
        self.scheduled += 1

    def peek(self) -> float:
        """See :meth:`simpy.Environment.peek`."""
        return self.entries.next_time()

    def step(self) -> None:
        """Carry out the next entry. Raises :class:`simpy.core.EmptySchedule` when there is none."""
        if not len(self.entries):
            raise simpy.core.EmptySchedule
        self.carry_out(self.entries.pop())

    def event_due(self, time: float, event: Any) -> None:
        """Call what waits for ``event``."""
        callbacks, event.callbacks = event.callbacks, None
        try:
            for callback in callbacks:
                callback(event)
        except simpy.core.StopSimulation:
            # As SimPy does: the callbacks that are left are called when the simulation goes on.
            event.callbacks = callbacks[callbacks.index(callback) + 1 :]
            self.entries.put_event(time, simpy.events.URGENT, event, True)
            self.scheduled += 1
            raise
        if not event.ok and not event.defused:
            raise event.value


def _nothing() -> None:
    """Entry that an interrupt puts into the queue, so that the loop sees it."""
