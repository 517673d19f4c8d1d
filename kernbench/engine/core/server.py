"""A server is arithmetic on the time at which it is free.

Anything that serves one flit or message at a time (a link, a router's worker, an HBM pseudo-channel, a TCM
port) is one number: when it will be free. A use costs a comparison and an addition; there is no event for
its begin or end, and no queue of those who wait: when it serves first come first served (:class:`Server`),
who comes learns at once when its turn will be. Where an arbiter decides (:class:`ArbitratedServer`), uses
are entered as they begin.

Beside that number a server has whom it serves and who was before (:mod:`kernbench.engine.core.occupancy`), so
that a wait can name who it waited for, and counters of its use.

Also tried: SimPy's ``Resource``, 20 times as slow, as a request and a release are an event each; and an
agenda of bookings with gaps, which only pays where somebody may come later and be served earlier.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from kernbench.engine.core.holding import Departures
from kernbench.engine.core.occupancy import OccupancyLog

_INFINITY = inf


class Server:
    """Serves its owners first come first served; an owner is a transaction or an operation.

    Subclasses may override ``occupy``, ``arrive`` and ``leave``.
    """

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.index = -1
        """Number of this resource in the machine's table; set when it is wired."""
        self.node: Any = None
        """Its node of the compiled graph; a link has none."""
        Server.reset(self)

    def reset(self) -> None:
        """Reset the state of a run; the wiring stays: see :meth:`Machine.reset`.

        A subclass with more state resets it in its own ``reset``, which its ``__init__`` calls by the name of
        the class, since the wiring may not be complete there.
        """
        self.free = 0.0
        self.holder: Any = None
        self.since = 0.0
        self.bytes = 0
        self._busy_ns = 0.0
        self.wait_ns = 0.0
        self.transactions = 0
        self.max_queue = 0
        self.present = 0
        self.log: Any = None
        """An OccupancyLog, once somebody has waited."""
        self.remembers = True
        """Whether it remembers who held it: in a run with a trace."""
        self.queued = False
        """Whether it has runs: a look there costs a look into memory for each flit."""
        self.departures: Any = None
        """When others leave; made with the first that does so while another is about to."""
        self.leaving = 0
        """How many ``departures`` there are."""
        self.left = _INFINITY
        """One departure more, of one that left while no other was about to: most servers need no others."""
        self.like: Any = None
        """The server that is in use for this one as well, while that is not simulated (:meth:`stand_for`)."""
        self.control_messages = 0
        self.control_busy_ns = 0.0
        """What ``transactions`` and ``busy_ns`` have of control messages."""
        self.watcher: Any = None
        """An instrument whose ``occupied(server, time, duration, start, owner)`` is called for each use."""

    def forget_holders(self) -> None:
        """Remember nobody in this run, which has no trace: who waited, and how long, is not known."""
        self.remembers = False
        self.wait_ns = nan

    @property
    def busy_ns(self) -> float:
        """Busy time, ns."""
        return self._busy_ns

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` for ``duration`` ns at the earliest moment from ``time`` on; return that moment.

        Calls must come in order of arrival (``time`` never falls).
        """
        if self.like is not None:
            self.free, self.since, self.holder = self.like.free, self.like.since, self.like.holder
        begun = self.free
        if time >= begun:
            if self.queued:
                self._forget_log()
            self.holder = owner
            self.since = begun = time
        elif self.holder is not owner:
            if self.remembers:
                self._hand_over(time, begun)  # later questions are about times after ``time``
            self.holder = owner
            self.since = begun
        self.free = begun + duration
        if self.watcher is not None:
            self.watcher.occupied(self, time, duration, begun, owner)
        return begun

    def _hand_over(self, time: float, end: float) -> None:
        """Note that it is held until ``end``: those who come from ``time`` on may wait for the holder."""
        if self.log is None:
            self.log = OccupancyLog(True)
        self.log.forget_until(time)
        self.log.add(self.since, end, self.holder)
        self.queued = self.log.runs.count > 0

    def _forget_log(self) -> None:
        """Note that it is idle: there is nothing to wait behind."""
        self.log.clear()
        self.queued = False

    def blockers(self, owner: Any, begin: float, end: float) -> int:
        """Who else held it between ``begin`` (now) and ``end``, when ``owner`` gets it: entries of its log.

        It is busy all that time, so ``owner``'s own earlier flits held it for the rest of ``end - begin``.
        """
        if self.log is None:
            self.log = OccupancyLog(True)
        log = self.log
        if log.runs.count:
            log.forget_until(begin)
        if not log.runs.count and self.holder is owner:
            return 0  # it stood behind its own earlier flits
        n: int = log.blockers(owner, begin, end, self.holder, self.since, _INFINITY)
        return n

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
            if self.departures is None:
                self.departures = Departures()
            self.departures.add(time)
            self.leaving += 1
        self.bytes += nbytes
        self._busy_ns += busy_ns
        self.wait_ns += wait_ns

    def stand_for(self, other: Server) -> None:
        """``other`` is in use whenever this one is, until :meth:`grow`: who comes to it waits as here."""
        other.like = self

    def tally(self) -> list[Any]:
        """What it has counted, for :meth:`grow`."""
        return [self.bytes, self._busy_ns, self.transactions, self.control_messages, self.control_busy_ns]

    def grow(self, like: Server, before: list[Any]) -> None:
        """Count what ``like`` has since its :meth:`tally` ``before``, but for control messages."""
        self.bytes += like.bytes - before[0]
        self._busy_ns += like._busy_ns - before[1] - (like.control_busy_ns - before[4])
        self.transactions += like.transactions - before[2] - (like.control_messages - before[3])
        self.max_queue = max(self.max_queue, like.max_queue)
        self.free, self.like = max(self.free, like.free), None


class ArbitratedServer(Server):
    """A server whose uses are entered as they begin, because an arbiter may let a later arrival go first."""

    def __init__(self, resource: str) -> None:
        super().__init__(resource)
        ArbitratedServer.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Server.reset(self)
        self.log = OccupancyLog()

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` from ``time`` on; the server is free."""
        end = self.free
        if self.holder is not owner or time > end:
            if self.remembers:
                self.log.add(self.since, end, self.holder)
            self.holder = owner
            self.since = time
        self.free = time + duration
        if self.watcher is not None:
            self.watcher.occupied(self, time, duration, time, owner)
        return time

    def blockers(self, owner: Any, begin: float, end: float) -> int:
        """See :meth:`Server.blockers`; ``end`` is now, and it may have been idle in between."""
        if self.free <= begin:
            return 0
        n: int = self.log.blockers(owner, begin, end, self.holder, self.since, self.free)
        return n
