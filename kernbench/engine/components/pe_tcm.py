"""PE_TCM: the PE's scratchpad, one read port and one write port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from kernbench.engine.components.base import Component
from kernbench.engine.components.memory import Memory
from kernbench.engine.components.system import System
from kernbench.engine.core.clock import QueuedStep
from kernbench.engine.core.node import Link, path_over
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Path, Transaction
from kernbench.engine.program.operations import Op
from kernbench.support.pgraph import Node

THROUGH = 1
"""Number of the step at which an access is over; its other steps have numbers of their own."""


class PeTcm(Memory):
    """Two ports; an access takes ``overhead_ns + nbytes / port bandwidth``, first come first served.

    The bytes of an access are available ``access_ns`` later; the port is free by then.

    It times accesses; the bytes themselves are in the data plane.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.entry_ns = 0.0  # paid at the port, which siblings use as well: first come first served there
        self._read_port = Server(f"{node.id}#read")
        self._write_port = Server(f"{node.id}#write")
        self.read_gbs = self.number("read_gbs")
        self.write_gbs = self.number("write_gbs")
        self.parts = [self._read_port, self._write_port]
        self._reads: dict[Component, Way] = {}
        self._writes: dict[Component, Way] = {}
        """How each sibling reaches the two ports."""

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
        """Move ``nbytes`` of a sibling through a port; call ``done(t_start)`` when they have passed.

        They cross the link between the two, cut through: the port is busy for as long as the slower of port
        and link takes. The sibling moves at most ``gbs`` GB/s, and adds ``overhead_ns`` ns of its own.
        """
        access = TcmAccess(done)
        self.begin(access, caller, op.id, nbytes, write, gbs, overhead_ns)
        op.transactions.append(access.id)

    def begin(
        self,
        access: PortAccess,
        caller: Component,
        op: int,
        nbytes: int,
        write: bool,
        gbs: float = inf,
        overhead_ns: float = 0.0,
    ) -> None:
        """As :meth:`access`, for operation number ``op``; ``access.through()`` is called at the end."""
        system = self.system
        now = self.clock.time
        way = (self._writes if write else self._reads).get(caller) or self._way(caller, write)
        port, own_gbs = way.port, way.gbs
        access.way = way
        access.of_op = op
        access.port_bytes = nbytes
        access.asked = now
        transaction = None
        if system.accesses_seen:
            transaction = system.open(way.kind, way.path, nbytes, now, op, write)
            access.id = transaction.id
        else:
            access.id = system.next_transaction()
            system.in_flight[access.id] = access
        duration = self.overhead() + overhead_ns + nbytes / (own_gbs if own_gbs < gbs else gbs)
        self.arrive(now)
        start = port.occupy(now, duration, access if transaction is None else transaction)
        way.link.stream(start, nbytes)
        end = start + duration + self.access_ns
        wait = 0.0
        if start > now and system.traced:
            if transaction is None:  # it has something to tell
                transaction = system.opened(access.id, way.kind, way.path, nbytes, now, op, write)
            wait = transaction.note_waits(self.index, port, now, start)
        self.count_use(write, duration)
        self.leave(end, nbytes, 0.0, wait)
        if transaction is not None and transaction.traced:
            transaction.hop(self.index, now, start, end, end - now - wait, wait, nbytes)
        access.transaction = transaction
        access.got = start
        self.clock.step_at(end, access, THROUGH)

    def end(self, access: PortAccess) -> None:
        """Called when the bytes of ``access`` have passed."""
        system = self.system
        if access.transaction is not None:
            system.end(access.transaction)
            return
        del system.in_flight[access.id]
        rows = system.access_rows
        if rows is not None and not access.in_row:
            way = access.way
            assert way is not None
            rows.add_access(
                access.id, access.of_op, way.kind, way.source, self.resource, access.port_bytes, self.index,
                system.traced, access.asked, access.got, self.clock.time,
            )  # fmt: skip

    def _way(self, caller: Component, write: bool) -> Way:
        """How ``caller`` reaches a port."""
        ends = (caller, self) if write else (self, caller)
        link = self.system.link(ends[0].resource, ends[1].resource)
        port, gbs = (self._write_port, self.write_gbs) if write else (self._read_port, self.read_gbs)
        way = Way(self, "tcm_write" if write else "tcm_read", path_over([caller, self], [link]), link, port,
                  min(gbs, link.bw_gbs))  # fmt: skip
        (self._writes if write else self._reads)[caller] = way
        return way

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
        self.count_use(port is self._write_port, duration)
        return port.occupy(time, duration, packet.transaction) + duration, port


class Way:
    """How a sibling reaches a port of ``tcm``: the path, its link, the port, and what both move, GB/s."""

    def __init__(self, tcm: PeTcm, kind: str, path: Path, link: Link, port: Server, gbs: float) -> None:
        self.tcm = tcm
        self.kind = kind
        self.path = path
        self.link = link
        self.port = port
        self.gbs = gbs
        self.source: str = path.nodes[0].resource


class PortAccess(QueuedStep):
    """An access to a TCM, from when a port is asked for (:meth:`PeTcm.begin`) to its end."""

    def __init__(self) -> None:
        self.id = -1
        """Number of its transaction."""
        self.way: Way | None = None
        self.of_op = -1
        """The operation that it is part of."""
        self.port_bytes = 0
        self.in_row = False
        """Whether it is recorded with the stage of a command that it belongs to."""
        self.asked = self.got = 0.0
        """When it requested the port, and got it, ns."""
        self.transaction: Transaction | None = None
        """Its transaction as an object, if an instrument looks at it or it has waited."""

    def seen(self) -> Transaction:
        """Its transaction so far, for a report of work in progress."""
        assert self.way is not None
        system, index, nbytes = self.way.tcm.system, self.way.tcm.index, self.port_bytes
        transaction = system.opened(
            self.id,
            self.way.kind,
            self.way.path,
            nbytes,
            self.asked,
            self.of_op,
            self.way.kind == "tcm_write",
        )
        transaction.hop(index, self.asked, self.got, self.got, 0.0, 0.0, nbytes)
        return transaction

    def go(self, number: int) -> None:
        """Called when the bytes have passed."""
        way = self.way
        assert way is not None
        way.tcm.end(self)
        self.through()

    def through(self) -> None:
        """What follows."""
        raise NotImplementedError


class TcmAccess(PortAccess):
    """An access that calls ``done`` with the time at which it got the port."""

    def __init__(self, done: Callable[[float], None]) -> None:
        PortAccess.__init__(self)
        self.done = done

    def through(self) -> None:
        """See :class:`PortAccess`."""
        self.done(self.got)
