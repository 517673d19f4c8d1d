"""A block as rows: its parts with locations, and the links among them, each relative to the block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernbench.hardware.kinds import ComponentKind
from kernbench.support.pgraph import Properties


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """What parts have in common: their kind, and all properties but name, location and number."""

    kind: ComponentKind
    properties: Properties


@dataclass(slots=True)
class Element:
    """One of an array: where its rows begin, and the block that it is; None for a part."""

    row: int
    block: Rows | None


@dataclass(slots=True)
class Array:
    """What one entry of ``parts`` made. ``axes`` is empty for a single one; the first axis counts fastest.

    An element is None where the file leaves a hole.
    """

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    elements: Sequence[Element | None]
    order: str = "index"


@dataclass(slots=True)
class Rows:
    """All parts and links of a block. Levels count from 0 within it; -1 is a level that a part is above."""

    level: str = ""
    ports: tuple[str, ...] = ()
    names: list[str] = field(default_factory=list)
    sorts: list[Sort] = field(default_factory=list)
    sip: list[int] = field(default_factory=list)
    cube: list[int] = field(default_factory=list)
    pe: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    """Of a slice of memory: which of its chiplet."""
    parent: list[int] = field(default_factory=list)
    """Row of the group that a part is in; -1: in none of the block's."""
    at: list[tuple[float, float]] = field(default_factory=list)
    """Where it is drawn."""
    cells: dict[int, tuple[int, int]] = field(default_factory=dict)
    """(row, column) of the parts that are elements of grids."""
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    links: list[Properties] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    packages: int = 0
    chiplets: int = 0
    pes: int = 0
    slices: int = 0
    grids: dict[str, Array] = field(default_factory=dict)
    """The array whose elements are packages, and that of chiplets, by level."""
    size: tuple[float, float] = (1.0, 1.0)
    """Width and height as drawn."""
    bare: bool = False
    """Its parts are called as they are, without the name of the block."""

    def add(self, name: str, sort: Sort, at: tuple[float, float]) -> int:
        """Add a part; returns its row."""
        self.names.append(name)
        self.sorts.append(sort)
        for column in (self.sip, self.cube, self.pe, self.parent):
            column.append(-1)
        self.number.append(self.slices if sort.kind.sliced else -1)
        self.slices += sort.kind.sliced
        self.at.append(at)
        return len(self.names) - 1

    def join(self, a: int, b: int, link: Properties) -> None:
        """Add a link each way between two rows."""
        self.sources += (a, b)
        self.targets += (b, a)
        self.links += (link, link)

    def place(self, block: Rows, name: str, at: tuple[float, float]) -> int:
        """Add all rows of ``block``, which is called ``name``; returns the first."""
        base = len(self.names)
        prefix = f"{name}." if name else ""
        self.names += [prefix + one if one else name for one in block.names]
        self.sorts += block.sorts
        self.sip += _moved(block.sip, self.packages, own=block.level == "package")
        below_package = block.level == "package" or block.packages
        self.cube += (
            block.cube if below_package else _moved(block.cube, self.chiplets, own=block.level == "chiplet")
        )
        within_chiplet = block.level in ("package", "chiplet")
        free = [
            not within_chiplet and sip < 0 and cube < 0
            for sip, cube in zip(block.sip, block.cube, strict=True)
        ]
        self.pe += [self.pes] * len(free) if block.level == "pe" else _counted_on(block.pe, self.pes, free)
        self.number += _counted_on(block.number, self.slices, free)
        self.parent += _moved(block.parent, base, own=False)
        x, y = (0.0, 0.0) if block.level == "package" else at  # places lie in packages
        self.at += [(x + own_x, y + own_y) for own_x, own_y in block.at]
        self.cells.update((row + base, cell) for row, cell in block.cells.items())
        self.sources += [row + base for row in block.sources]
        self.targets += [row + base for row in block.targets]
        self.links += block.links
        self.packages += block.packages + (block.level == "package")
        if not below_package:
            self.chiplets += block.chiplets + (block.level == "chiplet")
        if not within_chiplet:
            self.pes += block.pes + (block.level == "pe")
            self.slices += block.slices
        return base

    def close(self) -> None:
        """Say what holds of a block as a whole, when all is in it: its first row is its group."""
        self.parent = [0 if parent < 0 and row else parent for row, parent in enumerate(self.parent)]
        if self.level == "package" and not self.chiplets:
            self.be_one_chiplet()

    def number_computing_first(self) -> None:
        """Number packages, and chiplets of each, with PEs before others: kernels take these as ranges."""
        places = set(zip(self.sip, self.cube, self.pe, strict=True))
        with_pes = {sip for sip, _, pe in places if pe >= 0}
        sips = {sip for sip, _, _ in places} - {-1}
        first = {sip: i for i, sip in enumerate(sorted(sips, key=lambda sip: (sip not in with_pes, sip)))}
        chiplets = {(sip, cube) for sip, cube, pe in places if pe >= 0}
        numbers: dict[int, int] = {}
        renamed: dict[tuple[int, int], int] = {}
        for sip, cube in sorted({place[:2] for place in places}, key=lambda at: (at not in chiplets, at)):
            if cube >= 0:
                renamed[sip, cube] = numbers[sip] = numbers.get(sip, -1) + 1
        if any(at[1] != number for at, number in renamed.items()):
            self.cube = [renamed.get(at, -1) for at in zip(self.sip, self.cube, strict=True)]
        if any(sip != number for sip, number in first.items()):
            self.sip = [first.get(sip, -1) for sip in self.sip]

    def be_one_package(self) -> None:
        """A machine without packages is package 0."""
        for row, sort in enumerate(self.sorts):
            if sort.kind.section[:1] != ("system",):
                self.sip[row] = 0
        if not self.chiplets:
            self.be_one_chiplet()

    def be_one_chiplet(self) -> None:
        """A package without chiplets is its own chiplet 0."""
        for row, sort in enumerate(self.sorts):
            outside = sort.kind.kind == "sip" or sort.kind.section[:1] in (("system",), ("sip",))
            if self.cube[row] < 0 and not outside:
                self.cube[row] = 0


def _counted_on(column: Sequence[int], by: int, free: Sequence[bool]) -> list[int]:
    """As :func:`_moved`, of the rows alone that are ``free``: in no chiplet or package of their own."""
    return [value + by if moves and value >= 0 else value for value, moves in zip(column, free, strict=True)]


def _moved(column: Sequence[int], by: int, *, own: bool) -> list[int]:
    """Numbers within a block as numbers of the whole; ``own``: the block itself is number ``by``."""
    if own:
        return [by] * len(column)
    return [value + by if value >= 0 else value for value in column]
