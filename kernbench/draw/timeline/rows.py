"""The rows of a timeline, from the tables of a trace; those equal by symmetry are folded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kernbench.analysis.trace_tables import Ints, Texts, host_of
from kernbench.analysis.use import time_lines
from kernbench.analysis.use.occupancy import covered_ns, has_times, occupied_ns
from kernbench.analysis.use.time_lines import Lines, natural
from kernbench.analysis.windows.chosen_window import ALL
from kernbench.analysis.windows.estimate_bounds import Repeated, repeated
from kernbench.analysis.windows.time_window import Floats, Window, select
from kernbench.draw.timeline.line import TimeLine
from kernbench.draw.timeline.model import NAMES, RowGroup, TimelineRow

_ENGINES = {
    "pe_gemm": "gemm", "pe_math": "math", "pe_fetch_store": "move", "pe_scheduler": "composite",
    "pe_ipcq": "queue",
}  # fmt: skip
"""Category of an engine's operations; that of DMA depends on the operation."""
_ORDER = ("host", "launches", "kernel", "pe_scheduler", "pe_gemm", "pe_math", "pe_fetch_store", "pe_dma")
_WHAT = {"Op": "op", "Hop": "transaction"}
_TICKS = 1000.0
"""Per ns: the coarsest time that tells rows apart."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A choice of rows."""

    links: bool = False
    """The parts that transactions crossed, the most occupied first: links, memories, routers, CPUs."""
    waits: bool = True
    """The time that operations and transactions stood before an engine or link."""
    fold: bool = True
    """Equal rows once."""
    groups: int = 16
    """PEs at most, and as many of what transactions crossed; 0: all."""


def time_line(
    info: Mapping[str, Any], tables: Mapping[str, pa.Table], window: Window, wanted: Wanted
) -> TimeLine:
    """The timeline of a window of a run with these properties and tables."""
    start = window.spans[0][0] if window.spans else 0.0
    end = window.spans[-1][1] if window.spans else start
    machine = _Rows(tables, window, start, wanted)
    host = machine.host(info["launches"], repeated(info))
    pes, rest = _fold(machine.pes(info["launches"]), wanted)
    links: list[RowGroup] = []
    if wanted.links:
        links, more = machine.crossed()
        rest += more
    launched = select(info, ALL) if info["launches"] else None
    inside = launched is not None and all(
        any(first <= begin and stop <= last for first, last in launched.spans) for begin, stop in window.spans
    )
    setup_ns = float(info["sim_ns"]) - launched.ns if launched is not None and inside else 0.0
    title = f"{info['bench']} on {info['topology_name']}, {window.name}"
    return TimeLine(title, start, end - start, (*host, *pes, *links), rest, setup_ns)


class _Rows:
    def __init__(self, tables: Mapping[str, pa.Table], window: Window, start: float, wanted: Wanted) -> None:
        self.tables = tables
        self.window = window
        self.start = start
        self.wanted = wanted
        self.ops = time_lines.operations(tables, window)
        self.of_host = "", host_of(tables)
        """Places of operations that are not of a PE."""

    def host(self, launches: Sequence[Mapping[str, Any]], repeats: Sequence[Repeated]) -> list[RowGroup]:
        """The launches, periods that were not simulated as one bar, and the operations of the host."""
        rows = []
        if launches:
            chosen = time_lines.launches(launches, self.window)
            if len(chosen):
                rows.append(self._row("launches", "launches", chosen, "launch"))
        if repeats:
            begin, end = (np.array(times) for times in zip(*((r.begin, r.end) for r in repeats), strict=True))
            names = [f"{one.times} more of {one.name}" for one in repeats]
            none = np.full(len(repeats), -1)
            chosen = time_lines.one_place("repeats", names, none, begin, end, self.window)
            if len(chosen):
                rows.append(self._row("repeats", "not simulated", chosen, "launch"))
        mine = [code for code, place in enumerate(self.ops.places) if place in self.of_host]
        for code in mine:
            chosen = self.ops.only(self.ops.place == code)
            if len(chosen):
                rows.append(self._row(self.ops.places[code], self.ops.places[code], chosen, ""))
        return [RowGroup("host", tuple(rows))] if rows else []

    def pes(self, launches: Sequence[Mapping[str, Any]]) -> list[RowGroup]:
        """A group for each PE that did something, its kernel above its engines."""
        found: dict[str, dict[str, TimelineRow]] = {}
        kernels = time_lines.kernels(launches, self.tables, self.window)
        for code, chosen in _by_place(kernels):
            place = kernels.places[code]
            found.setdefault(place, {})["kernel"] = self._row(place, "kernel", chosen, "kernel")
        for code, chosen in _by_place(self.ops):
            place, _, engine = self.ops.places[code].rpartition(".")
            if self.ops.places[code] not in self.of_host:
                row = self._row(self.ops.places[code], engine, chosen, _ENGINES.get(engine, ""))
                found.setdefault(place, {})[engine] = row
        return [
            RowGroup(place, tuple(rows[name] for name in sorted(rows, key=_rank)))
            for place, rows in sorted(found.items(), key=lambda item: natural(item[0]))
        ]

    def crossed(self) -> tuple[list[RowGroup], int]:
        """A group for each place to show that transactions crossed, and the number of those left out.

        The most occupied come first. Engines are left out, for they have rows of their operations. Thousands
        were crossed and few are shown, so that only the latter become rows.
        """
        use = (self.tables["Use"][name].to_pylist() for name in ("resource", "kind"))
        shown = {name for name, kind in zip(*use, strict=True) if has_times(kind)} - set(self.ops.places)
        lines = time_lines.crossings(self.tables, self.window)
        occupied = occupied_ns(self.tables, self.window)
        found = [
            (occupied[lines.places[code]], lines.places[code], chosen)
            for code, chosen in _by_place(lines)
            if lines.places[code] in shown and occupied[lines.places[code]] > 0
        ]
        found.sort(key=lambda one: (-round(one[0], 9), natural(one[1])))
        alike: dict[object, int] = {}
        first: list[tuple[str, Lines]] = []
        for _, place, chosen in found:
            chosen = _in_order(chosen)
            key = self._crossings_key(place, chosen) if self.wanted.fold else place
            if key not in alike:
                first.append((place, chosen))
            alike[key] = alike.get(key, 0) + 1
        limit = self.wanted.groups or len(first)
        groups = [
            RowGroup(place, (self._row(place, place, chosen, "crossing"),), count)
            for (place, chosen), count in zip(first[:limit], alike.values(), strict=False)
        ]
        return groups, len(first) - len(groups)

    def _times(self, lines: Lines) -> tuple[Floats, Floats]:
        return _round(lines.begin - self.start), _round(lines.end - self.start)

    def _crossings_key(self, place: str, lines: Lines) -> object:
        """Equal for places that differ in the numbers of their names alone; ``lines`` are in order."""
        columns = (*self._times(lines), lines.name, *self._waits(lines))
        return re.sub(r"\d+", "#", place), *(values.tobytes() for values in columns)

    def _row(self, place: str, label: str, lines: Lines, category: str) -> TimelineRow:
        """The row of lines at one place; ``category`` of all bars, or empty to go by the operation."""
        lines = _in_order(lines)
        begin, end = self._times(lines)
        ticks = [np.rint(times * _TICKS).astype(np.int64) for times in (begin, end)]
        waits = self._waits(lines)
        return TimelineRow(
            place,
            label,
            begin,
            end,
            self._categories(lines, category),
            time_lines.lanes(lines.place, *ticks),
            tuple([lines.names[code] for code in lines.name.tolist()]),
            self._numbers(lines),
            tuple(self._sources(lines)),
            _WHAT.get(lines.table, ""),
            *waits,
            self._occupancy(lines),
        )

    def _occupancy(self, lines: Lines) -> float:
        ns = self.window.ns
        return covered_ns(lines.begin, lines.end, self.window) / ns if ns > 0 else 0.0

    def _waits(self, lines: Lines) -> tuple[Floats, Floats]:
        came = {"Op": "t_ready", "Hop": "t_in"}.get(lines.table)
        if came is None or not self.wanted.waits:
            return np.zeros(0), np.zeros(0)
        ready, begun = (self.tables[lines.table][name].to_numpy()[lines.rows] for name in (came, "t_start"))
        chosen = begun > ready + 1e-9
        first = self.window.spans[0][0]
        begin = np.maximum(ready[chosen], first)
        return _round(begin - self.start), _round(begun[chosen] - self.start)

    def _categories(self, lines: Lines, category: str) -> Ints:
        if category:
            return np.full(len(lines), NAMES.index(category), np.int64)
        texts = Texts(self.tables["Op"]["name"])
        of = np.array([NAMES.index(_of_dma(name)) for name in texts.all()], np.int64)
        codes: Ints = of[texts.codes[lines.rows]]
        return codes

    def _numbers(self, lines: Lines) -> Ints:
        column = {"Op": "number", "Hop": "txn"}.get(lines.table)
        if column is None:
            return np.full(len(lines), -1, np.int64)
        return np.asarray(self.tables[lines.table][column].to_numpy()[lines.rows], np.int64)

    def _sources(self, lines: Lines) -> list[str]:
        if lines.table != "Op":
            return [""] * len(lines)
        texts = Texts(self.tables["Op"]["source"])
        return [texts.item(row) for row in lines.rows.tolist()]


def _fold(groups: list[RowGroup], wanted: Wanted) -> tuple[list[RowGroup], int]:
    """The groups to show, equal ones once, and the number of those left out."""
    found: dict[object, RowGroup] = {}
    for group in groups:
        key = _key(group) if wanted.fold else group.place
        known = found.get(key)
        found[key] = group if known is None else RowGroup(known.place, known.rows, known.count + 1)
    shown = list(found.values())
    limit = wanted.groups or len(shown)
    return shown[:limit], len(shown) - min(limit, len(shown))


def _key(group: RowGroup) -> object:
    """Equal for groups that differ in the numbers of their places alone."""
    rows = tuple(
        (row.label if "->" not in row.label else "", row.begin.tobytes(), row.end.tobytes(),
         row.category.tobytes(), row.names, row.wait_begin.tobytes(), row.wait_end.tobytes())
        for row in group.rows
    )  # fmt: skip
    return re.sub(r"\d+", "#", group.place), tuple((re.sub(r"\d+", "#", row[0]), *row[1:]) for row in rows)


def _in_order(lines: Lines) -> Lines:
    return lines.only(np.lexsort((lines.end, lines.begin)))


def _by_place(lines: Lines) -> list[tuple[int, Lines]]:
    order = np.argsort(lines.place, kind="stable")
    codes, first = np.unique(lines.place[order], return_index=True)
    ends = [*first.tolist(), len(order)][1:]
    return [
        (code, lines.only(order[a:b]))
        for code, a, b in zip(codes.tolist(), first.tolist(), ends, strict=True)
    ]


def _round(times: Floats) -> Floats:
    """To a millionth of a ns: what is left of sums of times is not a difference between rows."""
    return np.asarray(np.round(times, 6) + 0.0)


def _of_dma(name: str) -> str:
    return "queue" if name.startswith("ipcq") else "read" if "read" in name else "write"


def _rank(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)
