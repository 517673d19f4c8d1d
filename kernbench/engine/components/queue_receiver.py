"""The receiving half of PE_IPCQ: which receive gets a message, reading its slots, and credits for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.queue_channel import QueueChannel, copy_op
from kernbench.engine.components.queue_ring import Incoming, QueueCredit, QueueToken
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.engine.program.queues import Receive


@dataclass(eq=False, slots=True)
class Receiving:
    """A receive in progress: its message, and how much of it is read."""

    command: Receive
    done: Callable[[], None]
    t_ready: float
    queue: Incoming | None = None
    t_start: float = -1.0
    begun: int = 0
    over: int = 0
    parts: dict[int, Op] = field(default_factory=dict)
    """The reads of its parts by index."""


class QueueReceiver:
    """Carries out the receives of ``owner``; ``queues`` gives its directions, oldest first."""

    def __init__(
        self,
        owner: PeComponent,
        dma: PeDma,
        channel: QueueChannel,
        queues: Callable[[], Sequence[Incoming]],
    ) -> None:
        self._owner = owner
        self._dma = dma
        self._channel = channel
        self._queues = queues
        self._protocol_ns = owner.number("protocol_ns")
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self.open: list[Receiving] = []
        """Receives in progress, in order of issue."""
        self._turn = 0
        """Number of the direction that a receive from any direction looks at first."""

    def token_arrived(self, queue: Incoming, token: QueueToken) -> None:
        """Take a token of ``queue``: write it to its slot."""
        written = partial(self._written, queue, token, queue.arrive(token))
        self._channel.write_slot(token, queue.entry.buffer_kind, written)

    def _written(self, queue: Incoming, token: QueueToken, number: int, _start: float) -> None:
        """Called when the slot of token ``number`` holds its bytes."""
        if self._protocol_ns:
            clock = self._owner.clock
            clock.call_at(clock.time + self._protocol_ns, self._seen, queue, token, number)
        else:
            self._seen(queue, token, number)

    def _seen(self, queue: Incoming, token: QueueToken, number: int) -> None:
        """The PE sees a token that is in its slot."""
        op = token.op
        self._dma.finish(op, op.t_ready, op.t_ready, self._owner.clock.time)
        queue.written(number)
        self._dma.forward(self._owner, self._advance)

    def receive(self, command: Receive, done: Callable[[], None], t_ready: float) -> None:
        """Carry out ``command``, submitted at ``t_ready``; ``done()`` when a blocking one is over."""
        self.open.append(Receiving(command, done, t_ready))
        self._advance()

    def _advance(self) -> None:
        """Let receives read what they can see, in order of issue."""
        for receiving in list(self.open):
            if receiving.queue is None:
                self._bind(receiving)
            queue = receiving.queue
            if queue is not None and queue.cursor < queue.head:
                self._read_parts(receiving, queue)

    def _bind(self, receiving: Receiving) -> None:
        """Find the message for ``receiving``, if there is one."""
        queues = self._queues()
        direction = receiving.command.direction
        if direction is None:
            queues = [*queues[self._turn :], *queues[: self._turn]]
        for queue in queues:
            if queue.reader is not None or direction not in (None, queue.entry.direction):
                continue
            token = queue.first()
            if token is None:
                continue
            if direction is None:
                self._turn = (self._queues().index(queue) + 1) % len(queues)
            queue.reader = receiving
            receiving.queue = queue
            receiving.t_start = self._owner.clock.time
            receiving.command.message = token.message
            receiving.command.source = queue.entry.direction
            receiving.command.op.params["direction"] = queue.entry.direction
            return

    def _read_parts(self, receiving: Receiving, queue: Incoming) -> None:
        """Read the parts of its message that are visible."""
        command = receiving.command
        message = command.message
        assert message is not None
        while receiving.begun < message.parts and (token := queue.first()) is not None:
            number = queue.begin_read()
            receiving.begun += 1
            if receiving.begun == message.parts:
                queue.reader = None
            op = copy_op(self._owner, command.op, "FROM_SLOT", token.nbytes)
            op.after.append((token.op.id, "token"))
            if token.nbytes:
                op.inputs = (Operand((token.nbytes,), "i8", regions=(Region(token.address, token.nbytes),)),)
                op.output = Operand((token.nbytes,), "i8", handle=op.id)
                op.params["uses"] = 1
            receiving.parts[token.index] = op
            ready = self._owner.clock.time

            def done(
                start: float,
                token: QueueToken = token,
                op: Op = op,
                number: int = number,
                ready: float = ready,
            ) -> None:
                self._dma.finish(op, ready, start, self._owner.clock.time)
                self._part_read(receiving, queue, token, op, number)

            if command.consume:
                self._owner.forward(
                    self._dma, self._channel.read_slot, token, queue.entry.buffer_kind, op, done
                )  # fmt: skip
            else:
                done(ready)

    def _part_read(
        self, receiving: Receiving, queue: Incoming, token: QueueToken, op: Op, number: int
    ) -> None:
        """Called when a slot has been read: free it, and write its content to its destination."""
        freed = queue.read(number)
        for i in range(freed):
            credit = QueueCredit(queue.entry.address, queue.tail - freed + i + 1, op.id)
            self._owner.forward(
                self._dma, self._channel.send_credit, credit, queue.entry.peer, token.transaction
            )  # fmt: skip
        command = receiving.command
        message = command.message
        assert message is not None
        if command.address is None or not token.nbytes or command.nbytes != message.nbytes:
            self._part_over(receiving)
            return
        address = command.address + token.index * queue.entry.slot_bytes
        write = Op(
            self._owner.system.next_op_id(), "memory", "dma_write",
            launch=command.op.launch, parent=command.op.id, nbytes=token.nbytes,
        )  # fmt: skip
        assert op.output is not None
        write.inputs = (op.output,)
        write.output = Operand((token.nbytes,), "i8", address=address)
        write.order, write.source = command.op.order, command.op.source
        served = partial(self._owner.system.served, write)
        over = partial(self._part_over, receiving)
        job = Job(write, "dma_write", ((address, token.nbytes),), over, served)
        self._owner.forward(self._dma, self._dma.submit, job)

    def _part_over(self, receiving: Receiving) -> None:
        """Called when a part is at its destination; after the last one the receive is over."""
        receiving.over += 1
        command = receiving.command
        message = command.message
        assert message is not None
        if receiving.over < message.parts:
            return
        if receiving in self.open:  # else its kernel was stopped
            self.open.remove(receiving)
        op = command.op
        op.nbytes = message.nbytes
        read = [receiving.parts[index] for index in range(message.parts)]
        op.after += [(part.id, "part") for part in read]
        fits = command.nbytes in (None, message.nbytes)
        if command.address is None and message.nbytes and fits:
            op.inputs = tuple(part.output for part in read if part.output is not None)
            op.output = op.output or Operand(message.shape, message.dtype, handle=op.id)
        else:
            op.output = None
        self._owner.finish(op, receiving.t_ready, receiving.t_start, self._owner.clock.time)
        if command.completion is not None:
            command.completion.complete()
        else:
            receiving.done()

    def cancel(self, done: Callable[[], None]) -> None:
        """Forget receives that have not begun; those under way call ``done`` instead of their kernel."""
        for receiving in self.open:
            receiving.done = done
        self.open = [one for one in self.open if one.begun]


def candidates(queues: Sequence[Incoming], receiving: Receiving) -> list[Incoming]:
    """The directions from which ``receiving`` may get its message."""
    return [queue for queue in queues if receiving.command.direction in (None, queue.entry.direction)]
