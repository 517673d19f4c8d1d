"""A machine of any shape, block by block: arrays on grids, all else in rows, one box for each block.

A third axis is drawn as planes side by side. What is opened shows the blocks within it.
"""

from __future__ import annotations

import re

from kernbench.errors import UsageError
from kernbench.hints import did_you_mean
from kernbench.pgraph import Node, PropertyGraph
from kernbench.report.views.facts import bundles, count_text
from kernbench.report.views.model import View
from kernbench.report.views.sheet import Sheet
from kernbench.report.views.text import block

_GAP = 26.0
_PAD = 8.0
_ELEMENT = re.compile(r"(.*?)(\d+(?:_\d+)*)")


def blocks_view(graph: PropertyGraph, of: str | None = None) -> View:
    """The blocks of the machine, or of the block called ``of``."""
    prefix = f"{of}." if of else ""
    groups: dict[str, list[Node]] = {}
    for node in graph.nodes():
        if node.properties["impl"] and node.id.startswith(prefix):
            name = prefix + node.id.removeprefix(prefix).partition(".")[0]
            groups.setdefault(name, []).append(node)
    if not groups:
        known = dict.fromkeys(node.id.rpartition(".")[0] for node in graph.nodes() if "." in node.id)
        hint = did_you_mean(str(of), known)
        raise UsageError(f"the topology '{graph.properties['name']}' has no block '{of}'; {hint}")
    sheet = Sheet("system", of or "")
    owner: dict[str, str] = {}
    sizes = {name: block(_label(name, prefix)) for name in groups}
    step_x = max(w for w, _ in sizes.values()) + 2 * _PAD + _GAP
    step_y = max(h for _, h in sizes.values()) + 2 * _PAD + _GAP
    for name, (column, row) in _cells(list(groups), prefix).items():
        nodes = groups[name]
        single = nodes if len(nodes) == 1 else []
        kind = str(nodes[0].properties["kind"]) if single else "cube"
        at = (column * step_x, row * step_y, step_x - _GAP, step_y - _GAP)
        sheet.put(
            name, kind, at, _label(name, prefix), single, tip=f"{name}: {count_text(len(nodes), 'part')}"
        )
        owner.update((node.id, name) for node in nodes)
    for bundle in bundles(graph, owner):
        sheet.wire(bundle)
    parts = count_text(sum(map(len, groups.values())), "part")
    return sheet.cut(
        str(graph.properties["name"]), of or "machine", [count_text(len(groups), "block"), parts]
    )


def _label(name: str, prefix: str) -> tuple[str]:
    return (name.removeprefix(prefix),)


def _cells(names: list[str], prefix: str) -> dict[str, tuple[int, int]]:
    """Column and row of each box: arrays below each other, single ones in a row above them."""
    arrays: dict[tuple[str, int], dict[str, tuple[int, ...]]] = {}
    for name in names:
        found = _ELEMENT.fullmatch(name.removeprefix(prefix))
        at = tuple(map(int, found[2].split("_"))) if found else ()
        arrays.setdefault((found[1], len(at)) if found else ("", 0), {})[name] = at
    cells: dict[str, tuple[int, int]] = {}
    top = 0
    for (_, axes), elements in sorted(arrays.items(), key=lambda item: item[0][1] != 0):
        across = max(1, round(len(elements) ** 0.5)) if axes == 1 and len(elements) > 16 else len(elements)
        sizes = [1 + max(one) for one in zip(*elements.values(), strict=True)]
        planes = max(1, round(sizes[2] ** 0.5)) if axes > 2 else 1
        for number, (name, at) in enumerate(elements.items()):
            column, row = at[:2] if axes > 1 else (number % across, number // across)
            if axes > 2:
                column += at[2] % planes * (sizes[0] + 1)
                row += at[2] // planes * (sizes[1] + 1)
            cells[name] = column, top + row
        top = 1 + max(cells[name][1] for name in elements)
    return cells
