"""A package: its mesh of cubes with the UCIe seams, and the IO chiplets on its shoreline.

Cubes are drawn to scale; the gaps between them are made wide enough to see the seams. Cubes are
closed boxes with the ports that are in use as tabs on their sides.
"""

from __future__ import annotations

from kernbench.draw.machine.facts import bundles, count_text, inside, shown, spec
from kernbench.draw.machine.io_strip import add_chiplets
from kernbench.draw.machine.model import View
from kernbench.draw.machine.sheet import Axis, Sheet
from kernbench.draw.machine.text import LINE, block
from kernbench.hardware.kinds import link_kind
from kernbench.support.pgraph import Node, PropertyGraph
from kernbench.support.sizes import size_text

_TAB = (18.0, LINE + 2)
_SEAM = 26.0
"""Points of the shortest gap between cubes."""


def sip_view(graph: PropertyGraph, instance: str | None = None) -> View:
    """A SIP that stands for all, or the one called ``instance``."""
    group, instance = shown(graph, "sip", instance)
    sheet = Sheet(graph, "sip", instance)
    nodes = inside(graph, group)
    owner = {node.id: node.id.removeprefix(f"{group.id}.") for node in nodes if _is_port(graph, node)}
    content = spec(graph)
    size, mesh = content["cube"]["size_mm"], content["sip"]["cube_mesh"]
    seam = content["cube"]["ucie"]["seam_mm"]
    pes, hbm = content["cube"]["pes"]["count"], content["cube"]["hbm"]["capacity_bytes"]
    label = (count_text(pes, "PE"), size_text(hbm))
    text_w, text_h = block((f"cube{mesh['w'] * mesh['h'] - 1}", *label))
    needs = text_w + 2 * _TAB[0] + 16, text_h + 2 * _TAB[1] + 8
    # The longer side of a cube to scale, the shorter at least as long as its label needs.
    scale = max(min(needs[0] / size["w"], needs[1] / size["h"]), 120.0 / max(size["w"], size["h"]))
    across = _axis(mesh["w"], size["w"], seam, needs[0], scale)
    down = _axis(mesh["h"], size["h"], seam, needs[1], scale)

    for cube in range(mesh["w"] * mesh["h"]):
        y, x = divmod(cube, mesh["w"])
        left, top = across.stop(2 * x), down.stop(2 * y)
        right, bottom = across.stop(2 * x + 1), down.stop(2 * y + 1)
        sheet.put(f"cube{cube}", "cube", (left, top, right - left, bottom - top), frame=True)
        _label(sheet, f"cube{cube}", (f"cube{cube}", *label))
    for node in nodes:
        if node.id in owner:
            _tab(sheet, node, owner[node.id])
    owner |= add_chiplets(sheet, graph, nodes, owner)
    for bundle in bundles(graph, owner):
        sheet.wire(bundle)
    return sheet.cut(
        instance or "SIP",
        _facts(graph, instance),
        scale=scale,
        stretched=across.stretched or down.stretched,
    )


def _is_port(graph: PropertyGraph, node: Node) -> bool:
    """A cube's UCIe port that leads somewhere."""
    return node.properties["kind"] == "ucie_port" and any(
        link_kind(edge).seam for edge in graph.out_edges(node.id, "LINK")
    )


def _axis(cubes: int, size: float, seam: float, need: float, scale: float) -> Axis:
    stops, needs = [0.0, size], [need]
    for cube in range(1, cubes):
        start = cube * (size + seam)
        stops += [start, start + size]
        needs += [_SEAM, need]
    return Axis(stops, needs, scale)


def _label(sheet: Sheet, cube: str, lines: tuple[str, ...]) -> None:
    box = sheet.boxes[cube]
    w, h = block(lines)
    x, y = box.centre
    sheet.put(f"{cube}.label", "label", (x - w / 2 - 3, y - h / 2, w + 6, h), lines)


def _tab(sheet: Sheet, node: Node, box_id: str) -> None:
    side = str(node.properties["side"])
    cube = sheet.boxes[f"cube{node.properties['cube']}"]
    (x, y), (w, h) = cube.centre, _TAB
    left, top = {
        "N": (x - w / 2, cube.y),
        "S": (x - w / 2, cube.bottom - h),
        "W": (cube.x, y - h / 2),
        "E": (cube.right - w, y - h / 2),
    }[side]
    sheet.put(box_id, "ucie_port", (left, top, w, h), (side,), [node])


def _facts(graph: PropertyGraph, instance: str) -> list[str]:
    content = spec(graph)
    mesh, size = content["sip"]["cube_mesh"], content["cube"]["size_mm"]
    alone = mesh["w"] * mesh["h"] == 1
    cubes = "cube" if alone else "cubes"
    return [
        *([] if instance or graph.properties["sips"] == 1 else ["stands for all SIPs"]),
        f"{mesh['w']} x {mesh['h']} {cubes} of {size['w']:g} x {size['h']:g} mm",
        *([] if alone else [f"seams of {content['cube']['ucie']['seam_mm']:g} mm"]),
    ]
