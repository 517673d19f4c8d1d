"""The sending half of PE_IPCQ: slots for the parts of a message, their bytes, and tokens in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.queue_channel import QueueChannel, copy_op
from kernbench.engine.components.queue_ring import Outgoing, QueueCredit, QueueToken
from kernbench.engine.program.commands import Completion
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.engine.program.queues import Send, split

GoesOn = Callable[[int], None]
"""The kernel goes on after a send, because of the operation with this id; -1: at once."""


@dataclass(eq=False, slots=True)
class Sending:
    """A send under way: the parts that still need a slot. ``goes_on`` is None once the kernel has gone on."""

    command: Send
    goes_on: GoesOn | None
    t_ready: float
    snapshot: Op | None
    left: Iterator[tuple[int, int]]
    next: tuple[int, int] | None
    t_start: float = -1.0
    given: int = 0
    """Parts that PE_DMA has."""


class QueueSender:
    """Carries out the sends of ``owner`` through ``dma`` and its queue channel."""

    def __init__(self, owner: PeComponent, dma: PeDma, channel: QueueChannel) -> None:
        self._owner = owner
        self._dma = dma
        self._channel = channel
        polls = owner.node.properties["backpressure"] == "poll"
        self._poll_ns = owner.number("poll_ns") if polls else 0.0
        """Time of a poll for credits, ns; 0 if credits wake a waiting send."""

    def send(self, queue: Outgoing, command: Send, goes_on: GoesOn, t_ready: float) -> None:
        """Carry out ``command``, submitted at ``t_ready``; ``goes_on`` when it is posted."""
        left = split(command.message.nbytes, queue.entry.slot_bytes)
        sending = Sending(command, goes_on, t_ready, self._snapshot(command), left, next(left, None))
        queue.sends.append(sending)
        if len(queue.sends) == 1:  # else it waits behind others
            self._give_parts(queue, waited=False)
        self._post(queue, -1)

    def _post(self, queue: Outgoing, by: int) -> None:
        """Let the kernel go on, after the end of ``by``, if its send may join those that wait."""
        if not queue.sends or len(queue.sends) > queue.entry.slots:
            return
        # A kernel waits for one send, so those before it are posted.
        self._go_on(queue.sends[-1], by)

    def _go_on(self, sending: Sending, by: int) -> None:
        """Let the kernel go on, if it has not, and its message does not lie in memory."""
        command, goes_on = sending.command, sending.goes_on
        if goes_on is None or command.address is not None:
            return
        sending.goes_on = None
        command.completion = Completion(command.label, command.op.id)
        goes_on(by)

    def _snapshot(self, command: Send) -> Op | None:
        """Keep the value of the handle that is sent: its parts are copied later, when it may be gone."""
        if not command.op.inputs:
            return None
        (source,) = command.op.inputs
        op = copy_op(self._owner, command.op, "SNAPSHOT", 0)
        op.inputs = (source,)
        op.output = Operand(source.shape, source.dtype, handle=op.id)
        op.params["uses"] = command.message.parts
        now = self._owner.clock.time
        self._owner.finish(op, now, now, now)
        command.op.inputs = ()
        command.op.after.append((op.id, "part"))
        return op

    def credit_arrived(self, queue: Outgoing, credit: QueueCredit, transaction: int) -> None:
        """Take a credit of ``queue``, which ``transaction`` has brought."""
        queue.give(credit, transaction)
        if not self._poll_ns:
            self._give_parts(queue, waited=True)
        elif queue.sends and not queue.looking:
            queue.looking = True
            now, begun = self._owner.clock.time, queue.waits_from
            looks = max(1, ceil((now - begun) / self._poll_ns))
            self._owner.clock.call_at(max(now, begun + looks * self._poll_ns), self._look, queue)

    def _look(self, queue: Outgoing) -> None:
        """End a poll that sees credits."""
        queue.looking = False
        self._give_parts(queue, waited=True)

    def _give_parts(self, queue: Outgoing, *, waited: bool) -> None:
        """Take a slot for each next part while there are free ones."""
        while queue.sends and queue.credits:
            sending = queue.sends[0]
            assert sending.next is not None
            (offset, nbytes), sending.next = sending.next, next(sending.left, None)
            if sending.t_start < 0:
                sending.t_start = self._owner.clock.time
            if sending.next is None:
                queue.sends.popleft()
            self._give(queue, sending, offset, nbytes, waited=waited)
            if sending.command.group is not None and sending.given < sending.command.message.parts:
                self._go_on(sending, -1)  # to the multicast's other sends, for which this one waits
            if sending.next is None:
                self._post(queue, sending.command.op.id)
        queue.waits_from = self._owner.clock.time

    def _give(self, queue: Outgoing, sending: Sending, offset: int, nbytes: int, *, waited: bool) -> None:
        """A part has its slot, for which it may have ``waited``: get its bytes, and send it in order."""
        command = sending.command
        op = copy_op(self._owner, command.op, "TO_SLOT", nbytes)
        if waited:
            op.after.append((queue.freed_by, "credit"))
        address = queue.take()
        index, ring_bytes = offset // queue.entry.slot_bytes, queue.entry.nbytes
        token = QueueToken(address, nbytes, command.message, index, op, ring_bytes)
        token.sending, token.parent = sending, queue.credit if waited else -1
        if command.group is not None:
            command.group.parts.setdefault(index, []).append((queue, token))
        queue.outbox.append(token)

        def ready() -> None:
            token.ready = True
            self._send_ready(queue)

        if nbytes:
            op.output = Operand((nbytes,), "i8", regions=(Region(address, nbytes),))
        if sending.snapshot is not None:
            output = sending.snapshot.output
            assert output is not None
            op.inputs = (output,)
            op.params["offset"] = offset
        elif nbytes:
            self._fetch(command, op, offset, nbytes, ready)
            return
        ready()

    def _fetch(self, command: Send, op: Op, offset: int, nbytes: int, ready: Callable[[], None]) -> None:
        """Read a part that lies in memory."""
        assert command.address is not None
        address = command.address + offset
        read = Op(
            self._owner.system.next_op_id(), "memory", "dma_read",
            launch=command.op.launch, parent=command.op.id, nbytes=nbytes,
        )  # fmt: skip
        read.inputs = (Operand((nbytes,), "i8", address=address),)
        read.output = Operand((nbytes,), "i8", handle=read.id)
        read.params["uses"] = 1
        read.order, read.source = command.op.order, command.op.source
        op.inputs = (read.output,)
        job = Job(read, "dma_read", ((address, nbytes),), ready, partial(self._owner.system.served, read))
        self._owner.forward(self._dma, self._dma.submit, job)

    def _send_ready(self, queue: Outgoing) -> None:
        """Give PE_DMA the parts whose bytes are available, in order; those of a multicast together."""
        while queue.outbox and queue.outbox[0].ready:
            first = queue.outbox[0]
            together = _together(queue, first)
            if not together:
                return
            tokens = [other.outbox.popleft() for other, _ in together]
            peers = tuple([other.entry.peer for other, _ in together])
            for token in tokens:
                token.op.t_ready = self._owner.clock.time
            self._owner.forward(self._dma, self._channel.send_tokens, tokens, peers, first.parent)
            for token in tokens:
                self._given(token.sending)
            for other, _ in together:
                if other is not queue:
                    self._send_ready(other)

    def _given(self, sending: Sending) -> None:
        """A part of a send is with PE_DMA; with the last one the send is over."""
        sending.given += 1
        command = sending.command
        if sending.given < command.message.parts:
            return
        self._owner.finish(command.op, sending.t_ready, sending.t_start, self._owner.clock.time)
        if command.completion is not None:
            command.completion.complete()
        elif sending.goes_on is not None:
            sending.goes_on(command.op.id)


def _together(queue: Outgoing, first: QueueToken) -> list[tuple[Outgoing, QueueToken]]:
    """What leaves with the first token of ``queue``: it, or all of its multicast; nothing if some cannot."""
    group = first.sending.command.group
    if group is None:
        return [(queue, first)]
    parts: list[tuple[Outgoing, QueueToken]] = group.parts[first.index]
    there = len(parts) == len(group.directions)
    return parts if there and all(q.outbox and q.outbox[0] is t and t.ready for q, t in parts) else []
