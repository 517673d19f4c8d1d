"""Where the bursts of a DRAM channel lie: bank and column for each value of an address's lower bits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kernbench.hardware.topology.dram import ADDRESS_MAPS

COLUMN_BITS = 5
COLUMN_MASK = 31
"""A place is ``bank << COLUMN_BITS | column``."""


def places(name: str, table: Mapping[str, Any], pseudos: int) -> list[int]:
    """The place of each value of the bits of a burst's number in its channel; what lies above is its row.

    Banks count through the ``pseudos`` pseudo-channels of a channel, their ranks, groups, banks. Channels
    that are alike share the list: it is not to be changed.
    """
    return _places(name, pseudos, table["ranks"], table["bank_groups"], table["banks"], table["columns"])


@cache
def _places(name: str, pseudos: int, ranks: int, groups: int, banks: int, columns: int) -> list[int]:
    sizes = {"pc": pseudos, "rank": ranks, "group": groups, "bank": banks, "column": columns}
    bits = {part: size.bit_length() - 1 for part, size in sizes.items()}
    left = dict(bits)
    fields: list[tuple[str, int]] = []
    for part, some in ADDRESS_MAPS[name]:
        width = min(some, left[part]) if some else left[part]
        fields.append((part, width))
        left[part] -= width
    found = []
    for line in range(1 << sum(bits.values())):
        at = dict.fromkeys(sizes, 0)
        filled = dict.fromkeys(sizes, 0)
        for part, width in fields:
            at[part] |= (line & ((1 << width) - 1)) << filled[part]
            filled[part] += width
            line >>= width
        if name == "mop4_xor":
            column = at["column"]
            for part in ("pc", "rank", "group", "bank"):
                at[part] ^= column & (sizes[part] - 1)
                column >>= bits[part]
        bank = at["pc"]
        for part in ("rank", "group", "bank"):
            bank = bank << bits[part] | at[part]
        found.append(bank << COLUMN_BITS | at["column"])
    return found
