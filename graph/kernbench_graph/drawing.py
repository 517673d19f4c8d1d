"""Nodes and relationships drawn as SVG: boxes in columns, so that relationships lead to the right."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from statistics import fmean

import networkx as nx

from kernbench_graph.entities import GraphNode, GraphRelationship

MOST_NODES = 60
"""A picture with more boxes than these is unreadable."""

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _GAP, _MARGIN = 176, 34, 300, 64, 30, 14
_WIDE = 1000.0
"""Width that parts beside each other may take, however small all of them are."""
_PER_ROW = 5
"""Boxes of a long chain in a row."""
Place = tuple[float, float]
Way = list[Place]
"""The first point of a line, and three more for each Bezier curve that it is made of."""
_COLOURS = ("#3366aa", "#b3541e", "#2f7d4f", "#8a3ffc", "#a8325e", "#0f7b8a", "#6b7280", "#946200")
_LONGEST = 23


@dataclass(frozen=True, slots=True)
class Layout:
    """The left edge and middle of each box, the way of each line, and the size of all."""

    places: dict[str, Place]
    ways: dict[tuple[str, str], Way]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node as it is drawn: a small ``label`` above its ``text``; ``more`` is shown under the pointer."""

    label: str
    text: str
    more: str = ""


def entities_svg(nodes: Sequence[GraphNode], relationships: Sequence[GraphRelationship]) -> str:
    """A picture of nodes and the relationships between them; empty for none or too many of them."""
    boxes = {node.id: _box(node) for node in nodes}
    joined = [(rel.start, rel.end, rel.type) for rel in relationships]
    return svg(boxes, [edge for edge in joined if edge[0] in boxes and edge[1] in boxes])


def svg(boxes: Mapping[str, DrawnNode], edges: Iterable[tuple[str, str, str]]) -> str:
    """A picture of ``boxes`` and of ``edges`` from one to another with their names.

    Edges between the same two boxes are one line with all their names, those of a box to itself are in it.
    """
    if not 0 < len(boxes) <= MOST_NODES:
        return ""
    names: dict[tuple[str, str], list[str]] = {}
    for source, target, name in edges:
        known = names.setdefault((source, target), [])
        if name not in known:
            known.append(name)
    drawn = lay_out(list(boxes), list(names))
    width, height = drawn.width, drawn.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="kernbench-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#52606d"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
    ]
    lines = [_line(drawn.ways[pair], known) for pair, known in names.items() if pair[0] != pair[1]]
    parts += [line for line, _ in lines]
    parts += [_draw(drawn.places[key], box, names.get((key, key), [])) for key, box in boxes.items()]
    parts += [text for _, text in lines]
    return "".join([*parts, "</svg>"])


def _box(node: GraphNode) -> DrawnNode:
    more = "\n".join(f"{name}: {value}" for name, value in node.properties.items())
    name, number = str(node.get("name") or node.id), node.get("number")
    if number is not None and not name.endswith(f" {number}"):
        name = f"{name} {number}"
    return DrawnNode(node.labels[0] if node.labels else "", name, more)


def lay_out(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layout:
    """Places of boxes and ways of lines; parts that nothing connects lie beside each other in rows."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(keys)
    graph.add_edges_from(edges)
    parts = []
    for found in nx.weakly_connected_components(graph):
        inside = [key for key in keys if key in found]
        joined = [(a, b) for a, b in edges if a in found and a != b]
        parts.append(_chain(inside, joined) or _in_columns(inside, joined))
    area = sum(part.width * part.height for part in parts)
    wide = max(_WIDE, (2.2 * area) ** 0.5, *(part.width for part in parts))
    places: dict[str, Place] = {}
    ways: dict[tuple[str, str], Way] = {}
    x = y = high = width = 0.0
    for part in parts:
        if x and x + part.width > wide:
            x, y, high = 0.0, y + high, 0.0
        places |= {key: (left + x, middle + y) for key, (left, middle) in part.places.items()}
        ways |= {pair: [(left + x, middle + y) for left, middle in way] for pair, way in part.ways.items()}
        x, high = x + part.width, max(high, part.height)
        width = max(width, x)
    for a, b in edges:
        if a == b:
            left, middle = places[a]
            right = left + _WIDTH
            ways[a, b] = [
                (right, middle - 8),
                (right + 30, middle - 8),
                (right + 30, middle + 8),
                (right, middle + 8),
            ]
    return Layout(places, ways, width, y + high)


def _chain(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layout | None:
    """A long chain of boxes, broken into rows; None for all else."""
    after = dict(edges)
    starts = [key for key in keys if key not in set(after.values())]
    if len(keys) <= _PER_ROW * 2 or len(starts) != 1 or not len(after) == len(edges) == len(keys) - 1:
        return None
    places: dict[str, Place] = {}
    ways: dict[tuple[str, str], Way] = {}
    key: str | None = starts[0]
    for number in range(len(keys)):
        assert key is not None
        row, column = divmod(number, _PER_ROW)
        x, y = places[key] = (_MARGIN + column * float(_ACROSS), _MARGIN + _HEIGHT / 2 + row * 2.0 * _DOWN)
        below, next_row = y + _HEIGHT / 2, y + 2 * _DOWN - _HEIGHT / 2
        if (then := after.get(key)) is not None and column == _PER_ROW - 1:
            half, first = (below + next_row) / 2, _MARGIN + _WIDTH / 2
            ways[key, then] = [
                (x + _WIDTH / 2, below),
                (x + _WIDTH / 2, half),
                (first, half),
                (first, next_row),
            ]
        elif then is not None:
            bend = (x + _WIDTH + x + _ACROSS) / 2
            ways[key, then] = [(x + _WIDTH, y), (bend, y), (bend, y), (x + _ACROSS, y)]
        key = then
    rows = -(-len(keys) // _PER_ROW)
    return Layout(places, ways, _PER_ROW * float(_ACROSS), rows * 2.0 * _DOWN)


def _in_columns(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layout:
    """Columns are by the longest way that leads there; a line over several columns has a gap in each."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(keys)
    graph.add_edges_from(edges)
    # What leads in a circle is opened where the walk from the first box comes back.
    order = {key: at for at, key in enumerate(nx.dfs_postorder_nodes(graph))}
    straight: nx.DiGraph[Hashable] = nx.DiGraph()
    straight.add_nodes_from(keys)
    straight.add_edges_from((a, b) if order[a] > order[b] else (b, a) for a, b in edges)
    column: dict[Hashable, int] = {}
    for key in nx.topological_sort(straight):
        column[key] = 1 + max((column[before] for before in straight.predecessors(key)), default=-1)
    rows: dict[int, list[Hashable]] = {}
    for key in keys:
        rows.setdefault(column[key], []).append(key)
    beside: dict[Hashable, list[Hashable]] = {key: [] for key in keys}
    gaps: dict[tuple[Hashable, Hashable], list[Hashable]] = {}
    for a, b in edges:
        step = 1 if column[b] > column[a] else -1
        gaps[a, b] = [(a, b, at) for at in range(column[a] + step, column[b], step)]
        for gap, at in zip(gaps[a, b], range(column[a] + step, column[b], step), strict=True):
            rows[at].append(gap)
        chain = [a, *gaps[a, b], b]
        for left, right in pairwise(chain):
            beside.setdefault(left, []).append(right)
            beside.setdefault(right, []).append(left)
    middle: dict[Hashable, float] = {}
    for turn in range(6):
        for at in sorted(rows, reverse=turn % 2 == 1):
            near = {key: [middle[other] for other in beside[key] if other in middle] for key in rows[at]}
            rows[at].sort(key=lambda key: fmean(near[key]) if near[key] else middle.get(key, 0.0))
            sizes = [_DOWN if key in column else _GAP for key in rows[at]]
            ends = list(accumulate(sizes))
            middle.update(
                {
                    key: end - size / 2 - ends[-1] / 2
                    for key, end, size in zip(rows[at], ends, sizes, strict=True)
                }
            )
    top = min(middle.values()) - _DOWN / 2 - _MARGIN
    places = {key: (_MARGIN + float(column[key] * _ACROSS), middle[key] - top) for key in keys}
    columns = {key: at for at, row in rows.items() for key in row}
    passed = {
        pair: [(_MARGIN + columns[gap] * _ACROSS + _WIDTH / 2, middle[gap] - top) for gap in over]
        for pair, over in gaps.items()
    }
    ways = {(a, b): _way(places[a], passed[a, b], places[b]) for a, b in edges}
    width = max(x for x, _ in places.values()) + _ACROSS
    height = max(y for _, y in [*places.values(), *(at for over in passed.values() for at in over)])
    return Layout(places, ways, width, height + _DOWN)


def _way(begin: Place, over: list[Place], end: Place) -> Way:
    """From one box to another by way of the gaps ``over``."""
    away = 1 if end[0] > begin[0] else -1
    first = (begin[0] + (_WIDTH if away > 0 else 0), begin[1] + 5 * (away < 0))
    last = (end[0] + (0 if away > 0 else _WIDTH), end[1] + 5 * (away < 0))
    points = [
        first,
        *(side for x, y in over for side in ((x - away * _WIDTH / 2, y), (x + away * _WIDTH / 2, y))),
        last,
    ]
    way = [first]
    for (x1, y1), (x2, y2) in pairwise(points):
        bend = (x1 + x2) / 2
        way += [(bend, y1), (bend, y2), (x2, y2)]
    return way


def path_of(way: Way) -> str:
    """The ``d`` of an SVG path."""
    corners = [f"{x:.0f} {y:.0f}" for x, y in way]
    return f"M{corners[0]}" + "".join(f"C{' '.join(corners[at : at + 3])}" for at in range(1, len(way), 3))


def name_at(way: Way) -> Place:
    """Where the name of a line stands: on its first segment, near the end, where lines have parted."""
    (x1, y1), (x2, y2) = way[0], way[3]
    return x1 + 0.62 * (x2 - x1), y1 + 0.68 * (y2 - y1) + 9 * (x2 < x1)


def _line(way: Way, names: list[str]) -> tuple[str, str]:
    """A line, and its names."""
    x, y = name_at(way)
    line = f'<path d="{path_of(way)}" fill="none" stroke="#9aa5b1" marker-end="url(#kernbench-arrow)"/>'
    rows = "".join(
        f'<tspan x="{x:.0f}" y="{y + 10 * (at - (len(names) - 1) / 2) + 3:.0f}">{escape(name)}</tspan>'
        for at, name in enumerate(names)
    )
    text = (
        f'<text text-anchor="middle" font-size="9" fill="#52606d" stroke="#ffffff" stroke-width="3" '
        f'paint-order="stroke">{rows}</text>'
    )
    return line, text


def _draw(place: Place, box: DrawnNode, own: list[str]) -> str:
    x, y = place[0], place[1] - _HEIGHT / 2
    colour = _COLOURS[sum(map(ord, box.label)) % len(_COLOURS)]
    text = box.text if len(box.text) <= _LONGEST else f"…{box.text[1 - _LONGEST :]}"
    parts = [
        f"<g><title>{escape(box.more)}</title>",
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="#ffffff" ',
        f'stroke="{colour}"/>',
        f'<text x="{x + 6:.0f}" y="{y + 12:.0f}" font-size="9" fill="{colour}">{escape(box.label)}</text>',
        f'<text x="{x + 6:.0f}" y="{y + 27:.0f}" fill="#1f2933">{escape(text)}</text>',
    ]
    if own:
        names = escape(", ".join(own))
        where = f'x="{x + 4:.0f}" y="{y + _HEIGHT + 10:.0f}"'
        parts.append(f'<text {where} font-size="9" fill="#52606d">&#8635; {names}</text>')
    return "".join([*parts, "</g>"])
