"""The machine as a picture that the page draws itself: a view's geometry, and its use over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.analysis.use.use_over_time import use_over_time
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.pictures import diagram_views
from kernbench.api.result import Run
from kernbench.draw.colours import IDLE, STEPS, fill
from kernbench.draw.inks import inks, kind_of
from kernbench.draw.legend import legend, remarks
from kernbench.draw.machine import VIEWS, Overlay, overlay
from kernbench.draw.machine.facts import is_tray
from kernbench.draw.machine.model import members
from kernbench.draw.percents import LEAST, percents
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import PropertyGraph

BINS = 48
"""Intervals that the slider steps through."""
_BUSIEST = 5


def machine(graph: PropertyGraph, view: str, of: str | None = None) -> dict[str, Any]:
    """A view's geometry in points, with its texts, colours and legend.

    See :class:`~kernbench.draw.machine.model.View`. ``of`` is one of the names ``instances``, or empty.
    ``UsageError`` for another view or part.
    """
    if view not in VIEWS:
        raise UsageError(f"there is no view '{view}'; {did_you_mean(view, VIEWS)}")
    drawn = VIEWS[view](graph, of)
    of_wires = inks(drawn)
    return {
        "view": view,
        "views": list(diagram_views(graph)),
        "of": of or "",
        "topology": drawn.topology,
        "title": drawn.title,
        "facts": list(drawn.facts),
        "width": _point(drawn.width),
        "height": _point(drawn.height),
        "instance": drawn.instance,
        "instances": _instances(graph, view),
        "boxes": [
            {"id": b.id, "kind": b.kind, "x": _point(b.x), "y": _point(b.y), "w": _point(b.w),
             "h": _point(b.h), "lines": list(b.lines), "frame": b.is_frame, "tip": b.tip,
             "fill": fill(b.kind), "parts": len(b.components)}
            for b in drawn.boxes
        ],
        "wires": [
            {"id": w.id, "kind": w.kind, "points": [[_point(x), _point(y)] for x, y in w.points],
             "tip": f"{w.a} - {w.b}: {ink.text}, {w.gbs:g} GB/s each way, {w.mm:g} mm",
             "colour": ink.colour, "thick": ink.thick, "dashed": ink.dashed}
            for w in drawn.wires
            for ink in [of_wires[kind_of(w)]]
        ],
        "notes": [
            {"text": n.text, "x": _point(n.x), "y": _point(n.y), "anchor": n.anchor} for n in drawn.notes
        ],
        "legend": [
            {"colour": e.colour, "thick": e.thick, "dashed": e.dashed, "text": e.text}
            for e in legend(drawn)
        ],
        "remarks": remarks(drawn),
        "steps": list(STEPS),
        "idle": IDLE,
    }  # fmt: skip


def machine_use(
    run: Run, graph: PropertyGraph, view: str, of: str | None, window: ChosenWindow
) -> dict[str, Any]:
    """Utilisation of a view's wires and boxes, 0 to 1, in a window and in :data:`BINS` intervals of it.

    Gives ``window ns edges whole frames busiest places``: ``edges`` are ns of simulated time, ``whole`` a
    share by id, ``frames`` a list of shares by id; idle parts are in neither. The share of a wire or box is
    that of its busiest member (:mod:`~kernbench.analysis.block_use`), which may differ from frame to frame.
    ``busiest`` has ``[name, share]`` of the busiest members by id, ``places`` where a percentage finds room.
    """
    drawn = VIEWS[view](graph, of)
    chosen = run.window(window)
    shares = run.utilisation(chosen)
    whole = overlay(drawn, shares)
    names, edges, shares_over_time = run.cached(  # the same for all views
        ("over time", chosen), lambda: use_over_time(run.tables, chosen, BINS)
    )
    own, column = members(drawn, names), {name: at for at, name in enumerate(names)}
    frames = {key: shares_over_time[:, [column[name] for name in of]].max(axis=1) for key, of in own.items()}
    shown = {**whole.boxes, **whole.wires}
    most = {key: max(float(values.max()), shown.get(key, 0.0)) for key, values in frames.items()}
    wires = {wire.id for wire in drawn.wires}
    boxes = {key: share for key, share in most.items() if key not in wires}
    room = percents(drawn, Overlay({key: most[key] for key in most.keys() & wires}, boxes))
    return {
        "window": chosen.name,
        "ns": chosen.ns,
        "edges": [round(float(edge), 3) for edge in edges],
        "whole": {key: _digits(share) for key, share in shown.items()},
        "frames": {
            key: [_digits(float(share)) for share in values]
            for key, values in frames.items()
            if values.max() >= LEAST
        },
        "busiest": {key: _busiest(of, shares) for key, of in own.items()},
        "places": {key: [_point(note.x), _point(note.y)] for key, note in room.items()},
    }


def _busiest(names: list[str], shares: Mapping[str, float]) -> list[list[Any]]:
    order = sorted(names, key=lambda name: (-round(shares.get(name, 0.0), 9), name))
    return [[name, _digits(shares.get(name, 0.0))] for name in order[:_BUSIEST]]


def where_is(graph: PropertyGraph, part: str) -> tuple[str, str | None]:
    """The view that shows a component or link, and what it shows; a cube where ``part`` is empty."""
    if not is_tray(graph):
        return "system", next(_around(graph, part), None)
    if not part:
        return "cube", None
    if part in graph and graph.node(part).properties["kind"] == "sip":
        return "sip", part
    return next(((_kind(graph, name), name) for name in _around(graph, part)), ("system", None))


def _around(graph: PropertyGraph, part: str) -> Iterator[str]:
    """The blocks that hold a component or link, from the inside out."""
    name = part.partition("->")[0].rpartition(".")[0]
    while name:
        if name in graph and not graph.node(name).properties["impl"]:  # a memory with parts is not a block
            yield name
        name = name.rpartition(".")[0]


def _instances(graph: PropertyGraph, view: str) -> list[str]:
    """SIPs, cubes or PEs by name, in order of the machine; of one that is not a tray of them its blocks."""
    if is_tray(graph):
        return [node.id for node in graph.nodes() if node.properties["kind"] == view]
    return list(dict.fromkeys(name for node in graph.nodes() for name in [*_around(graph, node.id)][::-1]))


def _kind(graph: PropertyGraph, name: str) -> str:
    return str(graph.node(name).properties["kind"])


def _point(value: float) -> float:
    """A tenth of a point is finer than anyone sees."""
    return round(value, 1)


def _digits(share: float) -> float:
    return round(share, 4)
