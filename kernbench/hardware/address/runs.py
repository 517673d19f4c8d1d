"""Runs of bytes: those that one block of addresses names, and the bursts of a memory that they touch.

A block of 128 rows is 128 runs. It is one access all the same: what is the same for all its runs is worked
out once, by numpy, and blocks of one form share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
_KEPT = 1024
"""Forms whose bursts are kept."""


class Region(NamedTuple):
    """A run of bytes at an address."""

    addr: int
    nbytes: int


class Form:
    """Runs that ascend and do not overlap, by their distances from an address; equal only to itself."""

    __slots__ = ("__weakref__", "_parts", "end", "nbytes", "offsets", "sizes", "step")

    def __init__(self, offsets: Ints, sizes: Ints) -> None:
        self.offsets = offsets
        self.sizes = sizes
        self.nbytes = int(sizes.sum())
        self.end = int(offsets[-1] + sizes[-1])
        steps = np.diff(offsets)
        alike = len(steps) and (steps == steps[0]).all() and (sizes == sizes[0]).all()
        self.step = int(steps[0]) if alike else 0
        """From each run to the next, where all are equally long and equally far apart; else 0."""
        self._parts: dict[tuple[int, int], Form | None] = {}

    def between(self, begin: int, end: int) -> Form | None:
        """What lies in ``[begin, end)``; None for nothing."""
        if begin <= int(self.offsets[0]) and self.end <= end:
            return self
        if (begin, end) not in self._parts:
            if len(self._parts) >= _KEPT:
                self._parts.clear()
            low = np.maximum(self.offsets, begin)
            sizes = np.minimum(self.offsets + self.sizes, end) - low
            some = sizes > 0
            self._parts[begin, end] = Form(low[some], sizes[some]) if some.any() else None
        return self._parts[begin, end]


if TYPE_CHECKING:
    _RegionsInOrder = Sequence[Region]
else:
    _RegionsInOrder = (
        object  # whether something is runs is asked of every operand: of an abstract class by a call
    )


class Runs(_RegionsInOrder):
    """The runs of a form from address ``at`` on."""

    __slots__ = ("at", "form")

    def __init__(self, form: Form, at: int) -> None:
        self.form = form
        self.at = at

    @property
    def nbytes(self) -> int:
        """Bytes of all runs."""
        return self.form.nbytes

    @property
    def span(self) -> tuple[int, int]:
        """The first byte, and the one behind the last."""
        return self.at + int(self.form.offsets[0]), self.at + self.form.end

    @property
    def starts(self) -> Ints:
        """Where each run begins."""
        return self.form.offsets + self.at

    def table(self) -> Ints:
        """A row for each: address and bytes."""
        return np.column_stack((self.starts, self.form.sizes))

    def __len__(self) -> int:
        return len(self.form.offsets)

    def __iter__(self) -> Iterator[Region]:
        return map(Region, self.starts.tolist(), self.form.sizes.tolist())

    @overload
    def __getitem__(self, index: int) -> Region: ...

    @overload
    def __getitem__(self, index: slice) -> list[Region]: ...

    def __getitem__(self, index: int | slice) -> Region | list[Region]:
        if isinstance(index, slice):
            return [*self][index]
        return Region(self.at + int(self.form.offsets[index]), int(self.form.sizes[index]))

    def __repr__(self) -> str:
        return f"<{len(self)} runs of {self.nbytes} bytes in {self.span}>"


def meet(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> bool:
    """Whether two sequences of runs have a byte in common."""
    starts, ends = _bounds(a)
    others, other_ends = _bounds(b)
    first = np.searchsorted(other_ends, starts, "right")
    within = first < len(others)
    return bool((others[first[within]] < ends[within]).any())


def span(runs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The first byte of runs, and the one behind the last."""
    if isinstance(runs, Runs):
        return runs.span
    return min(run[0] for run in runs), max(map(sum, runs))


def joined(parts: Sequence[Runs]) -> Runs:
    """Runs of several forms as one."""
    if len(parts) == 1:
        return parts[0]
    starts = np.concatenate([part.starts for part in parts])
    order = np.argsort(starts)
    at = int(starts[order[0]])
    return Runs(Form(starts[order] - at, np.concatenate([part.form.sizes for part in parts])[order]), at)


def _bounds(runs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    if isinstance(runs, Runs):
        return runs.starts, runs.starts + runs.form.sizes
    each = np.array(sorted(runs), np.int64)
    return each[:, 0], np.maximum.accumulate(each.sum(axis=1))


class Gathered:
    """An access to a memory by many runs, in one transaction.

    Of a memory that deals its bytes in bursts: ``places`` of the bursts that each run touches, as the
    memory counts them; ``sizes`` are the bytes wanted of each. Bytes travel in order of address: flit n
    brings the last of those numbered ``ends[n - 1]`` to ``ends[n]``, from 0 on.
    """

    __slots__ = ("closes", "ends", "opens", "places", "runs", "sizes")

    def __init__(self, runs: Runs, places: list[int], bursts: Bursts | None = None) -> None:
        self.runs = runs
        self.places = places
        self.sizes, self.ends, self.opens, self.closes = bursts[1:] if bursts else ([], [], [], [])


class Bursts(NamedTuple):
    """The bursts that runs touch."""

    places: Ints
    sizes: list[int]
    ends: list[int]
    opens: list[bool]
    """Which are the first of their channel in the access."""
    closes: list[bool]
    """Which are the last."""


@lru_cache(maxsize=_KEPT)
def bursts_of(form: Form, phase: int, shift: int, flit_bytes: int, mask: int) -> Bursts:
    """The bursts of ``1 << shift`` bytes that each run of ``form`` touches from address ``phase`` on.

    Bursts whose numbers are alike under ``mask`` share a channel. A burst longer than a flit is asked for in
    parts of a flit.
    """
    grain = min(shift, flit_bytes.bit_length() - 1)
    grains, _, sizes = _cut(form, phase, 1 << grain)
    flit = (np.cumsum(sizes) - 1) // flit_bytes
    places = grains >> (shift - grain)
    opens, closes = np.zeros(len(places), bool), np.zeros(len(places), bool)
    channel = places & mask
    opens[np.unique(channel, return_index=True)[1]] = True
    closes[len(places) - 1 - np.unique(channel[::-1], return_index=True)[1]] = True
    behind = np.searchsorted(flit, np.arange(int(flit[-1]) + 1), "right")
    return Bursts(places, sizes.tolist(), behind.tolist(), opens.tolist(), closes.tolist())


@lru_cache(maxsize=_KEPT)
def dealt(form: Form, phase: int, size: int, count: int, packed: bool) -> tuple[tuple[int, Form], ...]:
    """The parts of ``form``, from address ``phase`` on, in each of ``count`` members, by first byte.

    Pieces of ``size`` bytes are dealt to them in turn. Where they are ``packed``, a part lies as its member
    has it, from address 0 on, else as ``form`` does.
    """
    number, low, sizes = _cut(form, phase, size)
    member = number % count
    at = number // count * size + low - number * size if packed else low - phase
    found = []
    for first in np.sort(np.unique(member, return_index=True)[1]).tolist():
        mine = member == member[first]
        found.append((int(member[first]), Form(at[mine], sizes[mine])))
    return tuple(found)


def _cut(form: Form, phase: int, size: int) -> tuple[Ints, Ints, Ints]:
    """``form`` from address ``phase`` on, cut at multiples of ``size``: numbers, begins, sizes."""
    starts = form.offsets + phase
    ends = starts + form.sizes
    first = starts // size
    counts = (ends - 1) // size - first + 1
    row = np.repeat(np.arange(len(counts)), counts)
    number = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    low = np.maximum(starts[row], number * size)
    return number, low, np.minimum(ends[row], (number + 1) * size) - low
