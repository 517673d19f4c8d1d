"""Both ends of a queue as plain state: what is sent, arrived, read and free. No time, no messages.

Tokens are numbered from 0. The sender keeps ``sent`` and ``freed``; their difference is what it takes for
occupied, so it never fills a slot that is not free. The receiver numbers tokens as they arrive, shows
them in that order once each is written (``head``), and frees them in that order once each is read (``tail``).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from kernbench.engine.program.queues import Message, RingEntry
from kernbench.errors import InvariantError


@dataclass(eq=False, slots=True)
class QueueToken:
    """One part of a message on its way to the slot at physical ``address``; ``op`` is its ``ipcq_copy``.

    ``index`` is its place among the parts of ``message``, ``transaction`` the id of what carried it,
    ``sending`` the send that it is a part of, ``parent`` what brought the credit it waited for, -1 for none.
    """

    address: int
    nbytes: int
    message: Message
    index: int
    op: Any
    ring_bytes: int
    transaction: int = -1
    sending: Any = None
    parent: int = -1
    ready: bool = False
    """Whether PE_DMA has its bytes."""


@dataclass(frozen=True, slots=True)
class QueueCredit:
    """``freed`` slots of the receive ring at ``ring`` have been freed so far, the last one by op ``op``."""

    ring: int
    freed: int
    op: int


class Outgoing:
    """A direction as its sender sees it: room in the peer's ring, sends without a slot."""

    def __init__(self, entry: RingEntry) -> None:
        self.entry = entry
        self.sent = 0
        self.freed = 0
        self.freed_by = -1
        """Id of the operation that freed the last slot; -1 before the first credit."""
        self.credit = -1
        """Id of the transaction that brought the last credit."""
        self.sends: deque[Any] = deque()
        self.outbox: deque[QueueToken] = deque()
        self.waits_from = 0.0
        """When its first send began to wait for a slot, ns."""
        self.looking = False
        """Whether a credit has come that the current poll will see."""

    def cancel(self) -> None:
        """The kernel was stopped: forget sends that wait for a slot. Those under way resume nothing."""
        for sending in (*self.sends, *(token.sending for token in self.outbox)):
            sending.goes_on = None
        self.sends.clear()

    @property
    def awaits(self) -> tuple[str, ...]:
        """Directions of a multicast in which its part that is first here cannot leave yet; none of a send."""
        if not self.outbox:
            return ()
        first = self.outbox[0]
        group = first.sending.command.group
        if group is None:
            return ()
        parts = group.parts[first.index]
        able = [out.entry.direction for out, token in parts if out.outbox and out.outbox[0] is token]
        return tuple([one for one in group.directions if one not in able])

    @property
    def credits(self) -> int:
        """Slots that may be filled."""
        return self.entry.slots - (self.sent - self.freed)

    def take(self) -> int:
        """Use a credit: the address of the slot to fill next."""
        assert self.credits > 0
        address = self.entry.peer_slot_address(self.sent)
        self.sent += 1
        return address

    def give(self, credit: QueueCredit, transaction: int) -> None:
        """Take a credit."""
        if not self.freed <= credit.freed <= self.sent:
            raise InvariantError(
                f"queue '{self.entry.direction}': {credit.freed} slots freed of {self.sent} sent", "order"
            )
        self.freed, self.freed_by, self.credit = credit.freed, credit.op, transaction


class Incoming:
    """A direction as its receiver sees it: its receive ring."""

    def __init__(self, entry: RingEntry) -> None:
        self.entry = entry
        self.arrived = 0
        """Number of tokens that have reached the PE."""
        self.head = 0
        """Number of tokens written without a gap: what the PE sees."""
        self.cursor = 0
        """Number of tokens whose reading has begun."""
        self.tail = 0
        """Number of slots that have been freed."""
        self.reader: Any = None
        """The receive that has begun and not ended to read the parts of a message."""
        self._slots: list[QueueToken | None] = [None] * entry.slots
        self._written = [False] * entry.slots
        self._read = [False] * entry.slots

    def arrive(self, token: QueueToken) -> int:
        """A token is there and waits to be written; its number. It must be for the slot that is next."""
        number = self.arrived
        if token.address != self.entry.slot_address(number) or number - self.tail >= self.entry.slots:
            raise InvariantError(
                f"queue '{self.entry.direction}': token {number} is for slot {token.address:#x}, which is "
                "not the next free one",
                "order",
            )
        self._slots[number % self.entry.slots] = token
        self.arrived += 1
        return number

    def written(self, number: int) -> None:
        """Note that the slot of token ``number`` holds its bytes."""
        slots = self.entry.slots
        self._written[number % slots] = True
        while self.head < self.arrived and self._written[self.head % slots]:
            self._written[self.head % slots] = False
            self.head += 1

    def first(self) -> QueueToken | None:
        """The token to read next, if it is visible."""
        return self._slots[self.cursor % self.entry.slots] if self.cursor < self.head else None

    def begin_read(self) -> int:
        """Begin to read the first token; return its number."""
        self.cursor += 1
        return self.cursor - 1

    def read(self, number: int) -> int:
        """Note that token ``number`` has been read; return how many slots that frees."""
        slots, before = self.entry.slots, self.tail
        self._read[number % slots] = True
        while self.tail < self.cursor and self._read[self.tail % slots]:
            self._read[self.tail % slots] = False
            self._slots[self.tail % slots] = None
            self.tail += 1
        return self.tail - before
