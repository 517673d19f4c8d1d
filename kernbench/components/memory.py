"""The base of all memories: they take flits, commit writes, answer reads in order.

A memory answers over the reverse of the path that the request came by. A write is acknowledged with 0
bytes once its last flit is committed. A read's data leave as flits, each when the memory has it, in order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kernbench.components.base import Component
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet


class Memory(Component, ABC):
    """A destination of reads and writes. Subclasses say when a flit is committed or fetched."""

    takes_flits = True

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.entry_ns = self.overhead_ns
        """Time before a transaction's first flit is at the array, ns; 0 where the array charges it."""

    @abstractmethod
    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """A written flit stands at the array at ``time``: when it is committed, and by which server."""

    @abstractmethod
    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """A flit of the answer is asked for at ``time``: when it is ready to leave, and by which server."""

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """A flit of a write, or a read command (one flit of 0 bytes)."""
        transaction = packet.transaction
        hop = len(packet.links)
        if flit == 0:
            self.arrive(time)
            packet.node_in[hop] = time
            entry = self.entry_ns if packet.pays else 0.0
            begun = self.occupy(time, entry, transaction)
            inside = begun + entry
        else:
            begun = inside = max(time, self.free)
        if not transaction.is_write:
            self._read(packet, time, begun, inside)
            return
        done, server = self.commit(packet, flit, inside)
        if flit == 0:
            packet.node_start[hop] = begun
            packet.turn = (done, server)
        elif done >= packet.turn[0]:
            packet.turn = (done, server)
        if flit == packet.last:
            done, server = packet.turn
            self._leave(packet, time, begun, inside, done, server, transaction.nbytes)
            self.clock.call_at(done, self._acknowledge, packet)

    def _acknowledge(self, packet: Packet) -> None:
        transaction = packet.transaction
        if transaction.on_served is not None:
            transaction.on_served()
        answer = Packet(transaction, transaction.path.reverse, 0, self.system.fabric.flit_bytes)
        if transaction.access is not None:
            transaction.access.unanswered -= 1
            answer.pays = transaction.access.unanswered == 0
        self.system.fabric.send(answer)

    def _read(self, packet: Packet, time: float, begun: float, inside: float) -> None:
        transaction = packet.transaction
        fabric = self.system.fabric
        answer = Packet(transaction, transaction.path.reverse, transaction.nbytes, fabric.flit_bytes)
        packet.node_start[len(packet.links)] = begun
        times: list[float] = []
        ready: float = inside
        slowest: Server = self
        for flit in range(answer.last + 1):
            done, server = self.fetch(answer, flit, inside)
            if done > ready:
                ready, slowest = done, server
            times.append(ready)
        self._leave(packet, time, begun, inside, ready, slowest, transaction.nbytes)
        if transaction.on_served is not None:
            self.clock.call_at(ready, transaction.on_served)
        fabric.stream(answer, times)

    def _leave(
        self,
        packet: Packet,
        time: float,
        begun: float,
        inside: float,
        done: float,
        server: Server,
        nbytes: int,
    ) -> None:
        """The last flit is committed at ``done`` by ``server``: note the hop and who held it."""
        transaction = packet.transaction
        wait = 0.0
        if begun > time:
            wait += transaction.record_waits(self.index, self.waited_for(transaction, time, begun))
        if server is not self and done > inside:
            # A part of the memory that is in the machine's table records its waits itself.
            place = server.index if server.index >= 0 else self.index
            behind = transaction.record_waits(place, server.waited_for(transaction, inside, done))
            server.wait_ns += behind
            wait += behind
        self.leave(done, nbytes, self.entry_ns if packet.pays else 0.0, wait)
        if transaction.traced:
            hop = len(packet.links)
            transaction.note_hop(
                (
                    self.index, packet.node_in[hop], packet.node_start[hop], done,
                    done - time - wait, wait, nbytes,
                )
            )  # fmt: skip
