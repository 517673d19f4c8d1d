"""A machine of any shape, block by block: one box for each; what is opened shows the blocks within it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from kernbench.draw.machine.facts import bundles, count_text, spec
from kernbench.draw.machine.model import View, Wire
from kernbench.draw.machine.placing import Cell, Element, Lanes, cells_of
from kernbench.draw.machine.sheet import Sheet
from kernbench.draw.machine.text import block
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import Node, PropertyGraph

_GAP = 26.0
_PAD = 8.0
_MANY = 400
"""Boxes from which on they are small: closer, and called by their places."""
_ELEMENT = re.compile(r"(.*?)(\d+(?:_\d+)*)")


def blocks_view(graph: PropertyGraph, of: str | None = None) -> View:
    """The blocks of the machine, or of the block called ``of``; those that are lost for good are empty."""
    groups = _groups(graph, of)
    # A block that is alone, except for the host and single parts, is opened.
    while len(inner := [name for name, nodes in groups.items() if len(nodes) > 1]) == 1 and len(groups) < 4:
        of = inner[0]
        groups = _groups(graph, of)
    prefix = f"{of}." if of else ""
    if not groups:
        wired = [node.id for node in graph.nodes() if node.properties["impl"] and "." in node.id]
        hint = did_you_mean(str(of), dict.fromkeys(name.rpartition(".")[0] for name in wired))
        raise UsageError(f"the topology '{graph.properties['name']}' has no block '{of}'; {hint}")
    sheet = Sheet(graph, "system", of or "")
    many = len(groups) > _MANY
    gap = _GAP / 2 if many else _GAP
    content = spec(graph)
    lost = _lost(content, prefix, groups)
    made_of = _made_of(content, of or "")
    elements = {name: _element(name, prefix) for name in (*groups, *lost)}
    labels = {
        name: _label(name, prefix, at, made_of, short=many, lost=name in lost)
        for name, (_, at) in elements.items()
    }
    sizes = {name: block(label) for name, label in labels.items()}
    step_x = max(w for w, _ in sizes.values()) + 2 * _PAD + gap
    tall = any(len(label) > 1 for label in labels.values())  # with room for a percentage below two lines
    step_y = max(h for _, h in sizes.values()) + (4 if tall else 2) * _PAD + gap
    wires = bundles(graph, {node.id: name for name, nodes in groups.items() for node in nodes})
    cells = cells_of(elements, _joined(elements, wires), _outward(graph, of, groups))
    for name, (column, row) in cells.items():
        nodes = groups.get(name, [])
        kind = "lost" if name in lost else str(nodes[0].properties["kind"]) if len(nodes) == 1 else "cube"
        at = (column * step_x, row * step_y, step_x - gap, step_y - gap)
        tip = f"{name}: {'lost' if name in lost else count_text(len(nodes), 'part')}"
        sheet.put(name, kind, at, labels[name], nodes, tip=tip)
    lanes, classes = Lanes(cells, gap), list(dict.fromkeys(wire.name or wire.kind for wire in wires))
    for wire in wires:
        aside = (classes.index(wire.name or wire.kind) + 1) / (len(classes) + 1) * 2 - 1
        sheet.wire(wire, lanes.way(sheet.boxes[wire.a], sheet.boxes[wire.b], aside))
    parts = count_text(sum(map(len, groups.values())), "part")
    return sheet.cut(of or "machine", [count_text(len(groups), "block"), parts])


def _groups(graph: PropertyGraph, of: str | None) -> dict[str, list[Node]]:
    """The parts of each block within the block ``of``, or within the machine."""
    prefix = f"{of}." if of else ""
    groups: dict[str, list[Node]] = {}
    for node in graph.nodes():
        if node.properties["impl"] and node.id.startswith(prefix):
            name = prefix + node.id.removeprefix(prefix).partition(".")[0]
            groups.setdefault(name, []).append(node)
    return groups


def _outward(graph: PropertyGraph, of: str | None, groups: Mapping[str, list[Node]]) -> dict[str, Cell]:
    """In which direction those blocks within ``of`` lead whose wires go to others around it, as a step."""
    above, _, _ = (of or "").rpartition(".")
    around = _groups(graph, above) if above else {}
    if len(around) < 2:
        return {}
    owner = {node.id: name for name, nodes in around.items() for node in nodes}
    elements = {name: _element(name, f"{above}.") for name in around}
    cells = cells_of(elements, _joined(around, bundles(graph, owner)))
    found: dict[str, Cell] = {}
    for name, nodes in groups.items():
        ends = [owner.get(edge.target, of) for node in nodes for edge in graph.out_edges(node.id, "LINK")]
        for there in (end for end in ends if end and end != of):
            x, y = (b - a for a, b in zip(cells[str(of)], cells[there], strict=True))
            long = max(abs(x), abs(y), 1)
            found[name] = x / long, y / long
    return found


def _joined(names: Iterable[str], wires: Iterable[Wire]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in names}
    for wire in wires:
        found[wire.a].add(wire.b)
        found[wire.b].add(wire.a)
    return found


def _lost(content: Mapping[str, Any], prefix: str, groups: Mapping[str, object]) -> list[str]:
    """Blocks within ``prefix`` that the machine has lost for good."""
    parts = [str(fault.get("part") or "") for fault in content.get("faults") or ()]
    inner = [name for name in parts if name.startswith(prefix) and "." not in name.removeprefix(prefix)]
    return [name for name in dict.fromkeys(inner) if name and name not in groups]


def _element(name: str, prefix: str) -> Element:
    """The array that a block is in, and its place there."""
    found = _ELEMENT.fullmatch(name.removeprefix(prefix))
    return (found[1], tuple(map(int, found[2].split("_")))) if found else ("", ())


def _label(
    name: str, prefix: str, at: tuple[int, ...], made_of: Mapping[str, Any], *, short: bool, lost: bool
) -> tuple[str, ...]:
    """What a box is called: its name, and which block it is where its array has several.

    ``short``: of an element its place alone.
    """
    own = name.removeprefix(prefix)
    if short and at:
        return (" ".join(map(str, at)),)
    what = _legend(made_of, own.removesuffix("_".join(map(str, at))), at)
    return (own, *([what] if what else []), *(["lost"] if lost else []))


def _made_of(content: Mapping[str, Any], of: str) -> Mapping[str, Any]:
    """``parts`` of the block called ``of``, as the topology file has them; empty where it is not told."""
    parts: Mapping[str, Any] = content.get("parts") or {}
    for own in of.split(".") if of else ():
        stem, at = _element(own, "")
        use = parts.get(own) if own in parts else parts.get(stem)
        if isinstance(use, dict):
            use = _legend(parts, stem, at) or use.get("block")
        parts = (content["blocks"].get(use) or {}).get("parts") or {} if isinstance(use, str) else {}
    return parts


def _legend(parts: Mapping[str, Any], array: str, at: tuple[int, ...]) -> str:
    """The block or kind that the map of an array has at a place; empty where all are alike."""
    use = parts.get(array)
    if not isinstance(use, dict) or not isinstance(use.get("legend"), dict):
        return ""
    drawn, sizes = use["map"], list(use["shape"].values())
    letters = drawn.split() if isinstance(drawn, str) else drawn
    if not all(isinstance(size, int) for size in sizes):
        return ""  # of a block's parameters
    number = 0
    for place, size in zip(reversed(at), reversed(sizes), strict=True):
        number = number * size + place
    known = {
        letter: str(meant.get("block") or meant.get("kind") if isinstance(meant, dict) else meant)
        for letter, meant in use["legend"].items()
        if meant is not None
    }
    return known.get(letters[number], "") if len({*known.values()}) > 1 else ""
