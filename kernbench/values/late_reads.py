"""Reads of many runs, which nobody asks for before somebody writes near them.

A block of 128 rows would cut a map of bytes into 128 pieces, and most of what kernels read is never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from kernbench.hardware.address.runs import Runs, span

Who = TypeVar("Who")
_PART_BITS = 20
"""Reads are looked for among those of the same MiB."""


class LateReads(Generic[Who]):
    """Reads in the order in which they were added, each with who made it."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[int, tuple[Runs, Who]]] = {}
        self._added = 0

    def add(self, runs: Runs, who: Who) -> None:
        """``who`` reads ``runs``."""
        self._added += 1
        for part in _parts(*runs.span):
            self._parts.setdefault(part, {})[self._added] = runs, who

    def take(self, regions: Sequence[tuple[int, int]]) -> list[tuple[Runs, Who]]:
        """Those that may share a byte with ``regions``, which are about to change; they are let go."""
        if not self._parts or not regions:
            return []
        start, end = span(regions)
        found: dict[int, tuple[Runs, Who]] = {}
        parts = _parts(start, end)
        # What is written in the memories of two PEs spans all that lies between them.
        for part in parts if len(parts) < len(self._parts) else [one for one in self._parts if one in parts]:
            for number, (runs, who) in self._parts.get(part, {}).items():
                first, last = runs.span
                if first < end and start < last:
                    found[number] = runs, who
        for number, (runs, _) in found.items():
            for part in _parts(*runs.span):
                mine = self._parts[part]
                del mine[number]
                if not mine:
                    del self._parts[part]
        return [found[number] for number in sorted(found)]


def _parts(start: int, end: int) -> range:
    return range(start >> _PART_BITS, ((end - 1) >> _PART_BITS) + 1)
