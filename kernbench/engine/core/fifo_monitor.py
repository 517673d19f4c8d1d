"""The monitors of one server, and the wording of a broken rule.

A monitor is told of each use of its server and keeps the one before it: order, capacity and work are rules
of two neighbours. So checking needs no second model of the queues, which would have their faults again, and a
run that is not checked pays a look at ``watcher`` for each use.
"""

from __future__ import annotations

from typing import Any

from kernbench.engine.core.port import Port
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Transaction
from kernbench.errors import InvariantError


def slack(time: float) -> float:
    """Largest difference in ns that rounding may cause between two ways of computing a time near ``time``."""
    return 1e-6 + 1e-12 * time


def describe(transaction: Any) -> str:
    """A transaction (or an op, where an op holds a server) as violations name it."""
    if isinstance(transaction, Transaction):
        return f"transaction {transaction.id} ({transaction.kind}, {transaction.src} to {transaction.dst})"
    return f"operation {getattr(transaction, 'id', '?')}"


def violation(invariant: str, who: str, location: str, time: float, what: str) -> InvariantError:
    """The error for a broken rule; ``what`` goes on from 'transaction ... at ... '."""
    return InvariantError(f"invariant '{invariant}': {who} at {location}, {time:.6f} ns: {what}", invariant)


class FifoMonitor:
    """Checks each use of a server: in order of arrival, one at a time, and as soon as it is free.

    If a server's class may override ``occupy``, the monitor wraps it; otherwise it is the ``watcher``.
    """

    __slots__ = ("_occupy", "arrived", "end", "server")

    def __init__(self, server: Server) -> None:
        self.server = server
        self.arrived = 0.0
        self.end = 0.0
        if hasattr(server, "__dict__"):
            self._occupy = server.occupy
            server.occupy = self.occupy  # type: ignore[method-assign]
        else:
            server.watcher = self

    def detach(self) -> None:
        """Stop watching the server."""
        server: Any = self.server
        if "occupy" in getattr(server, "__dict__", ()):  # one server may be a part of two components
            delattr(server, "occupy")

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """Serve ``owner`` and check the use."""
        start = self._occupy(time, duration, owner)
        self.occupied(self.server, time, duration, start, owner)
        return start

    def occupied(self, server: Server, time: float, duration: float, start: float, owner: Any) -> None:
        """Check that ``owner``, which came at ``time``, is served for ``duration`` ns from ``start`` on."""
        if time < self.arrived and time < self.arrived - slack(time):
            raise self._wrong("order", owner, time, f"came before another, at {self.arrived:.6f} ns")
        if not duration >= 0.0:
            raise self._wrong("capacity", owner, time, f"takes {duration} ns")
        earliest = time if time > self.end else self.end
        if start != earliest:
            allowed = slack(time)
            if start < earliest - allowed:
                what = f"is served from {start:.6f} ns on, while others are until {self.end:.6f} ns"
                raise self._wrong("capacity", owner, time, what)
            if start > earliest + allowed:
                what = f"waits until {start:.6f} ns, though all others are served by {earliest:.6f} ns"
                raise self._wrong("work", owner, time, what)
        self.arrived, self.end = time, start + duration

    def _wrong(self, invariant: str, owner: Any, time: float, what: str) -> InvariantError:
        return violation(invariant, describe(owner), self.server.resource, time, what)


class PortMonitor:
    """Checks each use of a port, where the arbiter says who goes: one at a time, and with a credit."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._end = 0.0
        port.watcher = self

    def occupied(self, server: Server, time: float, duration: float, start: float, owner: Any) -> None:
        """Check that ``owner`` is carried for ``duration`` ns from ``start`` on."""
        if start < self._end - slack(start):
            what = f"is let on while another is until {self._end:.6f} ns"
            raise violation("capacity", describe(owner), server.resource, start, what)
        self._end = start + duration
        self.check_credits(start)

    def check_credits(self, now: float) -> None:
        """Check that no channel has sent more flits than it had credits for."""
        for channel in () if self._port.buffer is None else self._port.buffer.channels:
            if channel.left < 0:
                who = describe(channel.holder)
                what = f"{-channel.left} flits went over channel {channel.vc} without a credit"
                raise violation("credits", who, self._port.resource, now, what)
