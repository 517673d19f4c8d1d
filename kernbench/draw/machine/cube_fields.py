"""The components attached to a cube's routers, put into the fields between the lines of the mesh.

Columns and rows of routers divide a cube into fields. A PE, an HBM slice, the M_CPU or the SRAM goes into
the field where it lies; one that lies on a line, as the slices do, into the field towards the middle of the
cube or towards its router. Within a field boxes are stacked, the nearest to a router first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kernbench.draw.machine.model import Box, Point
from kernbench.draw.machine.sheet import Axis, Sheet
from kernbench.draw.machine.text import LINE, block
from kernbench.hardware.kinds import component_kind
from kernbench.support.pgraph import Node

CONNECTION = (60.0, 22.0)
"""Width and height of a UCIe connection, which stands on the cube's edge and takes half of it inside."""
_H = LINE + 6
_BETWEEN = 5.0
_CLEAR = 9.0
_NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class Attached:
    """A box that hangs on a router."""

    id: str
    node: Node
    router: tuple[int, int]
    """(row, column)."""
    location: Point
    """mm in the cube."""
    parts: Sequence[Node]
    """All components that the box stands for."""

    @property
    def label(self) -> str:
        """Its label."""
        return (component_kind(self.node).label or self.id).format(**self.node.properties)


class Fields:
    """The boxes of a cube, sorted into its fields. ``router`` is the size of a router's box in points."""

    def __init__(
        self,
        attached: Sequence[Attached],
        columns: Sequence[float],
        rows: Sequence[float],
        size: tuple[float, float],
        router: tuple[float, float],
        reserved: Mapping[tuple[int, int], float],
    ) -> None:
        self.columns, self.rows = columns, rows
        self.reserved = reserved
        """Points at the top of a field (row, column) that other boxes use."""
        self.router = router
        self.width = max((block([each.label])[0] for each in attached), default=0.0) + 12
        self.stacks: dict[tuple[int, int], tuple[list[Attached], list[Attached]]] = {}
        for each in sorted(attached, key=lambda a: (a.node.properties["pe"] == -1, a.id)):
            row = _field(rows, each.location[1], each.router[0], size[1] / 2)
            column = _field(columns, each.location[0], each.router[1], size[0] / 2)
            up, down = self.stacks.setdefault((row, column), ([], []))
            (up if each.router[0] <= row else down).append(each)
        far = sum(
            each.router[0] not in (row, row + 1)
            for (row, _), (ups, downs) in self.stacks.items()
            for each in (*ups, *downs)
        )
        self.pad = 10 + 5 * min(far, 4)

    def widths(self) -> list[float]:
        """Points that each gap between columns needs, from the west edge to the east edge."""
        return self._needs(1, len(self.columns), lambda _: self.width + 2 * self.pad, 0)

    def heights(self) -> list[float]:
        """The same for rows, from the north edge to the south edge."""
        return self._needs(
            0,
            len(self.rows),
            lambda n: n * (_H + _BETWEEN) - _BETWEEN + 2 * _CLEAR,
            1,
        )

    def _needs(self, axis: int, lines: int, room: Callable[[int], float], side: int) -> list[float]:
        needs = [0.0] * (lines + 1)
        for key, stack in self.stacks.items():
            gap = key[axis] + 1
            outer = gap in (0, lines)
            ends = self.router[side] / 2 + (CONNECTION[side] / 2 if outer else self.router[side] / 2)
            above = self.reserved.get(key, 0.0) if axis == 0 else 0.0
            needs[gap] = max(needs[gap], room(len(stack[0]) + len(stack[1])) + ends + above)
        return needs

    def draw(self, sheet: Sheet, across: Axis, down: Axis) -> dict[tuple[str, str], list[Point]]:
        """Put the boxes on ``sheet``; return the paths of their wires by (box, router)."""
        paths: dict[tuple[str, str], list[Point]] = {}
        for (row, column), (ups, downs) in self.stacks.items():
            top = down.stop(row + 1) + (CONNECTION[1] if row < 0 else self.router[1]) / 2 + _CLEAR
            top += self.reserved.get((row, column), 0.0)
            last = row == len(self.rows) - 1
            bottom = down.stop(row + 2) - (CONNECTION[1] if last else self.router[1]) / 2 - _CLEAR
            for rank, each in enumerate(ups):
                box = self._box(sheet, each, column, top + rank * (_H + _BETWEEN), across)
                self._path(paths, box, each, (row, column), rank / max(len(ups), 2), across, down)
            for rank, each in enumerate(downs):
                box = self._box(sheet, each, column, bottom - _H - rank * (_H + _BETWEEN), across)
                self._path(paths, box, each, (row, column), rank / max(len(downs), 2), across, down)
        return paths

    def _box(self, sheet: Sheet, each: Attached, column: int, y: float, across: Axis) -> Box:
        aside = self.router[0] / 2 + self.pad
        if each.router[1] == column + 1:
            x = across.stop(column + 2) - aside - self.width
        else:
            x = across.stop(column + 1) + (aside if column >= 0 else CONNECTION[0] / 2 + _CLEAR)
        kind = "pe" if each.node.properties["pe"] != -1 else str(each.node.properties["kind"])
        return sheet.put(each.id, kind, (x, y, self.width, _H), (each.label,), each.parts)

    def _path(
        self,
        paths: dict[tuple[str, str], list[Point]],
        box: Box,
        each: Attached,
        field: tuple[int, int],
        offset: float,
        across: Axis,
        down: Axis,
    ) -> None:
        """Horizontally from the box to a track beside the column, then vertically to its router."""
        (row, column), (to_row, to_column) = field, each.router
        if to_column not in (column, column + 1):
            return  # its router is far away: a straight line
        sign = 1 if to_column == column else -1
        start = (box.x if sign > 0 else box.right, box.centre[1])
        x, y = across.stop(to_column + 1), down.stop(to_row + 1)
        below = 1 if to_row <= row else -1
        key = (each.id, f"r{to_row}c{to_column}")
        if to_row in (row, row + 1):
            track = x + sign * (self.router[0] / 2 - 4) * (1 - offset)
            paths[key] = [start, (track, start[1]), (track, y + below * self.router[1] / 2)]
        else:
            side = x + sign * self.router[0] / 2
            track = side + sign * (4 + 10 * offset)
            paths[key] = [start, (track, start[1]), (track, y + below * 5), (side, y + below * 5)]


def _field(lines: Sequence[float], at: float, router: int, middle: float) -> int:
    """Number of the line before the field of a location, -1 for the field at the near edge."""
    index = bisect_right(lines, at + _NEAR) - 1
    on_line = index >= 0 and at - lines[index] < _NEAR
    if on_line and (router < index or (router == index and at > middle)):
        return max(index - 1, 0)
    return index
