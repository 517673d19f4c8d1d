"""Times of steps between those that are simulated: a table that grows where a service goes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Simulate = Callable[[str, int, int], float]
"""ns of a step: its phase, ``decode`` or ``prefill``; sequences; keys of each, or tokens of the prompt."""
_SPACING = {"batch": 4, "keys": 4, "tokens": 2}


def _grid(spacing: int, first: int, least: int) -> tuple[int, ...]:
    """1, ``first``, and that times powers of ``spacing`` up to the first from ``least`` on."""
    found = [1]
    value = first
    while found[-1] < least:
        found.append(value)
        value *= spacing
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Bar:
    """How far off interpolation was at ``points`` points of a grid, each left out: the worst and the mean."""

    points: int
    worst: float
    mean: float


@dataclass(slots=True)
class StepTable:
    """Decode over sequences and keys of each, prefill over tokens; linear between points of a grid.

    A point is simulated when a step first needs it: sequences 1, 4, 16 ..., the last as many as a batch may
    have; keys 1, 16, 64 ...; tokens 1, 16, 32, 64 ....
    """

    simulate: Simulate
    most_batch: int
    decode: dict[tuple[int, int], float] = field(default_factory=dict)
    """ns by sequences and keys."""
    prefill: dict[int, float] = field(default_factory=dict)
    """ns by tokens."""
    _lines: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    """By sequences, the stretch of keys of the last step: from, to, ns at 0 keys, ns a key."""
    _prompts: dict[int, float] = field(default_factory=dict)

    def prefill_ns(self, tokens: int) -> float:
        """See :class:`kernbench.workloads.serving.loop.StepTimes`."""
        known = self._prompts.get(tokens)
        if known is None:
            grid = _grid(_SPACING["tokens"], 16, tokens)
            known = self._prompts[tokens] = _between(grid, tokens, self._prefill_at)
        return known

    def decode_ns(self, batch: int, keys: int) -> float:
        """See :class:`kernbench.workloads.serving.loop.StepTimes`."""
        each = keys / batch
        line = self._lines.get(batch)
        if line is None or not line[0] <= each <= line[1]:
            line = self._lines[batch] = self._line(batch, each)
        return line[2] + line[3] * each

    def bars(self) -> dict[str, Bar]:
        """By phase, of what is simulated so far; a phase without a point between two others lacks one."""
        found = {}
        for name, errors in (
            ("decode", [*_left_out(self._rows()), *_left_out(self._rows(across=True))]),
            ("prefill", [*_left_out([self.prefill])]),
        ):
            if errors:
                found[name] = Bar(len(errors), max(errors), sum(errors) / len(errors))
        return found

    def _rows(self, across: bool = False) -> list[dict[int, float]]:
        rows: dict[int, dict[int, float]] = {}
        for (batch, keys), ns in self.decode.items():
            row, place = (keys, batch) if across else (batch, keys)
            rows.setdefault(row, {})[place] = ns
        return list(rows.values())

    def _line(self, batch: int, each: float) -> tuple[float, float, float, float]:
        """ns of so many sequences between two points of the grid of keys, as a straight line."""
        low, high = _around(_grid(_SPACING["keys"], 16, math.ceil(each)), each)
        smaller = [b for b in _grid(_SPACING["batch"], 4, self.most_batch) if b < self.most_batch]

        def ns_at(keys: int) -> float:
            return _between((*smaller, self.most_batch), batch, lambda b: self._decode_at(b, keys))

        low_ns, high_ns = ns_at(low), ns_at(high)
        slope = (high_ns - low_ns) / (high - low) if high > low else 0.0
        return float(low), float(high), low_ns - slope * low, slope

    def _decode_at(self, batch: int, keys: int) -> float:
        if (batch, keys) not in self.decode:
            self.decode[batch, keys] = self.simulate("decode", batch, keys)
        return self.decode[batch, keys]

    def _prefill_at(self, tokens: int) -> float:
        if tokens not in self.prefill:
            self.prefill[tokens] = self.simulate("prefill", 1, tokens)
        return self.prefill[tokens]


def _around(grid: Sequence[int], value: float) -> tuple[int, int]:
    """The neighbours of ``value`` in a grid that reaches as far; twice itself where it is in the grid."""
    at = bisect_right(grid, value) - 1
    if grid[at] == value:
        return grid[at], grid[at]
    return grid[at], grid[at + 1]


def _between(grid: Sequence[int], value: int, ns_at: Callable[[int], float]) -> float:
    low, high = _around(grid, value)
    if low == high:
        return ns_at(low)
    return _linear(low, ns_at(low), high, ns_at(high), value)


def _linear(low: float, low_ns: float, high: float, high_ns: float, value: float) -> float:
    return low_ns + (high_ns - low_ns) * (value - low) / (high - low)


def _left_out(rows: Sequence[Mapping[int, float]]) -> Iterator[float]:
    """Of each point between two others, the error of the line through these, as a share of its ns."""
    for row in rows:
        places = sorted(row)
        for low, at, high in zip(places, places[1:], places[2:], strict=False):
            yield abs(_linear(low, row[low], high, row[high], at) / row[at] - 1)
