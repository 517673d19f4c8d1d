"""A timeline of a run: for each track the share of each interval in which it was occupied.

A component that executes operations is occupied while they last; any other component, or a link, from
the first flit of a transaction that it serves to the last one that leaves. Overlaps count once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.path.model_time import launch_name
from kernbench.analysis.use.occupancy import has_times
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.analysis.windows.time_window import Floats
from kernbench.api.open_runs import OpenRun
from kernbench.api.summary import ALL, busiest
from kernbench.draw.timeline.model import shares

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = ("all", "components", "links")
"""The choices of tracks."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """An interval of simulated time, ns."""

    begin: float
    end: float

    def zoomed(self, factor: float, within: TimeSpan) -> TimeSpan:
        """Its middle part, ``factor`` times as long, as far as it lies within another."""
        middle, half = (self.begin + self.end) / 2, (self.end - self.begin) * factor / 2
        return TimeSpan(max(middle - half, within.begin), min(middle + half, within.end))

    def moved(self, share: float, within: TimeSpan) -> TimeSpan:
        """Moved by a share of its length, not beyond another."""
        length = self.end - self.begin
        begin = min(max(self.begin + share * length, within.begin), within.end - length)
        return TimeSpan(begin, begin + length)


class Timeline:
    """The tracks of a window of a run; a track's intervals are looked up when it is seen."""

    def __init__(self, opened: OpenRun, window: ChosenWindow) -> None:
        chosen = opened.run.window(window)
        self.name = chosen.name
        self.whole = TimeSpan(chosen.spans[0][0], chosen.spans[-1][1]) if chosen.spans else TimeSpan(0.0, 0.0)
        self.launches = [
            (f"launch {one['launch']} {launch_name(one)}", float(one["t_start"]), float(one["t_done"]))
            for one in opened.run.launches
        ]
        used = busiest(opened.run.known_use(window), ALL)
        self._used = [(row["resource"], row["kind"]) for row in used]
        self._ops = _Intervals(opened.run.table("Op"), "component", "t_start", "t_end")
        self._hops = _Intervals(opened.run.table("Hop"), "resource", "t_start", "t_out")

    def tracks(self, shown: str) -> list[str]:
        """Names of tracks, busiest first: ``all``, or ``components`` or ``links`` alone.

        Wires within a PE, which messages do not cross, have no times of their own and so no track.
        """
        timed = [
            name for name, kind in self._used if has_times(kind) and (name in self._ops or name in self._hops)
        ]
        return timed if shown == "all" else [name for name in timed if ("->" in name) == (shown == "links")]

    def shares(self, track: str, span: TimeSpan, bins: int) -> Floats:
        """The share of each of ``bins`` equal intervals of ``span`` in which a track was occupied."""
        found = self._ops.of(track)
        begins, ends = found if found is not None else self._hops.of(track) or (np.zeros(0), np.zeros(0))
        return occupancy(begins, ends, span, bins)

    def launch_shares(self, number: int, span: TimeSpan, bins: int) -> Floats:
        """The same for a launch."""
        _, begin, end = self.launches[number]
        return occupancy(np.array([begin]), np.array([end]), span, bins)


def occupancy(begins: Floats, ends: Floats, span: TimeSpan, bins: int) -> Floats:
    """The share of each bin that intervals cover, overlaps counted once."""
    if span.end <= span.begin or bins < 1:
        return np.zeros(max(bins, 0))
    return shares(begins, ends, np.linspace(span.begin, span.end, bins + 1))


class _Intervals:
    """Intervals of a table, looked up by the resource that they are on."""

    def __init__(self, table: pa.Table, name: str, begin: str, end: str) -> None:
        import pyarrow.compute as pc

        encoded = pc.dictionary_encode(table[name]).combine_chunks()
        chunk = encoded.chunk(0) if hasattr(encoded, "chunk") else encoded
        self._codes = {text: code for code, text in enumerate(chunk.dictionary.to_pylist())}
        codes = chunk.indices.to_numpy(zero_copy_only=False)
        self._order = np.argsort(codes, kind="stable")
        self._edges = np.searchsorted(codes[self._order], np.arange(len(self._codes) + 1))
        self._times: Sequence[Any] = (table[begin].to_numpy(), table[end].to_numpy())

    def __contains__(self, track: str) -> bool:
        return track in self._codes

    def of(self, track: str) -> tuple[Floats, Floats] | None:
        """Begins and ends on a resource; None where there is none."""
        code = self._codes.get(track)
        if code is None:
            return None
        rows = self._order[self._edges[code] : self._edges[code + 1]]
        begins, ends = (times[rows] for times in self._times)
        return begins, ends
