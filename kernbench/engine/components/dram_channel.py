"""A DRAM channel: which command is next, by FR-FCFS, worked out from command to command.

The rules are those of Ramulator 2.1's HBM controller (https://github.com/CMU-SAFARI/ramulator2, MIT). The
oldest command that may be issued goes first, but no precharge closes a row that an older burst in the window
wants. A due refresh lets nothing begin before it.

No event is needed for a command. :meth:`DramChannel.advance` issues all commands up to a tick at once; it is
enough to come back before the data of the next one are through.
"""

from __future__ import annotations

from typing import Any

from kernbench.engine.components.dram_commands import DramCommands
from kernbench.engine.components.dram_state import Burst, Pseudo
from kernbench.engine.components.dram_window import FAR

_FAR = FAR
_COLUMN, _ACTIVATE, _PRECHARGE, _CLOSE_ALL, _REFRESH = 1, 2, 3, 4, 5


class DramChannel(DramCommands):
    """One channel: pseudo-channels with their own data buses and shared command buses."""

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
        """Plan the refresh of ``pseudo`` that is due: close open rows, then refresh."""
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

    def issue(self) -> None:
        """Issue the chosen command."""
        at = self.at
        what = self.what
        if what == _COLUMN:
            self.column(self.on, at)
            return
        self.row_free = at + (self.act_len if what == _ACTIVATE else self.row_len)
        if what == _ACTIVATE:
            self.activate(self.on, at)
        elif what == _PRECHARGE:
            self.precharge(self.on, at)
        elif what == _CLOSE_ALL:
            self.close_for_refresh(self.on, at)
        else:
            self.refresh(self.on, at)

    def rest(self, to: int) -> None:
        """Issue the refreshes up to tick ``to`` while nothing waits. Of many, only the last ones matter."""
        if self.next_refresh > to and not self.due:
            return
        many = (to - self.next_refresh) // self.period - 2 * len(self.banks)
        if many > 0:
            self.next_refresh += many * self.period
            for pseudo in self.pseudos:
                pseudo.refreshes += many
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
