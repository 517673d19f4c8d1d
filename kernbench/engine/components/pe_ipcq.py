"""PE_IPCQ: the PE's queues to its neighbours.

A send needs a free slot in the peer's ring for each part of its message, and gives the parts to PE_DMA
as tokens. A receive reads the parts of a message from the PE's own ring as they become visible, and returns a
credit for each slot that it frees. A token is for the ring that holds its address, a credit for the direction
whose peer's ring it names: coordinates of the sender decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from kernbench.engine.components.base import Blocked
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.queue_channel import Loop, QueueChannel
from kernbench.engine.components.queue_receiver import QueueReceiver, candidates
from kernbench.engine.components.queue_ring import Incoming, Outgoing, QueueCredit, QueueToken
from kernbench.engine.components.queue_sender import GoesOn, QueueSender
from kernbench.engine.components.system import System
from kernbench.engine.program.messages import QueueMessage
from kernbench.engine.program.operations import Op
from kernbench.engine.program.queues import Receive, RingEntry, Send
from kernbench.errors import AddressError, InvariantError
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node


class _Queue(NamedTuple):
    """One direction: its send and its receive side."""

    entry: RingEntry
    sending: Outgoing
    receiving: Incoming


class PeIpcq(PeComponent):
    """Sends, receives, and the state of their rings."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        PeIpcq.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        PeComponent.reset(self)
        self._queues: dict[str, _Queue] = {}
        self._straight: dict[str, _Queue] = {}
        """Directions that lead back here, as they were set up."""
        self._receiving: list[Incoming] = []
        self._removed: set[int] = set()
        """Rings, own and peers', of directions that were removed: what still comes for them is dropped."""

    def wired(self) -> None:
        """Find the DMA, and open its queue channel."""
        dma = self.sibling("pe_dma")
        assert isinstance(dma, PeDma)
        self._dma = dma
        self._channel = QueueChannel(dma, self)
        dma.queue_channel = self._channel
        self._sender = QueueSender(self, dma, self._channel)
        self._receiver = QueueReceiver(self, dma, self._channel, self._rings)
        self.parts = [self._channel, self._receiver]

    def _rings(self) -> list[Incoming]:
        return self._receiving

    # -- setting up -------------------------------------------------------------------------------------

    @property
    def queues(self) -> dict[str, RingEntry]:
        """The PE's directions."""
        return {direction: queue.entry for direction, queue in self._queues.items()}

    def set_up(self, message: QueueMessage) -> None:
        """Install or remove directions; the request is answered as soon as that is done."""
        for entry in message.rings[self.location[1:]]:
            self._straight.pop(entry.direction, None)
            if message.install:
                self._queues[entry.direction] = _Queue(entry, Outgoing(entry), Incoming(entry))
                self._removed -= {entry.address, entry.peer_address}
            else:
                self._queues.pop(entry.direction, None)
                self._removed |= {entry.address, entry.peer_address}
        self._receiving = [queue.receiving for queue in self._queues.values()]
        message.request.part_done(self.clock.now, None)

    def loop(self, loop: Loop, rings: Mapping[str, str]) -> None:
        """Let directions lead back here over ``loop``, each to the ring of the direction that it names.

        Nothing may be under way in those that do not yet. :meth:`unloop` brings back what was set up.
        """
        self._channel.close(loop)
        for direction, into in rings.items():
            if direction in self._straight:
                continue
            self._straight[direction] = self._queues[direction]
            there = self._queues[into].entry.address
            entry = replace(self._queues[direction].entry, peer=self.location, peer_address=there)
            self._queues[direction] = _Queue(entry, Outgoing(entry), Incoming(entry))
        self._receiving = [queue.receiving for queue in self._queues.values()]

    def unloop(self) -> None:
        """Let all directions lead where they were set up to lead."""
        if self._straight:
            self._channel.close(None)
            self._queues |= self._straight
            self._straight = {}
            self._receiving = [queue.receiving for queue in self._queues.values()]

    # -- commands of the kernel -------------------------------------------------------------------------

    def check_peers(self, directions: tuple[str, ...]) -> None:
        """Refuse directions whose peers cannot be reached, all by one message: :class:`RoutingError`."""
        self._channel.trunks(tuple([self._queues[direction].entry.peer for direction in directions]))

    def check_memory(self, argument: str, address: int | None, nbytes: int, space: str | None) -> None:
        """Refuse an address that cannot be sent from or written to.

        Raises:
            AddressError: It leads to no memory, or to another one than ``argument`` says.
            RoutingError: The memory cannot be reached.
        """
        if address is None or not nbytes:
            return
        requests = self._dma.dma.requests_for(address, nbytes)
        for request in requests if space is not None else ():
            target = self.system.addresses.resolve(request.pa)
            if target.kind != space:
                raise AddressError(
                    f"argument '{argument}' is '{space}', but address {address:#x} leads "
                    f"to '{target.component}'"
                )

    def submit_send(self, command: Send, goes_on: GoesOn) -> None:
        """Execute a send; call ``goes_on`` when it is posted."""
        sending = self._queues[command.direction].sending
        self._after_overhead(command.op, partial(self._sender.send, sending, command, goes_on))

    def submit_receive(self, command: Receive, done: Callable[[], None]) -> None:
        """Execute a receive; call ``done()`` when a blocking one is over (never for ``recv_async``)."""
        self._after_overhead(command.op, partial(self._receiver.receive, command, done))

    def _after_overhead(self, op: Op, begin: Callable[[float], None]) -> None:
        """Begin a command that has come now, after the time that it takes PE_IPCQ itself."""
        now, over = self.clock.time, self.take_turn(op)
        if over > now:
            self.clock.call_at(over, begin, now)
        else:
            begin(now)

    # -- what arrives -----------------------------------------------------------------------------------

    def credit_arrived(self, credit: QueueCredit, transaction: int) -> None:
        """Take a credit: it belongs to the direction whose peer's ring it names."""
        for queue in self._queues.values():
            if queue.entry.peer_address == credit.ring:
                self._sender.credit_arrived(queue.sending, credit, transaction)
                return
        if credit.ring not in self._removed:
            raise self._stray(f"a credit for ring {credit.ring:#x}")

    def token_arrived(self, token: QueueToken) -> None:
        """Take a token: write it to its slot, in the ring that holds its address."""
        for queue in self._queues.values():
            entry = queue.entry
            if entry.address <= token.address < entry.address + entry.nbytes:
                self._receiver.token_arrived(queue.receiving, token)
                return
        if not any(ring <= token.address < ring + token.ring_bytes for ring in self._removed):
            raise self._stray(f"a token for address {token.address:#x}")

    # -- the end of a kernel, and of a run --------------------------------------------------------------

    def cancel(self) -> None:
        """Forget what the PE's kernel still waited for, because it was stopped.

        Messages that are partly read or sent remain: such queues must be set up again.
        """
        self._receiver.cancel(_nothing)
        for queue in self._queues.values():
            queue.sending.cancel()

    def blocked(self) -> list[Blocked]:
        """Sends without a free slot and receives without a message, with the PEs that could end each."""
        waits = []
        for direction, queue in self._queues.items():
            awaited = queue.sending.awaits or ([direction] if queue.sending.sends else [])
            if awaited:
                waits.append(Blocked(False, [self._queues[one].entry.peer for one in awaited]))
        for one in self._receiver.open:
            rings = [one.queue] if one.queue is not None else candidates(self._rings(), one)
            waits.append(Blocked(True, [ring.entry.peer for ring in rings]))
        return waits

    def waiting(self) -> list[str]:
        """Sends without a free slot and receives without a message, with the state of their rings."""
        lines = []
        for direction, queue in self._queues.items():
            entry, out, sends = queue.entry, queue.sending, queue.sending.sends
            if awaited := out.awaits:
                others = ", ".join(f"'{one}'" for one in awaited)
                lines.append(
                    f"{self.resource} waits to send '{direction}' to {self._peer(entry)}: it has a slot, "
                    f"but its multicast has none in {others}"
                )
            elif sends:
                parts = sends[0].command.message.parts
                lines.append(
                    f"{self.resource} waits to send '{direction}' ({parts} slots) to {self._peer(entry)}: "
                    f"{out.credits} credits, {out.sent} sent, {out.freed} freed of its ring at "
                    f"{entry.peer_address:#x} "
                    f"({entry.slots} x {entry.slot_bytes} bytes in {entry.buffer_kind})"
                )
        for receiving in self._receiver.open:
            wanted = receiving.command.direction
            subject = f"{self.resource} waits to receive '{wanted or 'any direction'}'"
            rings = "; ".join(self._ring_state(ring) for ring in candidates(self._rings(), receiving))
            lines.append(f"{subject}: {rings}")
        return lines

    def _ring_state(self, queue: Incoming) -> str:
        entry = queue.entry
        return (
            f"ring '{entry.direction}' at {entry.address:#x} from {self._peer(entry)}, {entry.slots} x "
            f"{entry.slot_bytes} bytes in {entry.buffer_kind}: head {queue.head}, tail {queue.tail}"
        )

    def _peer(self, entry: RingEntry) -> str:
        """The peer's name, with a note if it runs no kernel."""
        found = places(self.system.graph)
        peer = found.pe(*entry.peer)
        busy = self.system.component(found.part("pe_cpu", *entry.peer)).waiting()
        return peer if busy else f"{peer} (which runs no kernel)"

    def _stray(self, what: str) -> InvariantError:
        return InvariantError(
            f"{self.resource} gets {what}, which is not one of its own, at {self.clock.now:.3f} ns; "
            "its queues were removed or replaced while messages were under way",
            "order",
        )


def _nothing() -> None:
    """Called instead of the kernel, once that was stopped."""
