"""A DRAM channel: which command is next, by FR-FCFS, worked out from command to command.

The rules are those of Ramulator 2.1's HBM controller (https://github.com/CMU-SAFARI/ramulator2, MIT). Column
and row commands have a bus each. The oldest command that may be issued goes first, but no precharge closes a
row that an older burst in the window wants. Writes wait until many have gathered or no read is left. A due
refresh lets nothing begin before it. Not theirs: a burst goes behind an older one that touches its bytes.

No event is needed for a command. :meth:`DramChannel.advance` issues all commands up to a tick at once; it is
enough to come back before the data of the next one are through.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from kernbench.components.dram_state import CONFLICT, HIT, MISS, Bank, Burst, Group, Pseudo
from kernbench.components.dram_timing import Ticks

FAR = 1 << 60
_NEVER = -FAR
_FAR = FAR
_HIT, _MISS, _CONFLICT = HIT, MISS, CONFLICT
_COLUMN, _ACTIVATE, _PRECHARGE, _CLOSE_ALL, _REFRESH = 1, 2, 3, 4, 5
COMMANDS = ("", "column", "activate", "precharge", "precharge_all", "refresh")


class DramChannel:
    """One channel: pseudo-channels with buses of data of their own, and command buses that they share.

    A subclass, or an owner, is told of what is served by :meth:`served`, and of commands by ``log``.
    """

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
                    group = Group()
                    for _ in range(table["banks"]):
                        bank = Bank(pseudo, rank, group, len(self.banks))
                        pseudo.banks.append(bank)
                        self.banks.append(bank)
        self.closes = figures["page"] == "closed"
        self.single = figures["refresh"] == "per_bank"
        self.period = t.refi_bank if self.single else t.refi
        self.next_refresh = self.period if figures["refresh"] != "none" else _FAR
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
        """Banks that have something in the window."""
        self.active: list[Burst] = []
        self.waiting: deque[Burst] = deque()
        """What has come and is not in the window."""
        self.due: deque[Pseudo] = deque()
        """Pseudo-channels with a refresh that is due."""
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
        self.hits = 0
        self.misses = 0
        self.conflicts = 0
        self.refreshes = 0
        self.log: list[tuple[Any, ...]] | None = None
        """Where a test wants all commands noted: (tick, command, pseudo-channel, bank, row)."""

    # -- what is asked of it ---------------------------------------------------------------------------

    def add(self, came: int, bank: Bank, row: int, mask: int, write: bool, part: Any) -> Burst:
        """A burst comes at tick ``came``, which never falls; others of its row and flit may join it."""
        self.ordered += 1
        burst: Burst = Burst.__new__(Burst)
        burst.prepare(self.ordered, came, bank, row, mask, write, part)
        self.waiting.append(burst)
        return burst

    def served(self, burst: Burst, at: int) -> None:
        """A column of ``burst`` is issued at tick ``at``; ``burst.found`` says how it found its row."""
        raise NotImplementedError

    def advance(self, to: int) -> int:
        """Issue all commands up to tick ``to``; returns the tick of the next, ``FAR`` where nothing waits."""
        while True:
            if not (self.reads or self.writes or self.active):
                if not self.waiting:
                    self.rest(to)
                    return _FAR
                first: Burst = self.waiting[0]
                if first.came > to:
                    self.rest(to)
                    return first.came
                self.rest(first.came)
                self.now = max(self.now, first.came)
            self.admit()
            self.choose()
            at = self.at
            if self.waiting:
                head: Burst = self.waiting[0]
                if self.now < head.came <= min(at, self.next_refresh) and self.has_room(head):
                    if head.came > to:
                        return head.came
                    self.now = head.came
                    continue
            if self.next_refresh <= at:
                if self.next_refresh > to:
                    return self.next_refresh
                self.fall_due()
                continue
            if at > to:
                return at
            self.now = at
            self.issue()

    # -- the window ------------------------------------------------------------------------------------

    def has_room(self, burst: Burst) -> bool:
        """Whether the window has room for ``burst``; an empty one has for any."""
        if burst.write:
            return self.writes + burst.count <= self.write_window or not self.writes
        return self.reads + burst.count <= self.read_window or not self.reads

    def admit(self) -> None:
        """Let into the window what has come and has room there, in order of arrival."""
        while self.waiting:
            burst: Burst = self.waiting[0]
            if burst.came > self.now or not self.has_room(burst):
                return
            self.waiting.popleft()
            burst.came = self.now
            self.enter(burst)

    def enter(self, burst: Burst) -> None:
        """``burst`` is in the window, behind all that reads what it writes, or writes what it reads."""
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
        """``burst`` is no longer in the window: its last column is served, or it is active."""
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
        """``burst`` has been served: what was behind it may go."""
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

    # -- which command is next -------------------------------------------------------------------------

    def rising(self, at: int) -> int:
        """The first rising edge from ``at`` on: with half cycles, odd ticks are."""
        return at | 1 if self.halves else at

    def column_at(self, burst: Burst) -> int:
        """When its next column may be read or written."""
        bank = burst.bank
        pseudo = bank.pseudo
        group = bank.group
        if burst.write:
            at = max(bank.write, group.write, pseudo.write)
            at = max(at, pseudo.last_write + (self.ccd_s if pseudo.write_rank == bank.rank else self.burst))
        else:
            at = max(bank.read, group.read, pseudo.read)
            at = max(at, pseudo.last_read + (self.ccd_s if pseudo.read_rank == bank.rank else self.ccd_r))
        at = max(at, self.col_free, self.now)
        return at | 1 if self.halves else at

    def activate_at(self, bank: Bank) -> int:
        """When a row of ``bank`` may be opened."""
        pseudo = bank.pseudo
        at = max(bank.act, bank.group.act, pseudo.act)
        at = max(at, pseudo.act4 + self.faw)
        at = max(at, self.row_free, self.now)
        return at | 1 if self.halves else at

    def precharge_at(self, pseudo: Pseudo, bank: Bank | None, earliest: int) -> int:
        """When ``bank``, or all of ``pseudo`` for None, may be closed.

        On the falling edge of the command before, that may not be of the same bank, or either be of all.
        """
        at = max(earliest, pseudo.pre, self.row_free)
        at = max(at, self.now)
        paired = self.halves and at == self.pair_at and pseudo is self.pair_pseudo
        if paired and (bank is None or self.pair_bank is None or bank is self.pair_bank):
            at += 1
        return at

    def choose(self) -> None:
        """Find the next command: the earliest; column before row, active bursts first, then older ones."""
        self.at = _FAR
        self.what = 0
        self.on = None
        order = _FAR
        for burst in self.active:
            at = self.column_at(burst)
            if at < self.at or (at == self.at and burst.order < order):
                self.at = at
                self.what = _COLUMN
                self.on = burst
                order = burst.order
        if self.due:
            self.choose_refresh(self.due[0])
            return
        writing = self.drains()
        looked_for = 2 if writing else 1
        active_at = self.at
        row_at = _FAR
        row_what = 0
        row_order = _FAR
        row_on: Any = None
        for bank in self.write_banks if writing else self.read_banks:
            if bank.looked_for != looked_for:
                bank.look(writing)
            hit: Any = bank.hit
            miss: Any = bank.miss
            if hit is not None:
                burst = hit
                at = self.column_at(burst)
                if at < self.at or (at == self.at and at != active_at and burst.order < order):
                    self.at = at
                    self.what = _COLUMN
                    self.on = burst
                    order = burst.order
            if miss is None:
                continue
            burst = miss
            if bank.row < 0:
                at = self.activate_at(bank)
                if at < row_at or (at == row_at and burst.order < row_order):
                    row_at = at
                    row_what = _ACTIVATE
                    row_on = burst
                    row_order = burst.order
            elif bank.active is None:
                if hit is not None:
                    older: Burst = hit
                    if older.came <= burst.came:
                        continue
                at = self.precharge_at(bank.pseudo, bank, bank.pre)
                if at < row_at or (at == row_at and burst.order < row_order):
                    row_at = at
                    row_what = _PRECHARGE
                    row_on = burst
                    row_order = burst.order
        if row_at < self.at:
            self.at = row_at
            self.what = row_what
            self.on = row_on

    def choose_refresh(self, pseudo: Pseudo) -> None:
        """A refresh of ``pseudo`` is due: close what is open there, then refresh."""
        if self.single:
            bank = pseudo.banks[pseudo.next_bank]
            if bank.row >= 0:
                if bank.active is not None:
                    return
                at = self.precharge_at(pseudo, bank, bank.pre)
            else:
                at = max(bank.act + self.act_len - self.row_len, pseudo.refresh, self.row_free)
                at = self.rising(max(at, self.now))
            closes = bank.row >= 0
        else:
            closes = pseudo.open > 0
            if closes:
                if pseudo.active:
                    return
                earliest = 0
                for bank in pseudo.banks:
                    if bank.row >= 0 and bank.pre > earliest:
                        earliest = bank.pre
                at = self.precharge_at(pseudo, None, earliest)
            else:
                at = self.rising(max(pseudo.refresh, self.row_free, self.now))
        if at < self.at:
            self.at = at
            self.what = _CLOSE_ALL if closes else _REFRESH
            self.on = pseudo

    # -- commands --------------------------------------------------------------------------------------

    def issue(self) -> None:
        """Issue the command that was chosen."""
        at = self.at
        what = self.what
        if what == _COLUMN:
            self.column(self.on, at)
            return
        self.row_free = at + (self.act_len if what == _ACTIVATE else self.row_len)
        if what == _ACTIVATE:
            self.activate(self.on, at)
        elif what == _PRECHARGE:
            burst: Burst = self.on
            if not burst.begun:
                burst.begun = True
                burst.found = _CONFLICT
                self.conflicts += 1
            self.close(burst.bank, at)
            burst.bank.pseudo.pre = at + self.t.ppd
            self.paired(at, burst.bank.pseudo, burst.bank)
            self.note(at, "PRE", burst.bank.pseudo, burst.bank, -1)
        elif what == _CLOSE_ALL:
            self.close_for_refresh(self.on, at)
        else:
            self.refresh(self.on, at)

    def note(self, at: int, command: str, pseudo: Pseudo, bank: Bank | None, row: int) -> None:
        """Note a command where that is wanted."""
        if self.log is not None:
            self.log.append((at, command, pseudo.number, -1 if bank is None else bank.number, row))

    def paired(self, at: int, pseudo: Pseudo, bank: Bank | None) -> None:
        """A row command begins on a rising edge: what may follow on the falling edge of it depends on it."""
        if self.halves and at & 1:
            self.pair_at = self.row_free
            self.pair_pseudo = pseudo
            self.pair_bank = bank

    def activate(self, burst: Burst, at: int) -> None:
        """Open the row of ``burst``."""
        bank = burst.bank
        pseudo = bank.pseudo
        group = bank.group
        t = self.t
        if not burst.begun:
            burst.begun = True
            burst.found = _MISS
            self.misses += 1
        bank.row = burst.row
        bank.looked_for = 0
        bank.act = at + t.rc
        bank.read = at + t.rcd_read
        bank.write = at + t.rcd_write
        bank.pre = at + t.ras
        group.act = at + t.rrd_l
        pseudo.act = at + t.rrd_s
        pseudo.act4 = pseudo.act3
        pseudo.act3 = pseudo.act2
        pseudo.act2 = pseudo.act1
        pseudo.act1 = at
        pseudo.refresh = max(pseudo.refresh, at + (t.rrd_ref if self.single else t.act_ref))
        pseudo.open += 1
        self.leave(burst)
        bank.active = burst
        pseudo.active += 1
        self.active.append(burst)
        self.paired(at, pseudo, bank)
        self.note(at, "ACT", pseudo, bank, burst.row)

    def column(self, burst: Burst, at: int) -> None:
        """Read or write a column of ``burst``."""
        bank = burst.bank
        pseudo = bank.pseudo
        group = bank.group
        t = self.t
        self.col_free = at + self.col_len
        if not burst.begun:
            burst.begun = True
            self.hits += 1
        elif burst.left < burst.count:
            burst.found = _HIT
            self.hits += 1
        if burst.write:
            pseudo.last_write = at
            pseudo.write_rank = bank.rank
            group.write = at + t.ccd_l
            pseudo.read = max(pseudo.read, at + t.wtr_s)
            group.read = max(group.read, at + t.wtr_l)
            bank.pre = max(bank.pre, at + t.wtp)
        else:
            pseudo.last_read = at
            pseudo.read_rank = bank.rank
            group.read = max(group.read, at + t.ccd_l)
            pseudo.write = max(pseudo.write, at + t.rtw)
            bank.pre = max(bank.pre, at + t.rtp)
        last = burst.left == 1
        if bank.active is burst:
            burst.left -= 1
            if last:
                bank.active = None
                pseudo.active -= 1
                self.active.remove(burst)
        elif last:
            self.leave(burst)
            burst.left = 0
        else:
            burst.left -= 1
            if burst.write:
                self.writes -= 1
            else:
                self.reads -= 1
        self.note(at, "WR" if burst.write else "RD", pseudo, bank, burst.row)
        if last:
            self.free_those_behind(burst)
            if self.closes:
                self.close_if_done(bank)
        self.served(burst, at)

    def close_if_done(self, bank: Bank) -> None:
        """With closed pages: where nothing in the window wants the row, it is closed (auto-precharge)."""
        if bank.active is not None:
            return
        for burst in bank.reads:
            if burst.row == bank.row:
                return
        for burst in bank.writes:
            if burst.row == bank.row:
                return
        # The device precharges by itself, when a precharge would be allowed: it needs no bus.
        self.note(bank.pre, "AP", bank.pseudo, bank, -1)
        self.close(bank, bank.pre)

    def close(self, bank: Bank, at: int) -> None:
        """The row of ``bank`` is closed by a precharge at tick ``at``."""
        t = self.t
        pseudo = bank.pseudo
        bank.row = -1
        bank.looked_for = 0
        bank.act = max(bank.act, at + t.rp)
        if not self.single:
            pseudo.refresh = max(pseudo.refresh, at + t.pre_ref)
        pseudo.open -= 1

    # -- refresh ---------------------------------------------------------------------------------------

    def fall_due(self) -> None:
        """A refresh of each pseudo-channel falls due."""
        self.now = max(self.now, self.next_refresh)
        self.next_refresh += self.period
        for pseudo in self.pseudos:
            self.due.append(pseudo)
            pseudo.refreshing_from = self.now

    def close_for_refresh(self, pseudo: Pseudo, at: int) -> None:
        """Close the bank that is to be refreshed, or all."""
        one = pseudo.banks[pseudo.next_bank] if self.single else None
        for bank in pseudo.banks:
            if bank.row >= 0 and (one is None or bank is one):
                self.close(bank, at)
        pseudo.pre = at + self.t.ppd
        self.paired(at, pseudo, one)
        self.note(at, "PRE" if self.single else "PREA", pseudo, one, -1)

    def refresh(self, pseudo: Pseudo, at: int) -> None:
        """Refresh a bank of ``pseudo``, or all."""
        t = self.t
        self.due.popleft()
        self.refreshes += 1
        if self.single:
            bank = pseudo.banks[pseudo.next_bank]
            bank.act = max(bank.act, at + t.rfc_bank)
            pseudo.act = max(pseudo.act, at + t.rrefd_act)
            pseudo.refresh = at + t.rrefd
            pseudo.next_bank = (pseudo.next_bank + 1) % len(pseudo.banks)
            pseudo.refreshing_to = at + t.rfc_bank
            self.paired(at, pseudo, bank)
            self.note(at, "REFpb", pseudo, bank, -1)
            return
        for bank in pseudo.banks:
            bank.act = max(bank.act, at + t.rfc)
        pseudo.refresh = at + t.rfc
        pseudo.refreshing_to = at + t.rfc
        self.paired(at, pseudo, None)
        self.note(at, "REF", pseudo, None, -1)

    def rest(self, to: int) -> None:
        """Nothing waits: carry out the refreshes up to tick ``to``. Of many only the last ones matter."""
        if self.next_refresh > to and not self.due:
            return
        many = (to - self.next_refresh) // self.period - 2 * len(self.banks)
        if many > 0:
            self.next_refresh += many * self.period
            self.refreshes += many * len(self.pseudos)
            for pseudo in self.pseudos:
                pseudo.next_bank = (pseudo.next_bank + many) % len(pseudo.banks)
        while True:
            self.at = _FAR
            if self.due:
                self.choose_refresh(self.due[0])
            if self.next_refresh <= self.at:
                if self.next_refresh > to:
                    return
                self.fall_due()
            elif self.at > to:
                return
            else:
                self.now = self.at
                self.issue()
