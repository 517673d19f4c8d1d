"""A run as lines of intervals, in columns: operations, messages, crossings, waits.

Every picture of time is made of these: the terminal's, the SVG, and the files for other tools. A set of lines
holds the intervals of one table of the trace, each at a place: the component or link where it happened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.path.model_time import launch_name
from kernbench.analysis.trace_tables import Ints, RowsOf, Texts
from kernbench.analysis.use.pe_times import pe_times
from kernbench.analysis.windows.time_window import Floats, Window


@dataclass(frozen=True)
class Lines:
    """Intervals ``begin`` to ``end``, ns, cut to a window. Each is a row ``row`` of table ``table``."""

    table: str
    rows: Ints
    """Rows of the table, by interval."""
    places: Sequence[str]
    """Components and links by code."""
    place: Ints
    """The code of its place, by interval."""
    names: Sequence[str]
    """Names for people by code."""
    name: Ints
    begin: Floats
    end: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, chosen: NDArray[Any]) -> Lines:
        """The intervals that ``chosen``, a mask or an array of positions, picks."""
        return Lines(
            self.table, self.rows[chosen], self.places, self.place[chosen], self.names, self.name[chosen],
            self.begin[chosen], self.end[chosen],
        )  # fmt: skip


def operations(tables: Mapping[str, pa.Table], window: Window) -> Lines:
    """Operations and stages of tiles, at the engines that carried them out, from start to end.

    They have the names that they were given, or else those of their sort.
    """
    table = tables["Op"]
    labels, sorts = Texts(table["label"]), Texts(table["name"])
    lines = _lines("Op", table, Texts(table["component"]), labels, "t_start", "t_end", window)
    unnamed = labels.rows("".__eq__)[lines.rows]
    if not unnamed.any():
        return lines
    name = np.where(unnamed, len(lines.names) + sorts.codes[lines.rows], lines.name)
    return replace(lines, names=[*lines.names, *sorts.all()], name=name)


def messages(tables: Mapping[str, pa.Table], window: Window) -> Lines:
    """Transactions, at the components that sent them, from their sending to the end of their answers."""
    table = tables["Transaction"]
    kinds = Texts(table["kind"])
    return _lines("Transaction", table, Texts(table["src"]), kinds, "t_submit", "t_done", window)


def crossings(tables: Mapping[str, pa.Table], window: Window) -> Lines:
    """Transactions at each component and link on their way: first flit served to last flit gone."""
    return _of_transactions(tables, "Hop", "t_start", "t_out", window)


def waits(tables: Mapping[str, pa.Table], window: Window) -> Lines:
    """Transactions that stood behind another, at the component or link, or the part of it, that was held."""
    found = _of_transactions(tables, "WaitedFor", "t_from", "t_to", window)
    return replace(found, names=[f"{kind} waits" for kind in found.names])


def _of_transactions(tables: Mapping[str, pa.Table], of: str, begin: str, end: str, window: Window) -> Lines:
    """Rows of table ``of`` at their resources, named after the kinds of their transactions."""
    table, kinds = tables[of], Texts(tables["Transaction"]["kind"])
    found = _lines(of, table, Texts(table["resource"]), None, begin, end, window)
    name = kinds.codes[transaction_rows(tables, table["txn"].to_numpy()[found.rows])]
    return replace(found, names=kinds.all(), name=name.astype(np.int64))


def launches(launched: Sequence[Mapping[str, Any]], window: Window) -> Lines:
    """Launches by number, all at one place."""
    begin, end = (np.array([float(one[key]) for one in launched]) for key in ("t_start", "t_done"))
    names = [f"launch {one['launch']}: {launch_name(one)}" for one in launched]
    return one_place("launches", names, np.arange(len(launched)), begin, end, window)


def one_place(
    place: str, names: Sequence[str], rows: Ints, begin: Floats, end: Floats, window: Window
) -> Lines:
    """Intervals of launches at one ``place``, each with a name of its own."""
    every = np.arange(len(names))
    return within(Lines("Launch", rows, [place], every * 0, names, every, begin, end), window)


def natural(name: str) -> list[tuple[int, str]]:
    """By what names are in order, numbers in them as numbers."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def kernels(launches: Sequence[Mapping[str, Any]], tables: Mapping[str, pa.Table], window: Window) -> Lines:
    """Kernels at the PEs that ran them, from the common start to the end of each PE's own."""
    rows, places, name, begin, end = [], [], [], [], []
    for number, (launch, pes) in enumerate(zip(launches, pe_times(launches, tables), strict=True)):
        for pe, times in pes.items():
            rows.append(number)
            places.append(pe)
            name.append(number)
            begin.append(float(launch["t_start"]))
            end.append(float(launch["t_start"]) + float(times["exec_ns"]))
    distinct = list(dict.fromkeys(places))
    code = {place: number for number, place in enumerate(distinct)}
    lines = Lines(
        "Launch", np.array(rows, np.int64), distinct, np.array([code[p] for p in places], np.int64),
        [launch_name(launch) for launch in launches], np.array(name, np.int64), np.array(begin, float),
        np.array(end, float),
    )  # fmt: skip
    return within(lines, window)


def transaction_rows(tables: Mapping[str, pa.Table], numbers: Ints) -> Ints:
    """The rows of the transactions with these numbers."""
    return RowsOf(tables["Transaction"]["number"].to_numpy()).of(numbers)


def lanes(place: Ints, begin: Ints, end: Ints) -> Ints:
    """The lane of each interval, from 0: at one place no two of a lane overlap. Times are whole ticks.

    The first lane that is free is taken, in order of beginning, so that few are needed.
    """
    lane = np.zeros(len(place), np.int64)
    order = np.lexsort((end, begin, place))
    place, begin, end = place[order], begin[order], end[order]
    bounds = np.flatnonzero(np.diff(place, prepend=-1, append=-1))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        latest = np.maximum.accumulate(end[first:last])
        if np.all(begin[first + 1 : last] >= latest[:-1]):
            continue
        idle: list[int] = []
        busy: list[tuple[int, int]] = []
        found = []
        for at, until in zip(begin[first:last].tolist(), end[first:last].tolist(), strict=True):
            while busy and busy[0][0] <= at:
                heappush(idle, heappop(busy)[1])
            taken = heappop(idle) if idle else len(busy)
            heappush(busy, (until, taken))
            found.append(taken)
        lane[order[first:last]] = found
    return lane


def _lines(
    name: str, table: pa.Table, places: Texts, names: Texts | None, begin: str, end: str, window: Window
) -> Lines:
    count = table.num_rows
    lines = Lines(
        name,
        np.arange(count),
        places.all(),
        places.codes.astype(np.int64),
        names.all() if names else [],
        names.codes.astype(np.int64) if names else np.zeros(count, np.int64),
        table[begin].to_numpy(),
        table[end].to_numpy(),
    )
    return within(lines, window)


def within(lines: Lines, window: Window) -> Lines:
    """The intervals that overlap the window, cut to its ends."""
    if not window.spans:
        return lines.only(np.zeros(len(lines), np.bool_))
    found = lines.only(window.touches(lines.begin, lines.end))
    first, last = window.spans[0][0], window.spans[-1][1]
    return replace(found, begin=np.clip(found.begin, first, last), end=np.clip(found.end, first, last))
