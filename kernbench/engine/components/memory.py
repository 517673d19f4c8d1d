"""The base of all memories: they take flits, commit writes, answer reads in order.

A memory answers over the reverse of the path that the request came by. A write is acknowledged with 0
bytes once its last flit is committed. A read's data leave as flits, each when the memory has it, in order.

Behind the entry, where a transaction pays its overhead, lies an array. One that knows at once when it will
have served a flit says so (:meth:`Memory.served`). One that decides later (DRAM) takes flits
(:meth:`Memory.request`) and says itself when they are served.
"""

from __future__ import annotations

from kernbench.engine.components.base import Component
from kernbench.engine.components.system import System
from kernbench.engine.core.node import ENTRY
from kernbench.engine.core.server import Server
from kernbench.engine.core.times import wrong_answer
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.hardware.address.runs import Gathered, Runs
from kernbench.support.pgraph import Node

_ENTRY = ENTRY
_INFINITY = float("inf")


class Memory(Component):
    """A destination of reads and writes. Subclasses say when a flit is committed or fetched."""

    takes_flits = True
    filled_in = ("commit", "fetch")
    """Methods that a subclass must define."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.entry_ns = self.overhead_ns
        """Time before a transaction's first flit is at the array, ns; 0 where the array charges it."""
        self.access_ns = float(node.properties.get("access_ns", 0.0))
        """Latency from the entry to the array and back, ns, of every flit; it delays no other flit."""
        Memory.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Component.reset(self)
        self.by: Server = self
        self.until = _INFINITY
        """When ``by`` had the flit that was served last, ns, where that is before it was served."""

    def gather(self, runs: Runs, channel: int) -> Gathered:
        """One access to many runs; ``channel`` has them all, or addresses say which (-1)."""
        return Gathered(runs, [])

    def entry(self, packet: Packet) -> float:
        """Time that ``packet`` takes to reach the array, ns."""
        if not packet.pays:
            return 0.0
        ns = self.entry_ns
        if self.hooks & _ENTRY:
            ns = float(getattr(self, "entry_ns"))  # noqa: B009  (not the field of the compiled class)
        if not 0.0 <= ns < _INFINITY:
            raise wrong_answer(self, "entry_ns", ns)
        return ns

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """When a written flit that reaches the array at ``time`` is committed, and by which server."""
        raise NotImplementedError

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """When a flit of the answer that is requested at ``time`` is ready to leave, and by which server."""
        raise NotImplementedError

    def served(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """When a flit at the array at ``time`` is committed or fetched; ``by`` is the server."""
        if writing:
            done, self.by = self.commit(packet, flit, time)
        else:
            done, self.by = self.fetch(packet, flit, time)
        if not time <= done < _INFINITY:
            raise wrong_answer(self, "commit" if writing else "fetch", done, time)
        return done

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """Take a flit of a write, or a read command (one flit of 0 bytes)."""
        if flit == 0:
            hop = packet.path.hops
            self.arrive(time)
            entry = self.entry(packet)
            begun = self.occupy(time, entry, packet.transaction)
            packet.times.at[hop] = time
            packet.times.at[packet.stride + hop] = begun
            self.request(packet, flit, time, begun, begun + entry)
        else:
            inside = self.free if self.free > time else time
            self.request(packet, flit, time, inside, inside)

    def request(self, packet: Packet, flit: int, time: float, begun: float, inside: float) -> None:
        """Take a flit that came at ``time``, began service at ``begun`` and is at the array at ``inside``."""
        transaction = packet.transaction
        if not transaction.is_write:
            self.read(packet, time, begun, inside)
            return
        done = self.served(packet, flit, inside, True)
        if flit == 0 or done >= packet.done:
            packet.done = done
            packet.done_by = self.by
        if flit == packet.last:
            done = packet.done
            self.depart(packet, time, begun, inside, done, done + self.access_ns, packet.done_by)
            self.system.fabric.answer_at(done + self.access_ns, packet)

    def answer(self, packet: Packet) -> None:
        """Acknowledge a write that is committed."""
        transaction = packet.transaction
        if transaction.on_served is not None:
            transaction.on_served()
        answer = self.answer_to(transaction, 0)
        if transaction.access is not None:
            transaction.access.unanswered -= 1
            answer.pays = transaction.access.unanswered == 0
        self.system.fabric.send(answer)

    def answer_to(self, transaction: Transaction, nbytes: int) -> Packet:
        """The packet that goes back with ``nbytes``."""
        answer = Packet.__new__(Packet)
        answer.prepare(transaction, transaction.path.reverse, nbytes, self.system.fabric.flit_bytes)
        return answer

    def read(self, packet: Packet, time: float, begun: float, inside: float) -> None:
        """Fetch the data that a command asks for, and send them."""
        transaction = packet.transaction
        answer = self.answer_to(transaction, transaction.nbytes)
        times = answer.feeds()
        ready = until = inside
        slowest: Server = self
        for flit in range(answer.last + 1):
            done = self.served(answer, flit, inside, False)
            if done > ready:
                ready = done
                until = min(self.until, done)
                slowest = self.by
            times.at[flit] = ready + self.access_ns
        self.depart(packet, time, begun, inside, until, ready + self.access_ns, slowest)
        if transaction.on_served is not None:
            self.clock.call_at(ready + self.access_ns, transaction.on_served)
        self.system.fabric.stream(answer, times)

    def depart(
        self,
        packet: Packet,
        time: float,
        begun: float,
        inside: float,
        until: float,
        done: float,
        server: Server,
    ) -> float:
        """Note the hop of a packet whose last flit leaves at ``done``, and who delayed it.

        It waited at the entry until ``begun``, then at ``server``, a part of the memory or the memory itself,
        from ``inside`` to ``until``. Returns how long it waited there, ns.
        """
        transaction = packet.transaction
        wait = behind = 0.0
        if begun > time:
            wait += transaction.note_waits(self.index, self, time, begun)
        if server is not self and until > inside:
            # A part of the memory that is in the machine's table records its waits itself.
            place = server.index if server.index >= 0 else self.index
            behind = transaction.note_waits(place, server, inside, until)
            server.wait_ns += behind
            wait += behind
        nbytes = transaction.nbytes
        self.leave(done, nbytes, self.entry(packet), wait)
        if transaction.traced:
            hop = packet.path.hops
            times = packet.times
            transaction.hop(
                self.index, times.at[hop], times.at[packet.stride + hop], done,
                done - time - wait, wait, nbytes,
            )  # fmt: skip
        return behind
