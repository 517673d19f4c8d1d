"""DRAM behind an HBM controller, as validated data: timing tables, address maps, scheduling.

Shipped tables are ``configs/dram/NAME.yaml``. A topology file names one, or gives a table of its own: all
figures, or ``like: NAME`` with those that differ. All are cycles of the command clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.topology.fields import PowerOfTwo, Section
from kernbench.hardware.topology.marked_yaml import load_data
from kernbench.hardware.topology.problems import message_of
from kernbench.support.data_files import data_dir
from kernbench.support.hints import did_you_mean, shown
from kernbench.support.pgraph import PropertyGraph

Cycles = Annotated[int, Field(ge=1, le=1 << 24)]
"""Cycles of the command clock."""
Few = Annotated[PowerOfTwo, Field(ge=1, le=64)]


class DramTable(Section):
    """Organisation and timing of a DRAM channel; each ``t...`` is a least number of cycles."""

    source: str = Field(default="", description="where the figures are from")
    tck_ps: int = Field(ge=1, le=100_000, description="period of the command clock, ps")
    half_cycles: bool = Field(description="precharges may start on falling edges, half a cycle on")
    act_cycles: float = Field(gt=0, le=8, multiple_of=0.5, description="cycles of the row bus that ACT takes")
    row_cycles: float = Field(gt=0, le=8, multiple_of=0.5, description="cycles that other row commands take")
    burst_bytes: Few = Field(description="bytes of a burst, the least that is read or written")
    ranks: Few = Field(description="ranks (stack IDs) of a pseudo-channel")
    bank_groups: Few = Field(description="bank groups of a rank")
    banks: Few = Field(description="banks of a bank group")
    columns: Annotated[PowerOfTwo, Field(ge=4, le=32)] = Field(description="bursts of a row")
    tBL: Cycles = Field(description="a burst on the data bus")
    tCL: Cycles = Field(description="read to its data")
    tCWL: Cycles = Field(description="write to its data")
    tRCDRD: Cycles = Field(description="activate to read")
    tRCDWR: Cycles = Field(description="activate to write")
    tRP: Cycles = Field(description="precharge to activate")
    tRAS: Cycles = Field(description="activate to precharge")
    tRC: Cycles = Field(description="activate to activate of the same bank")
    tWR: Cycles = Field(description="end of a write's data to precharge")
    tRTP: Cycles = Field(description="read to precharge")
    tCCD_S: Cycles = Field(description="column commands of different bank groups")
    tCCD_L: Cycles = Field(description="column commands of one bank group")
    tCCD_R: Cycles = Field(description="reads of different ranks")
    tRRD_S: Cycles = Field(description="activates of different bank groups")
    tRRD_L: Cycles = Field(description="activates of one bank group")
    tFAW: Cycles = Field(description="window in which four activates are allowed")
    tWTR_S: Cycles = Field(description="end of a write's data to a read of another bank group")
    tWTR_L: Cycles = Field(description="end of a write's data to a read of the same bank group")
    tRTW: Cycles = Field(description="read to write")
    tPPD: Cycles = Field(description="precharge to precharge")
    tRFC: Cycles = Field(description="refresh of all banks")
    tRFCpb: Cycles = Field(description="refresh of one bank")
    tRREFD: Cycles = Field(description="refresh of a bank to that, or an activate, of another")
    tREFI: Cycles = Field(description="period of refreshes of all banks")
    tREFIpb: Cycles = Field(description="period of refreshes of single banks")

    def figures(self) -> dict[str, Any]:
        """All figures, without their source."""
        return self.model_dump(exclude={"source"})

    @property
    def gbs(self) -> float:
        """GB/s of a pseudo-channel: a burst each tBL or, where that is longer, tCCD_S."""
        return self.burst_bytes * 1000.0 / (max(self.tBL, self.tCCD_S) * self.tck_ps)

    def contradictions(self) -> Iterator[str]:
        """What cannot be: ``tRC is 60, expected at least tRAS + tRP = 71``."""
        for keys, names in _AT_LEAST:
            given = sum(getattr(self, key) for key in keys)
            least = sum(getattr(self, name) for name in names)
            if given < least:
                yield f"{' + '.join(keys)} is {given}, expected at least {' + '.join(names)} = {least}"
        all_banks = self.ranks * self.bank_groups * self.banks
        if all_banks * self.tREFIpb < self.tRFCpb + self.tRP:
            least = -(-(self.tRFCpb + self.tRP) // all_banks)
            yield f"tREFIpb is {self.tREFIpb}, expected at least (tRFCpb + tRP) / {all_banks} banks = {least}"
        if not self.half_cycles and (self.act_cycles % 1 or self.row_cycles % 1):
            yield "act_cycles and row_cycles are not whole, expected half_cycles: true"


_AT_LEAST = (
    (("tRC",), ("tRAS", "tRP")),
    (("tRAS",), ("tRCDRD", "tRTP")),
    (("tCCD_S",), ("tBL",)),
    (("tCCD_L",), ("tCCD_S",)),
    (("tCCD_R",), ("tBL",)),
    (("tRRD_L",), ("tRRD_S",)),
    (("tFAW",), ("tRRD_S",)),
    (("tWTR_L",), ("tWTR_S",)),
    (("tRTW", "tCWL"), ("tCL", "tBL")),  # a write's data follow those of the read before it
    (("tREFI",), ("tRFC", "tRP")),
    (("tREFIpb",), ("tRREFD",)),
)
"""Sums of figures that are at least sums of others."""


def names() -> list[str]:
    """The shipped tables."""
    return sorted(path.stem for path in (data_dir("configs") / "dram").glob("*.yaml"))


@cache
def shipped(name: str) -> DramTable:
    """The shipped table ``name``."""
    file = data_dir("configs") / "dram" / f"{name}.yaml"
    content = load_data(file)
    try:
        return _adapter().validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


@cache
def _adapter() -> TypeAdapter[DramTable]:
    DramTable.model_rebuild()
    return TypeAdapter(DramTable)


def table(timing: object) -> DramTable:
    """The table that ``timing`` says: a shipped one's name, or a mapping. Raises ``ValueError``."""
    if isinstance(timing, str):
        if timing not in names():
            raise ValueError(f"is {shown(timing)}, {did_you_mean(timing, names())}, or a table of figures")
        return shipped(timing)
    if not isinstance(timing, Mapping):
        raise ValueError(f"is {shown(timing)}, expected one of {', '.join(names())}, or a table of figures")
    given = dict(timing)
    like = given.pop("like", None)
    base = {} if like is None else table(like).figures()
    try:
        found = _adapter().validate_python({**base, **given})
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "timing"
        if first["type"] == "extra_forbidden":
            raise ValueError(f"has {key!r}, {did_you_mean(key, (*DramTable.model_fields, 'like'))}") from None
        if first["type"] == "missing":
            raise ValueError(f"has no {key}, expected all figures, or 'like' with a table's name") from None
        raise ValueError(f"{key} {message_of(first, DramTable)}") from None
    for contradiction in found.contradictions():
        raise ValueError(f"contradicts itself: {contradiction}")
    return found


def _timing(value: object) -> object:
    found = table(value)
    return value if isinstance(value, str) else found.figures()


ADDRESS_MAPS: dict[str, tuple[tuple[str, int], ...]] = {
    "row_rank_bank_column_group": (("pc", 0), ("group", 0), ("column", 0), ("bank", 0), ("rank", 0)),
    "row_bank_rank_group_column": (("column", 0), ("pc", 0), ("rank", 0), ("group", 0), ("bank", 0)),
    "mop4_xor": (("column", 2), ("pc", 0), ("rank", 0), ("group", 0), ("bank", 0), ("column", 0)),
}
"""Which part of the DRAM the bits of an address say, from a burst's lowest on: a part and how many of its
bits, 0 for all that are left. What lies above is the row. Under ``mop4_xor`` bits of the column are then
folded into the others (Ramulator's MOP4CLXOR); ``row_bank_rank_group_column`` is its RoBaRaCoCh."""

AddressMap = Literal["row_rank_bank_column_group", "row_bank_rank_group_column", "mop4_xor"]


PHASE_KEY = "cube.hbm.dram.refresh_phase"


def refreshes(graph: PropertyGraph) -> bool:
    """Whether any memory of a machine is refreshed as time passes."""
    drams = {str(node.properties["dram"]) for node in graph.nodes() if "dram" in node.properties}
    return any(json.loads(dram)["refresh"] != "none" for dram in drams)


class Dram(Section):
    """The DRAM behind the controllers, and how these schedule it (``model: dram``)."""

    timing: Annotated[Any, BeforeValidator(_timing)] = Field(
        default="hbm3_6400", description="hbm2_2000, hbm3_6400, or a table of figures, 'like' one of these"
    )
    address_map: AddressMap = Field(
        default="row_rank_bank_column_group",
        description="parts of an address, highest first: what lies next to each other shares a row",
    )
    page: Literal["open", "closed"] = Field(
        default="open",
        description="open: rows stay open; closed: closed after the last access in the window",
    )
    refresh: Literal["all_bank", "per_bank", "none"] = Field(
        default="all_bank", description="all banks of a pseudo-channel at once, one after another, or never"
    )
    refresh_phase: float = Field(
        default=0.0, ge=0, lt=1, description="share of the period of refreshes that is over when a run begins"
    )
    read_window: int = Field(
        default=64, ge=1, le=4096, description="bursts to be read among which a channel chooses"
    )
    write_window: int = Field(
        default=64, ge=1, le=4096, description="bursts to be written that a channel gathers"
    )
    drain_high: float = Field(
        default=0.8, gt=0, le=1, description="share of write_window beyond which writes go first"
    )
    drain_low: float = Field(
        default=0.2, ge=0, lt=1, description="share of write_window below which reads go first again"
    )

    def described(self) -> dict[str, Any]:
        """All of it, the table's figures too."""
        return {**self.model_dump(), "timing": table(self.timing).figures()}
