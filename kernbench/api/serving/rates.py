"""Rates of requests as they are written: ``4/s``, ``90/min``, lists, and ranges that double."""

from __future__ import annotations

import re

from kernbench.errors import UsageError

_RATE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:/\s*(s|min|h))?\s*")
_SECONDS = {None: 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
_FORM = "write 4/s, 90/min, a list such as 1/s,3/s, or 1/s:32/s for 1, 2, 4 ... 32"
_MOST = 64


def read_rates(text: str) -> list[float]:
    """The requests a second that ``text`` writes, in order.

    Raises:
        UsageError: It is not a rate, or a range is wrong.
    """
    found: list[float] = []
    for part in text.split(","):
        low, colon, high = part.partition(":")
        first = _rate(low, text)
        found.append(first)
        last = _rate(high, text) if colon else first
        if last < first:
            raise UsageError(f"rate: '{text}' ends below its start; {_FORM}")
        while found[-1] * 2 <= last * (1 + 1e-9) and len(found) <= _MOST:
            found.append(found[-1] * 2)
        if found[-1] < last * (1 - 1e-9):
            found.append(last)
    if len(found) > _MOST:
        raise UsageError(f"rate: '{text}' has more than {_MOST} values; give fewer")
    return sorted(set(found))


def _rate(text: str, whole: str) -> float:
    match = _RATE.fullmatch(text)
    value = float(match[1]) / _SECONDS[match[2]] if match else 0.0
    if not 1e-9 <= value <= 1e9:
        raise UsageError(f"rate: '{whole}' is not a rate of requests; {_FORM}")
    return value
