"""Sizes and counts as people write them, in files and on screens: ``64KiB``, ``48 GiB``, ``2 layers``."""

from __future__ import annotations

import re

PATTERN = r"(\d{1,18})\s*(B|KiB|MiB|GiB)?"
_SIZE = re.compile(PATTERN)
_UNITS = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def read_size(text: str) -> int | None:
    """The bytes that ``text`` writes, a whole number with or without a binary unit; None for another text."""
    match = _SIZE.fullmatch(text.strip())
    return int(match[1]) * _UNITS[match[2]] if match else None


def size_text(nbytes: float) -> str:
    """``nbytes`` with the largest binary unit that is not more."""
    for unit, size in reversed([*_UNITS.items(), ("TiB", 1 << 40)]):
        if nbytes >= size:
            return f"{nbytes / size:g} {unit or 'B'}"
    return f"{nbytes:g} B"


def decimal_size(nbytes: float) -> str:
    """``nbytes`` in a decimal unit with three digits, as the sizes of models are given."""
    units = ("B", "kB", "MB", "GB", "TB", "PB")
    step = next((i for i in range(len(units)) if abs(nbytes) < 999.5 * 1000**i), len(units) - 1)
    return f"{nbytes / 1000**step:.3g} {units[step]}"


def counted(number: int, what: str) -> str:
    """``1 layer``, ``2 layers``."""
    return f"{number} {what}{'' if number == 1 else 's'}"
