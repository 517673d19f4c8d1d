"""What a DRAM channel remembers: bursts that wait, banks, bank groups, pseudo-channels. Times are ticks."""

from __future__ import annotations

from typing import Any

_NEVER = -(1 << 60)


class Burst:
    """Bursts of a flit that lie in one row: ``count`` columns, a bit of ``mask`` for each, of ``part``."""

    def __init__(
        self, order: int, came: int, bank: Bank, row: int, mask: int, count: int, write: bool, part: Any
    ) -> None:
        self.order = order
        self.came = came
        """When it came; later, when the window had room for it."""
        self.bank = bank
        self.row = row
        self.mask = mask
        self.count = count
        self.left = count
        """Columns that have not been served."""
        self.write = write
        self.part = part
        self.begun = False
        """Whether a command has been issued for it."""
        self.behind: Any = None
        """An older burst that reads or writes the same bytes: it goes first."""


class Bank:
    """A bank: its open row, and the earliest tick of each command to it."""

    def __init__(self, pseudo: Pseudo, rank: int, group: Group, number: int) -> None:
        self.pseudo = pseudo
        self.rank = rank
        self.group = group
        self.number = number
        self.row = -1
        """The open row; -1 where there is none."""
        self.act = 0
        self.read = 0
        self.write = 0
        self.pre = 0
        self.reads: list[Burst] = []
        self.writes: list[Burst] = []
        self.active: Any = None
        """The burst for which its row was opened, until it is served."""


class Group:
    """A bank group: the earliest tick of each command to it."""

    def __init__(self) -> None:
        self.read = 0
        self.write = 0
        self.act = 0


class Pseudo:
    """A pseudo-channel: its banks, and the earliest tick of each command to it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.banks: list[Bank] = []
        self.read = 0
        self.write = 0
        self.act = 0
        self.pre = 0
        self.refresh = 0
        self.last_read = _NEVER
        self.last_write = _NEVER
        self.read_rank = -1
        self.write_rank = -1
        self.act1 = _NEVER
        self.act2 = _NEVER
        self.act3 = _NEVER
        self.act4 = _NEVER
        """The last four activates, the oldest last."""
        self.active = 0
        """Banks with an active burst."""
        self.open = 0
        """Banks with an open row."""
        self.next_bank = 0
        """The bank that is refreshed next, where single ones are."""
        self.refreshing_from = _NEVER
        self.refreshing_to = _NEVER
