"""The window of a DRAM channel: what a controller chooses from. Bursts come in order and leave when served.

Writes wait until many have gathered or no read is left. A burst goes behind an older one that touches its
bytes, which Ramulator's controller does not ask for.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from kernbench.engine.components.dram_state import Bank, BankGroup, Burst, Pseudo
from kernbench.engine.components.dram_timing import Ticks
from kernbench.engine.core.clock import QueuedStep

FAR = 1 << 60
_FAR = FAR


class DramWindow(QueuedStep):
    """What waits at a channel, and the state of the channel."""

    def __init__(self, figures: dict[str, Any], tck_ns: float, pseudos: int) -> None:
        table = figures["timing"]
        t = self.t = Ticks(table, tck_ns)
        self.tick_ns = t.tick_ns
        self.halves = t.halves
        self.act_len, self.row_len, self.col_len, self.burst = t.act_len, t.row_len, t.col_len, t.burst
        self.read_ticks, self.write_ticks = t.read, t.write
        self.ccd_s, self.ccd_r = t.ccd_s, t.ccd_r
        self.faw = t.faw
        self.pseudos = [Pseudo(number) for number in range(pseudos)]
        self.banks: list[Bank] = []
        for pseudo in self.pseudos:
            for rank in range(table["ranks"]):
                for _ in range(table["bank_groups"]):
                    group = BankGroup()
                    for _ in range(table["banks"]):
                        bank = Bank(pseudo, rank, group, len(self.banks))
                        pseudo.banks.append(bank)
                        self.banks.append(bank)
        self.closes = figures["page"] == "closed"
        self.single = figures["refresh"] == "per_bank"
        self.period = t.refi_bank if self.single else t.refi
        self.next_refresh = self.period - int(figures["refresh_phase"] * self.period)
        if figures["refresh"] == "none":
            self.next_refresh = _FAR
        self.read_window = figures["read_window"]
        self.write_window = figures["write_window"]
        self.high = figures["drain_high"] * self.write_window
        self.low = figures["drain_low"] * self.write_window
        self.draining = False
        self.reads = 0
        """Columns to be read that are in the window; ``held_reads`` are behind writes."""
        self.writes = 0
        self.held_reads = 0
        self.held_writes = 0
        self.read_banks: list[Bank] = []
        self.write_banks: list[Bank] = []
        """Banks with bursts in the window."""
        self.active: list[Burst] = []
        self.waiting: deque[Burst] = deque()
        """Bursts that have arrived and are not in the window yet."""
        self.due: deque[Pseudo] = deque()
        """Pseudo-channels with a pending refresh."""
        self.now = 0
        self.col_free = 0
        self.row_free = 0
        self.pair_at = -1
        self.pair_pseudo: Any = None
        self.pair_bank: Any = None
        self.at = 0
        self.what = 0
        self.on: Any = None
        """The next command: its tick, kind, and burst or pseudo-channel."""
        self.ordered = 0
        self.log: list[tuple[Any, ...]] | None = None
        """For tests, all commands: (tick, command, pseudo-channel, bank, row)."""

    def add(self, came: int, bank: Bank, row: int, mask: int, write: bool, part: Any) -> Burst:
        """Add a burst that arrives at tick ``came``, which never decreases; later ones may join it."""
        self.ordered += 1
        burst: Burst = Burst.__new__(Burst)
        burst.prepare(self.ordered, came, bank, row, mask, write, part)
        self.waiting.append(burst)
        return burst

    def has_room(self, burst: Burst) -> bool:
        """Whether the window has room for ``burst``; an empty window always has."""
        if burst.write:
            return self.writes + burst.count <= self.write_window or not self.writes
        return self.reads + burst.count <= self.read_window or not self.reads

    def admit(self) -> None:
        """Move bursts that have arrived into the window while it has room, in order of arrival."""
        while self.waiting:
            burst: Burst = self.waiting[0]
            if burst.came > self.now or not self.has_room(burst):
                return
            self.waiting.popleft()
            burst.came = self.now
            self.enter(burst)

    def enter(self, burst: Burst) -> None:
        """Put ``burst`` into the window, behind those that read what it writes, or write what it reads."""
        bank = burst.bank
        bank.looked_for = 0
        active: Burst = bank.active
        older = bank.reads if burst.write else bank.writes
        for other in older:
            if other.row == burst.row and other.mask & burst.mask:
                burst.behind = other
        other_way = burst.behind is None and active is not None and active.write != burst.write
        if other_way and active.row == burst.row and active.mask & burst.mask:
            burst.behind = active
        held = burst.count if burst.behind is not None else 0
        if burst.write:
            self.writes += burst.count
            self.held_writes += held
            if not bank.writes:
                self.write_banks.append(bank)
            bank.writes.append(burst)
        else:
            self.reads += burst.count
            self.held_reads += held
            if not bank.reads:
                self.read_banks.append(bank)
            bank.reads.append(burst)

    def leave(self, burst: Burst) -> None:
        """Take ``burst`` out of the window: its last column is served, or it is active."""
        bank = burst.bank
        bank.looked_for = 0
        if burst.write:
            self.writes -= burst.left
            bank.writes.remove(burst)
            if not bank.writes:
                self.write_banks.remove(bank)
        else:
            self.reads -= burst.left
            bank.reads.remove(burst)
            if not bank.reads:
                self.read_banks.remove(bank)

    def free_those_behind(self, burst: Burst) -> None:
        """Release what waited behind ``burst``, which has been served."""
        bank = burst.bank
        bank.looked_for = 0
        for other in bank.reads if burst.write else bank.writes:
            if other.behind is burst:
                other.behind = None
                if other.write:
                    self.held_writes -= other.left
                else:
                    self.held_reads -= other.left

    def drains(self) -> bool:
        """Whether writes go first now."""
        free_reads = self.reads - self.held_reads
        free_writes = self.writes - self.held_writes
        if self.draining:
            if free_reads and (self.writes < self.low or not free_writes):
                self.draining = False
        elif not free_reads or (free_writes and self.writes > self.high):
            self.draining = True
        return self.draining
