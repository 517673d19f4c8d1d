"""The base of all memories: they take flits, commit writes, answer reads in order.

A memory answers over the reverse of the path that the request came by. A write is acknowledged with 0
bytes once its last flit is committed. A read's data leave as flits, each when the memory has it, in order.
"""

from __future__ import annotations

from kernbench.components.base import Component
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.sim.node import overrides
from kernbench.sim.server import Server
from kernbench.sim.times import wrong_answer
from kernbench.sim.transaction import Packet

_INFINITY = float("inf")


class Memory(Component):
    """A destination of reads and writes. Subclasses say when a flit is committed or fetched."""

    takes_flits = True
    filled_in = ("commit", "fetch")
    """Methods that a subclass has to define."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.entry_ns = self.overhead_ns
        """Time before a transaction's first flit is at the array, ns; 0 where the array charges it."""
        self.access_ns = float(node.properties.get("access_ns", 0.0))
        """Time from the array to the door and back, ns: of every flit, and nobody else waits for it."""
        self.by: Server = self
        self.entry_worked_out = overrides(type(self), "entry_ns", Memory)

    def entry(self, packet: Packet) -> float:
        """What ``packet`` pays before it is at the array, ns."""
        if not packet.pays:
            return 0.0
        ns = self.entry_ns
        if self.entry_worked_out:
            ns = float(getattr(self, "entry_ns"))  # noqa: B009  (not the field of the compiled class)
        if not 0.0 <= ns < _INFINITY:
            raise wrong_answer(self, "entry_ns", ns)
        return ns

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """A written flit stands at the array at ``time``: when it is committed, and by which server."""
        raise NotImplementedError

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """A flit of the answer is asked for at ``time``: when it is ready to leave, and by which server."""
        raise NotImplementedError

    def served(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """When a flit at the array at ``time`` is committed or fetched; ``by`` is by which server."""
        if writing:
            done, self.by = self.commit(packet, flit, time)
        else:
            done, self.by = self.fetch(packet, flit, time)
        if not time <= done < _INFINITY:
            raise wrong_answer(self, "commit" if writing else "fetch", done, time)
        return done

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """A flit of a write, or a read command (one flit of 0 bytes)."""
        transaction = packet.transaction
        hop = packet.path.hops
        times = packet.times
        if flit == 0:
            self.arrive(time)
            times.at[hop] = time
            entry = self.entry(packet)
            begun = self.occupy(time, entry, transaction)
            inside = begun + entry
        else:
            begun = inside = self.free if self.free > time else time
        if not transaction.is_write:
            self.read(packet, time, begun, inside)
            return
        done = self.served(packet, flit, inside, True)
        if flit == 0:
            times.at[packet.stride + hop] = begun
        if flit == 0 or done >= packet.turn_done:
            packet.turn_done = done
            packet.turn_server = self.by
        if flit == packet.last:
            done = packet.turn_done
            self.depart(packet, time, begun, inside, done, packet.turn_server, transaction.nbytes)
            self.system.fabric.answer_at(done + self.access_ns, packet)

    def answer(self, packet: Packet) -> None:
        """A write is committed: acknowledge it."""
        transaction = packet.transaction
        if transaction.on_served is not None:
            transaction.on_served()
        fabric = self.system.fabric
        answer = Packet.__new__(Packet)
        answer.prepare(transaction, transaction.path.reverse, 0, fabric.flit_bytes)
        if transaction.access is not None:
            transaction.access.unanswered -= 1
            answer.pays = transaction.access.unanswered == 0
        fabric.send(answer)

    def read(self, packet: Packet, time: float, begun: float, inside: float) -> None:
        """Fetch the data that a command asks for, and send them."""
        transaction = packet.transaction
        fabric = self.system.fabric
        answer = Packet.__new__(Packet)
        answer.prepare(transaction, transaction.path.reverse, transaction.nbytes, fabric.flit_bytes)
        times = answer.feeds()
        packet.times.at[packet.stride + packet.path.hops] = begun
        ready = inside
        slowest: Server = self
        for flit in range(answer.last + 1):
            done = self.served(answer, flit, inside, False)
            if done > ready:
                ready = done
                slowest = self.by
            times.at[flit] = ready + self.access_ns
        self.depart(packet, time, begun, inside, ready, slowest, transaction.nbytes)
        if transaction.on_served is not None:
            self.clock.call_at(ready + self.access_ns, transaction.on_served)
        fabric.stream(answer, times)

    def depart(
        self,
        packet: Packet,
        time: float,
        begun: float,
        inside: float,
        done: float,
        server: Server,
        nbytes: int,
    ) -> None:
        """The array is done with the last flit at ``done``, by ``server``: note the hop and who held it."""
        transaction = packet.transaction
        wait = 0.0
        if begun > time:
            wait += transaction.note_waits(self.index, self, time, begun)
        if server is not self and done > inside:
            # A part of the memory that is in the machine's table records its waits itself.
            place = server.index if server.index >= 0 else self.index
            behind = transaction.note_waits(place, server, inside, done)
            server.wait_ns += behind
            wait += behind
        done += self.access_ns
        self.leave(done, nbytes, self.entry(packet), wait)
        if transaction.traced:
            hop = packet.path.hops
            times = packet.times
            transaction.hop(
                self.index, times.at[hop], times.at[packet.stride + hop], done,
                done - time - wait, wait, nbytes,
            )  # fmt: skip
