"""The order of events: a plain heap, and FIFO servers whose queues can be looked at.

Order at equal times, as ``kernbench/engine/core/clock.py`` documents it: first whatever a server has finished
(it was under way before that moment), then flits by transaction, place and number, then callbacks in the
order in which their tickets were drawn, then decisions of arbiters by the number of their link.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable

FINISHED, FLIT, CALLBACK, DECISION = range(4)

Act = Callable[[], None]


class Agenda:
    """Acts by time. ``now`` is in ns."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, tuple[int, ...], Act]] = []
        self._tickets = itertools.count()

    def ticket(self) -> int:
        """A place among the callbacks of one moment."""
        return next(self._tickets)

    def finished(self, time: float, act: Act) -> None:
        heapq.heappush(self._heap, (time, FINISHED, (self.ticket(),), act))

    def flit(self, time: float, transaction: int, place: int, number: int, act: Act) -> None:
        heapq.heappush(self._heap, (time, FLIT, (transaction, place, number), act))

    def callback(self, time: float, act: Act, ticket: int | None = None) -> None:
        order = self.ticket() if ticket is None else ticket
        heapq.heappush(self._heap, (time, CALLBACK, (order,), act))

    def decision(self, time: float, number: int, act: Act) -> None:
        """What is decided when all else of that moment has happened, by number."""
        heapq.heappush(self._heap, (time, DECISION, (number,), act))

    def run(self) -> None:
        while self._heap:
            time, _, _, act = heapq.heappop(self._heap)
            assert time >= self.now
            self.now = time
            act()


class Queue:
    """One server: a line of waiting jobs and at most one being served."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._line: deque[tuple[Callable[[], float], Act, float]] = deque()
        self._busy = False

    def enter(self, duration: Callable[[], float], after: Act, rest: float = 0.0) -> None:
        """Stand in line; ``duration()`` ns of service, asked when it begins, then ``after()``.

        The server does nothing for another ``rest`` ns.
        """
        self._line.append((duration, after, rest))
        self._serve()

    def _serve(self) -> None:
        while self._line and not self._busy:
            duration, after, rest = self._line.popleft()
            self._busy = True
            takes = duration()
            if takes > 0.0:
                self._agenda.finished(
                    self._agenda.now + takes, lambda after=after, rest=rest: self._over(after, rest)
                )
                return
            after()
            if rest > 0.0:
                self._agenda.finished(self._agenda.now + rest, self._free)
                return
            self._busy = False

    def _over(self, after: Act, rest: float) -> None:
        after()
        if rest > 0.0:
            self._agenda.finished(self._agenda.now + rest, self._free)
        else:
            self._free()

    def _free(self) -> None:
        self._busy = False
        self._serve()
