"""The commands to a DRAM channel: when each may be issued, and what it changes. Times are ticks.

Column and row commands have a bus each; the rules are those of JEDEC's tables, as Ramulator 2.1 has them.
"""

from __future__ import annotations

from kernbench.engine.components.dram_state import CONFLICT, HIT, MISS, Bank, Burst, Pseudo
from kernbench.engine.components.dram_window import DramWindow

_HIT, _MISS, _CONFLICT = HIT, MISS, CONFLICT


class DramCommands(DramWindow):
    """Executes commands; a subclass chooses them.

    :meth:`served` is called for each column served, and ``log`` gets the commands.
    """

    def served(self, burst: Burst, at: int) -> None:
        """Called when a column of ``burst`` is issued at tick ``at``; ``burst.found`` tells hit from miss."""
        raise NotImplementedError

    def rising(self, at: int) -> int:
        """The first rising edge from ``at`` on; with half cycles these are the odd ticks."""
        return at | 1 if self.halves else at

    def column_at(self, burst: Burst) -> int:
        """Earliest tick at which its next column may be read or written."""
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
        """Earliest tick at which a row of ``bank`` may be opened."""
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

    def activate(self, burst: Burst, at: int) -> None:
        """Open the row of ``burst``."""
        bank = burst.bank
        pseudo = bank.pseudo
        group = bank.group
        t = self.t
        if not burst.begun:
            burst.begun = True
            burst.found = _MISS
            burst.opened = at
            pseudo.misses += 1
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

    def precharge(self, burst: Burst, at: int) -> None:
        """Close the open row of the bank in which ``burst`` needs another."""
        bank = burst.bank
        pseudo = bank.pseudo
        if not burst.begun:
            burst.begun = True
            burst.found = _CONFLICT
            burst.opened = at
            pseudo.conflicts += 1
        self.close(bank, at)
        pseudo.pre = at + self.t.ppd
        self.paired(at, pseudo, bank)
        self.note(at, "PRE", pseudo, bank, -1)

    def column(self, burst: Burst, at: int) -> None:
        """Read or write a column of ``burst``."""
        bank = burst.bank
        pseudo = bank.pseudo
        group = bank.group
        t = self.t
        self.col_free = at + self.col_len
        if not burst.begun:
            burst.begun = True
            pseudo.hits += 1
        elif burst.left < burst.count:
            burst.found = _HIT
            pseudo.hits += 1
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
        """With closed pages: close the row if nothing in the window needs it (auto-precharge)."""
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
        """Note that a precharge at tick ``at`` closes the row of ``bank``."""
        t = self.t
        pseudo = bank.pseudo
        bank.row = -1
        bank.looked_for = 0
        bank.act = max(bank.act, at + t.rp)
        if not self.single:
            pseudo.refresh = max(pseudo.refresh, at + t.pre_ref)
        pseudo.open -= 1

    def fall_due(self) -> None:
        """Note that a refresh of each pseudo-channel is due."""
        self.now = max(self.now, self.next_refresh)
        self.next_refresh += self.period
        for pseudo in self.pseudos:
            self.due.append(pseudo)
            pseudo.due_at = self.now

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
        pseudo.refreshes += 1
        if self.single:
            bank = pseudo.banks[pseudo.next_bank]
            bank.act = max(bank.act, at + t.rfc_bank)
            pseudo.act = max(pseudo.act, at + t.rrefd_act)
            pseudo.refresh = at + t.rrefd
            pseudo.next_bank = (pseudo.next_bank + 1) % len(pseudo.banks)
            pseudo.refreshed.append((pseudo.due_at, at, at + t.rfc_bank, bank))
            self.paired(at, pseudo, bank)
            self.note(at, "REFpb", pseudo, bank, -1)
            return
        for bank in pseudo.banks:
            bank.act = max(bank.act, at + t.rfc)
        pseudo.refresh = at + t.rfc
        pseudo.refreshed.append((pseudo.due_at, at, at + t.rfc, None))
        self.paired(at, pseudo, None)
        self.note(at, "REF", pseudo, None, -1)

    def paired(self, at: int, pseudo: Pseudo, bank: Bank | None) -> None:
        """Note a row command on a rising edge; it limits what may follow on the falling edge."""
        if self.halves and at & 1:
            self.pair_at = self.row_free
            self.pair_pseudo = pseudo
            self.pair_bank = bank

    def note(self, at: int, command: str, pseudo: Pseudo, bank: Bank | None, row: int) -> None:
        """Log a command, if there is a log."""
        if self.log is not None:
            self.log.append((at, command, pseudo.number, -1 if bank is None else bank.number, row))
