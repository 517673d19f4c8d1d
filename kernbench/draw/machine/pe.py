"""A processing element: its parts and the links among them.

All parts have one location, so there is no distance to show. The layout is chosen so that control runs from
left to right, data leave upwards to the mesh, and no link crosses another or passes behind a part.
"""

from __future__ import annotations

from kernbench.draw.machine.facts import bundles, inside, shown
from kernbench.draw.machine.model import Box, Point, View
from kernbench.draw.machine.sheet import Sheet
from kernbench.draw.machine.text import block
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.support.pgraph import Node, PropertyGraph
from kernbench.support.sizes import size_text

_ROUND = ("pe_scheduler", "pe_fetch_store")
"""Parts whose link to PE_MATH goes round PE_GEMM."""
_ROUTER = "router"
_GAP_X, _GAP_Y = 56.0, 40.0


def pe_view(graph: PropertyGraph, instance: str | None = None) -> View:
    """A PE that stands for all, or the one called ``instance``."""
    group, instance = shown(graph, "pe", instance)
    sheet = Sheet(graph, "pe", instance)
    parts = [node for node in inside(graph, group) if node.id.startswith(f"{group.id}.pe_")]
    owner = {node.id: str(node.properties["kind"]) for node in parts}
    cells = {kind: COMPONENT_KINDS[kind].cell or (4, i) for i, kind in enumerate(owner.values())}
    labels = {str(node.properties["kind"]): _label(node) for node in parts}
    width = max(block(lines)[0] for lines in labels.values()) + 20
    height = max(block(lines)[1] for lines in labels.values()) + 14
    for node in parts:
        kind = str(node.properties["kind"])
        column, row = cells[kind]
        at = (column * (width + _GAP_X), row * (height + _GAP_Y), width, height)
        sheet.put(kind, kind, at, labels[kind], [node])
    routers = _routers(graph, parts)
    owner.update({router.id: _ROUTER for router in routers})
    outside = [bundle for bundle in bundles(graph, owner) if _ROUTER in (bundle.a, bundle.b)]
    reached = [sheet.boxes[bundle.b if bundle.a == _ROUTER else bundle.a] for bundle in outside]
    left, right = min(box.x for box in reached), max(box.right for box in reached)
    at = (left, -height - _GAP_Y, right - left, height * 0.75)
    bar = sheet.put(_ROUTER, "router", at, ("router of the mesh: to HBM slices, other PEs, UCIe",), routers)
    for bundle in bundles(graph, owner):
        if bundle in outside:
            box = sheet.boxes[bundle.b if bundle.a == _ROUTER else bundle.a]
            sheet.wire(bundle, ((box.centre[0], bar.bottom), (box.centre[0], box.y)))
        elif bundle.a in _ROUND and bundle.b == "pe_math":
            sheet.wire(bundle, _around(sheet.boxes[bundle.a], sheet.boxes[bundle.b]))
        else:
            sheet.wire(bundle)
    title = instance or "processing element"
    return sheet.cut(title, _facts(graph, instance))


def _around(start: Box, end: Box) -> list[Point]:
    """Down from the one, then level into the side of the other."""
    x = start.centre[0]
    side = end.x if x < end.x else end.right
    return [(x, start.bottom), (x, end.centre[1]), (side, end.centre[1])]


def _routers(graph: PropertyGraph, parts: list[Node]) -> list[Node]:
    found: dict[str, Node] = {}
    for part in parts:
        for edge in graph.out_edges(part.id, "LINK"):
            node = graph.node(edge.target)
            if node.properties["kind"] == "router":
                found[node.id] = node
    return list(found.values())


def _label(node: Node) -> tuple[str, ...]:
    """Name and the figures that matter most."""
    kind = str(node.properties["kind"])
    values = {
        key: f"{value:g}" if isinstance(value, float) else str(value)
        for key, value in node.properties.items()
    }
    for key, value in node.properties.items():
        if key.endswith("_bytes"):
            values[key] = size_text(float(value))
    return (kind.upper(), *(line.format(**values) for line in COMPONENT_KINDS[kind].figures))


def _facts(graph: PropertyGraph, instance: str) -> list[str]:
    alone = instance or graph.properties["pes_per_cube"] == 1
    return [*([] if alone else ["stands for all PEs"]), "structure only, not to scale"]
