"""A kept trace, indexed for walking it backwards: what ended when, what belongs to what.

Only keys are read and sorted beforehand, a column at a time; records are made where the walk goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kernbench.analysis.columns import Groups, Ints, RowsOf, Texts
from kernbench.analysis.trace_records import Message, Place, Records, Work

CLOSE_NS = 1e-6
"""Times that differ by less are one; far above rounding, far below anything that is simulated."""


class TraceIndex:
    """The tables of one run. ``launches`` are those of the run's info."""

    def __init__(self, tables: Mapping[str, pa.Table], launches: Sequence[Mapping[str, Any]]) -> None:
        self.launches = list(launches)
        self._messages = Records(tables["Transaction"], Message)
        self._message_rows = RowsOf(self._messages.numbers("id"))
        self._hops = Records(tables["Hop"], Place)
        self._hops_of = Groups(tables["Hop"]["txn"].to_numpy())
        self._work = Records(tables["Op"], Work)
        self._work_rows = RowsOf(self._work.numbers("id"))
        moved, depends, caused = tables["Moved"], tables["DependsOn"], tables["Caused"]
        self._moved_by = Groups(moved["op"].to_numpy())
        self._moved = moved["txn"].to_numpy()
        self._dependencies_of = Groups(depends["op"].to_numpy())
        self._on, self._hazard = depends["on"].to_numpy(), Texts(depends["hazard"])
        self._parents = np.full(len(self._messages), -1, np.int64)
        """Row of the message that brought a message about, by row; -1 where the host did."""
        children = self._message_rows.of(caused["child"].to_numpy())
        self._parents[children] = self._message_rows.of(caused["parent"].to_numpy())
        used = tables["Used"]
        self.kinds = dict(zip(used["resource"].to_pylist(), used["kind"].to_pylist(), strict=True))

    def __bool__(self) -> bool:
        """Whether there is any transaction."""
        return len(self._messages) > 0

    # -- transactions -------------------------------------------------------------------------------

    def last_answered(self, until: float) -> Message:
        """The message that was answered last, at ``until`` or before."""
        done = self._messages.numbers("t_done")
        return self._last(np.flatnonzero(done <= until + CLOSE_NS))

    def last_answer(self, launch: int) -> Message:
        """The answer that ended ``launch``."""
        rows = np.array(self._of_launch[launch], np.int64)
        return self._last(rows[self._answers[rows]])

    def answered(self, time: float) -> list[Message]:
        """The messages that were answered at exactly this time."""
        return [self._messages[row] for row in self._answered[time]]

    def way(self, message: Message) -> list[Place]:
        """The places that ``message`` went through, out and back, in order."""
        return [self._hops[row] for row in self._hops_of[message.id]]

    def cause(self, message: Message) -> Message | None:
        """The message that brought ``message`` about; ``None`` when the host sent it of itself."""
        row = self._parents.item(self._message_rows[message.id])
        return None if row < 0 else self._messages[row]

    # -- launches -----------------------------------------------------------------------------------

    def launch_of(self, message: Message) -> int | None:
        """Number of the launch that a launch message, or an answer to it, belongs to."""
        number = self._launch_numbers.item(self._message_rows[message.id])
        return None if number < 0 else number

    def told(self, launch: int) -> list[Message]:
        """The messages by which the PEs were told of ``launch``."""
        return [self._messages[row] for row in self._of_launch[launch] if self._to_pes[row]]

    def freed(self, launch: int) -> list[Message]:
        """The answers by which the PEs of ``launch`` ended the kernels that they ran before it."""
        rows = np.array(self._of_launch[launch], np.int64)
        before = self._previous[rows]
        return [self._messages[row] for row in before[before >= 0].tolist()]

    # -- operations ---------------------------------------------------------------------------------

    def work(self, number: int) -> Work | None:
        """The operation with this id."""
        row = self._work_rows.find(number)
        return None if row is None else self._work[row]

    def after(self, work: Work, *hazards: str) -> list[Work]:
        """The operations that ``work`` came after, for one of these reasons."""
        rows = [row for row in self._dependencies_of[work.id] if self._hazard.item(row) in hazards]
        return [self._work[self._work_rows[self._on.item(row)]] for row in rows]

    def moved(self, work: Work) -> list[Message]:
        """The transactions that carried out ``work``."""
        return [self._messages[self._message_rows[self._moved.item(row)]] for row in self._moved_by[work.id]]

    def ended(self, component: str, time: float) -> list[Work]:
        """The operations that ended at exactly this time there."""
        found = [self._work[row] for row in self._ended[time]]
        return [work for work in found if work.component == component]

    def last_part(self, work: Work, until: float) -> Work | None:
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

    @cached_property
    def _launch_numbers(self) -> Ints:
        """Number of the launch by message row, -1 for messages of none.

        The host sends launches in order, each to as many SIPs as it takes to reach its PEs.
        """
        roots = _roots(self._parents)
        pes = np.bincount(roots[self._to_pes], minlength=len(roots))
        ids = self._messages.numbers("id")
        sent = np.flatnonzero(pes > 0)
        number_of_root = np.full(len(roots), -1, np.int64)
        number = reached = 0
        for root in sent[np.argsort(ids[sent])].tolist():
            number_of_root[root] = number
            reached += int(pes[root])
            if reached == self.launches[number]["pes"]:
                number, reached = number + 1, 0
        return number_of_root[roots]

    def _last(self, rows: Ints) -> Message:
        done = self._messages.numbers("t_done")[rows]
        rows = rows[done == done.max()]
        return self._messages[rows[np.argmax(self._messages.numbers("id")[rows])].item()]


def _roots(parents: Ints) -> Ints:
    """By row the first of the chain of parents, itself where there is none."""
    roots = np.where(parents >= 0, parents, np.arange(len(parents)))
    while not np.array_equal(further := roots[roots], roots):
        roots = further
    return roots
