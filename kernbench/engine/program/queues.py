"""Queues between PEs: rings as the host configures them, messages, and the commands of kernels.

A PE has one receive ring of equal slots for each direction. A message of ``nbytes`` bytes goes as
``parts`` tokens, each filling one slot; a message without bytes is one token and takes a slot as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.engine.program.computing import Command
from kernbench.engine.program.operations import Op
from kernbench.errors import KernelError
from kernbench.hardware.topology.nodes import Location

if TYPE_CHECKING:
    from kernbench.engine.program.carriers import Interpreter, Pe, Queues, Scheduler
    from kernbench.engine.program.commands import Completion

BUFFER_KINDS = ("tcm", "sram", "hbm")
"""Memories that a ring may lie in: the PE's own TCM, its cube's SRAM, the PE's own HBM slice."""

RING_ENTRY_BYTES = 32
"""Bytes that configure one direction of one PE: two addresses, sizes, peer and memory, packed."""


@dataclass(frozen=True, slots=True)
class RingEntry:
    """One direction of one PE: its receive ring, and the ring of the peer that its sends fill.

    Addresses are physical. Both rings have ``slots`` slots of ``slot_bytes`` bytes in ``buffer_kind`` memory.
    """

    direction: str
    peer: Location
    address: int
    peer_address: int
    slots: int
    slot_bytes: int
    buffer_kind: str

    @property
    def nbytes(self) -> int:
        """Bytes of a ring."""
        return self.slots * self.slot_bytes

    def slot_address(self, sequence: int) -> int:
        """Address of the receive slot for the token of number ``sequence``, from 0."""
        return self.address + sequence % self.slots * self.slot_bytes

    def peer_slot_address(self, sequence: int) -> int:
        """Address of the peer's slot for the token of number ``sequence``, from 0."""
        return self.peer_address + sequence % self.slots * self.slot_bytes


class Message(NamedTuple):
    """Description of a message, carried by each of its tokens; ``sender`` is the id of its ``ipcq_send``."""

    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    parts: int
    sender: int = -1


def split(nbytes: int, slot_bytes: int) -> Iterator[tuple[int, int]]:
    """(offset, bytes) of the parts of a message; one of 0 bytes for a message without bytes."""
    offset = 0
    while True:
        length = min(slot_bytes, nbytes - offset)
        yield offset, length
        offset += length
        if offset >= nbytes:
            return


def parts_of(nbytes: int, slot_bytes: int) -> int:
    """Slots that a message of ``nbytes`` bytes fills."""
    return max(1, -(-nbytes // slot_bytes))


class Multicast:
    """The sends of one multicast, in ``directions``. Their parts leave together, each once all have slots."""

    def __init__(self, directions: tuple[str, ...]) -> None:
        self.directions = directions
        self.parts: dict[int, list[Any]] = {}
        """By number of a part the queues and tokens of it that have a slot."""


@dataclass(slots=True)
class Send(Command):
    """Send a message (blocking until it is posted). ``op`` is an ``ipcq_send``.

    The content is the input of ``op``, a handle, or lies at ``address`` in memory ``space`` (None: wherever
    the address leads). A send is posted when its last part is with PE_DMA, or, unless it is from an address,
    when no more sends of its direction wait for slots than the ring has. The PE then fills in
    ``completion``, which is done with the last part.
    """

    op: Op
    direction: str
    message: Message
    address: int | None = None
    space: str | None = None
    completion: Completion | None = None
    group: Multicast | None = None

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`."""
        queues.check_peers((self.direction,) if self.group is None else self.group.directions)
        queues.check_memory("space", self.address, self.message.nbytes, self.space)

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.send(self)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        return program.send(self)

    @property
    def label(self) -> str:
        """What waits, for the report of a deadlock: the operation, its direction and its line."""
        line = f" at {self.op.source}" if self.op.source else ""
        return f"ipcq_send (op {self.op.id}) to {self.direction}{line}"


@dataclass(slots=True)
class Receive(Command):
    """Receive the next message of ``direction``, or of any (None). ``op`` is an ``ipcq_recv``.

    Blocking until its last credit has left, or with a ``completion`` asynchronous. ``op.output`` is the
    handle wanted, of the message's own shape where it is None; ``nbytes`` is how many bytes it must
    have, None for any. With ``address`` the message is written there instead. Without ``consume`` the
    slots are freed unread. The PE fills in ``message`` and ``source``, the direction it came from.
    """

    op: Op
    direction: str | None
    nbytes: int | None = None
    address: int | None = None
    space: str | None = None
    consume: bool = True
    completion: Completion | None = None
    message: Message | None = None
    source: str = ""

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`."""
        queues.check_memory("dst_space", self.address, self.nbytes or 0, self.space)

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.receive_message(self)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        return program.receive(self)

    def answer(self) -> None:
        """See :class:`Command`."""
        output = self.op.output
        if output is None and self.address is None:
            raise KernelError("tl.recv without shape=: there is no message here that has one; give it")
        nbytes = self.nbytes or 0
        shape, dtype = (output.shape, output.dtype) if output is not None else ((nbytes,), "i8")
        self.message = Message(shape, dtype, nbytes, 1)
