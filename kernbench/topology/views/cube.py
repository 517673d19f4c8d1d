"""A cube: router mesh, HBM zone, and what hangs on which router (ADR-0005 D3 view B).

Routers lie at their true places. What is at the same place as its router in the machine (PEs, HBM slices)
stands in the field beside it, towards the middle of the cube; UCIe connections stand on the cube's edge.
PEs are closed boxes.
"""

from __future__ import annotations

from kernbench.pgraph import Node, PropertyGraph
from kernbench.topology.views.axis import Axis, scale_for
from kernbench.topology.views.cube_fields import Attached, Fields
from kernbench.topology.views.cube_ports import Ports
from kernbench.topology.views.cube_zone import HbmZone
from kernbench.topology.views.facts import Bundle, bundles, count_text, inside, shown, size_text, spec
from kernbench.topology.views.model import Note, View
from kernbench.topology.views.sheet import Sheet
from kernbench.topology.views.text import LINE, block

_ROUTER_H = 18.0
_BARE = 26.0
"""Points of a mesh link that are seen between two routers."""


def cube_view(graph: PropertyGraph, instance: str | None = None) -> View:
    """A cube that stands for all, or the one called ``instance``."""
    group, instance = shown(graph, "cube", instance)
    sheet = Sheet("cube", instance)
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
        Attached(owner[n.id], n, served[owner[n.id]], _place(n, origin), _own(nodes, owner, owner[n.id]))
        for n in _firsts(nodes, owner)
        if owner[n.id] in served and n.properties["kind"] not in ("ucie_conn", "router")
    ]
    zone = HbmZone(graph, routers.values(), len(columns), len(rows), (router_w, _ROUTER_H))
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
        x, y = _place(node, origin)
        at = (across.at(x) - router_w / 2, down.at(y) - _ROUTER_H / 2, router_w, _ROUTER_H)
        sheet.put(name, "router", at, (name,), [node])
    ways = fields.draw(sheet, across, down)
    ways.update(ports.draw(sheet, nodes, across, down))
    for bundle in links:
        sheet.wire(bundle, ways.get((bundle.a, bundle.b)) or ways.get((bundle.b, bundle.a)))
    _rulers(sheet, columns, rows, across, down)
    return sheet.cut(
        str(graph.properties["name"]),
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
    """The component that gives each box its place and kind: its first."""
    first: dict[str, Node] = {}
    for node in nodes:
        if node.properties["kind"] != "channel_router":
            first.setdefault(owner[node.id], node)
    return list(first.values())


def _own(nodes: list[Node], owner: dict[str, str], box: str) -> list[Node]:
    return [node for node in nodes if owner[node.id] == box]


def _place(node: Node, origin: tuple[float, float]) -> tuple[float, float]:
    p = node.properties
    return round(float(p["x_mm"]) - origin[0], 6), round(float(p["y_mm"]) - origin[1], 6)


def _served(links: list[Bundle], routers: dict[str, Node]) -> dict[str, tuple[int, int]]:
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
