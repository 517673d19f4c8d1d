"""Memory of the computer that simulates: how much is left, and errors that say what was needed."""

from __future__ import annotations

import math
from pathlib import Path

from kernbench.errors import AllocationError
from kernbench.support.sizes import size_text

_LOOKED_FROM = 1 << 28
"""Bytes from which on it is worth to look at what is left."""


def left() -> float:
    """Bytes that a process can still take; infinite where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return math.inf
    said = [line for line in lines if line.startswith("MemAvailable:")]
    return int(said[0].split()[1]) * 1024.0 if said else math.inf


def need(nbytes: int, what: str) -> None:
    """``AllocationError`` where ``what`` needs more bytes than are left.

    To take them all the same would not fail here: the system would kill the process as it writes to them.
    """
    if nbytes >= _LOOKED_FROM and nbytes > left():
        raise AllocationError(f"{what}: {lacks(nbytes)}")


def lacks(nbytes: float) -> str:
    """What an error says that is about so many bytes, or about some where that is 0."""
    needs = f"{size_text(_rounded(nbytes))} are needed, " if nbytes else ""
    has = f"{size_text(_rounded(left()))} are free" if left() < math.inf else "less is free"
    return f"the host has too little memory: {needs}{has}; use smaller arrays, or fewer of them"


def needed(error: MemoryError) -> float:
    """Bytes of the array that numpy had no memory for; 0 where the error does not say."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    return float(math.prod(shape) * dtype.itemsize) if shape is not None and dtype is not None else 0.0


def _rounded(nbytes: float) -> float:
    """Three digits of it in its unit."""
    unit = 1024.0 ** max(0, min(4, int(math.log(max(nbytes, 1.0), 1024))))
    return float(f"{nbytes / unit:.3g}") * unit
