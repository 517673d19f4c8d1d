"""A view under construction: a sheet of boxes and wires, cut to size at the end, and its axes.

An axis maps locations in mm to points: true to scale, but with no gap narrower than its contents need.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kernbench.draw.machine.facts import figures
from kernbench.draw.machine.model import Box, Note, Point, View, Wire, role
from kernbench.draw.machine.text import LINE, width
from kernbench.support.pgraph import Node, PropertyGraph

Rectangle = tuple[float, float, float, float]
"""x and y of the top left corner, width, height, points."""


class Sheet:
    """Collects what :class:`View` holds, in any coordinates; :meth:`cut` moves all to the origin."""

    def __init__(self, graph: PropertyGraph, name: str, instance: str = "") -> None:
        self.graph = graph
        self.name = name
        self.instance = instance
        self.boxes: dict[str, Box] = {}
        self.wires: list[Wire] = []
        self.notes: list[Note] = []

    def roles(self, names: Sequence[str]) -> tuple[str, ...]:
        """Roles of components or links, each once, in order."""
        return tuple(dict.fromkeys(map(self._role, names)))

    def _role(self, name: str) -> str:
        return role(name, self.name, self.instance)

    def put(
        self,
        box_id: str,
        kind: str,
        rectangle: Rectangle,
        lines: Sequence[str] = (),
        nodes: Sequence[Node] = (),
        *,
        frame: bool = False,
        tip: str = "",
    ) -> Box:
        """Put a box on the sheet that stands for ``nodes``; the first gives its location in mm."""
        if box_id in self.boxes:
            raise ValueError(f"box '{box_id}' is on the sheet already")
        at = nodes[0].properties if nodes else {"x_mm": 0.0, "y_mm": 0.0}
        names = [node.id for node in nodes]
        roles, links = self.roles(names), self.roles(self._between(names))
        about = tip or "\n".join(f"{self._role(n.id)}: {figures(n)}" for n in nodes)
        box = Box(
            box_id, kind, *rectangle, tuple(lines), roles, links, frame,
            float(at["x_mm"]), float(at["y_mm"]), about,
        )  # fmt: skip
        self.boxes[box_id] = box
        return box

    def _between(self, names: Sequence[str]) -> list[str]:
        """Links from one of these components to another."""
        own = set(names)
        return [
            edge.id for name in names for edge in self.graph.out_edges(name, "LINK") if edge.target in own
        ]

    def wire(self, bundle: Wire, points: Sequence[Point] | None = None) -> None:
        """Draw a bundle; a straight line unless ``points`` say otherwise."""
        path = tuple(points) if points is not None else straight(self.boxes[bundle.a], self.boxes[bundle.b])
        self.wires.append(replace(bundle, links=self.roles(bundle.links), points=path))

    def cut(self, title: str, facts: Sequence[str], *, scale: float = 0.0, stretched: bool = False) -> View:
        """The finished view."""
        boxes = sorted(self.boxes.values(), key=lambda box: not box.is_frame)
        xs = [x for box in boxes for x in (box.x, box.right)]
        ys = [y for box in boxes for y in (box.y, box.bottom)]
        xs += [x for wire in self.wires for x, _ in wire.points]
        ys += [y for wire in self.wires for _, y in wire.points]
        for note in self.notes:
            long = width(note.text)
            start = note.x - {"start": 0.0, "middle": long / 2, "end": long}[note.anchor]
            xs += [start, start + long]
            ys += [note.y - LINE / 2, note.y + LINE / 2]
        left, top = min(xs), min(ys)
        return View(
            self.name,
            str(self.graph.properties["name"]),
            title,
            tuple(facts),
            tuple(replace(box, x=box.x - left, y=box.y - top) for box in boxes),
            tuple(replace(w, points=tuple((x - left, y - top) for x, y in w.points)) for w in self.wires),
            tuple(replace(note, x=note.x - left, y=note.y - top) for note in self.notes),
            max(xs) - left,
            max(ys) - top,
            scale,
            stretched,
            self.instance,
        )


def straight(a: Box, b: Box) -> tuple[Point, Point]:
    """The line between two boxes: level or plumb where they face each other, else between their middles."""
    low, high = max(a.x, b.x), min(a.right, b.right)
    if high > low:
        x = (low + high) / 2
        return ((x, a.bottom), (x, b.y)) if a.y < b.y else ((x, a.y), (x, b.bottom))
    low, high = max(a.y, b.y), min(a.bottom, b.bottom)
    if high > low:
        y = (low + high) / 2
        return ((a.right, y), (b.x, y)) if a.x < b.x else ((a.x, y), (b.right, y))
    return edge_point(a, b.centre), edge_point(b, a.centre)


def edge_point(box: Box, towards: Point) -> Point:
    """Where the line from the middle of ``box`` to a point outside leaves it."""
    x, y = box.centre
    dx, dy = towards[0] - x, towards[1] - y
    share = min(
        box.w / 2 / abs(dx) if dx else float("inf"),
        box.h / 2 / abs(dy) if dy else float("inf"),
    )
    return x + dx * share, y + dy * share


def scale_for(stops: Sequence[float], needs: Sequence[float]) -> float:
    """Points per mm at which every gap between ``stops`` (mm) has the points that it needs."""
    gaps = (after - before for before, after in pairwise(stops))
    return max((need / gap for gap, need in zip(gaps, needs, strict=True) if gap > 0), default=1.0)


class Axis:
    """One direction of a drawing.

    ``stops`` are mm that never fall, ``needs[i]`` the points that the gap after stop i must have.
    """

    def __init__(self, stops: Sequence[float], needs: Sequence[float], scale: float) -> None:
        self.stops = list(stops)
        self.scale = scale
        self.stretched = False
        self._points = [0.0]
        for (before, after), need in zip(pairwise(stops), needs, strict=True):
            true = (after - before) * scale
            self.stretched |= need > true + 0.5
            self._points.append(self._points[-1] + max(true, need))

    def stop(self, index: int) -> float:
        """Points of a stop, negative numbers from the end."""
        return self._points[index]

    def at(self, mm: float) -> float:
        """Points of any location; between stops in proportion, beyond them to scale."""
        stops, points = self.stops, self._points
        i = bisect_right(stops, mm) - 1
        if i < 0:
            return (mm - stops[0]) * self.scale
        if i == len(stops) - 1:
            return points[-1] + (mm - stops[-1]) * self.scale
        span = stops[i + 1] - stops[i]
        return points[i] + (points[i + 1] - points[i]) * (mm - stops[i]) / span
