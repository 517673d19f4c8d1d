"""The tree of tracks: host, packages, cubes, PEs and their engines, in the order of the machine."""

from __future__ import annotations

from collections.abc import Iterator

from kernbench.analysis.use.time_lines import natural
from kernbench.export.perfetto.texts import SEQUENCE
from kernbench.export.wire import field

Path = tuple[str, ...]

_FIRST = (
    "run", "launches", "bandwidth", "host", "fabric", "kernel", "pe_cpu", "pe_scheduler", "pe_gemm",
    "pe_math", "pe_fetch_store", "pe_dma",
)  # fmt: skip
"""Tracks that come first, in this order; the rest in that of names, numbers as numbers."""
_LAST = ("links",)


class Tracks:
    """Numbers of tracks by path; a path's tracks lie below those of its beginnings."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Path, int], int] = {}
        self._units: dict[Path, str] = {}

    def of(self, path: Path, lane: int = 0) -> int:
        """The track of a path. Those of its further lanes have its name, and are shown as one with it."""
        if len(path) > 1 and (path[:-1], 0) not in self._numbers:
            self.of(path[:-1])
        return self._numbers.setdefault((path, lane), len(self._numbers) + 1)

    def counter(self, path: Path, unit: str) -> int:
        """The track of a counter."""
        self._units[path] = unit
        return self.of(path)

    def packets(self) -> Iterator[bytes]:
        """The packets that describe them; parents before children."""
        siblings: dict[Path, set[str]] = {}
        for path, _lane in self._numbers:
            siblings.setdefault(path[:-1], set()).add(path[-1])
        rank = {
            (*parent, name): number
            for parent, names in siblings.items()
            for number, name in enumerate(sorted(names, key=_order))
        }
        for (path, lane), number in sorted(
            self._numbers.items(), key=lambda item: (len(item[0][0]), item[1])
        ):
            about = field(1, number) + field(2, path[-1]) + field(12, rank[path])
            if len(path) > 1:
                about += field(5, self._numbers[path[:-1], 0])
            if path in self._units:
                about += field(8, field(6, self._units[path]))
            elif lane == 0:
                about += field(11, _EXPLICIT)
            yield field(1, field(10, SEQUENCE) + field(60, about))


_EXPLICIT = 3
"""Children are in the order of their ranks."""


def path_of(resource: str) -> Path:
    """The path of a component, ``a.b.c``, or of a link, below the nearest place that holds both its ends."""
    source, arrow, target = resource.partition("->")
    if not arrow:
        return tuple(resource.split("."))
    shared = []
    for a, b in zip(source.split(".")[:-1], target.split(".")[:-1], strict=False):
        if a != b:
            break
        shared.append(a)
    return (*shared, "links", resource)


def _order(name: str) -> tuple[int, list[tuple[int, str]]]:
    place = _FIRST.index(name) if name in _FIRST else len(_FIRST) + (name in _LAST)
    return place, natural(name)
