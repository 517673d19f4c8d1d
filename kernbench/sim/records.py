"""What is told of servers and transactions, by name of field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kernbench.sim.transaction import Packet


class Held(NamedTuple):
    """A part of a wait: ``holder`` had the server for ``ns``; with ``holders`` > 1 so many had it in all.

    All of it lay between ``t_from`` and ``t_to``, ns.
    """

    holder: Any
    ns: float
    t_from: float
    t_to: float
    holders: int = 1


class HopRow(NamedTuple):
    """One node or link on a transaction's path. Times in ns; ``resource`` is its number in the machine."""

    resource: int
    t_in: float
    """First flit arrives."""
    t_start: float
    """First flit is served."""
    t_out: float
    """Last flit leaves."""
    service_ns: float
    """Time of the last flit here, less what it waited for others."""
    wait_ns: float
    """Time for which the last flit stood here behind other transactions."""
    bytes: int


Hop = tuple[int, float, float, float, float, float, int]
"""The fields of a :class:`HopRow`."""


class Wait(NamedTuple):
    """A transaction stood behind ``holder`` at ``resource`` for ``ns``; ``holders`` > 1: behind so many.

    Of a component whose parts are resources themselves (an HBM slice's pseudo-channels), it is the part.
    ``seq`` is the hop of the transaction at which it stood; all of the wait lay between ``t_from`` and
    ``t_to``, ns.
    """

    holder: int
    resource: int
    ns: float
    holders: int
    seq: int
    t_from: float
    t_to: float


class ChannelRequests:
    """The requests, one a channel, that stand for one aggregated request and cost the same overheads.

    The ``first`` request pays the overheads of requests on their way out and of data on their way back; the
    last one pays those of acknowledgements and of the component that asked. A store-and-forward component
    waits for all of them and sends them on together.
    """

    __slots__ = ("_held", "_leads", "first", "open", "size", "unanswered")

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        """Id of its first transaction."""
        self.unanswered = size
        """Writes of it that the memory has not acknowledged."""
        self.open = size
        """Requests of it whose answers have not come back."""
        self.size = size
        """Its transactions."""
        self._held: dict[int, list[tuple[Packet, float]]] = {}
        self._leads: dict[int, float] = {}

    def follow(self, node: int, out: float, leads: bool) -> float:
        """When a flit that may leave a pipelined ``node`` from ``out`` on does leave, ns.

        The flit that ``leads``, the first of the request that pays, goes before those that come after it.
        """
        if leads:
            self._leads[node] = out
        return max(out, self._leads.get(node, 0.0))

    def reassemble(self, node: int, packet: Packet, time: float) -> list[tuple[Packet, float]]:
        """``packet`` is whole at ``node``: all packets and when they were, or none while some are missing."""
        held = self._held.setdefault(node, [])
        held.append((packet, time))
        return self._held.pop(node) if len(held) == self.size else []
