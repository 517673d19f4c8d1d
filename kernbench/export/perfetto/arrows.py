"""Arrows between slices: what brought what about, and what stood behind what."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from kernbench.analysis.trace_tables import Ints, RowsOf
from kernbench.analysis.use.time_lines import Lines, transaction_rows
from kernbench.export.perfetto.events import Flows


class Arrows:
    """Numbers of arrows at the slices of each table. An arrow is left out unless both its ends are shown.

    - from an operation to those that had to come after it, and to the messages sent for it;
    - from a message to those that it brought about, and along its own crossings;
    - from the crossing of the holder, or else from its message, to the wait for it.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        ops: Lines,
        messages: Lines,
        crossings: Lines | None,
        waits: Lines | None,
    ) -> None:
        self._next = 1
        self.operations: list[Flows] = []
        self.messages: list[Flows] = []
        self.crossings: list[Flows] = []
        self.waits: list[Flows] = []
        op_at = _Shown(tables["Op"]["number"].to_numpy(), ops.rows)
        message_at = _Shown(tables["Transaction"]["number"].to_numpy(), messages.rows)

        depends, sent = tables["DependsOn"], tables["Transaction"]
        self._between(
            self.operations, op_at.of(depends["on"].to_numpy()),
            self.operations, op_at.of(depends["op"].to_numpy()),
        )  # fmt: skip
        numbers = message_at.of(sent["number"].to_numpy())
        self._between(self.operations, op_at.of(sent["op"].to_numpy()), self.messages, numbers)
        self._between(self.messages, message_at.of(sent["caused_by"].to_numpy()), self.messages, numbers)
        if crossings is not None:
            of = message_at.of(tables["Hop"]["txn"].to_numpy()[crossings.rows])
            every = np.arange(len(messages))
            self.messages.append((every, self._next + every))
            self.crossings.append((np.flatnonzero(of >= 0), self._next + of[of >= 0]))
            self._next += len(messages)
        if waits is not None:
            self._of_waits(tables, message_at, crossings, waits)

    def _between(self, sources: list[Flows], begin: Ints, targets: list[Flows], end: Ints) -> None:
        """An arrow for each pair of slices that are both shown."""
        both = (begin >= 0) & (end >= 0)
        ids = self._next + np.arange(int(both.sum()))
        self._next += len(ids)
        sources.append((begin[both], ids))
        targets.append((end[both], ids))

    def _of_waits(
        self, tables: Mapping[str, pa.Table], message_at: _Shown, crossings: Lines | None, waits: Lines
    ) -> None:
        holder = tables["WaitedFor"]["holder"].to_numpy()[waits.rows]
        every = np.arange(len(waits))
        begin = message_at.of(holder)
        if crossings is None:
            self._between(self.messages, begin, self.waits, every)
            return
        # The crossing of the holder at the same place: of several, there and back,
        # the last before the end of the wait.
        code = {place: number for number, place in enumerate(crossings.places)}
        place = np.array([code.get(name, -1) for name in waits.places], np.int64)[waits.place]
        many = len(crossings.places)
        key = (
            transaction_rows(tables, tables["Hop"]["txn"].to_numpy()[crossings.rows]) * many + crossings.place
        )
        order = np.lexsort((crossings.begin, key))
        wanted = transaction_rows(tables, holder) * many + place
        first, last = (np.searchsorted(key[order], wanted, side) for side in ("left", "right"))
        there = (place >= 0) & (last > first)
        at = (
            np.where(there, order[np.minimum(first, max(len(order) - 1, 0))], -1)
            if len(order)
            else first * 0 - 1
        )
        for step in range(1, int((last - first).max(initial=0))):
            later = order[np.minimum(first + step, len(order) - 1)]
            better = there & (first + step < last) & (crossings.begin[later] < waits.end)
            at = np.where(better, later, at)
        self._between(self.crossings, at, self.waits, every)
        self._between(self.messages, np.where(there, -1, begin), self.waits, every)


class _Shown:
    """Positions of the slices of a table's rows, by the rows' numbers."""

    def __init__(self, numbers: Ints, rows: Ints) -> None:
        self._rows = RowsOf(numbers)
        self._position = np.full(len(numbers) + 1, -1, np.int64)
        self._position[rows] = np.arange(len(rows))

    def of(self, numbers: Ints) -> Ints:
        """The position of each number's slice; -1 where it is not shown."""
        known = numbers >= 0
        found = np.full(len(numbers), -1, np.int64)
        if known.any():
            found[known] = self._position[self._rows.of(numbers[known])]
        return found
