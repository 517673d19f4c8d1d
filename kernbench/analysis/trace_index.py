"""A kept trace, indexed for walking it backwards by end times, parents and dependencies.

Only keys are read and sorted beforehand, a column at a time; records are made where the walk goes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kernbench.analysis.trace_tables import (
    Groups,
    Ints,
    Records,
    RowsOf,
    Texts,
    TracedHop,
    TracedMessage,
    TracedOp,
    host_of,
)
from kernbench.analysis.windows.estimate_bounds import Repeated

CLOSE_NS = 1e-6
"""Times that differ by less are one; far above rounding, far below anything that is simulated."""

LAUNCHING = ("launch", "launch_done")
MAPPING = ("map", "unmap", "queue_setup", "queue_removal")
HOST_LEVEL = ("host_read", "host_write", *MAPPING)
"""Transactions that the host waits for itself."""
BY_THEMSELVES = (*LAUNCHING, *HOST_LEVEL)
"""Transactions that no operation of a kernel sent."""


_ROW_USE = ("txn", "row_ns", "refresh_ns")
_CACHE_USE = ("txn", "misses", "miss_ns")

BUFFER = "link_buffer"
"""Kind of the finite buffers of links; waits at them are for room."""


class TraceIndex:
    """The tables of one run. ``launches`` are those of the run's info, ``repeats`` what it accounts for."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        launches: Sequence[Mapping[str, Any]],
        repeats: Sequence[Repeated] = (),
    ) -> None:
        self.launches, self.repeats = list(launches), tuple(repeats)
        self._messages = Records(tables["Transaction"], TracedMessage)
        self._message_rows = RowsOf(self._messages.numbers("id"))
        self._hops = Records(tables["Hop"], TracedHop)
        self._hops_of = Groups(tables["Hop"]["txn"].to_numpy())
        self._work = Records(tables["Op"], TracedOp)
        self._work_rows = RowsOf(self._work.numbers("id"))
        moved, depends = tables["Awaited"], tables["DependsOn"]
        self._moved_by = Groups(moved["op"].to_numpy())
        self._moved = moved["txn"].to_numpy()
        self._dependencies_of = Groups(depends["op"].to_numpy())
        self._on, self._hazard = depends["on"].to_numpy(), Texts(depends["hazard"])
        self._launch_numbers = tables["Transaction"]["launch"].to_numpy()
        """Number of the launch by message row, -1 for messages of none."""
        causes = tables["Transaction"]["caused_by"].to_numpy()
        self._parents = np.full(len(self._messages), -1, np.int64)
        """Row of the message that brought a message about, by row; -1 where the host did."""
        self._parents[causes >= 0] = self._message_rows.of(causes[causes >= 0])
        legs, whole = _columns(tables, "Split", ("txn", "whole"))
        self._whole = dict(zip(legs.tolist(), whole.tolist(), strict=True))
        use = tables["Use"]
        resources = use["resource"].to_pylist()
        self.kinds = dict(zip(resources, use["kind"].to_pylist(), strict=True))
        self.host = host_of(tables)
        self.is_link = dict(zip(resources, use["is_link"].to_pylist(), strict=True))
        self._held_up = self._back_pressure(tables)
        txn, self._row_ns, self._refresh_ns = _columns(tables, "RowUse", _ROW_USE)
        self._rows_of = Groups(txn)
        txn, *self._cache_use = _columns(tables, "CacheUse", _CACHE_USE)
        self._cached = Groups(txn)

    def __bool__(self) -> bool:
        """Whether there is any transaction."""
        return len(self._messages) > 0

    # -- transactions -------------------------------------------------------------------------------

    def last_answered(self, until: float) -> TracedMessage | TracedOp:
        """The message that was answered last, at ``until`` or before, or a transfer that ended later.

        That is one of plain traffic whose data had still to cross to the TCM.
        """
        done = self._messages.numbers("t_done")
        answered = self._last(np.flatnonzero(done <= until + CLOSE_NS))
        ends = self._work.numbers("t_end")
        late = (ends > answered.t_done + CLOSE_NS) & (ends <= until + CLOSE_NS)
        rows = np.flatnonzero(late & (self._work.numbers("launch") < 0))
        return self._work[int(rows[ends[rows].argmax()])] if rows.size else answered

    def last_answer(self, launch: int) -> TracedMessage:
        """The answer that ended ``launch``."""
        rows = np.array(self._of_launch[launch], np.int64)
        return self._last(rows[self._answers[rows]])

    def answered(self, time: float) -> list[TracedMessage]:
        """The messages that were answered at exactly this time."""
        return [self._messages[row] for row in self._answered[time]]

    def last_unfinished(self, until: float, launch: int | None = None) -> TracedMessage | TracedOp | None:
        """The message or operation that ended last before a run was stopped at ``until``, if any did.

        Only of ``launch``, where it is given. Not parts of operations that had not ended, nor their messages:
        nothing in the record says what brought these about.
        """
        found: list[TracedMessage | TracedOp] = []
        whole = (self._work.numbers("parent") >= 0) | self._work.texts("stage").rows("".__eq__)
        # Views, of the PE_CPU alone, take no time and wait for nothing.
        whole &= ~self._work.texts("component").rows(lambda name: not name or name.endswith(".pe_cpu"))
        by_itself = self._messages.texts("kind").rows(lambda kind: kind in BY_THEMSELVES)
        for records, end, numbers, known in (
            (self._messages, "t_done", self._launch_numbers, by_itself),
            (self._work, "t_end", self._work.numbers("launch"), whole),
        ):
            ends = records.numbers(end)
            chosen = known & (ends <= until + CLOSE_NS) & ((numbers == launch) | (launch is None))
            rows = np.flatnonzero(chosen)
            if rows.size:
                last = rows[ends[rows] == ends[rows].max()]
                found.append(records[last[np.argmax(records.numbers("id")[last])].item()])
        return max(
            found, key=lambda one: one.t_done if isinstance(one, TracedMessage) else one.t_end, default=None
        )

    def path(self, message: TracedMessage) -> list[TracedHop]:
        """The hops of ``message``, out and back, in order."""
        return self._hops.several(self._hops_of[message.id])

    def held_up(self, message: TracedMessage, hop: int) -> float:
        """For how long ``message`` waited at its hop number ``hop`` for room in a finite buffer, ns."""
        return self._held_up.get((message.id, hop), 0.0)

    def _back_pressure(self, tables: Mapping[str, pa.Table]) -> dict[tuple[int, int], float]:
        """Of each (transaction, hop) the time for which it waited for room in finite buffers, ns."""
        found: dict[tuple[int, int], float] = {}
        if BUFFER not in self.kinds.values():
            return found
        waits = tables["WaitedFor"].select(["txn", "seq", "resource", "ns"]).to_pylist()
        for wait in waits:
            if self.kinds.get(wait["resource"]) == BUFFER:
                key = wait["txn"], wait["seq"]
                found[key] = found.get(key, 0.0) + wait["ns"]
        return found

    def dram_waits(self, message: TracedMessage) -> tuple[float, float]:
        """For how long ``message`` waited at DRAM for rows to be opened and for refreshes, ns."""
        rows = self._rows_of[message.id]
        return float(self._row_ns[rows].sum()), float(self._refresh_ns[rows].sum())

    def cache_misses(self, message: TracedMessage) -> tuple[bool, float] | None:
        """Whether a cache lacked what ``message`` wanted, and for how long, ns; None where it met none."""
        rows = self._cached[message.id]
        misses, miss_ns = (float(column[rows].sum()) for column in self._cache_use)
        return (misses > 0.0 or miss_ns > 0.0, miss_ns) if rows else None

    def arrived(self, message: TracedMessage, first: int = 0) -> float:
        """The earliest arrival of ``message`` at its hops from number ``first`` on, ns; inf without any."""
        rows = self._hops_of[message.id][first:]
        if not rows:
            return math.inf
        left, service, wait = (self._hops.numbers(name)[rows] for name in ("t_out", "service_ns", "wait_ns"))
        return float((left - service - wait).min())

    def cause(self, message: TracedMessage) -> TracedMessage | None:
        """The message that brought ``message`` about; ``None`` when the host sent it of itself."""
        row = self._parents.item(self._message_rows[message.id])
        return None if row < 0 else self._messages[row]

    def whole(self, message: TracedMessage) -> TracedMessage | None:
        """Of a leg of a multicast the message whose copy it is."""
        found = self._whole.get(message.id)
        return None if found is None else self._messages[self._message_rows[found]]

    # -- launches -----------------------------------------------------------------------------------

    def launch_of(self, message: TracedMessage) -> int | None:
        """Number of the launch that a launch message, or an answer to it, belongs to."""
        number = self._launch_numbers.item(self._message_rows[message.id])
        return None if number < 0 else number

    def launch_messages(self, launch: int) -> list[TracedMessage]:
        """The messages that brought ``launch`` to its PEs."""
        return [self._messages[row] for row in self._of_launch[launch] if self._to_pes[row]]

    def freed(self, launch: int) -> list[TracedMessage]:
        """The answers by which the PEs of ``launch`` ended the kernels that they ran before it."""
        rows = np.array(self._of_launch[launch], np.int64)
        before = self._previous[rows]
        return [self._messages[row] for row in before[before >= 0].tolist()]

    # -- operations ---------------------------------------------------------------------------------

    def work(self, number: int) -> TracedOp | None:
        """The operation with this id."""
        row = self._work_rows.find(number)
        return None if row is None else self._work[row]

    def after(self, work: TracedOp, *hazards: str) -> list[TracedOp]:
        """The operations that ``work`` came after, for one of these reasons."""
        rows = [row for row in self._dependencies_of[work.id] if self._hazard.item(row) in hazards]
        return [self._work[self._work_rows[self._on.item(row)]] for row in rows]

    def moved(self, work: TracedOp) -> list[TracedMessage]:
        """The transactions that carried out ``work``."""
        return [self._messages[self._message_rows[self._moved.item(row)]] for row in self._moved_by[work.id]]

    def ended(self, component: str, time: float) -> list[TracedOp]:
        """The operations that ended at exactly this time there."""
        found = [self._work[row] for row in self._ended[time]]
        return [work for work in found if work.component == component]

    def parts(self, work: TracedOp) -> list[TracedOp]:
        """The operations that are parts of ``work``."""
        return [self._work[row] for row in self._children[work.id]]

    def last_part(self, work: TracedOp, until: float) -> TracedOp | None:
        """The stage of a command that ended last, at ``until`` or before: one of its tiles', or its own."""
        rows = self._children[work.id]
        if work.stage or not rows:
            rows = [*rows, self._work_rows[work.id]]
        ends, ids = self._work.numbers("t_end"), self._work.numbers("id")
        done = np.array(rows)[ends[rows] <= until + CLOSE_NS]
        if not done.size:
            return None
        return self._work[done[np.lexsort((ids[done], ends[done]))[-1]].item()]

    # -- indices that not every walk needs ----------------------------------------------------------

    @cached_property
    def _answered(self) -> Groups:
        return Groups(self._messages.numbers("t_done"))

    @cached_property
    def _ended(self) -> Groups:
        return Groups(self._work.numbers("t_end"))

    @cached_property
    def _children(self) -> Groups:
        return Groups(self._work.numbers("parent"))

    @cached_property
    def _of_launch(self) -> Groups:
        return Groups(self._launch_numbers)

    @cached_property
    def _to_pes(self) -> npt.NDArray[np.bool_]:
        launches = self._messages.texts("kind").rows("launch".__eq__)
        return launches & self._messages.texts("dst").rows(lambda name: name.endswith(".pe_cpu"))

    @cached_property
    def _answers(self) -> npt.NDArray[np.bool_]:
        return self._messages.texts("kind").rows("launch_done".__eq__)

    @cached_property
    def _previous(self) -> Ints:
        """By row of a PE's answer the row of its answer to the launch before; -1 for others and at first."""
        sources = self._messages.texts("src")
        rows = np.flatnonzero(self._answers & sources.rows(lambda name: name.endswith(".pe_cpu")))
        rows = rows[np.lexsort((self._launch_numbers[rows], sources.codes[rows]))]
        same = sources.codes[rows[1:]] == sources.codes[rows[:-1]]
        previous = np.full(len(self._messages), -1, np.int64)
        previous[rows[1:][same]] = rows[:-1][same]
        return previous

    def _last(self, rows: Ints) -> TracedMessage:
        done = self._messages.numbers("t_done")[rows]
        rows = rows[done == done.max()]
        return self._messages[rows[np.argmax(self._messages.numbers("id")[rows])].item()]


def _columns(tables: Mapping[str, pa.Table], table: str, names: tuple[str, ...]) -> list[npt.NDArray[Any]]:
    """Columns of a table that some runs lack; empty ones then."""
    of = tables.get(table) or pa.table({name: pa.array([], pa.float64()) for name in names})
    return [of[name].to_numpy() for name in names]
