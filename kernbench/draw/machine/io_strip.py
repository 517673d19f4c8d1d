"""The IO chiplets of a package, each a strip along the side that it serves.

Outwards from the cubes: the PHYs in front of the ports that they serve, the chiplet's network as a bar over
all of them, the PCIe endpoint and the IO_CPU, and a stub for the switch. Two chiplets on one side whose
strips would meet stand one behind the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kernbench.draw.machine.facts import bundles
from kernbench.draw.machine.model import Box
from kernbench.draw.machine.sheet import Rectangle, Sheet
from kernbench.draw.machine.text import LINE, block
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node, PropertyGraph

_PAD, _GAP, _SHORE, _STUB = 10.0, 20.0, 30.0, 26.0
_H = LINE + 8
_OUT = {"N": (0, -1), "S": (0, 1), "W": (-1, 0), "E": (1, 0)}


@dataclass(slots=True)
class _Chiplet:
    name: str
    side: str = ""
    parts: dict[str, Node] = field(default_factory=dict)
    """pcie_ep, io_cpu, io_noc."""
    phys: dict[str, tuple[list[Node], Box]] = field(default_factory=dict)
    """By PHY: the endpoint with its connections, and the tab of the port that it serves."""


def add_chiplets(
    sheet: Sheet, graph: PropertyGraph, nodes: list[Node], ports: Mapping[str, str]
) -> dict[str, str]:
    """Put all IO chiplets around the cubes on ``sheet``; return the box of each component.

    ``ports`` are the boxes of the cubes' ports.
    """
    cubes = [box for box in sheet.boxes.values() if box.kind == "cube"]
    west, east = min(box.x for box in cubes), max(box.right for box in cubes)
    north, south = min(box.y for box in cubes), max(box.bottom for box in cubes)
    shore = {"N": north, "S": south, "W": west, "E": east}
    owner: dict[str, str] = {}
    layers: dict[str, list[tuple[float, list[tuple[float, float]]]]] = {}
    for chiplet in _chiplets(graph, nodes, sheet, ports).values():
        strip = _Strip(sheet, chiplet)
        behind = layers.setdefault(chiplet.side, [])
        depth = _SHORE
        for thick, spans in behind:
            if all(strip.last + _PAD < first or last + _PAD < strip.first for first, last in spans):
                spans.append((strip.first, strip.last))
                break
            depth += thick
        else:
            behind.append((strip.thickness + _STUB + _H + _SHORE, [(strip.first, strip.last)]))
        owner |= strip.draw(graph, shore[chiplet.side], depth)
    return owner


def _chiplets(
    graph: PropertyGraph, nodes: list[Node], sheet: Sheet, ports: Mapping[str, str]
) -> dict[str, _Chiplet]:
    found: dict[str, _Chiplet] = {}
    sides: dict[str, list[str]] = {}
    for node in nodes:
        if int(node.properties["cube"]) >= 0:
            continue
        _, io, part = node.id.split(".", 2)
        chiplet, kind = found.setdefault(io, _Chiplet(io)), str(node.properties["kind"])
        phy = part.partition("-")[2].partition(".")[0]
        if kind == "io_ucie":
            port = next(e.target for e in graph.out_edges(node.id, "LINK") if e.target in ports)
            sides.setdefault(io, []).append(str(graph.node(port).properties["side"]))
            chiplet.phys[phy] = ([node], sheet.boxes[ports[port]])
        elif kind == "io_ucie_conn":
            chiplet.phys[phy][0].append(node)
        else:
            chiplet.parts[kind] = node
    for io, served in sides.items():  # PHYs may serve ports around a corner: most of them decide
        found[io].side = max(served, key=served.count)
    return found


class _Strip:
    """One chiplet's strip: ``first`` to ``last`` along its side, ``thickness`` away from it, points."""

    def __init__(self, sheet: Sheet, chiplet: _Chiplet) -> None:
        self.sheet, self.chiplet = sheet, chiplet
        self.level = chiplet.side in "NS"
        """It runs from west to east."""
        self.texts = {
            "io_noc": (f"{chiplet.name}.io_noc",),
            "pcie_ep": ("PCIe EP",),
            "io_cpu": ("IO_CPU",),
            "stub": ("to switch",),
            "phy": (max(chiplet.phys, key=len),),
        }
        along = [self._along(tab) for _, tab in chiplet.phys.values()]
        phy = self._size("phy")
        inner = self._size("pcie_ep")[0] + self._size("io_cpu")[0] + _PAD
        middle = (min(along) + max(along)) / 2
        half = max((max(along) - min(along) + phy[0]) / 2, inner / 2, self._size("io_noc")[0] / 2)
        self.middle, self.half = middle, half
        self.first, self.last = middle - half - _PAD, middle + half + _PAD
        ends = max(self._size("pcie_ep")[1], self._size("io_cpu")[1])
        self.thickness = 2 * _PAD + phy[1] + 2 * _GAP + self._size("io_noc")[1] + ends

    def _along(self, box: Box) -> float:
        return box.centre[0] if self.level else box.centre[1]

    def _size(self, part: str) -> tuple[float, float]:
        """(along, away) of a part's box."""
        w = block(self.texts[part])[0] + 14
        return (w, _H) if self.level else (_H, w)

    def draw(self, graph: PropertyGraph, shore: float, depth: float) -> dict[str, str]:
        """Put the strip ``depth`` points off the shore line; return the box of each component."""
        sheet, chiplet = self.sheet, self.chiplet
        prefix = chiplet.name
        owner: dict[str, str] = {}

        def put(part: str, nodes: list[Node], lines: tuple[str, ...], middle: float, away: float,
                size: tuple[float, float]) -> None:  # fmt: skip
            kind = str(nodes[0].properties["kind"])
            box_id = f"{prefix}.{part}"
            sheet.put(box_id, kind, self._rectangle(shore, middle, away, size), lines, nodes)
            owner.update((node.id, box_id) for node in nodes)

        away = depth
        outline = (2 * (self.half + _PAD), self.thickness)
        sheet.put(prefix, "io", self._rectangle(shore, self.middle, away, outline), frame=True)
        away += _PAD
        for phy, (nodes, tab) in chiplet.phys.items():
            put(phy, nodes, (phy,), self._along(tab), away, self._size("phy"))
        away += self._size("phy")[1] + _GAP
        bar = (2 * self.half, self._size("io_noc")[1])
        put("io_noc", [chiplet.parts["io_noc"]], self.texts["io_noc"], self.middle, away, bar)
        away += bar[1] + _GAP
        sizes = {part: self._size(part) for part in ("pcie_ep", "io_cpu")}
        start = self.middle - (sum(along for along, _ in sizes.values()) + _PAD) / 2
        at_endpoint = start + sizes["pcie_ep"][0] / 2
        for part, size in sizes.items():
            put(part, [chiplet.parts[part]], self.texts[part], start + size[0] / 2, away, size)
            start += size[0] + _PAD
        stub = self._rectangle(shore, at_endpoint, depth + self.thickness + _STUB, self._size("stub"))
        sheet.put(f"{prefix}.switch", "switch", stub, self.texts["stub"])
        self._stub_wire(graph, f"{prefix}.switch")
        return owner

    def _rectangle(self, shore: float, middle: float, away: float, size: tuple[float, float]) -> Rectangle:
        """x, y, w, h of a box ``away`` points off the shore, its middle at ``middle`` along it."""
        dx, dy = _OUT[self.chiplet.side]
        along, thick = size
        near = shore + (dx + dy) * away
        far = near + (dx + dy) * thick
        low = min(near, far)
        if self.level:
            return middle - along / 2, low, along, thick
        return low, middle - along / 2, thick, along

    def _stub_wire(self, graph: PropertyGraph, stub: str) -> None:
        """The PCIe link, which leaves the package."""
        endpoint = self.chiplet.parts["pcie_ep"].id
        box = f"{self.chiplet.name}.pcie_ep"
        for bundle in bundles(graph, {endpoint: box, places(graph).part("switch"): stub}):
            self.sheet.wire(replace(bundle, a=box, b=stub))
