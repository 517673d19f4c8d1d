"""What a DRAM channel remembers: bursts that wait, banks, bank groups, pseudo-channels. Times are ticks."""

from __future__ import annotations

from typing import Any

_NEVER = -(1 << 60)
HIT, MISS, CONFLICT = 0, 1, 2


class Burst:
    """Bursts of a flit that lie in one row: ``count`` columns, a bit of ``mask`` for each, of ``part``."""

    def prepare(self, order: int, came: int, bank: Bank, row: int, mask: int, write: bool, part: Any) -> None:
        """Make it a burst of one column; not ``__init__``, whose call would cost as much as the rest."""
        self.order = order
        self.came = came
        """When it arrived; later, when the window had room for it."""
        self.bank = bank
        self.row = row
        self.mask = mask
        self.count = 1
        self.left = 1
        """Columns that have not been served."""
        self.write = write
        self.part = part
        self.begun = False
        """Whether a command has been issued for it."""
        self.opened = 0
        """When its row began to be opened, or another closed for it; not set for a hit."""
        self.found = HIT
        """How the column that is served found its row: :data:`HIT`, :data:`MISS` or :data:`CONFLICT`."""
        self.behind: Any = None
        """An older burst that reads or writes the same bytes: it goes first."""


class Bank:
    """A bank: its open row, and the earliest tick of each command to it."""

    def __init__(self, pseudo: Pseudo, rank: int, group: BankGroup, number: int) -> None:
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
        self.looked_for = 0
        """What ``hit`` and ``miss`` refer to: 1 reads, 2 writes, 0 neither (to be found again)."""
        self.hit: Any = None
        self.miss: Any = None
        """The oldest burst that may go and whose row is open, and the oldest whose row is not."""

    def look(self, writing: bool) -> None:
        """Find ``hit`` and ``miss`` among the writes or the reads. Without an open row there is no hit."""
        self.hit = None
        self.miss = None
        for burst in self.writes if writing else self.reads:
            if burst.behind is not None:
                continue
            if burst.row == self.row:
                if self.hit is None:
                    self.hit = burst
            elif self.miss is None:
                self.miss = burst
            if self.row < 0 or (self.hit is not None and self.miss is not None):
                break
        self.looked_for = 2 if writing else 1


class BankGroup:
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
        """Ticks of the last four activates, oldest last."""
        self.active = 0
        """Banks with an active burst."""
        self.open = 0
        """Banks with an open row."""
        self.next_bank = 0
        """The bank that is refreshed next, if banks are refreshed one at a time."""
        self.due_at = _NEVER
        """When the pending refresh fell due."""
        self.refreshed: list[tuple[int, int, int, Bank | None]] = []
        """Refreshes: when due, issued and over, and the bank (None: all). The owner drops old ones."""
        self.hits = 0
        self.misses = 0
        self.conflicts = 0
        """Columns whose row was open, whose bank was closed, and whose bank had another row open."""
        self.refreshes = 0

    def held_up(self, since: int, until: int, bank: Bank) -> tuple[int, int]:
        """Refreshes that held up a burst of ``bank`` between two ticks: how many, for how many ticks.

        A refresh of all banks delays everything from when it is due until it is over; one of another bank
        until it is issued.
        """
        count = 0
        ticks = 0
        for due, issued, over, of in reversed(self.refreshed):
            if over <= since:
                break
            end = min(over if of is None or of is bank else issued, until)
            start = max(due, since)
            if end > start:
                count += 1
                ticks += end - start
        return count, ticks
