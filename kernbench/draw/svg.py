"""A view as SVG: needs nothing to be seen but a browser, and is the same text for the same view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from kernbench.draw.colours import INK, PAPER, colour, fill, percent
from kernbench.draw.inks import Ink, inks, kind_of
from kernbench.draw.legend import LegendEntry, legend, remarks
from kernbench.draw.machine import Box, Note, Overlay, View, Wire
from kernbench.draw.machine.text import BOLD, LINE, SIZE, width
from kernbench.draw.percents import HIGH, percents

_MARGIN = 24.0
_TITLE = 19.0
_SAMPLE = 30.0
"""Length of a line in the legend."""
_DROP = 0.36
"""From the middle of a line down to its baseline, as a share of the size: not all viewers can centre."""
_LEAST = 420.0
"""Width under which title and legend would have to be broken too often."""
_STYLE = (
    f"text{{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:{SIZE:g}px;fill:{INK}}}"
    f".title{{font-size:{_TITLE:g}px;font-weight:bold}}"
    ".box{stroke:#52606d;stroke-width:1}.frame{stroke:#9aa5b1;stroke-width:1.2}.zone{stroke-dasharray:4 3}"
    ".wire{fill:none;stroke-linejoin:round}"
)
_PERCENT = (
    f".percent{{font-size:{HIGH:g}px;font-weight:bold;paint-order:stroke;stroke:{PAPER};stroke-width:3px}}"
)


def svg(view: View, overlay: Overlay | None = None, run: str = "") -> str:
    """The picture; ``overlay`` colours it by what the run called ``run`` did."""
    entries, of_wires = legend(view, overlay), inks(view)
    inner = max(view.width, _LEAST)
    title = f"{view.topology}: {view.title}"
    inner = max(inner, width(title, _TITLE) * BOLD)
    head = [*_wrap(view.facts, inner)]
    top = _MARGIN + _TITLE + 8 + LINE * len(head) + 14
    left = _MARGIN + (inner - view.width) / 2
    foot = top + view.height + 32
    body = [*_legend(entries, view, inner, foot)]
    rows = _rows(entries, inner)
    y = foot + len(rows) * (LINE + 6) + (LINE + 8 if view.scale else 0)
    words = " ".join(remarks(view, overlay, run)).split(" ")
    for line in _wrap(words, inner, " "):
        body.append(_text(line, _MARGIN, y, "start"))
        y += LINE
    total_w, total_h = inner + 2 * _MARGIN, y + _MARGIN - LINE / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(total_w)}" height="{_n(total_h)}" '
        f'viewBox="0 0 {_n(total_w)} {_n(total_h)}" role="img" aria-label={quoteattr(title)}>',
        f"<style>{_STYLE}{_PERCENT if overlay else ''}</style>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        f'<text class="title" x="{_n(_MARGIN)}" y="{_n(_MARGIN + _TITLE * (0.5 + _DROP))}">'
        f"{escape(title)}</text>",
        *(
            _text(line, _MARGIN, _MARGIN + _TITLE + 8 + LINE * (i + 0.5), "start")
            for i, line in enumerate(head)
        ),
        f'<g transform="translate({_n(left)} {_n(top)})">',
        *(_box(box, overlay) for box in view.boxes if box.is_frame),
        *(_wire(wire, of_wires[kind_of(wire)], overlay) for wire in view.wires),
        *(_box(box, overlay) for box in view.boxes if not box.is_frame),
        *(_text(note.text, note.x, note.y, note.anchor) for note in view.notes),
        *(_percent(note) for note in (percents(view, overlay).values() if overlay else ())),
        "</g>",
        *body,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _n(value: float) -> str:
    """A coordinate: a tenth of a point is finer than anyone sees."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def _text(text: str, x: float, y: float, anchor: str = "middle") -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_n(x)}" y="{_n(y + SIZE * _DROP)}"{where}>{escape(text)}</text>'


def _box(box: Box, overlay: Overlay | None) -> str:
    if box.kind == "label":
        middle = box.centre
        return f"<g id={quoteattr(box.id)}>{''.join(_lines(box.lines, middle[0], middle[1]))}</g>"
    classes = f"frame {box.kind}" if box.is_frame else "box"
    border, note = "", ""
    if overlay is not None and box.components:
        share = overlay.boxes.get(box.id, 0.0)
        if share > 0.0:
            paint, thick = colour(share)
            border = f' style="stroke:{paint};stroke-width:{_n(thick)}"'
        note = _use(share, overlay.busiest.get(box.id), box.components + box.links)
    if box.kind == "lost":
        border = ' style="stroke-dasharray:4 3;opacity:0.55"'
    colour_of_box = fill(box.kind)
    corner = "6" if box.is_frame else "3"
    tip = f"<title>{escape((box.tip or box.id) + note)}</title>"
    y = box.y + 6 + LINE * len(box.lines) / 2 if box.is_frame else box.centre[1]
    lines = "".join(_lines(box.lines, box.centre[0], y))
    return (
        f'<g id={quoteattr(box.id)}>{tip}<rect class="{classes}" x="{_n(box.x)}" y="{_n(box.y)}" '
        f'width="{_n(box.w)}" height="{_n(box.h)}" rx="{corner}" fill="{colour_of_box}"{border}/>{lines}</g>'
    )


def _lines(lines: tuple[str, ...], x: float, y: float) -> Iterator[str]:
    """A label with its middle at x, y."""
    first = y - LINE * (len(lines) - 1) / 2
    for i, line in enumerate(lines):
        yield _text(line, x, first + i * LINE)


def _wire(wire: Wire, ink: Ink, overlay: Overlay | None) -> str:
    paint, thick, dashed, note = ink.colour, ink.thick, ink.dashed, ""
    if overlay is not None:
        share = overlay.wires.get(wire.id, 0.0)
        paint, thick = colour(share)
        dashed, note = False, _use(share, overlay.busiest.get(wire.id), wire.links)
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in wire.points)
    tip = f"{wire.a} - {wire.b}: {ink.text}, {wire.gbs:g} GB/s each way, {wire.mm:g} mm{note}"
    return (
        f"<g id={quoteattr(wire.id)}><title>{escape(tip)}</title>"
        f'<polyline class="wire" points="{points}" stroke="{paint}" stroke-width="{_n(thick)}"{dash}/></g>'
    )


def _use(share: float, busiest: str | None, members: tuple[str, ...]) -> str:
    """The utilisation in a tooltip of a wire or box; one that stands for several names its busiest member."""
    whose = f", of its busiest member {busiest}" if busiest and members != (busiest,) else ""
    return f"\nutilisation {percent(share)}{whose}"


def _percent(note: Note) -> str:
    return (
        f'<text class="percent" x="{_n(note.x)}" y="{_n(note.y + HIGH * _DROP)}" text-anchor="middle">'
        f"{escape(note.text)}</text>"
    )


def _legend(entries: list[LegendEntry], view: View, inner: float, y: float) -> Iterator[str]:
    for row in _rows(entries, inner):
        for x, entry in row:
            dash = ' stroke-dasharray="5 3"' if entry.dashed else ""
            yield (
                f'<line x1="{_n(_MARGIN + x)}" y1="{_n(y)}" x2="{_n(_MARGIN + x + _SAMPLE)}" y2="{_n(y)}" '
                f'stroke="{entry.colour}" stroke-width="{_n(entry.thick)}"{dash}/>'
            )
            yield _text(entry.text, _MARGIN + x + _SAMPLE + 6, y, "start")
        y += LINE + 6
    if view.scale:
        mm, points = _ruler(view.scale)
        right = _MARGIN + points
        yield (f'<path d="M{_n(_MARGIN)} {_n(y - 4)}v8m0 -4H{_n(right)}m0 -4v8" stroke="{INK}" fill="none"/>')
        yield _text(f"{mm:g} mm", right + 6, y, "start")


def _ruler(scale: float) -> tuple[float, float]:
    """A round number of mm that is a handy length at ``scale`` points per mm, and that length."""
    for exponent in range(-4, 6):
        for digit in (1, 2, 5):
            mm = digit * 10.0**exponent
            if mm * scale >= 40:
                return mm, mm * scale
    return 1.0, scale


def _rows(entries: list[LegendEntry], inner: float) -> list[list[tuple[float, LegendEntry]]]:
    """Entries side by side, broken into rows."""
    rows: list[list[tuple[float, LegendEntry]]] = [[]]
    x = 0.0
    for entry in entries:
        wide = _SAMPLE + 6 + width(entry.text)
        if rows[-1] and x + wide > inner:
            rows.append([])
            x = 0.0
        rows[-1].append((x, entry))
        x += wide + 24
    return rows


def _wrap(items: Iterable[str], inner: float, between: str = ", ") -> Iterator[str]:
    """Items joined to lines no wider than ``inner``."""
    line = ""
    for item in items:
        longer = f"{line}{between}{item}" if line else item
        if line and width(longer) > inner:
            yield line + between.rstrip()
            line = item
        else:
            line = longer
    if line:
        yield line
