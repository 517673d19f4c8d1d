"""A machine of any shape, block by block: arrays on grids, all else in rows, one box for each block.

A third axis is drawn as planes side by side. What is opened shows the blocks within it.
"""

from __future__ import annotations

import re
from math import cos, pi, sin

from kernbench.errors import UsageError
from kernbench.hints import did_you_mean
from kernbench.pgraph import Node, PropertyGraph
from kernbench.report.views.facts import bundles, count_text
from kernbench.report.views.model import View
from kernbench.report.views.sheet import Sheet
from kernbench.report.views.text import block

_GAP = 26.0
_PAD = 8.0
_MANY = 400
"""Boxes from which on they are small: closer, and called by their places."""
_ELEMENT = re.compile(r"(.*?)(\d+(?:_\d+)*)")


def blocks_view(graph: PropertyGraph, of: str | None = None) -> View:
    """The blocks of the machine, or of the block called ``of``."""
    groups = _groups(graph, of)
    # A block that is alone, except for the host and single parts, is opened.
    while len(inner := [name for name, nodes in groups.items() if len(nodes) > 1]) == 1 and len(groups) < 4:
        of = inner[0]
        groups = _groups(graph, of)
    prefix = f"{of}." if of else ""
    if not groups:
        known = dict.fromkeys(node.id.rpartition(".")[0] for node in graph.nodes() if "." in node.id)
        hint = did_you_mean(str(of), known)
        raise UsageError(f"the topology '{graph.properties['name']}' has no block '{of}'; {hint}")
    sheet = Sheet(graph, "system", of or "")
    many = len(groups) > _MANY
    gap = _GAP / 2 if many else _GAP
    labels = {name: _label(name, prefix, short=many) for name in groups}
    sizes = {name: block(label) for name, label in labels.items()}
    step_x = max(w for w, _ in sizes.values()) + 2 * _PAD + gap
    step_y = max(h for _, h in sizes.values()) + 2 * _PAD + gap
    owner = {node.id: name for name, nodes in groups.items() for node in nodes}
    wires = bundles(graph, owner)
    joined = {frozenset((wire.a, wire.b)) for wire in wires}
    for name, (column, row) in _cells(list(groups), prefix, joined).items():
        nodes = groups[name]
        kind = str(nodes[0].properties["kind"]) if len(nodes) == 1 else "cube"
        at = (column * step_x, row * step_y, step_x - gap, step_y - gap)
        sheet.put(name, kind, at, labels[name], nodes, tip=f"{name}: {count_text(len(nodes), 'part')}")
    for wire in wires:
        sheet.wire(wire)
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


def _label(name: str, prefix: str, *, short: bool) -> tuple[str]:
    """What a box is called; ``short``: of an element its place alone."""
    own = name.removeprefix(prefix)
    found = _ELEMENT.fullmatch(own)
    return (found[2].replace("_", " ") if short and found else own,)


def _cells(names: list[str], prefix: str, joined: set[frozenset[str]]) -> dict[str, tuple[float, float]]:
    """Column and row of each box: arrays below each other, single ones in a row above them.

    A list whose members are ``joined`` to others than their neighbours is a circle: no wire is behind a box.
    """
    arrays: dict[tuple[str, int], dict[str, tuple[int, ...]]] = {}
    for name in names:
        found = _ELEMENT.fullmatch(name.removeprefix(prefix))
        at = tuple(map(int, found[2].split("_"))) if found else ()
        arrays.setdefault((found[1], len(at)) if found else ("", 0), {})[name] = at
    cells: dict[str, tuple[float, float]] = {}
    top = 0.0
    for (_, axes), elements in sorted(arrays.items(), key=lambda item: item[0][1] != 0):
        across = max(1, round(len(elements) ** 0.5)) if axes == 1 and len(elements) > 16 else len(elements)
        sizes = [1 + max(one) for one in zip(*elements.values(), strict=True)]
        members = list(elements)
        far = any(frozenset((a, b)) in joined for i, a in enumerate(members) for b in members[i + 2 :])
        if axes == 1 and far and len(members) > 3:
            radius = max(1.0, len(members) / 5)
            for number, name in enumerate(members):
                angle = 2 * pi * number / len(members) - 0.75 * pi
                cells[name] = radius * (1 + cos(angle)), top + radius * (1 + sin(angle)) * 1.5
            top = 1 + max(cells[name][1] for name in elements)
            continue
        planes = max(1, round(sizes[2] ** 0.5)) if axes > 2 else 1
        for number, (name, at) in enumerate(elements.items()):
            column, row = at[:2] if axes > 1 else (number % across, number // across)
            if axes > 2:
                column += at[2] % planes * (sizes[0] + 1)
                row += at[2] // planes * (sizes[1] + 1)
            cells[name] = column, top + row
        top = 1 + max(cells[name][1] for name in elements)
    return cells
