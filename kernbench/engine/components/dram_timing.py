"""A DRAM's figures in ticks, each the least distance between the first edges of two commands.

JEDEC counts from a command's last edge to another's: where the two take different numbers of edges, the
distance between their first ones differs by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Ticks:
    """Figures of a timing table. A tick is half a cycle of the command clock where row commands take half."""

    def __init__(self, table: Mapping[str, Any], tck_ns: float) -> None:
        per_cycle = 2 if table["half_cycles"] else 1
        self.tick_ns = tck_ns / per_cycle
        self.halves = per_cycle == 2
        self.act_len = int(table["act_cycles"] * per_cycle)
        self.row_len = int(table["row_cycles"] * per_cycle)
        self.col_len = per_cycle

        def ticks(*names: str) -> int:
            return sum(int(table[f"t{name}"]) for name in names) * per_cycle

        act, row, col = self.act_len, self.row_len, self.col_len
        self.burst = ticks("BL")
        self.read = ticks("CL", "BL")
        """Ticks from a read command to the end of its data."""
        self.write = ticks("CWL", "BL")
        self.rcd_read = ticks("RCDRD") + act - col
        self.rcd_write = ticks("RCDWR") + act - col
        self.ras = ticks("RAS") + act - row
        self.rc = ticks("RC")
        self.rp = ticks("RP") + row - act
        self.rtp = ticks("RTP") + col - row
        self.wtp = ticks("CWL", "BL", "WR") + col - row
        """Ticks from a write command to a precharge of its bank."""
        self.ccd_s = max(ticks("CCD_S"), self.burst)
        self.ccd_l = ticks("CCD_L")
        self.ccd_r = max(ticks("CCD_R"), self.burst)
        self.rrd_s = ticks("RRD_S")
        self.rrd_l = ticks("RRD_L")
        self.faw = ticks("FAW")
        self.wtr_s = ticks("CWL", "BL", "WTR_S")
        self.wtr_l = ticks("CWL", "BL", "WTR_L")
        self.rtw = ticks("RTW")
        self.ppd = ticks("PPD")
        self.act_ref = ticks("RC") + act - row
        self.pre_ref = ticks("RP")
        self.rfc = ticks("RFC") + row - act
        self.rfc_bank = ticks("RFCpb") + row - act
        self.rrefd_act = ticks("RREFD") + row - act
        self.rrefd = ticks("RREFD")
        self.rrd_ref = ticks("RRD_S") + act - row
        self.refi = ticks("REFI")
        self.refi_bank = ticks("REFIpb")
