"""Times of steps between those that are simulated: a table that grows where a service goes."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["decode", "prefill"]
Simulate = Callable[[Phase, int, int], float]
"""ns of a step: its phase; sequences; keys of each, or tokens of the prompt."""


def _grid(spacing: int, least: int) -> list[int]:
    """1, 16, and that times powers of ``spacing`` up to the first from ``least`` on."""
    found = [1, 16]
    while found[-1] < least:
        found.append(found[-1] * spacing)
    return found


@dataclass(frozen=True, slots=True)
class Bar:
    """How far off interpolation was at ``points`` points of a grid, each left out: the worst and the mean."""

    points: int
    worst: float
    mean: float


@dataclass(slots=True)
class StepTable:
    """Decode over sequences and keys of each, prefill over tokens, between points of a grid.

    A point is simulated when a step first needs it: sequences 1, 4, 16 ..., the last ``most_batch``; keys 1,
    16, 64 ...; tokens 1, 16, 32, 64 .... Decode is a straight line between points in both directions, prefill
    a parabola through three, since attention grows with the square of a prompt.
    """

    simulate: Simulate
    most_batch: int
    most_tokens: int
    """Tokens of a step, at most."""
    decode: dict[tuple[int, int], float] = field(default_factory=dict)
    """ns by sequences and keys."""
    prefill: dict[int, float] = field(default_factory=dict)
    """ns by tokens."""
    _lines: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    """The line of the last step, by sequences: from and to which keys it holds, ns at 0 keys, ns a key."""
    _prompts: dict[int, float] = field(default_factory=dict)
    _square: float | None = None

    def prefill_ns(self, tokens: int) -> float:
        """See :class:`kernbench.workloads.serving.loop.StepTimes`."""
        known = self._prompts.get(tokens)
        if known is None:
            grid = _grid(2, tokens)
            at = bisect_left(grid, tokens)
            if grid[at] == tokens:
                known = self._prefill_at(tokens)
            else:
                first = max(0, at - 2)
                near = grid[first : first + 3] if len(grid) >= 3 else [*grid, 32]
                known = _parabola({n: self._prefill_at(n) for n in near}, tokens)
            self._prompts[tokens] = known
        return known

    def past_ns(self, before: int, tokens: int) -> float:
        """See :class:`kernbench.workloads.serving.loop.StepTimes`.

        Each pair of a token and one before it takes as long as the parabola through the largest chunk, a
        prompt of two and one of four as many tokens says, where weights no longer bound the time.
        """
        if self._square is None:
            most = _grid(2, self.most_tokens)[-1]
            a, b, c = (self._prefill_at(most * times) for times in (1, 2, 4))
            self._square = max(0.0, ((c - b) / (2 * most) - (b - a) / most) / (3 * most))
        return 2.0 * self._square * before * tokens

    def decode_ns(self, batch: int, keys: int) -> float:
        """See :class:`kernbench.workloads.serving.loop.StepTimes`."""
        each = keys / batch
        line = self._lines.get(batch)
        if line is None or not line[0] <= each <= line[1]:
            line = self._lines[batch] = self._line(batch, each)
        return line[2] + line[3] * each

    def bars(self) -> dict[str, Bar]:
        """How far off each phase is by the steps simulated so far; one with too few points is left out."""
        found = {}
        for phase, errors in (
            ("decode", [*_off_lines(self._rows()), *_off_lines(self._rows(across=True))]),
            ("prefill", [*_off_parabolas(self.prefill)]),
        ):
            if errors:
                found[phase] = Bar(len(errors), max(errors), sum(errors) / len(errors))
        return found

    def _rows(self, across: bool = False) -> list[dict[int, float]]:
        rows: dict[int, dict[int, float]] = {}
        for (batch, keys), ns in self.decode.items():
            row, place = (keys, batch) if across else (batch, keys)
            rows.setdefault(row, {})[place] = ns
        return list(rows.values())

    def _line(self, batch: int, each: float) -> tuple[float, float, float, float]:
        """ns of ``batch`` sequences between two points of the grid of keys, as a straight line."""
        low, high = _around(_grid(4, math.ceil(each)), each)
        smaller = [b for b in (1, 4, *_grid(4, self.most_batch)[1:]) if b < self.most_batch]

        def ns_at(keys: int) -> float:
            fewer, more = _around([*smaller, self.most_batch], batch)
            return _linear({n: self._decode_at(n, keys) for n in (fewer, more)}, batch)

        slope = (ns_at(high) - ns_at(low)) / (high - low) if high > low else 0.0
        return float(low), float(high), ns_at(low) - slope * low, slope

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
    return grid[at], grid[at if grid[at] == value else at + 1]


def _linear(points: Mapping[int, float], value: float) -> float:
    """The line through two points; with one point, its value."""
    (low, low_ns), (high, high_ns) = min(points.items()), max(points.items())
    return low_ns + (high_ns - low_ns) * (value - low) / (high - low) if high > low else low_ns


def _parabola(points: Mapping[int, float], value: float) -> float:
    """The parabola through three points."""
    (a, a_ns), (b, b_ns), (c, c_ns) = points.items()
    first, second = (b_ns - a_ns) / (b - a), (c_ns - b_ns) / (c - b)
    return a_ns + (value - a) * (first + (value - b) * (second - first) / (c - a))


def _off_lines(rows: Sequence[Mapping[int, float]]) -> Iterator[float]:
    """The error of the line through a point's neighbours, as a share of its ns, for each inner point."""
    for row in rows:
        places = sorted(row)
        for low, at, high in zip(places, places[1:], places[2:], strict=False):
            yield abs(_linear({low: row[low], high: row[high]}, at) / row[at] - 1)


def _off_parabolas(row: Mapping[int, float]) -> Iterator[float]:
    """The same for parabolas through two points below and one above, or one below and two above."""
    places = sorted(row)
    for at in range(1, len(places) - 1):
        near = [*places[max(0, at - 2) : at], *places[at + 1 : at + 3]][:3]
        if len(near) == 3:
            yield abs(_parabola({n: row[n] for n in near}, places[at]) / row[places[at]] - 1)
