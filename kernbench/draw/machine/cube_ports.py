"""UCIe on the edges of a cube: connections on the edge beside their routers, the ports as bars outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from kernbench.draw.machine.cube_fields import CONNECTION
from kernbench.draw.machine.model import Box, Point
from kernbench.draw.machine.sheet import Axis, Sheet
from kernbench.draw.machine.text import LINE, block
from kernbench.support.pgraph import Node

_STEP = (CONNECTION[0] + 4, CONNECTION[1] + 4)
_SEEN = 16.0
"""Points of a wire that are seen between a router and its connection."""
_OUTSIDE = 20.0
"""The same between a connection and its port."""


class Ports:
    """The connections of a cube, by side and router. ``served`` is the router (row, column) of each box."""

    def __init__(
        self, connections: Sequence[Node], owner: Mapping[str, str], served: Mapping[str, tuple[int, int]]
    ) -> None:
        self.owner = owner
        self.groups: dict[tuple[str, tuple[int, int]], list[Node]] = {}
        for node in connections:
            key = (str(node.properties["side"]), served[owner[node.id]])
            self.groups.setdefault(key, []).append(node)

    def room(self, router_w: float, router_h: float) -> tuple[float, float]:
        """Points that a connection needs between edge and router: across, down."""
        widest = max((len(nodes) for (side, _), nodes in self.groups.items() if side in "NS"), default=0)
        return (
            max(router_w / 2 + _SEEN + CONNECTION[0] / 2, widest * _STEP[0] / 2 + 4),
            router_h / 2 + _SEEN + CONNECTION[1] / 2,
        )

    def spread(self, across: bool, lines: int) -> list[float]:
        """Points that connections need between neighbouring columns (``across``) or rows."""
        most = [0] * lines
        for (side, (row, column)), nodes in self.groups.items():
            if (side in "NS") == across:
                line = column if across else row
                most[line] = max(most[line], len(nodes))
        step = _STEP[0] if across else _STEP[1]
        return [(a + b) * step / 2 for a, b in pairwise(most)]

    def draw(
        self, sheet: Sheet, nodes: Sequence[Node], across: Axis, down: Axis
    ) -> dict[tuple[str, str], list[Point]]:
        """Put connections and ports on ``sheet``; return the paths of their wires."""
        paths: dict[tuple[str, str], list[Point]] = {}
        for (side, (row, column)), group in self.groups.items():
            router = sheet.boxes[f"r{row}c{column}"]
            for rank, node in enumerate(group):
                off = rank - (len(group) - 1) / 2
                box = self._connection(sheet, node, side, router, off, across, down)
                paths[box.id, router.id] = _to_router(box, router, side, off / len(group))
        for node in nodes:
            if node.properties["kind"] == "ucie_port":
                self._port(sheet, node, paths)
        return paths

    def _connection(
        self, sheet: Sheet, node: Node, side: str, router: Box, off: float, across: Axis, down: Axis
    ) -> Box:
        x, y = router.centre
        if side in "NS":
            x, y = x + off * _STEP[0], down.stop(0 if side == "N" else -1)
        else:
            x, y = across.stop(0 if side == "W" else -1), y + off * _STEP[1]
        w, h = CONNECTION
        label = (f"conn{node.properties['index']}",)
        return sheet.put(self.owner[node.id], "ucie_conn", (x - w / 2, y - h / 2, w, h), label, [node])

    def _port(self, sheet: Sheet, node: Node, paths: dict[tuple[str, str], list[Point]]) -> None:
        side = str(node.properties["side"])
        groups = (group for (of_side, _), group in self.groups.items() if of_side == side)
        own = [sheet.boxes[self.owner[each.id]] for group in groups for each in group]
        label = (f"UCIe-{side}",)
        text = block(label)[0] + 14
        left, right = min(box.x for box in own), max(box.right for box in own)
        top, bottom = min(box.y for box in own), max(box.bottom for box in own)
        if side in "NS":
            wide = max(right - left, text)
            x = (left + right - wide) / 2
            y = top - _OUTSIDE - LINE - 8 if side == "N" else bottom + _OUTSIDE
            size = (wide, LINE + 8)
        else:
            x = left - _OUTSIDE - text if side == "W" else right + _OUTSIDE
            y, size = top, (text, bottom - top)
        bar = sheet.put(self.owner[node.id], "ucie_port", (x, y, *size), label, [node])
        for box in own:
            cx, cy = box.centre
            paths[box.id, bar.id] = {
                "N": [(cx, box.y), (cx, bar.bottom)],
                "S": [(cx, box.bottom), (cx, bar.y)],
                "W": [(box.x, cy), (bar.right, cy)],
                "E": [(box.right, cy), (bar.x, cy)],
            }[side]


def _to_router(box: Box, router: Box, side: str, off: float) -> list[Point]:
    """From the connection to its side of the router; several of one router arrive side by side."""
    (cx, cy), (rx, ry) = box.centre, router.centre
    rx, ry = (rx + off * (router.w - 8), ry) if side in "NS" else (rx, ry + off * (router.h - 4))
    return {
        "N": [(cx, box.bottom), (rx, router.y)],
        "S": [(cx, box.y), (rx, router.bottom)],
        "W": [(box.right, cy), (router.x, ry)],
        "E": [(box.x, cy), (router.right, ry)],
    }[side]
