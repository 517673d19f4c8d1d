"""The event queue: entries by time, then by their order at equal times, then by number.

A container in two forms: this one, and a heap of C structs (``queue.pyx``) where KernBench is compiled. The
key of an entry says all of its order (``clock``), so that it depends on nothing else: a flit's is that of its
transaction, hop and number, whoever put it in and when. Objects lie beside the heap, where moving entries
costs no reference counts. SimPy's own queue, a list of tuples, takes an event object for each entry.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any

from kernbench.engine.core.times import untimely

_START, _FLIT, _CALLED, _END = -3, -2, -1, 1 << 15
EVENT, CALL, STEP, PACKET = range(4)
"""What an entry is: an event of SimPy's, a function and its arguments, an object with steps of its own, a
step of a packet. Numbers from ``PACKET`` on are the fabric's."""


class Queue:
    """Entries by time, then order, then number. :meth:`pop` leaves what it took out in the attributes."""

    __slots__ = ("_heap", "_number", "flit", "hop", "is_flit", "major", "order", "time", "what")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int, int, int, Any]] = []
        self.clear()

    def clear(self) -> None:
        """Drop all entries and the current time."""
        self._heap.clear()
        self._number = 0
        self.time = 0.0
        self.order = self.major = self.what = self.hop = self.flit = 0
        self.is_flit = False

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self._heap)

    def __len__(self) -> int:
        return len(self._heap)

    def objects(self) -> list[Any]:
        """The objects of all entries, in no particular order."""
        return [entry[5] for entry in self._heap]

    def _put(self, entry: tuple[float, int, int, int, int, Any]) -> None:
        if not self.time <= entry[0] < inf:
            raise untimely(entry[0], self.time)
        heappush(self._heap, entry)

    def flit_at(self, time: float, transaction: int, hop: int, flit: int, packet: Any) -> None:
        """Add: a flit reaches node ``hop`` of its path."""
        self._put((time, _FLIT, transaction, hop << 32 | flit, PACKET, packet))

    def put_call(self, time: float, what: tuple[Any, ...]) -> None:
        """Add a function call: ``what`` is the function and a tuple of its arguments."""
        self._number += 1
        self._put((time, _CALLED, self._number, 0, CALL, what))

    def put_event(self, time: float, priority: int, event: Any, first: bool = False) -> None:
        """Add an event of SimPy's; ``first``: before all others of that time and priority."""
        if not 0 <= priority < 1 << 15:
            raise ValueError(f"a SimPy event of priority {priority}, expected 0 or more")
        self._number += 1
        self._put((time, priority, -1 if first else self._number, 0, EVENT, event))

    def put_step(self, time: float, what: int, hop: int, flit: int, item: Any) -> None:
        """Add a step of ``item``, in turn among function calls."""
        self._number += 1
        self._put((time, _CALLED, self._number, hop << 32 | flit, what, item))

    def put_at_start(self, time: float, what: int, hop: int, flit: int, item: Any) -> None:
        """Add a step of ``item`` that comes before flits that arrive at that time."""
        self._number += 1
        self._put((time, _START, self._number, hop << 32 | flit, what, item))

    def put_at_end(self, time: float, what: int, number: int, item: Any) -> None:
        """Add a step of ``item`` that comes after everything else at that time; ordered by ``number``."""
        self._put((time, _END, number, 0, what, item))

    def put_back(self, item: Any) -> None:
        """Put back the entry that was taken out last."""
        minor = self.hop << 32 | self.flit
        self._put((self.time, self.order, self.major, minor, self.what, item))

    def pop(self) -> Any:
        """Take the first entry out and return its object. There must be one."""
        self.time, self.order, self.major, minor, self.what, item = heappop(self._heap)
        self.is_flit = self.order == _FLIT
        self.hop, self.flit = minor >> 32, minor & 0xFFFFFFFF
        return item

    def next_time(self) -> float:
        """When the first entry is due; infinity if there is none."""
        return self._heap[0][0] if self._heap else inf

    def poll_signals(self) -> None:
        """Let signals and other threads run; the interpreted form does so by itself."""
