"""JEDEC's rules for the commands of a DRAM channel, cycle by cycle, in plain Python: nothing of the engine's.

A command is (tick, name, pseudo-channel, bank, row); banks are numbered through the channel. Every pair of
commands is looked at, so it is slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Command = tuple[int, str, int, int, int]
COLUMNS, CLOSING = ("RD", "WR"), ("PRE", "AP")


class Rules:
    """The rules of a table, for a channel of ``pseudos`` pseudo-channels."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.t = table
        self.per_cycle = 2 if table["half_cycles"] else 1
        self.in_group = table["banks"]
        self.in_rank = table["banks"] * table["bank_groups"]

    def edges(self, name: str) -> int:
        """Ticks that a command takes on its bus."""
        if name in COLUMNS:
            return self.per_cycle
        return round(self.per_cycle * self.t["act_cycles" if name == "ACT" else "row_cycles"])

    def least(self, one: Command, other: Command) -> Iterator[tuple[str, float]]:
        """The rules between a command and a later one, in cycles from last edge to last edge."""
        t, (_, a, pc_a, bank_a, _), (_, b, pc_b, bank_b, _) = self.t, one, other
        if pc_a != pc_b:
            return
        bank = bank_a == bank_b
        group = bank_a // self.in_group == bank_b // self.in_group
        rank = bank_a // self.in_rank == bank_b // self.in_rank
        data = t["tCWL"] + t["tBL"]
        if a in COLUMNS and a == b:
            yield "tBL", t["tBL"]
            if rank:
                yield "tCCD_S", t["tCCD_S"]
            if group:
                yield "tCCD_L", t["tCCD_L"]
            if not rank and a == "RD":
                yield "tCCD_R", t["tCCD_R"]
        if (a, b) == ("RD", "WR"):
            yield "tRTW", t["tRTW"]
        if (a, b) == ("WR", "RD"):
            yield "tWTR", data + t["tWTR_L" if group else "tWTR_S"]
        if a == b == "ACT":
            yield "tRRD", t["tRRD_L" if group else "tRRD_S"]
        if bank and a == "ACT":
            after = {
                "ACT": "tRC",
                "RD": "tRCDRD",
                "WR": "tRCDWR",
                "PRE": "tRAS",
                "AP": "tRAS",
                "REFpb": "tRC",
            }
            if b in after:
                yield after[b], t[after[b]]
        closes = b in (*CLOSING, "PREA") and (bank or b == "PREA")
        if a == "RD" and closes:
            yield "tRTP", t["tRTP"]
        if a == "WR" and closes:
            yield "tWR", data + t["tWR"]
        if a == "ACT" and b == "PREA":
            yield "tRAS", t["tRAS"]
        if a == "ACT" and b == "REF":
            yield "tRC", t["tRC"]
        if a in (*CLOSING, "PREA") and (b == "REF" or (b in ("ACT", "REFpb") and (bank or a == "PREA"))):
            yield "tRP", t["tRP"]
        if a in ("PRE", "PREA") and b in ("PRE", "PREA"):
            yield "tPPD", t["tPPD"]
        if a == "REF" and b in ("ACT", "REF"):
            yield "tRFC", t["tRFC"]
        if a == "REFpb" and b == "ACT":
            yield "tRFCpb", t["tRFCpb" if bank else "tRREFD"]
        if a == b == "REFpb":
            yield "tRREFD", t["tRREFD"]

    def broken(self, commands: Sequence[Command]) -> list[str]:
        """Every rule that these commands break."""
        log = sorted(commands)
        found = []
        longest = 2 * self.per_cycle * max(v for k, v in self.t.items() if k[0] == "t" and k[:5] != "tREFI")
        for i, one in enumerate(log):
            for other in log[i + 1 :]:
                if other[0] - one[0] > longest:
                    break
                apart = other[0] + self.edges(other[1]) - one[0] - self.edges(one[1])
                found += [
                    f"{name}: {one}, {other}"
                    for name, cycles in self.least(one, other)
                    if apart < cycles * self.per_cycle
                ]
        return found + self._buses(log) + self._windows(log) + self._rows(log)

    def _buses(self, log: Sequence[Command]) -> list[str]:
        found = []
        for bus in (True, False):
            here = [c for c in log if (c[1] in COLUMNS) == bus and c[1] != "AP"]
            pairs = pairwise(here)
            found += [f"bus: {a}, {b}" for a, b in pairs if b[0] < a[0] + self.edges(a[1])]
        if self.per_cycle == 2:
            late = ("PRE", "PREA", "AP")
            found += [f"edge: {c}" for c in log if c[0] % 2 == 0 and c[1] not in late]
        return found

    def _windows(self, log: Sequence[Command]) -> list[str]:
        found = []
        for pc in {c[2] for c in log}:
            acts = [c for c in log if c[1] == "ACT" and c[2] == pc]
            pairs = zip(acts, acts[4:], strict=False)
            found += [f"tFAW: {a}, {b}" for a, b in pairs if b[0] - a[0] < self.t["tFAW"] * self.per_cycle]
        return found

    def _rows(self, log: Sequence[Command]) -> list[str]:
        """Columns are of open rows, and what is opened or refreshed was closed."""
        found = []
        rows: dict[int, int] = {}
        pcs: dict[int, int] = {}
        for command in log:
            _, name, pc, bank, row = command
            if name in COLUMNS and rows.get(bank) != row:
                found.append(f"row: {command}")
            elif name == "ACT":
                if bank in rows:
                    found.append(f"open: {command}")
                rows[bank], pcs[bank] = row, pc
            elif name in CLOSING:
                rows.pop(bank, None)
            elif name == "PREA":
                rows = {b: r for b, r in rows.items() if pcs[b] != pc}
            elif (name == "REF" and any(pcs[b] == pc for b in rows)) or (name == "REFpb" and bank in rows):
                found.append(f"refresh of an open row: {command}")
        return found
