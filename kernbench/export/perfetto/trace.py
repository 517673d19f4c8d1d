"""The whole trace: which slices there are, on which tracks, with which arguments and arrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints, Texts
from kernbench.analysis.use import time_counters, time_lines
from kernbench.analysis.use.time_lines import Lines
from kernbench.analysis.windows.time_window import Window
from kernbench.export.perfetto.arrows import Arrows
from kernbench.export.perfetto.events import Slices, levels
from kernbench.export.perfetto.texts import NAMES, VALUES, Interned
from kernbench.export.perfetto.tracks import Path, Tracks, path_of

TICKS = {"ns": 1.0, "ps": 1000.0}
"""Ticks of Perfetto's clock in a simulated ns, by unit. Perfetto takes a tick for a ns."""


@dataclass(frozen=True, slots=True)
class Options:
    """Things to show beside launches, kernels, operations, messages and counters."""

    links: bool = False
    """Every crossing of a component or link."""
    waits: bool = False
    """Every wait of a transaction for another, on pseudo-channels too."""
    ticks: str = "ns"
    """The simulated time that a tick of Perfetto's clock, a ns there, stands for."""


def write(
    out: BinaryIO, info: Mapping[str, Any], tables: Mapping[str, pa.Table], window: Window, options: Options
) -> int:
    """Write the window of a run to ``out``; gives the number of slices. Time 0 is the window's start."""
    builder = _Builder(info, tables, window, options)
    slices = list(builder.slices())
    counted = list(builder.counters())
    for group in slices:
        group.intern(builder.interned)
    # Readers want texts and tracks before the events that name them.
    out.write(builder.interned.packet())
    for packet in builder.tracks.packets():
        out.write(packet)
    for group in slices:
        for block in group.packets(builder.interned):
            out.write(block)
    for packet in counted:
        out.write(packet)
    return sum(len(group.track) for group in slices)


class _Builder:
    def __init__(
        self, info: Mapping[str, Any], tables: Mapping[str, pa.Table], window: Window, options: Options
    ) -> None:
        self.info = info
        self.tables = tables
        self.window = window
        self.options = options
        self.tracks = Tracks()
        self.interned = Interned()
        self.start = window.spans[0][0] if window.spans else 0.0

    def slices(self) -> Iterator[Slices]:
        """All slices, a group for each table."""
        tables, window = self.tables, self.window
        yield self._run()
        if self.info["launches"]:
            yield self._launches()
        kernels = time_lines.kernels(self.info["launches"], tables, window)
        yield self._group(
            kernels, lambda place: (*place.split("."), "kernel"), numbers={"launch": kernels.rows}
        )
        ops, messages = time_lines.operations(tables, window), time_lines.messages(tables, window)
        crossings = time_lines.crossings(tables, window) if self.options.links or self.options.waits else None
        waits = time_lines.waits(tables, window) if self.options.waits else None
        arrows = Arrows(tables, ops, messages, crossings if self.options.links else None, waits)
        yield self._operations(ops, arrows)
        yield self._messages(messages, arrows)
        if crossings is not None and self.options.links:
            yield self._crossings(crossings, arrows)
        if waits is not None:
            yield self._waits(waits, arrows)

    def counters(self) -> Iterator[bytes]:
        """All counters."""
        for counter in time_counters.counters(self.tables, self.window):
            parent = path_of(counter.place)[:-1] if counter.place else ("bandwidth",)
            track = self.tracks.counter((*parent, counter.name), counter.unit)
            yield levels(track, self._ticks(counter.times), counter.values)

    def _run(self) -> Slices:
        info = self.info
        text = f"{info['bench']} on {info['topology_name']}, {self.window.name}"
        end = self.window.spans[-1][1] if self.window.spans else self.start
        texts = {"run": str(info.get("id", "")), "bench": info["bench"], "params": info["params"]}
        return Slices(
            np.array([self.tracks.of(("run",))]),
            self._ticks(np.array([self.start])),
            self._ticks(np.array([end])),
            np.array([self.interned.of(NAMES, text)]),
            times={"t_start": np.array([self.start]), "t_end": np.array([end])},
            texts={name: np.array([self.interned.of(VALUES, value)]) for name, value in texts.items()},
        )

    def _launches(self) -> Slices:
        launches = self.info["launches"]
        chosen = time_lines.launches(launches, self.window)
        figures = {
            name: np.array([launches[row][name] for row in chosen.rows.tolist()])
            for name in ("pes", "t_start", "t_done")
        }
        return self._group(
            chosen,
            lambda _: ("launches",),
            numbers={"launch": chosen.rows, "pes": figures["pes"]},
            times={"t_start": figures["t_start"], "t_end": figures["t_done"]},
        )

    def _operations(self, ops: Lines, arrows: Arrows) -> Slices:
        at = self._columns("Op", ops.rows)
        return self._group(
            ops,
            path_of,
            numbers={"op": at["number"], "bytes": at["bytes"], "flops": at["flops"]},
            times={
                "waited_ns": at["t_start"] - at["t_ready"],
                "t_start": at["t_start"],
                "t_end": at["t_end"],
            },
            texts={"source": self._texts("Op", "source", ops.rows)},
            flows=arrows.operations,
        )

    def _messages(self, messages: Lines, arrows: Arrows) -> Slices:
        at = self._columns("Transaction", messages.rows)
        return self._group(
            messages,
            lambda place: (*path_of(place)[:-1], f"{path_of(place)[-1]} messages"),
            numbers={"transaction": at["number"], "bytes": at["bytes"]},
            times={"wait_ns": at["wait_ns"], "t_start": at["t_submit"], "t_end": at["t_done"]},
            texts={"to": self._texts("Transaction", "dst", messages.rows)},
            flows=arrows.messages,
        )

    def _crossings(self, hops: Lines, arrows: Arrows) -> Slices:
        at = self._columns("Hop", hops.rows)
        return self._group(
            hops,
            lambda place: path_of(place) if "->" in place else (*path_of(place), "crossings"),
            numbers={"transaction": at["txn"], "seq": at["seq"].astype(np.int64), "bytes": at["bytes"]},
            times={"wait_ns": at["wait_ns"], "t_start": at["t_start"], "t_end": at["t_out"]},
            flows=arrows.crossings,
        )

    def _waits(self, waits: Lines, arrows: Arrows) -> Slices:
        at = self._columns("WaitedFor", waits.rows)
        return self._group(
            waits,
            lambda place: (*path_of(place)[:-1], f"{path_of(place)[-1]} waits"),
            numbers={"transaction": at["txn"], "holder": at["holder"], "holders": at["holders"]},
            times={"ns": at["ns"], "t_start": at["t_from"], "t_end": at["t_to"]},
            flows=arrows.waits,
        )

    def _group(self, lines: Lines, path: Callable[[str], Path], **rest: Any) -> Slices:
        """The slices of lines, each place on the track of its path, in as many lanes as it needs."""
        begin, end = self._ticks(lines.begin), self._ticks(lines.end)
        lane = time_lines.lanes(lines.place, begin, end)
        many = int(lane.max(initial=0)) + 1
        keys, position = np.unique(lines.place * many + lane, return_inverse=True)
        numbers = [self.tracks.of(path(lines.places[key // many]), key % many) for key in keys.tolist()]
        return Slices(
            np.array(numbers, np.int64)[position],
            begin,
            end,
            self.interned.all(NAMES, lines.names, lines.name),
            **rest,
        )

    def _columns(self, table: str, rows: Ints) -> dict[str, NDArray[Any]]:
        found = self.tables[table]
        numeric = (name for name in found.column_names if not pa.types.is_string(found[name].type))
        return {name: found[name].to_numpy()[rows] for name in numeric}

    def _texts(self, table: str, column: str, rows: Ints) -> Ints:
        texts = Texts(self.tables[table][column])
        return self.interned.all(VALUES, texts.all(), texts.codes[rows])

    def _ticks(self, times: NDArray[np.float64]) -> Ints:
        return np.rint((times - self.start) * TICKS[self.options.ticks]).astype(np.int64)
