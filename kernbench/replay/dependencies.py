"""Who must come before whom: the dependencies of each operation, found as it is reported.

Operations arrive in the order of their effects on memory. An operation depends on the one that made a
handle it uses (``handle``), on the last writer of bytes it reads (``raw``), on every reader since the
last write of bytes it writes (``war``) and on the last writer of those bytes (``waw``). What the
hardware adds (``stage``, ``slot``, ``issue``) comes with the operation itself. Any order that respects
the first four leaves the same values everywhere as the order of report.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from kernbench.errors import KernBenchError
from kernbench.sim.ops import Op, Region

DATA_HAZARDS: Final = frozenset({"handle", "raw", "war", "waw"})
"""Hazards that order data; the others order time only."""

Dependency = tuple[int, str]
"""``(op id, hazard)``."""

_Readers = tuple[int, "_Readers | None"]
# A linked list, newest first: cutting a segment in two shares it instead of copying it.


class _Segment:
    """Bytes ``[start, end)`` with one last writer (-1: none) and the same readers since."""

    __slots__ = ("end", "readers", "start", "writer")

    def __init__(self, start: int, end: int, writer: int, readers: _Readers | None) -> None:
        self.start = start
        self.end = end
        self.writer = writer
        self.readers = readers


class AccessMap:
    """Last writer and readers since, for every byte that was ever touched.

    Disjoint segments in order of address. A write replaces all segments that it covers by one and so
    forgets their readers; partial overlaps cut segments, so the answers are exact to the byte.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._segments: list[_Segment] = []

    def __len__(self) -> int:
        """Number of segments."""
        return len(self._segments)

    def read(self, region: Region, op: int, found: dict[Dependency, None]) -> None:
        """Record that ``op`` reads ``region``, before it writes; add the writers it sees to ``found``."""
        addr, end = region.addr, region.addr + region.nbytes
        if end <= addr:
            return
        lo = self._cut(addr)
        hi = self._cut(end)
        position = addr
        touched: list[_Segment] = []
        for segment in self._segments[lo:hi]:
            if segment.start > position:
                touched.append(_Segment(position, segment.start, -1, None))
            touched.append(segment)
            position = segment.end
        if position < end:
            touched.append(_Segment(position, end, -1, None))
        if len(touched) != hi - lo:
            self._segments[lo:hi] = touched
            self._starts[lo:hi] = [s.start for s in touched]
        for segment in touched:
            if segment.writer >= 0:
                found[(segment.writer, "raw")] = None
            segment.readers = (op, segment.readers)

    def write(self, region: Region, op: int, found: dict[Dependency, None]) -> None:
        """Record that ``op`` writes ``region``; add the readers and writers it must not overtake."""
        addr, end = region.addr, region.addr + region.nbytes
        if end <= addr:
            return
        lo = self._cut(addr)
        hi = self._cut(end)
        seen: set[int] = set()
        for segment in self._segments[lo:hi]:
            if segment.writer >= 0 and segment.writer != op:
                found[(segment.writer, "waw")] = None
            cell = segment.readers
            while cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                if cell[0] != op:
                    found[(cell[0], "war")] = None
                cell = cell[1]
        if hi - lo == 1 and self._starts[lo] == addr and self._segments[lo].end == end:
            only = self._segments[lo]
            only.writer, only.readers = op, None
        else:
            self._segments[lo:hi] = [_Segment(addr, end, op, None)]
            self._starts[lo:hi] = [addr]

    def writers(self, region: Region) -> list[tuple[Region, int]]:
        """The last writers inside ``region``, in order of address; bytes nobody wrote are left out."""
        addr, end = region.addr, region.addr + region.nbytes
        found: list[tuple[Region, int]] = []
        for at in range(max(bisect_right(self._starts, addr) - 1, 0), len(self._segments)):
            segment = self._segments[at]
            if segment.start >= end:
                break
            lo, hi = max(segment.start, addr), min(segment.end, end)
            if lo >= hi or segment.writer < 0:
                continue
            if found and found[-1][1] == segment.writer and found[-1][0].addr + found[-1][0].nbytes == lo:
                found[-1] = (Region(found[-1][0].addr, hi - found[-1][0].addr), segment.writer)
            else:
                found.append((Region(lo, hi - lo), segment.writer))
        return found

    def _cut(self, at: int) -> int:
        """Make ``at`` a border; index of the first segment that starts at or after it."""
        i = bisect_right(self._starts, at) - 1
        if i < 0:
            return 0
        segment = self._segments[i]
        if segment.start == at:
            return i
        if segment.end > at:
            self._segments.insert(i + 1, _Segment(at, segment.end, segment.writer, segment.readers))
            self._starts.insert(i + 1, at)
            segment.end = at
        return i + 1


class DependencyBuilder:
    """Finds the dependencies of operations handed to it in report order."""

    def __init__(self) -> None:
        self._memory = AccessMap()
        self._producer: dict[int, int] = {}

    def add(self, op: Op) -> list[Dependency]:
        """The dependencies of ``op``, sorted by operation and hazard, each pair once.

        Data hazards point only at operations added before. ``tile`` operations describe time, not
        data: of them only ``op.after`` counts. Raises :class:`KernBenchError` when ``op`` uses a
        handle that nothing made, or makes one a second time.
        """
        found: dict[Dependency, None] = dict.fromkeys(op.after)
        if op.kind != "tile":
            me = op.id
            for operand in op.inputs:
                if operand.handle is not None:
                    maker = self._producer.get(operand.handle)
                    if maker is None:
                        raise KernBenchError(
                            f"op {me} ({op.kind}/{op.name} on {op.component}) uses handle {operand.handle}, "
                            "which no operation reported before has made; report the maker first"
                        )
                    found[(maker, "handle")] = None
                for region in operand.regions:
                    self._memory.read(region, me, found)
            output = op.output
            if output is not None:
                if output.handle is not None and self._producer.setdefault(output.handle, me) != me:
                    raise KernBenchError(
                        f"op {me} ({op.kind}/{op.name} on {op.component}) makes handle {output.handle} again "
                        f"after op {self._producer[output.handle]}; give every value its own handle"
                    )
                for region in output.regions:
                    self._memory.write(region, me, found)
        return sorted(found)

    def writers(self, regions: Sequence[Region]) -> list[tuple[Region, int]]:
        """Which operation wrote which bytes of ``regions`` last, region by region in address order."""
        return [writer for region in regions for writer in self._memory.writers(region)]
