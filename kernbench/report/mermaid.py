"""A view as a Mermaid flowchart, for Markdown. Mermaid lays it out itself: structure, no distances."""

from __future__ import annotations

from kernbench.kinds import LINK_KINDS
from kernbench.report.colours import colour, fill
from kernbench.report.legend import legend, remarks
from kernbench.report.views import Box, Overlay, View


def mermaid(view: View, overlay: Overlay | None = None, run: str = "") -> str:
    """The flowchart as text; ``overlay`` colours it by what the run called ``run`` did."""
    frames = [box for box in view.boxes if box.is_frame]
    inside: dict[str, list[Box]] = {frame.id: [] for frame in frames}
    top: list[Box] = []
    for box in view.boxes:
        frame = _frame_of(box, frames)
        (inside[frame.id] if frame else top).append(box)
    number = {box.id: f"n{i}" for i, box in enumerate(view.boxes)}
    lines = [
        f"%% {view.topology}: {view.title}",
        *(f"%% {fact}" for fact in view.facts),
        *(f"%% {entry.colour}: {entry.text}" for entry in legend(view, overlay)),
        *(f"%% {remark}" for remark in remarks(view, overlay, run)),
        "flowchart LR",
    ]
    for box in top:
        lines += _draw(box, inside, number, "  ")
    for i, wire in enumerate(view.wires):
        kind = LINK_KINDS[wire.kind]
        lines.append(f"  {number[wire.a]} {'-.-' if kind.dashed else '---'} {number[wire.b]}")
        paint, thick = kind.colour, kind.thick
        if overlay is not None:
            paint, thick = colour(overlay.wires.get(wire.id, 0.0))
        lines.append(f"  linkStyle {i} stroke:{paint},stroke-width:{thick:.1f}px")
    for box in view.boxes:
        if box.kind != "label":
            lines.append(f"  style {number[box.id]} {_style(box, overlay)}")
    return "\n".join(lines) + "\n"


def _style(box: Box, overlay: Overlay | None) -> str:
    paint, thick = "#52606d", 1.0
    if overlay is not None and overlay.boxes.get(box.id):
        paint, thick = colour(overlay.boxes[box.id])
    return f"fill:{fill(box.kind)},stroke:{paint},stroke-width:{thick:.1f}px"


def _frame_of(box: Box, frames: list[Box]) -> Box | None:
    """The smallest frame that holds all of ``box``, or most of it where it stands on the edge."""
    x, y = box.centre
    held = [
        frame
        for frame in frames
        if frame is not box
        and frame.x <= x <= frame.right
        and frame.y <= y <= frame.bottom
        and frame.w * frame.h > box.w * box.h
    ]
    return min(held, key=lambda frame: frame.w * frame.h, default=None)


def _draw(box: Box, inside: dict[str, list[Box]], number: dict[str, str], indent: str) -> list[str]:
    children = inside.get(box.id, [])
    labels = [child for child in children if child.kind == "label"]
    lines = [*box.lines, *(line for label in labels for line in label.lines)] or [box.id]
    texts = [line.replace('"', "#quot;") for line in lines]
    name = number[box.id]
    if len(children) == len(labels):
        return [f'{indent}{name}["{"<br/>".join(texts)}"]']
    # Mermaid leaves room for one line above what is in a subgraph.
    drawn = [f'{indent}subgraph {name}["{", ".join(texts)}"]']
    for child in children:
        if child not in labels:
            drawn += _draw(child, inside, number, indent + "  ")
    return [*drawn, f"{indent}end"]
