"""Payloads of the control messages between host, IO_CPU, M_CPU and PEs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernbench.engine.program.launches import Launch, Request
from kernbench.engine.program.queues import RING_ENTRY_BYTES, RingEntry

MAP_ENTRY_BYTES = 16
"""Bytes of one map or unmap entry on the wire: an address pair and a length, packed."""


@dataclass(frozen=True, slots=True)
class LaunchMessage:
    """Start ``launch`` in ``cubes`` of the receiver's SIP; every stage passes it on to its share of them.

    It carries no bytes: the kernel's code is in device memory already.
    """

    launch: Launch
    cubes: tuple[int, ...]

    @property
    def ids(self) -> tuple[str, str]:
        """Correlation id and request id of the host's message."""
        return self.launch.request.ids


@dataclass(frozen=True, slots=True)
class LaunchDone:
    """The share of ``launch`` below the sender has finished (failed, if the launch says so)."""

    launch: Launch

    @property
    def ids(self) -> tuple[str, str]:
        """Correlation id and request id of the host's message."""
        return self.launch.request.ids


@dataclass(frozen=True, slots=True)
class MapMessage:
    """Install or remove address ranges in the MMUs (``la``: segment tables) of ``pes`` (cube, pe)."""

    request: Request
    pes: tuple[tuple[int, int], ...]
    entries: Sequence[tuple[int, int, int]]
    install: bool

    @property
    def ids(self) -> tuple[str, str]:
        """Correlation id and request id of the host's message."""
        return self.request.ids

    @property
    def kind(self) -> str:
        """Kind of the transactions that carry it."""
        return "map" if self.install else "unmap"

    @property
    def nbytes(self) -> int:
        """Bytes on the wire."""
        return MAP_ENTRY_BYTES * len(self.entries)

    def share(self, pes: Sequence[tuple[int, int]]) -> MapMessage:
        """The message for some of its PEs."""
        return MapMessage(self.request, tuple(pes), self.entries, self.install)


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """Install or remove directions of the queues of PEs (cube, pe)."""

    request: Request
    rings: Mapping[tuple[int, int], tuple[RingEntry, ...]]
    install: bool

    @property
    def ids(self) -> tuple[str, str]:
        """Correlation id and request id of the host's message."""
        return self.request.ids

    @property
    def pes(self) -> tuple[tuple[int, int], ...]:
        """The PEs, ascending."""
        return tuple(sorted(self.rings))

    @property
    def kind(self) -> str:
        """Kind of the transactions that carry it."""
        return "queue_setup" if self.install else "queue_removal"

    @property
    def nbytes(self) -> int:
        """Bytes on the wire."""
        return RING_ENTRY_BYTES * sum(len(entries) for entries in self.rings.values())

    def share(self, pes: Sequence[tuple[int, int]]) -> QueueMessage:
        """The message for some of its PEs."""
        return QueueMessage(self.request, {pe: self.rings[pe] for pe in pes}, self.install)


SetupMessage = MapMessage | QueueMessage
"""The settings installed in PEs; they go down the tree, a share for each of them."""

ControlMessage = LaunchMessage | LaunchDone | SetupMessage
