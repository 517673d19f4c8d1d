"""PE_TCM: the PE's scratchpad, one read port and one write port (ADR-0040)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from kernbench.components.base import Component
from kernbench.components.memory import Memory
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.program.operations import Op
from kernbench.sim.clock import QueuedStep
from kernbench.sim.node import Link, path_over
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet, Path, Transaction


class PeTcm(Memory):
    """Two ports, ``overhead_ns + nbytes / port bandwidth`` each access, first come first served.

    What an access has moved is there ``access_ns`` later; the port is free by then.

    It times accesses; the bytes themselves are in the data plane.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.entry_ns = 0.0  # paid at the port, which siblings use as well: first come first served there
        self._read_port = Server(f"{node.id}#read")
        self._write_port = Server(f"{node.id}#write")
        self.read_gbs = self.number("read_gbs")
        self.write_gbs = self.number("write_gbs")
        self._busy_by_port = [0.0, 0.0]
        self._ways: dict[tuple[Component, bool], tuple[Path, Link, Server, float]] = {}

    def servers(self) -> Iterator[Server]:
        """See :meth:`Component.servers`."""
        return iter(dict.fromkeys([self._read_port, self._write_port, *Memory.servers(self)]))

    def access(
        self,
        caller: Component,
        op: Op,
        nbytes: int,
        write: bool,
        done: Callable[[float], None],
        gbs: float = inf,
        overhead_ns: float = 0.0,
    ) -> None:
        """A sibling moves ``nbytes`` through a port; ``done(t_start)`` is called when they are through.

        They cross the link between the two, cut through: the port is busy for as long as the slower of port
        and link takes. The sibling moves at most ``gbs`` GB/s, and adds ``overhead_ns`` ns of its own.
        """
        now = self.clock.time
        path, link, port, own_gbs = self._ways.get((caller, write)) or self._way(caller, write)
        kind = "tcm_write" if write else "tcm_read"
        transaction = self.system.open(kind, path, nbytes, now, op.id, write)
        op.transactions.append(transaction.id)
        duration = self.overhead() + overhead_ns + nbytes / (own_gbs if own_gbs < gbs else gbs)
        self.arrive(now)
        start = port.occupy(now, duration, transaction)
        link.stream(start, nbytes)
        end = start + duration + self.access_ns
        wait = 0.0
        if start > now:
            wait = transaction.note_waits(self.index, port, now, start)
        self._use(write, duration)
        self.leave(end, nbytes, 0.0, wait)
        if transaction.traced:
            transaction.hop(self.index, now, start, end, end - now - wait, wait, nbytes)
        self.clock.step_at(end, TcmAccess(self.system, transaction, start, done), 0)

    def _way(self, caller: Component, write: bool) -> tuple[Path, Link, Server, float]:
        """How ``caller`` reaches a port: the path, its link, the port, and what port and link move, GB/s."""
        ends = (caller, self) if write else (self, caller)
        link = self.system.link(ends[0].resource, ends[1].resource)
        port, gbs = (self._write_port, self.write_gbs) if write else (self._read_port, self.read_gbs)
        way = self._ways[caller, write] = path_over([caller, self], [link]), link, port, min(gbs, link.bw_gbs)
        return way

    def _use(self, write: bool, busy_ns: float) -> None:
        """The busier port is the TCM's use."""
        both = self._busy_by_port
        both[write] += busy_ns
        first, second = both
        self._busy_ns = first if first > second else second

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.commit`."""
        return self._flit(packet, flit, time, self._write_port, self.write_gbs)

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.fetch`."""
        return self._flit(packet, flit, time, self._read_port, self.read_gbs)

    def _flit(self, packet: Packet, flit: int, time: float, port: Server, gbs: float) -> tuple[float, Server]:
        flit_bytes = self.system.fabric.flit_bytes
        overhead = self.overhead() if flit == 0 else 0.0
        duration = overhead + max(0, min(flit_bytes, packet.transaction.nbytes - flit * flit_bytes)) / gbs
        self._use(port is self._write_port, duration)
        return port.occupy(time, duration, packet.transaction) + duration, port


class TcmAccess(QueuedStep):
    """One access to a TCM under way."""

    def __init__(
        self, system: System, transaction: Transaction, start: float, done: Callable[[float], None]
    ) -> None:
        self.system = system
        self.transaction = transaction
        self.start = start
        self.done = done

    def go(self, number: int) -> None:
        """It is over."""
        self.system.end(self.transaction)
        self.done(self.start)
