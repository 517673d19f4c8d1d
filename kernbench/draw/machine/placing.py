"""Where the blocks of a machine of any shape are drawn: columns and rows, and the ways of wires between them.

An array with axes is a grid, and what hangs on it is beside it, as near to what its wires lead to as there is
room. Without such an array lists are rows below each other. A third axis is planes side by side. Wires that
would be behind a box take the lanes between columns and rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import cos, pi, sin

from kernbench.draw.machine.model import Box, Point
from kernbench.draw.machine.sheet import edge_point

Cell = tuple[float, float]
"""Column and row; whole numbers but on a circle."""
Element = tuple[str, tuple[int, ...]]
"""The array that a block is an element of, and its place there; single ones are in none and have no place."""
Joined = Mapping[str, set[str]]
"""The blocks to which wires of each lead."""
_STAR = 12
"""Blocks of a star at most."""
_NEAR = 3
"""Columns or rows that a slanting wire spans at most."""


def cells_of(
    elements: Mapping[str, Element], joined: Joined, outward: Mapping[str, Cell] | None = None
) -> dict[str, Cell]:
    """Column and row of each block. ``outward``: the way of those whose wires leave the picture."""
    outward = outward or {}
    arrays: dict[tuple[str, int], dict[str, tuple[int, ...]]] = {}
    for name, (array, at) in elements.items():
        arrays.setdefault((array, len(at)), {})[name] = at
    grids = [members for (_, axes), members in arrays.items() if axes > 1]
    if not grids:
        hub = max(elements, key=lambda name: len(joined[name]))
        if 2 < len(elements) <= _STAR and all(joined[name] == {hub} for name in elements if name != hub):
            return _beside({hub: (0, 0)}, list(elements), joined, outward)
        return _tiers(arrays, joined)
    grid = _planes(max(grids, key=len))
    inner = [members for members in arrays.values() if members.keys() != grid.keys()]
    return _beside(_spread(grid, inner, joined), list(elements), joined, outward)


def _planes(members: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, int]]:
    """Cells of an array: two axes as they are, planes of a third one side by side."""
    sizes = [1 + max(one) for one in zip(*members.values(), strict=True)]
    planes = max(1, round(sizes[2] ** 0.5)) if len(sizes) > 2 else 1
    found = {}
    for name, at in members.items():
        x, y = divmod(at[2], planes)[::-1] if len(at) > 2 else (0, 0)
        found[name] = at[0] + x * (sizes[0] + 1), at[1] + y * (sizes[1] + 1)
    return found


def _spread(
    grid: dict[str, tuple[int, int]], others: Iterable[Mapping[str, object]], joined: Joined
) -> dict[str, tuple[int, int]]:
    """The grid with arrays that hang on its members one by one, on those inside too; wide enough for them."""
    width, height = (1 + max(cell[axis] for cell in grid.values()) for axis in (0, 1))
    border = {name for name, (x, y) in grid.items() if x in (0, width - 1) or y in (0, height - 1)}
    hang: dict[str, list[str]] = {}
    for members in others:
        anchors = {name: next(iter(joined[name])) for name in members if len(joined[name]) == 1}
        if (
            len(anchors) == len(members)
            and {*anchors.values()} <= grid.keys()
            and {*anchors.values()} - border
        ):
            for name, anchor in anchors.items():
                hang.setdefault(anchor, []).append(name)
    if not hang:
        return grid
    wide = 1 + max(map(len, hang.values()))
    found = {name: (x * wide, y * 2) for name, (x, y) in grid.items()}
    for anchor, names in hang.items():
        x, y = found[anchor]
        found |= {name: (x + 1 + number, y + 1) for number, name in enumerate(names)}
    return found


def _beside(
    core: Mapping[str, tuple[int, int]], names: Sequence[str], joined: Joined, outward: Mapping[str, Cell]
) -> dict[str, Cell]:
    """The blocks of ``core`` at their cells, the others around them, each near those that it is joined to."""
    found: dict[str, Cell] = dict(core)
    taken = {*core.values()}
    inside = [(min(axis), max(axis)) for axis in zip(*taken, strict=True)]
    left = [name for name in names if name not in found]
    while left:
        name = max(left, key=lambda one: (one in outward, len(joined[one] & found.keys())))
        left.remove(name)
        anchors = [found[one] for one in joined[name] & found.keys()] or [(inside[0][0], inside[1][0] - 1)]
        x, y = (sum(axis) / len(anchors) for axis in zip(*anchors, strict=True))
        step = outward.get(name, (0, 0))
        near = _free(taken, inside, x + step[0], y + step[1])
        taken.add(near)
        found[name] = near
    return found


def _free(taken: set[tuple[int, int]], inside: Sequence[Cell], x: float, y: float) -> tuple[int, int]:
    """The free cell outside of the grid that is nearest to a point; of two that to its west or east."""
    (west, east), (north, south) = inside
    reach = 1
    while True:
        columns = range(int(west) - reach, int(east) + reach + 1)
        rows = range(int(north) - reach, int(south) + reach + 1)
        free = [
            cell
            for cell in product(columns, rows)
            if cell not in taken and not (west <= cell[0] <= east and north <= cell[1] <= south)
        ]
        if free:
            return min(free, key=lambda at: (abs(at[0] - x) + abs(at[1] - y), abs(at[1] - y), at))
        reach += 1


def _tiers(
    arrays: Mapping[tuple[str, int], Mapping[str, tuple[int, ...]]], joined: Joined
) -> dict[str, Cell]:
    """Lists below each other, single blocks in a row above them.

    A list whose members are joined to others than their neighbours is a circle: no wire is behind a box.
    """
    cells: dict[str, Cell] = {}
    top = 0.0
    for (_, axes), elements in sorted(arrays.items(), key=lambda item: item[0][1] != 0):
        members = list(elements)
        across = max(1, round(len(members) ** 0.5)) if axes == 1 and len(members) > 16 else len(members)
        far = any(b in joined[a] for i, a in enumerate(members) for b in members[i + 2 :])
        if axes == 1 and far and len(members) > 3:
            radius = max(1.0, len(members) / 5)
            for number, name in enumerate(members):
                angle = 2 * pi * number / len(members) - 0.75 * pi
                cells[name] = radius * (1 + cos(angle)), top + radius * (1 + sin(angle)) * 1.5
        else:
            cells |= {name: (n % across, top + n // across) for n, name in enumerate(members)}
        top = 1 + max(cells[name][1] for name in members)
    return cells


class Lanes:
    """The lanes between boxes at ``cells``, all of the same size and ``gap`` points apart."""

    def __init__(self, cells: Mapping[str, Cell], gap: float) -> None:
        self._cells = cells
        self._taken = {*cells.values()}
        self._gap = gap

    def way(self, a: Box, b: Box, aside: float) -> list[Point] | None:
        """From ``a`` to ``b`` without being behind a box; None for a straight line between the two.

        ``aside`` is how far off the middle of a lane, as a share of what is free, -1 to 1.
        """
        (ac, ar), (bc, br) = self._cells[a.id], self._cells[b.id]
        across, down = bc - ac, br - ar
        on_grid = [float(one[0]).is_integer() and float(one[1]).is_integer() for one in ((ac, ar), (bc, br))]
        if not all(on_grid):  # into a circle from outside of it, between its members
            return [edge_point(a, b.centre), edge_point(b, a.centre)] if any(on_grid) else None
        off = self._gap * (0.5 + 0.35 * aside)
        east, south = across > 0, down > 0
        (ax, ay), (bx, by) = a.centre, b.centre
        if not down:
            if all(
                (ac + step * (1 if east else -1), ar) not in self._taken
                for step in range(1, int(abs(across)))
            ):
                return None
            return [(ax, a.y), (ax, a.y - off), (bx, a.y - off), (bx, b.y)]
        if not across:
            if all(
                (ac, ar + step * (1 if south else -1)) not in self._taken for step in range(1, int(abs(down)))
            ):
                return None
            return [(a.right, ay), (a.right + off, ay), (a.right + off, by), (b.right, by)]
        if abs(across) == 1 and abs(down) <= _NEAR:
            return [(a.right, ay), (b.x, by)] if east else [(a.x, ay), (b.right, by)]
        if abs(down) == 1 and abs(across) <= _NEAR:
            return [(ax, a.bottom), (bx, b.y)] if south else [(ax, a.y), (bx, b.bottom)]
        y = a.bottom + off if south else a.y - off
        side, x = (b.x, b.x - off) if east else (b.right, b.right + off)
        return [(ax, a.bottom if south else a.y), (ax, y), (x, y), (x, by), (side, by)]
