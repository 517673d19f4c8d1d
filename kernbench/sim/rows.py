"""The rows that a trace gathers while a run goes on: transactions, their hops, their waits.

Buffers are typed arrays; a finished transaction costs a few ``extend`` calls, and nothing is formatted
before the run is over.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.compiled import core
from kernbench.sim.transaction import Hop, Transaction, Wait

_BATCH = 8192
"""Hops that wait as tuples before they go into the columns: few enough to be small, enough to be cheap."""

Layout = tuple[tuple[str, str], ...]
"""Name and type of each column, as a compiled trace lays them out."""

NUMBERS: Layout = (("id", "i8"), ("parent", "i8"), ("op", "i8"), ("launch", "i8"), ("nbytes", "i8"),
                   ("hops", "i8"), ("t_submit", "f8"), ("t_done", "f8"))  # fmt: skip
"""Of each transaction, beside its words."""
HOPS: Layout = (("resource", "i8"), ("t_in", "f8"), ("t_start", "f8"), ("t_out", "f8"), ("service_ns", "f8"),
        ("wait_ns", "f8"), ("nbytes", "i8"))  # fmt: skip
"""Of each hop, in the order of transactions."""
WAITS: Layout = (("of", "i8"), ("holder", "i8"), ("resource", "i8"), ("holders", "i8"), ("seq", "i8"),
         ("ns", "f8"), ("t_from", "f8"), ("t_to", "f8"))  # fmt: skip
"""Of each wait; ``of`` is the transaction that waited."""


class Rows:
    """Rows of transactions that have ended, in columns."""

    def __init__(self) -> None:
        self.kind: list[str] = []
        self.src: list[str] = []
        self.dst: list[str] = []
        self.request: list[str] = []
        self._columns: dict[Layout, list[array[Any]]] = {
            layout: [array("q" if kind == "i8" else "d") for _, kind in layout]
            for layout in (NUMBERS, HOPS, WAITS)
        }
        self._forgotten = 0
        self._numbers: list[tuple[int, int, int, int, int, int, float, float]] = []
        self._hops: list[Hop] = []
        self._waits: list[tuple[int, int, int, int, int, float, float, float]] = []

    def take(self, t: Transaction, launch: int) -> None:
        """Gather ``t``, which has ended and belongs to ``launch`` (-1: to none). It forgets its rows."""
        hops = t._hops
        self.kind.append(t.kind)
        self.src.append(t.src)
        self.dst.append(t.dst)
        self.request.append(t.ids[1])
        self._numbers.append((t.id, t.parent, t.op, launch, t.nbytes, len(hops), t.t_submit, t.t_done))
        self._hops += hops
        if t._waits:
            self._add_waits(t)
        t.forget()
        if len(self._hops) >= _BATCH:
            self._settle()

    def _settle(self) -> None:
        """Move the rows kept as tuples into the columns."""
        for layout, rows in ((NUMBERS, self._numbers), (HOPS, self._hops), (WAITS, self._waits)):
            if rows:
                for column, values in zip(self._columns[layout], zip(*rows, strict=True), strict=True):
                    column.extend(values)
                rows.clear()

    def _add_waits(self, transaction: Transaction) -> None:
        """Waits on one holder at one resource and hop are one row."""
        total: dict[tuple[int, int, int], Wait] = {}
        for wait in transaction._waits:
            key = (wait.holder, wait.resource, wait.seq)
            before = total.get(key)
            total[key] = wait if before is None else _joined(before, wait)
        number = transaction.id
        self._waits += [
            (number, w.holder, w.resource, w.holders, w.seq, w.ns, w.t_from, w.t_to) for w in total.values()
        ]

    @property
    def hop_count(self) -> int:
        """Hops gathered so far, forgotten ones too."""
        return self._forgotten + len(self._columns[HOPS][0]) + len(self._hops)

    def columns(self, layout: Layout) -> dict[str, Any]:
        """The columns of :data:`NUMBERS`, :data:`HOPS` or :data:`WAITS` so far, as arrays by name.

        They are views of the rows themselves: none can be gathered while there are such arrays.
        """
        self._settle()
        return {
            name: np.frombuffer(column, dtype=kind)
            for (name, kind), column in zip(layout, self._columns[layout], strict=True)
        }

    def forget(self, layout: Layout) -> None:
        """Let go of the rows of that kind; their memory goes with the last array of :meth:`columns`.

        Some may be left for a moment: profilers and debuggers hold frames of other threads, and their locals.
        """
        self._settle()
        if layout is HOPS:
            self._forgotten += len(self._columns[HOPS][0])
        self._columns[layout] = [array(column.typecode) for column in self._columns[layout]]


def _joined(first: Wait, second: Wait) -> Wait:
    """Two waits of one transaction on one holder at one hop."""
    return first._replace(
        ns=first.ns + second.ns,
        holders=max(first.holders, second.holders),
        t_from=min(first.t_from, second.t_from),
        t_to=max(first.t_to, second.t_to),
    )


if not TYPE_CHECKING and core is not None:
    _BLOCKS = {NUMBERS: "numbers", HOPS: "hops", WAITS: "waits"}

    class Rows(core.Rows):
        """Rows of transactions that have ended, one struct after the other."""

        def columns(self, layout: Layout) -> dict[str, Any]:
            """As those of the plain class; the fields of a row lie side by side."""
            rows = np.frombuffer(self._block(layout), dtype=np.dtype(list(layout)))
            return {name: rows[name] for name, _ in layout}

        def forget(self, layout: Layout) -> None:
            """As that of the plain class."""
            setattr(self, _BLOCKS[layout], core.Block())

        def _block(self, layout: Layout) -> Any:
            return getattr(self, _BLOCKS[layout])
