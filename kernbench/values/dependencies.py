"""The dependencies of each operation, found as it is reported.

Operations arrive in the order of their effects on memory. An operation depends on the one that made a
handle it uses (``handle``), on the last writer of bytes it reads (``raw``), on every reader since the
last write of bytes it writes (``war``) and on the last writer of those bytes (``waw``). The hardware's
own dependencies (``stage``, ``slot``, ``issue``, ``token``, ``credit``) come with the operation itself, and
so do the parts that it puts together (``part``: they end when it ends). Any order that respects the others
leaves the same values everywhere as the order of report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kernbench.engine.program.operations import Op, Region
from kernbench.hardware.address.extent_map import Extent, ExtentMap
from kernbench.hardware.address.runs import Runs
from kernbench.values.late_reads import LateReads

DATA_HAZARDS: Final = frozenset({"handle", "part", "raw", "war", "waw"})
"""Hazards that order data; the others order time only."""

Dependency = tuple[int, str]
"""``(op id, hazard)``."""

_Readers = tuple[int, Any]
# A linked list, newest first: cutting a run of bytes in two shares it instead of copying it.


_Access = tuple[int, _Readers | None]
"""The last writer of some bytes (-1: none) and those who have read them since."""


class AccessMap:
    """Last writer and readers since, for every byte that was ever touched; exact to the byte."""

    def __init__(self) -> None:
        self._accesses = ExtentMap(lambda access, _begin, _end: access)
        self._reads: LateReads[int] = LateReads()

    def __len__(self) -> int:
        """Number of runs of bytes that are kept apart."""
        return len(self._accesses)

    def read(self, region: Region, op: int, found: dict[Dependency, None]) -> None:
        """Record that ``op`` reads ``region``, before it writes; add the writers it sees to ``found``."""
        addr, end = region.addr, region.addr + region.nbytes
        if end <= addr:
            return
        touched: list[Extent] = []
        position = addr
        for extent in self._accesses.clipped(addr, end):
            writer, readers = extent.value
            if extent.start > position:
                touched.append(Extent(position, extent.start, (-1, (op, None))))
            if writer >= 0:
                found[(writer, "raw")] = None
            touched.append(Extent(extent.start, extent.end, (writer, (op, readers))))
            position = extent.end
        if position < end:
            touched.append(Extent(position, end, (-1, (op, None))))
        self._accesses.replace(addr, end, touched)

    def read_runs(self, runs: Runs, op: int, found: dict[Dependency, None]) -> None:
        """As :meth:`read`, of many runs: whom ``op`` keeps from writing is worked out when somebody does."""
        start, end = runs.span
        writers = {extent.value[0] for extent in self._accesses.overlapping(start, end)}
        if self._accesses.gaps(start, end):
            writers.add(-1)
        if len(writers) > 1:  # which of them depends on the run
            for region in runs:
                self.read(region, op, found)
            return
        for writer in writers:
            if writer >= 0:
                found[(writer, "raw")] = None
        self._reads.add(runs, op)

    def settle(self, regions: Sequence[Region]) -> None:
        """Enter the reads near ``regions``, which are about to be written."""
        for runs, reader in self._reads.take(regions):
            for one in runs:
                self.read(one, reader, {})

    def write(self, region: Region, op: int, found: dict[Dependency, None]) -> None:
        """Record that ``op`` writes ``region``; add the readers and writers it must not overtake."""
        addr, end = region.addr, region.addr + region.nbytes
        if end <= addr:
            return
        seen: set[int] = set()
        for extent in self._accesses.overlapping(addr, end):
            writer, readers = extent.value
            if writer >= 0 and writer != op:
                found[(writer, "waw")] = None
            cell = readers
            while cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                if cell[0] != op:
                    found[(cell[0], "war")] = None
                cell = cell[1]
        self._accesses.set(addr, end, (op, None))

    def writer(self, addr: int) -> int | None:
        """The operation that wrote the byte at ``addr`` last; None where none has."""
        extent = self._accesses.at(addr)
        return None if extent is None or extent.value[0] < 0 else extent.value[0]


class DependencyBuilder:
    """Finds the dependencies of operations handed to it in report order."""

    def __init__(self) -> None:
        self._memory = AccessMap()

    def add(self, op: Op) -> list[Dependency]:
        """The dependencies of ``op``, sorted by operation and hazard, each pair once.

        Data hazards point only at operations added before. ``tile`` operations describe time, not
        data: of them only ``op.after`` counts. A handle has the number of the operation that made it.
        """
        if op.kind == "tile":
            return sorted({*op.after}) if len(op.after) > 1 else [*op.after]
        found: dict[Dependency, None] = {}
        for known in op.after:
            found[known] = None
        me = op.id
        for operand in op.inputs:
            if operand.handle is not None:
                maker = operand.handle
                # What an operation puts together from parts of its own ends with the last of them.
                if (maker, "part") not in found:
                    found[(maker, "handle")] = None
            if isinstance(operand.regions, Runs):
                self._memory.read_runs(operand.regions, me, found)
                continue
            for region in operand.regions:
                self._memory.read(region, me, found)
        output = op.output
        if output is not None and output.regions:
            self._memory.settle(output.regions)
            for region in output.regions:
                self._memory.write(region, me, found)
        return sorted(found) if len(found) > 1 else list(found)

    def writer(self, addr: int) -> int | None:
        """See :meth:`AccessMap.writer`."""
        return self._memory.writer(addr)
