"""What control messages between host, IO CPU, M CPU and PEs carry. They take the fabric's time, no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernbench.components.launch import Launch
from kernbench.components.request import Request

MAP_ENTRY_BYTES = 16
"""Bytes of one map or unmap entry on the wire: an address pair and a length, packed."""


@dataclass(frozen=True, slots=True)
class LaunchMessage:
    """Start ``launch``; every stage passes it on to its share of the targets."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class LaunchDone:
    """The share of ``launch`` below the sender has finished (failed, if the launch says so)."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class MapMessage:
    """Install or remove address ranges in the MMUs (``la``: segment tables) of ``pes`` (cube, pe)."""

    request: Request
    pes: tuple[tuple[int, int], ...]
    entries: Sequence[tuple[int, int, int]]
    install: bool

    @property
    def kind(self) -> str:
        """Kind of the transactions that carry it."""
        return "map" if self.install else "unmap"

    @property
    def nbytes(self) -> int:
        """Bytes on the wire."""
        return MAP_ENTRY_BYTES * len(self.entries)
