"""A cube: router mesh, HBM zone, and what hangs on which router.

Routers are drawn to scale. Components at the same location as their router (PEs, HBM slices)
stand in the field beside it, towards the middle of the cube; UCIe connections stand on the cube's edge.
PEs are closed boxes.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.draw.machine.cube_fields import Attached, Fields
from kernbench.draw.machine.cube_ports import Ports
from kernbench.draw.machine.facts import bundles, count_text, inside, shown, spec
from kernbench.draw.machine.model import Note, View, Wire
from kernbench.draw.machine.sheet import Axis, Sheet, scale_for
from kernbench.draw.machine.text import LINE, block
from kernbench.support.pgraph import Node, PropertyGraph
from kernbench.support.sizes import size_text

_ROUTER_H = 21.0
_BARE = 26.0
"""Points of a mesh link that are seen between two routers."""


def cube_view(graph: PropertyGraph, instance: str | None = None) -> View:
    """A cube that stands for all, or the one called ``instance``."""
    group, instance = shown(graph, "cube", instance)
    sheet = Sheet(graph, "cube", instance)
    size = spec(graph)["cube"]["size_mm"]
    nodes = inside(graph, group)
    owner = {node.id: _box_id(group, node) for node in nodes}
    links = bundles(graph, owner)
    origin = float(group.properties["x_mm"]), float(group.properties["y_mm"])

    routers = {owner[n.id]: n for n in nodes if n.properties["kind"] == "router"}
    columns = sorted({float(n.properties["x_mm"]) - origin[0] for n in routers.values()})
    rows = sorted({float(n.properties["y_mm"]) - origin[1] for n in routers.values()})
    router_w = max(block([name])[0] for name in routers) + 10

    served = _served(links, routers)
    attached = [
        Attached(owner[n.id], n, served[owner[n.id]], _location(n, origin), _own(nodes, owner, owner[n.id]))
        for n in _firsts(nodes, owner)
        if owner[n.id] in served and n.properties["kind"] not in ("ucie_conn", "router")
    ]
    zone = _HbmZone(graph, routers.values(), len(columns), len(rows), (router_w, _ROUTER_H))
    fields = Fields(attached, columns, rows, (size["w"], size["h"]), (router_w, _ROUTER_H), zone.reserved())
    ports = Ports([n for n in nodes if n.properties["kind"] == "ucie_conn"], owner, served)

    stops_x, stops_y = (0.0, *columns, size["w"]), (0.0, *rows, size["h"])
    room_x, room_y = ports.room(router_w, _ROUTER_H)
    needs_x = _needs(zone.widened(fields.widths()), router_w, room_x, ports.spread(True, len(columns)))
    needs_y = _needs(fields.heights(), _ROUTER_H, room_y, ports.spread(False, len(rows)))
    scale = min(max(scale_for(stops_x, needs_x), scale_for(stops_y, needs_y)), 64.0)
    across, down = Axis(stops_x, needs_x, scale), Axis(stops_y, needs_y, scale)

    sheet.put("cube", "cube", (0.0, 0.0, across.stop(-1), down.stop(-1)), frame=True)
    zone.draw(sheet, across, down)
    for name, node in routers.items():
        x, y = _location(node, origin)
        at = (across.at(x) - router_w / 2, down.at(y) - _ROUTER_H / 2, router_w, _ROUTER_H)
        sheet.put(name, "router", at, (name,), [node])
    paths = fields.draw(sheet, across, down)
    paths.update(ports.draw(sheet, nodes, across, down))
    for bundle in links:
        sheet.wire(bundle, paths.get((bundle.a, bundle.b)) or paths.get((bundle.b, bundle.a)))
    _rulers(sheet, columns, rows, across, down)
    return sheet.cut(
        instance or "cube",
        _facts(graph, instance),
        scale=scale,
        stretched=across.stretched or down.stretched,
    )


def _box_id(group: Node, node: Node) -> str:
    """A part of a PE belongs to its PE, a channel router to its HBM slice; others stand for themselves."""
    p = node.properties
    if p["kind"] == "channel_router":
        return f"hbm_ctrl.pe{p['slice']}"
    return f"pe{p['pe']}" if p["pe"] != -1 else node.id.removeprefix(f"{group.id}.")


def _firsts(nodes: list[Node], owner: dict[str, str]) -> list[Node]:
    """The component that gives each box its location and kind: its first."""
    first: dict[str, Node] = {}
    for node in nodes:
        if node.properties["kind"] != "channel_router":
            first.setdefault(owner[node.id], node)
    return list(first.values())


def _own(nodes: list[Node], owner: dict[str, str], box: str) -> list[Node]:
    return [node for node in nodes if owner[node.id] == box]


def _location(node: Node, origin: tuple[float, float]) -> tuple[float, float]:
    p = node.properties
    return round(float(p["x_mm"]) - origin[0], 6), round(float(p["y_mm"]) - origin[1], 6)


def _served(links: list[Wire], routers: dict[str, Node]) -> dict[str, tuple[int, int]]:
    """(row, column) of the router of every box that hangs on one."""
    served = {}
    for bundle in links:
        for router, other in ((bundle.a, bundle.b), (bundle.b, bundle.a)):
            if router in routers and other not in routers:
                p = routers[router].properties
                served[other] = (int(p["row"]), int(p["col"]))
    return served


def _needs(fields: list[float], router: float, margin: float, spread: list[float]) -> list[float]:
    """Points of each gap between stops: edge, routers, edge."""
    inner = [max(field, router + _BARE, apart) for field, apart in zip(fields[1:-1], spread, strict=True)]
    return [max(margin, fields[0]), *inner, max(margin, fields[-1])]


def _rulers(sheet: Sheet, columns: list[float], rows: list[float], across: Axis, down: Axis) -> None:
    """Places of columns and rows in mm, outside of everything."""
    top = min(box.y for box in sheet.boxes.values()) - LINE
    left = min(box.x for box in sheet.boxes.values()) - 8
    for i, x in enumerate(columns):
        sheet.notes.append(Note(f"{x:.3g}{' mm' if i == 0 else ''}", across.at(x), top))
    for i, y in enumerate(rows):
        sheet.notes.append(Note(f"{y:.3g}{' mm' if i == 0 else ''}", left, down.at(y), "end"))


def _facts(graph: PropertyGraph, instance: str) -> list[str]:
    cube = spec(graph)["cube"]
    slices = cube["hbm"]["slices"] or cube["pes"]["count"]
    return [
        *([] if instance or graph.properties["cubes_per_sip"] == 1 else ["stands for all cubes"]),
        f"{cube['size_mm']['w']:g} x {cube['size_mm']['h']:g} mm",
        count_text(cube["pes"]["count"], "PE"),
        f"{size_text(cube['hbm']['capacity_bytes'])} of HBM in {count_text(slices, 'slice')}",
        f"{size_text(cube['sram']['size_bytes'])} of SRAM",
    ]


_ZONE_PAD = 12.0


class _HbmZone:
    """The HBM zone: the cells of a mesh of ``columns`` x ``rows`` without a router, as the HBM die is there.

    A mesh may have none.
    """

    def __init__(
        self,
        graph: PropertyGraph,
        routers: Iterable[Node],
        columns: int,
        rows: int,
        router: tuple[float, float],
    ) -> None:
        present = {(int(n.properties["row"]), int(n.properties["col"])) for n in routers}
        cells = [(r, c) for r in range(rows) for c in range(columns) if (r, c) not in present]
        self.rows = sorted({r for r, _ in cells})
        self.columns = sorted({c for _, c in cells})
        self.router = router
        hbm = spec(graph)["cube"]["hbm"]
        self.lines = ("HBM zone", size_text(hbm["capacity_bytes"]))
        self.tip = f"HBM: {hbm['pseudo_channels']} pseudo-channels of {hbm['channel_gbs']:g} GB/s"
        self.least, self.label_h = (side + _ZONE_PAD for side in block(self.lines))

    def reserved(self) -> dict[tuple[int, int], float]:
        """Points at the top of fields that the zone's label takes."""
        if not self.rows:
            return {}
        first, last = self.columns[0], self.columns[-1]
        return {(self.rows[0], c): self.label_h for c in range(first - (first == last), max(last, first + 1))}

    def widened(self, needs: list[float]) -> list[float]:
        """Needs of the gaps between columns, with room beside a zone of one column for its label."""
        if len(self.columns) != 1:
            return needs
        column, extra = self.columns[0], (self.least - self.router[0]) / 2
        return [need + extra if gap in (column, column + 1) else need for gap, need in enumerate(needs)]

    def draw(self, sheet: Sheet, across: Axis, down: Axis) -> None:
        """Put the zone on ``sheet``, if there is one."""
        if not self.rows:
            return
        left, right = across.stop(self.columns[0] + 1), across.stop(self.columns[-1] + 1)
        top, bottom = down.stop(self.rows[0] + 1), down.stop(self.rows[-1] + 1)
        width = max(right - left + self.router[0], self.least)
        at = ((left + right - width) / 2, top - self.router[1] / 2, width, bottom - top + self.router[1])
        sheet.put("hbm_zone", "zone", at, self.lines, frame=True, tip=self.tip)
