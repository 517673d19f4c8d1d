"""Slices and counters as packets, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints
from kernbench.export import wire
from kernbench.export.perfetto.texts import ARGUMENTS, SEQUENCE, Interned

_BEGIN, _END, _COUNTER = 1, 2, 4
_TRACK_EVENT = 11
_REST = wire.field(10, SEQUENCE) + wire.field(13, 2)
"""Of every packet of an event: its sequence, and that it refers to what was defined there."""
_AT_ONCE = 100_000
"""Rows that are encoded together."""

Flows = tuple[Ints, Ints]
"""Rows and, for each, an arrow that begins or ends at it."""


@dataclass
class Slices:
    """Intervals on tracks, columns of one length. Two on one track do not overlap."""

    track: Ints
    begin: Ints
    """Ticks."""
    end: Ints
    name: Ints
    """Number of the interned name."""
    numbers: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Arguments that are numbers from 0, by name."""
    times: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Arguments that are ns, exact."""
    texts: Mapping[str, Ints] = field(default_factory=dict)
    """Arguments that are texts, as numbers of interned ones."""
    flows: list[Flows] = field(default_factory=list)

    def intern(self, interned: Interned) -> None:
        """Give the names of the arguments their numbers."""
        for name in (*self.numbers, *self.times, *self.texts):
            interned.of(ARGUMENTS, name)

    def packets(self, interned: Interned) -> Iterator[bytes]:
        """Beginning and end of each, track by track in order of time."""
        order = np.lexsort((self.end, self.begin, self.track))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        rows = np.concatenate([place[rows] for rows, _ in self.flows] or [np.zeros(0, np.int64)])
        ids = np.concatenate([ids for _, ids in self.flows] or [np.zeros(0, np.int64)])
        by_row = np.argsort(rows, kind="stable")
        rows, ids = rows[by_row], ids[by_row]
        for first in range(0, len(order), _AT_ONCE):
            chosen = order[first : first + _AT_ONCE]
            arrows = slice(*np.searchsorted(rows, (first, first + len(chosen))).tolist())
            yield self._block(chosen, rows[arrows] - first, ids[arrows], interned)

    def _block(self, chosen: Ints, rows: Ints, ids: Ints, interned: Interned) -> bytes:
        count = len(chosen)
        track = wire.varints(11, self.track[chosen])
        arguments = [
            *(
                self._argument(name, wire.varints(3, v[chosen]), count, interned)
                for name, v in self.numbers.items()
            ),
            *(
                self._argument(name, wire.doubles(5, v[chosen]), count, interned)
                for name, v in self.times.items()
            ),
            *(
                self._argument(name, wire.varints(17, v[chosen]), count, interned)
                for name, v in self.texts.items()
            ),
        ]
        inside = wire.beside(
            count, wire.field(9, _BEGIN), track, wire.varints(10, self.name[chosen]), *arguments
        )
        stamp = wire.beside(count, wire.varints(8, self.begin[chosen]), _REST)
        arrows = wire.beside(len(ids), wire.fixed(47, ids)) if len(ids) else np.zeros((0, 10), np.uint8)
        counts = np.bincount(rows, minlength=count).astype(np.int64)
        event = wire.open_message(_TRACK_EVENT, count, inside.shape[1], arrows.shape[1] * counts)
        around = stamp.shape[1] + event.shape[1] + inside.shape[1]
        packet = wire.open_message(1, count, around, arrows.shape[1] * counts)
        head = wire.beside(count, packet, stamp, event, inside)
        tail = wire.message(
            1,
            count,
            wire.varints(8, self.end[chosen]),
            _REST,
            wire.message(_TRACK_EVENT, count, wire.field(9, _END), track),
        )
        return wire.splice(head, arrows, counts, wire.beside(count, tail))

    @staticmethod
    def _argument(name: str, value: wire.Part, count: int, interned: Interned) -> wire.Part:
        return wire.message(4, count, wire.field(1, interned.of(ARGUMENTS, name)), value)


def levels(track: int, times: Ints, values: NDArray[np.float64]) -> bytes:
    """The packets of a counter: its value from each of ``times`` on."""
    count = len(times)
    event = wire.message(
        _TRACK_EVENT, count, wire.field(9, _COUNTER), wire.field(11, track), wire.doubles(44, values)
    )
    return wire.beside(count, wire.message(1, count, wire.varints(8, times), _REST, event)).tobytes()
