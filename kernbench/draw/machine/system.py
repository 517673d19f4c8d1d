"""The tray: host, switch, and the packages with their PCIe endpoints.

Distance goes outwards from the switch: the host above it and the packages left and right, each as far off
as its wire is long. The switch is a bar as tall as the packages beside it, so that no wire has to bend and
none crosses another, however many packages there are.
"""

from __future__ import annotations

from dataclasses import replace

from kernbench.draw.machine.blocks import blocks_view
from kernbench.draw.machine.facts import bundles, count_text, is_tray, spec
from kernbench.draw.machine.model import Box, View
from kernbench.draw.machine.sheet import Sheet, scale_for
from kernbench.draw.machine.text import LINE, block
from kernbench.hardware.topology.nodes import HOST_CPU
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node, PropertyGraph

_PAD = 10.0
_GAP = 22.0
_WIRE = 96.0
"""Points of the shortest wire."""
_LONGEST = 480.0
"""Points that no wire exceeds: board wires of very different lengths are not drawn to one scale."""


def system_view(graph: PropertyGraph, instance: str | None = None) -> View:
    """The whole machine, PCIe links and packages; ``instance`` is a block of a machine that is not a tray."""
    if not is_tray(graph):
        return blocks_view(graph, instance)
    sheet = Sheet(graph, "system")
    switch = graph.node(places(graph).part("switch"))
    endpoints = [node for node in graph.nodes() if node.properties["kind"] == "pcie_ep"]
    ends = [graph.node(HOST_CPU), switch, *endpoints]
    wires = {
        bundle.a if bundle.b == switch.id else bundle.b: bundle
        for bundle in bundles(graph, {node.id: node.id for node in ends})
    }
    lengths = [bundle.mm for bundle in wires.values()]
    scale = scale_for((0.0, min((mm for mm in lengths if mm > 0), default=1.0)), (_WIRE,))
    reach = {end: min(max(bundle.mm * scale, _WIRE), _LONGEST) for end, bundle in wires.items()}
    stretched = any(abs(reach[end] - wires[end].mm * scale) > 0.5 for end in wires)

    by_sip: dict[int, list[Node]] = {}
    for node in endpoints:
        by_sip.setdefault(int(node.properties["sip"]), []).append(node)
    bar = _bar(sheet, switch, _packages(sheet, graph, switch, by_sip, reach))
    _host(sheet, graph.node(HOST_CPU), bar, reach[HOST_CPU])
    for end, bundle in wires.items():
        sheet.wire(replace(bundle, a=switch.id, b=end))
    return sheet.cut(
        "tray",
        _facts(graph),
        scale=scale,
        stretched=stretched,
    )


def _packages(
    sheet: Sheet,
    graph: PropertyGraph,
    switch: Node,
    by_sip: dict[int, list[Node]],
    reach: dict[str, float],
) -> float:
    """Put the packages on both sides of a bar whose left edge is x = 0; return the height taken."""
    content = spec(graph)
    mesh = content["sip"]["cube_mesh"]
    cubes = mesh["w"] * mesh["h"]
    pes = cubes * content["cube"]["pes"]["count"]
    label = (f"{mesh['w']} x {mesh['h']} cubes", count_text(pes, "PE"))
    end_w = max(block([_end_label(node)])[0] for nodes in by_sip.values() for node in nodes) + 2 * _PAD
    text_w, text_h = block((f"sip{max(by_sip)}", *label))
    most = max(len(nodes) for nodes in by_sip.values())
    height = max(text_h, most * (LINE + _PAD) - 4) + 2 * _PAD
    width = text_w + end_w + 3 * _PAD
    bar_w = _bar_width(switch)
    for sip, nodes in by_sip.items():
        row, on_right = divmod(sip, 2)
        wire = max(reach[node.id] for node in nodes)
        x = bar_w + wire if on_right else -wire - width
        y = row * (height + _GAP)
        name = places(graph).part("sip", sip)
        sheet.put(name, "sip", (x, y, width, height), frame=True, tip=f"{name}: {', '.join(label)}")
        text_x = x + width - _PAD - text_w - 4 if on_right else x + _PAD - 4
        text = (text_x, y + (height - text_h) / 2, text_w + 8, text_h)
        sheet.put(f"{name}.label", "label", text, (name, *label))
        end_x = x if on_right else x + width - end_w
        step = LINE + _PAD
        first = y + (height - len(nodes) * step + 4) / 2
        for i, node in enumerate(nodes):
            at = (end_x, first + i * step, end_w, LINE + 6)
            sheet.put(node.id, "pcie_ep", at, (_end_label(node),), [node])
    rows = -(-(max(by_sip) + 1) // 2)
    return rows * (height + _GAP) - _GAP


def _end_label(node: Node) -> str:
    return f"{node.id.split('.')[1]} PCIe"


def _bar_width(switch: Node) -> float:
    return block(_bar_label(switch))[0] + 2 * _PAD


def _bar_label(switch: Node) -> tuple[str, ...]:
    return ("switch0", f"{float(switch.properties['overhead_ns']):g} ns")


def _bar(sheet: Sheet, switch: Node, height: float) -> Box:
    label = _bar_label(switch)
    size = _bar_width(switch), max(height, block(label)[1] + 2 * _PAD)
    return sheet.put(switch.id, "switch", (0.0, 0.0, *size), label, [switch])


def _host(sheet: Sheet, host: Node, bar: Box, wire: float) -> None:
    label = ("host CPU",)
    w, h = (side + 2 * _PAD for side in block(label))
    sheet.put(host.id, "host_cpu", (bar.centre[0] - w / 2, -wire - h, w, h), label, [host])


def _facts(graph: PropertyGraph) -> list[str]:
    p = graph.properties
    sips = int(p["sips"])
    facts = [count_text(sips, "SIP")]
    if sips > 1:
        pattern = str(p["inter_sip_pattern"])
        grid = "" if pattern == "ring_1d" else f" of {p['sip_grid_w']} x {p['sip_grid_h']}"
        facts.append(f"collectives see {pattern}{grid}")
    return facts
