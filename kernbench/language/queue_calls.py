"""``tl`` calls for the queues to other PEs: send, multicast, recv, recv_async, recv_no_consume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from kernbench.engine.program.commands import Completion
from kernbench.engine.program.operations import Operand
from kernbench.engine.program.queues import (
    BUFFER_KINDS,
    Message,
    Multicast,
    Receive,
    RingEntry,
    Send,
    parts_of,
)
from kernbench.hardware.address.free_list import Block
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.language.issue import tl_call
from kernbench.language.loadstore import DEFAULT_DTYPE, MemoryCalls
from kernbench.language.pointer import Pointer
from kernbench.support.hints import shown

if TYPE_CHECKING:
    from kernbench.language.tl import Language

Received = TensorHandle | TensorRef | None
"""Result of a receive: a handle, a reference to the destination, None for a message without bytes."""


class Future(Completion):
    """A receive that was started with ``tl.recv_async``; pass it to ``tl.wait``, which returns its result."""

    __slots__ = ("_finish", "_result")

    def __init__(self, label: str, op: int) -> None:
        super().__init__(label, op)
        self._finish: Callable[[], Received] | None = None
        self._result: Received = None

    @property
    def result(self) -> Received:
        """The received message, as ``tl.recv`` gives it; wait for the future first."""
        if self._finish is not None:
            self._result, self._finish = self._finish(), None
        return self._result


@dataclass(slots=True)
class _Wanted:
    """The checked arguments of a receive call."""

    command: Receive
    shape: tuple[int, ...] | None
    dtype: str
    block: Block | None
    target: TensorRef | None


_OF_MEMORY = ("src_addr", "nbytes", "shape", "dtype", "space")
"""Arguments of ``send`` for a message that lies in memory."""


class QueueCalls(MemoryCalls):
    """send, multicast, recv, recv_async, recv_no_consume."""

    _title = "Queues"

    @tl_call
    def send(
        self,
        dir: str,
        src: TensorHandle | None = None,
        *,
        src_addr: int | None = None,
        nbytes: int | None = None,
        shape: object = None,
        dtype: str | None = None,
        space: str | None = None,
    ) -> None:
        """Send a message to the PE that direction ``dir`` leads to.

        Returns when the message is posted, not when it has arrived. It goes in parts as large as a slot, each
        as soon as the peer's ring has a free one. The kernel goes on meanwhile, unless more messages of this
        direction wait than the ring has slots; a message at ``src_addr`` is waited for until its last part is
        read. What waits keeps its bytes in the TCM's scratch. The kernel ends when all is with PE_DMA.
        The peer receives the value that the sender has at this call.

        Args:
            dir: a direction of this PE's queues, such as ``"E"``.
            src: the handle to send. Without it and without ``src_addr`` the message is a signal of 0 bytes.
            src_addr: instead of a handle, a tensor argument or an address in memory; PE_DMA reads it first.
            nbytes: size of the message at ``src_addr``, where no shape is given.
            shape: shape of the message at ``src_addr``; a tensor argument's own by default.
            dtype: its type; a tensor argument's own by default, f16 with a shape, i8 with nbytes.
            space: ``"tcm"``, ``"sram"`` or ``"hbm"``: the memory in which ``src_addr`` must lie.

        Raises:
            KernelError: the PE has no such direction, or an argument does not fit.
        """
        self._send_to(dir, src, src_addr, nbytes, shape, dtype, space)

    @tl_call
    def multicast(self, dirs: Sequence[str], src: TensorHandle | None = None) -> None:
        """Send one message to all PEs that the directions ``dirs`` lead to, over one tree of links.

        Each link carries it once; routers copy it where ways part. A part leaves when each of the peers'
        rings has a free slot for it. Each peer receives it as a message of its own direction. Otherwise as
        ``send``.

        Args:
            dirs: directions of this PE's queues, whose rings have slots of one size.
            src: the handle to send; without it the message is a signal of 0 bytes.

        Raises:
            KernelError: the PE has no such direction, or a link on the way has finite buffers.
        """
        if isinstance(dirs, str) or not isinstance(dirs, Sequence) or not dirs:
            raise BadArgumentError("dirs", f"{shown(dirs)} is not a list of directions")
        rings = [self._ring("dirs", one) for one in dirs]
        if len(set(dirs)) < len(dirs):
            raise BadArgumentError("dirs", f"{shown(list(dirs))} has a direction twice")
        if len({ring.slot_bytes for ring in rings}) > 1:
            sizes = ", ".join(f"'{ring.direction}' {ring.slot_bytes}" for ring in rings)
            raise BadArgumentError("dirs", f"lead to rings of several sizes of slots: {sizes} bytes")
        group = Multicast(tuple(dirs)) if len(rings) > 1 else None
        for one in dirs:
            self._send_to(one, src, group=group)

    def _send_to(
        self,
        dir: str,
        src: TensorHandle | None,
        src_addr: int | None = None,
        nbytes: int | None = None,
        shape: object = None,
        dtype: str | None = None,
        space: str | None = None,
        group: Multicast | None = None,
    ) -> None:
        ring = self._ring("dir", dir)
        kind = None if space is None else _space("space", space)
        inputs: tuple[Operand, ...] = ()
        address = None
        if src is not None:
            of_memory = (src_addr, nbytes, shape, dtype, space)
            for name, value in zip(_OF_MEMORY, of_memory, strict=True):
                if value is not None:
                    raise BadArgumentError(name, "goes with src_addr; src says it itself")
            handle = self._handle("src", src)
            sizes, name = handle.shape, handle.dtype
            inputs = (handle.operand(),)
        elif src_addr is None:
            if shape is not None or dtype is not None or kind is not None or nbytes not in (None, 0):
                raise BadArgumentError("src", "is missing; pass a handle, or src_addr for data in memory")
            sizes, name = (0,), "i8"
        else:
            source = self._message_at(src_addr, nbytes, shape, dtype)
            address, sizes, name = source.address, source.shape, source.dtype
        size = arguments.nbytes(sizes, name)
        op_id = self._next_op_id()
        op = self._op(op_id, "queue", "ipcq_send", inputs, None, {"direction": ring.direction}, size)
        message = Message(sizes, name, size, parts_of(size, ring.slot_bytes), op_id)
        races = self._races
        if races is not None and op.order is not None:
            races.sent(op_id, op.order)
        command = Send(op, ring.direction, message, address, kind, None, group)
        self._send(command)
        completion = command.completion
        if completion is not None and not completion.done:
            self._posted = [*(one for one in self._posted if not one.done), completion]
            if src is not None:  # its bytes stay in TCM until they are with PE_DMA
                held = [src._block]
                completion.then(held.clear)

    @tl_call
    def recv(
        self,
        dir: str | None = None,
        shape: object = None,
        dtype: str | None = None,
        space: str | None = None,
        dst_addr: int | None = None,
        dst_space: str | None = None,
    ) -> Received:
        """Receive the next message of direction ``dir``; returns when it is read and its slots are free.

        Args:
            dir: a direction of this PE's queues; None takes a message of any direction, in turn.
            shape: shape of the result, of as many bytes as the message has; the message's own by default.
            dtype: its type; the message's own by default, f16 with a shape.
            space: ``"tcm"``, ``"sram"`` or ``"hbm"``: the memory in which the ring must lie.
            dst_addr: a tensor argument or an address to write the message to, instead of a handle.
            dst_space: the memory in which ``dst_addr`` must lie.

        Returns:
            A handle with the slots' content; with ``dst_addr`` a reference to it; None for a signal of 0
            bytes.

        Raises:
            KernelError: the PE has no such direction, the message has another size, or an argument does
                not fit.
        """
        wanted = self._wanted(dir, shape, dtype, space, dst_addr, dst_space)
        self._send(wanted.command)
        return self._finish_receive(wanted)

    @tl_call
    def recv_async(
        self,
        dir: str | None = None,
        shape: object = None,
        dtype: str | None = None,
        space: str | None = None,
        dst_addr: int | None = None,
        dst_space: str | None = None,
    ) -> Future:
        """As ``recv``, but returns at once with a future; ``tl.wait(future)`` waits and returns the result.

        Receives of one direction get its messages in the order of the calls.
        """
        wanted = self._wanted(dir, shape, dtype, space, dst_addr, dst_space)
        op = wanted.command.op
        future = Future(f"ipcq_recv (op {op.id}) from {dir or 'any direction'}", op.id)
        wanted.command.completion = future
        self._send(wanted.command)

        def finish() -> Received:
            outer, self._current = self._current, "recv_async"
            try:
                if not future.done:
                    raise self._error("the message has not arrived; pass the future to tl.wait first")
                return self._finish_receive(wanted)
            except BadArgumentError as problem:
                raise self._error(str(problem)) from None
            finally:
                self._current = outer

        future._finish = finish
        self._outstanding = [*(one for one in self._outstanding if not one.done), future]
        return future

    @tl_call
    def recv_no_consume(
        self, dir: str | None = None, shape: object = None, dtype: str | None = None, space: str | None = None
    ) -> Received:
        """As ``recv``, but the slots are freed unread: no time for reading them, no way to their bank.

        Use it to measure how long a message takes to arrive. Hardware cannot read the value at this cost.
        """
        wanted = self._wanted(dir, shape, dtype, space, None, None)
        wanted.command.consume = False
        self._send(wanted.command)
        return self._finish_receive(wanted)

    def _ring(self, argument: str, direction: object) -> RingEntry:
        """The queue of a direction, or which ones there are."""
        queues = self._pe.queues
        if isinstance(direction, str) and direction in queues:
            return queues[direction]
        if not queues:
            raise BadArgumentError(
                argument, f"{direction!r}: {self._pe.name} has no queues; set them up with torch.install_ipcq"
            )
        raise BadArgumentError(
            argument, f"{direction!r} is not a direction of {self._pe.name}; it has {', '.join(queues)}"
        )

    def _message_at(self, src_addr: object, nbytes: object, shape: object, dtype: object) -> TensorRef:
        """The array to send, checked against the extent of a tensor argument."""
        if nbytes is None:
            return self._memory("src_addr", src_addr, shape, dtype)
        size = arguments.integer("nbytes", nbytes, minimum=0)
        if shape is None:
            address = arguments.address("src_addr", src_addr)
            arguments.fits("src_addr", src_addr, size)
            return TensorRef(address, (size,), "i8")
        found = self._memory("src_addr", src_addr, shape, dtype)
        if found.nbytes != size:
            raise BadArgumentError("nbytes", f"{size} is not the {found.nbytes} bytes of shape {found.shape}")
        return found

    def _wanted(
        self,
        dir: object,
        shape: object,
        dtype: object,
        space: str | None,
        dst_addr: object,
        dst_space: str | None,
    ) -> _Wanted:
        if dir is None and self._pe.queues:
            rings = list(self._pe.queues.values())
        else:
            rings = [self._ring("dir", dir)]
        kind = None if space is None else _space("space", space)
        to = None if dst_space is None else _space("dst_space", dst_space)
        if kind is not None:
            for ring in rings:
                if ring.buffer_kind != kind:
                    raise BadArgumentError(
                        "space",
                        f"is '{kind}', but the ring of direction '{ring.direction}' is in {ring.buffer_kind}",
                    )
        if to is not None and dst_addr is None:
            raise BadArgumentError("dst_space", "goes with dst_addr")
        if shape is None and isinstance(dst_addr, Pointer):
            shape, dtype = dst_addr.shape, dst_addr.dtype if dtype is None else dtype
        sizes = None if shape is None else arguments.shape("shape", shape)
        if sizes is None and dtype is not None:
            raise BadArgumentError("dtype", "goes with shape; without both the message's own are taken")
        name = DEFAULT_DTYPE if dtype is None else arguments.dtype("dtype", dtype)
        target = None
        if dst_addr is not None:
            if sizes is None:
                raise BadArgumentError(
                    "shape", "is needed with dst_addr, for the bytes that are written there"
                )
            target = self._memory("dst_addr", dst_addr, sizes, name)
        op_id = self._next_op_id()
        size = None if sizes is None else arguments.nbytes(sizes, name)
        op = self._op(op_id, "queue", "ipcq_recv", (), None, None, size or 0)
        block = None
        if sizes is not None and target is None:
            op.output = Operand(sizes, name, handle=op_id)
            block = self._scratch.take(size or 0)
        direction = None if dir is None else str(dir)
        address = None if target is None else target.address
        return _Wanted(Receive(op, direction, size, address, to), sizes, name, block, target)

    def _finish_receive(self, wanted: _Wanted) -> Received:
        """The result of a receive that is over."""
        command = wanted.command
        message = command.message
        assert message is not None
        races = self._races
        if races is not None and self._thread is not None:
            races.received(self._thread, message.sender)
        if command.nbytes is not None and message.nbytes != command.nbytes:
            raise BadArgumentError(
                "shape",
                f"{wanted.shape} {wanted.dtype} has {command.nbytes} bytes, the message from direction "
                f"'{command.source}' has {message.nbytes}: {message.shape} {message.dtype}",
            )
        if wanted.target is not None:
            return wanted.target
        if not message.nbytes:
            return None
        shape, dtype = wanted.shape or message.shape, wanted.dtype if wanted.shape else message.dtype
        block = wanted.block or self._scratch.take(message.nbytes)
        op_id = command.op.id
        known = self._data.known(op_id) if self._data is not None else None
        return TensorHandle(op_id, "recv", shape, dtype, block, cast("Language", self), known)


def _space(argument: str, value: str) -> str:
    if value not in BUFFER_KINDS:
        raise BadArgumentError(argument, f"{shown(value)} is not a memory; use {', '.join(BUFFER_KINDS)}")
    return value
