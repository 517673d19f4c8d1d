"""Percentages beside the wires and boxes of a view that were busy, where there is room for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import hypot

from kernbench.draw.machine import Box, Note, Overlay, View, Wire
from kernbench.draw.machine.text import BOLD, LINE, SIZE, width

LEAST = 0.005
"""Shares that would be printed as 0 % are not."""
HIGH = 12.0
"""Size of the percentages, points."""
_EDGE = 3.0
"""Half of the thickest border of a box, and a little air."""

Area = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def percents(view: View, overlay: Overlay) -> dict[str, Note]:
    """A note for each busy wire and box by id, the busiest first, none on another text or beyond the view.

    Of a share that finds no room the tooltip is left.
    """
    taken = [*(area for box in view.boxes for area in _labels(box)), *map(_note, view.notes)]
    busy: list[tuple[float, str, list[tuple[float, float]]]] = []
    busy += [
        (overlay.boxes[box.id], box.id, _round(box))
        for box in view.boxes
        if overlay.boxes.get(box.id, 0.0) >= LEAST and box.components
    ]
    busy += [
        (overlay.wires[wire.id], wire.id, list(_along(wire)))
        for wire in view.wires
        if overlay.wires.get(wire.id, 0.0) >= LEAST
    ]
    solid = [box for box in view.boxes if not box.is_frame]
    found: dict[str, Note] = {}
    for share, of, places in sorted(busy, key=lambda one: (-one[0], one[1])):
        text = f"{share:.0%}"
        half = width(text, HIGH) * BOLD / 2 + 1
        for x, y in places:
            area = (x - half, y - HIGH / 2, x + half, y + HIGH / 2)
            others = (box for box in solid if box.id != of)
            if (
                _inside(area, view)
                and not any(_meet(area, one) for one in taken)
                and not any(_meet(area, _with_border(box)) for box in others)
            ):
                taken.append(area)
                found[of] = Note(text, x, y)
                break
    return found


def _along(wire: Wire) -> Iterator[tuple[float, float]]:
    """The middles of a wire's pieces, the longest first, then points nearer to their ends."""
    pieces = sorted(
        pairwise(wire.points), key=lambda ends: -hypot(ends[1][0] - ends[0][0], ends[1][1] - ends[0][1])
    )
    for at in (0.5, 0.3, 0.7):
        for (ax, ay), (bx, by) in pieces:
            yield ax + (bx - ax) * at, ay + (by - ay) * at


def _round(box: Box) -> list[tuple[float, float]]:
    """Below a box's label, then at its corners, then just outside of it."""
    x = box.centre[0]
    low, top = box.bottom - HIGH / 2 - _EDGE, box.y + HIGH / 2 + _EDGE
    return [
        (x, low),
        (box.right - 14, low),
        (box.right - 14, top),
        (x, box.bottom + HIGH / 2 + _EDGE),
        (x, box.y - HIGH / 2 - _EDGE),
    ]


def _with_border(box: Box) -> Area:
    return box.x - _EDGE, box.y - _EDGE, box.right + _EDGE, box.bottom + _EDGE


def _labels(box: Box) -> Iterator[Area]:
    x = box.centre[0]
    middle = box.y + 6 + LINE * len(box.lines) / 2 if box.is_frame else box.centre[1]
    first = middle - LINE * (len(box.lines) - 1) / 2
    for number, line in enumerate(box.lines):
        y, half = first + number * LINE, width(line) / 2
        yield x - half, y - SIZE / 2 - 1, x + half, y + SIZE / 2 + 1


def _note(note: Note) -> Area:
    wide = width(note.text)
    left = note.x - {"start": 0.0, "middle": wide / 2, "end": wide}[note.anchor]
    return left, note.y - SIZE / 2 - 1, left + wide, note.y + SIZE / 2 + 1


def _inside(area: Area, view: View) -> bool:
    return area[0] >= 0 and area[1] >= 0 and area[2] <= view.width and area[3] <= view.height


def _meet(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
