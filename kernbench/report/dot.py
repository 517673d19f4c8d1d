"""A view as DOT, with its coordinates, so that Graphviz draws the same picture (``dot -Tsvg``)."""

from __future__ import annotations

from itertools import pairwise

from kernbench.kinds import LINK_KINDS
from kernbench.report.colours import colour, fill
from kernbench.report.legend import legend, remarks
from kernbench.report.views import Box, Overlay, View, Wire
from kernbench.report.views.text import SIZE

_INCH = 72.0


def dot(view: View, overlay: Overlay | None = None, run: str = "") -> str:
    """The graph as text; ``overlay`` colours it by what the run called ``run`` did."""
    title = f"{view.topology}: {view.title}"
    lines = [
        f"// {title}",
        *(f"// {fact}" for fact in view.facts),
        *(f"// {entry.colour}: {entry.text}" for entry in legend(view, overlay)),
        *(f"// {remark}" for remark in remarks(view, overlay, run)),
        f"graph {_quote(title)} {{",
        "  layout=nop2;",
        f"  label={_quote(title)}; labelloc=t; fontname=Helvetica;",
        "  node [shape=box, style=filled, fixedsize=true, fontname=Helvetica, "
        f'fontsize={SIZE:g}, color="#52606d"];',
        *(_node(box, view, overlay) for box in view.boxes),
        *(_edge(wire, view, overlay) for wire in view.wires),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _node(box: Box, view: View, overlay: Overlay | None) -> str:
    x, y = box.centre
    more = ""
    if box.kind == "label":
        more = ", shape=plaintext, style=solid"
    elif box.is_frame:
        more = ", labelloc=t"
    if overlay is not None and overlay.boxes.get(box.id):
        paint, thick = colour(overlay.boxes[box.id])
        more += f', color="{paint}", penwidth={thick:.1f}'
    # The label of a frame would touch its edge, were there no line above it.
    label = "\n".join(["", *box.lines] if box.is_frame and box.lines else box.lines)
    return (
        f'  {_quote(box.id)} [label={_quote(label)}, pos="{x:.1f},{view.height - y:.1f}", '
        f'width={box.w / _INCH:.3f}, height={box.h / _INCH:.3f}, fillcolor="{fill(box.kind)}"'
        f"{more}];"
    )


def _edge(wire: Wire, view: View, overlay: Overlay | None) -> str:
    """A line of straight pieces is a Bezier curve with its control points on its corners."""
    corners = [f"{x:.1f},{view.height - y:.1f}" for x, y in wire.points]
    curve = [corners[0]]
    for before, after in pairwise(corners):
        curve += [before, after, after]
    kind = LINK_KINDS[wire.kind]
    paint, thick, dashed = kind.colour, kind.thick, kind.dashed
    if overlay is not None:
        (paint, thick), dashed = colour(overlay.wires.get(wire.id, 0.0)), False
    style = ", style=dashed" if dashed else ""
    tip = f"{kind.title}, {wire.gbs:g} GB/s each way, {wire.mm:g} mm"
    return (
        f'  {_quote(wire.a)} -- {_quote(wire.b)} [pos="{" ".join(curve)}", color="{paint}", '
        f"penwidth={thick:.1f}{style}, tooltip={_quote(tip)}];"
    )
