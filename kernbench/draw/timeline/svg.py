"""A timeline as SVG: a bar for each operation, with its name, number, times and source line on hover."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from kernbench.analysis.use.occupancy import united
from kernbench.draw.colours import INK, PAPER
from kernbench.draw.machine.text import LINE, SIZE, width
from kernbench.draw.timeline.model import CATEGORIES, NAMES, WAITING, TimelineContent, TimelineRow, ticks

_MARGIN = 20.0
_TIME = 900.0
"""Width of the time itself, points."""
_ROW, _GAP = 15.0, 3.0
_WAIT = 3.0
"""Height of the line below the bars that shows that something waits."""
_THIN = 0.4
"""Bars that are narrower are drawn together with their neighbours."""
_MOST_LANES = 4
_STYLE = (
    f"text{{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:{SIZE:g}px;fill:{INK}}}"
    ".title{font-size:15px;font-weight:bold}.place{font-weight:bold}.grid{stroke:#e4e7eb}"
    ".bar{stroke:#ffffff;stroke-width:.3}"
)


def svg(line: TimelineContent) -> str:
    """The picture; the same text for the same timeline."""
    names = max((width(row.label) for group in line.groups for row in group.rows), default=60.0)
    left = _MARGIN + min(names, 420.0) + 22
    y = _MARGIN + 15 + 12 + LINE + 10
    top = y
    body: list[str] = []
    for group in line.groups:
        alike = f"  x {group.count}" if group.count > 1 else ""
        if len(group.rows) > 1 or group.rows[0].label != group.place:
            body.append(_text(group.place + alike, _MARGIN, y + _ROW / 2, "place"))
            y += _ROW + _GAP
            alike = ""
        for row in group.rows:
            body.append(_text(row.label + alike, _MARGIN + 10, y + _ROW / 2))
            body += _bars(line, row, left, y)
            body.append(_text(f"{row.occupancy:.1%}", left + _TIME + 6, y + _ROW / 2))
            y += _ROW + _WAIT + _GAP
        y += _GAP
    bottom = y
    total_w = left + _TIME + 60 + _MARGIN
    grid = list(_grid(line, left, top, bottom))
    foot = list(_legend(line, bottom + 22))
    y = bottom + 22 + LINE
    for remark in line.remarks:
        y += LINE
        foot.append(_text(remark, _MARGIN, y))
    total_h = y + _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total_w:.0f}" height="{total_h:.0f}" '
            f'viewBox="0 0 {total_w:.0f} {total_h:.0f}" role="img" aria-label={quoteattr(line.title)}>',
            f"<style>{_STYLE}</style>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            _text(line.title, _MARGIN, _MARGIN + 7, "title"),
            *grid,
            *body,
            *foot,
            "</svg>",
            "",
        ]
    )


def _bars(line: TimelineContent, row: TimelineRow, left: float, y: float) -> Iterator[str]:
    scale = _TIME / line.ns if line.ns > 0 else 0.0
    lanes = min(row.lanes, _MOST_LANES)
    high = _ROW / lanes
    open_bars: dict[tuple[int, int], list[float]] = {}
    columns = zip(
        row.begin.tolist(), row.end.tolist(), row.category.tolist(), row.lane.tolist(), range(len(row.begin)),
        strict=True,
    )  # fmt: skip
    for begin, end, category, lane, number in columns:
        x, wide = left + begin * scale, (end - begin) * scale
        place = y + min(lane, lanes - 1) * high
        if wide >= _THIN:
            yield _bar(x, place, wide, high, category, _tip(line, row, number))
            continue
        key = (category, min(lane, lanes - 1))
        known = open_bars.get(key)
        if known is not None and x - known[1] < _THIN:
            known[1], known[2], known[3] = max(known[1], x + wide), known[2] + 1, known[3] + wide
            continue
        if known is not None:
            yield _together(known, key, y, high)
        open_bars[key] = [x, x + wide, 1, wide]
    for key, known in open_bars.items():
        yield _together(known, key, y, high)
    for begin, end in zip(*(times.tolist() for times in united(row.wait_begin, row.wait_end)), strict=True):
        if (end - begin) * scale >= 0.05:
            tip = f"waiting from {begin:g} to {end:g} ns"
            x, wide = _n(left + begin * scale), _n((end - begin) * scale)
            yield (
                f'<rect x="{x}" y="{_n(y + _ROW)}" width="{wide}" height="{_n(_WAIT - 1)}" fill="{WAITING}">'
                f"<title>{tip}</title></rect>"
            )


def _together(known: list[float], key: tuple[int, int], y: float, high: float) -> str:
    wide = max(known[1] - known[0], _THIN)
    tip = f"{known[2]:.0f} short ones" if known[2] > 1 else "a short one"
    # As high as the share of its width that they cover.
    tall = high * max(min(known[3] / wide, 1.0), 0.06)
    place = y + (key[1] + 1) * high - tall
    return _bar(known[0], place, wide, tall, key[0], f"{CATEGORIES[NAMES[key[0]]][1]}: {tip}")


def _bar(x: float, y: float, wide: float, high: float, category: int, tip: str) -> str:
    return (
        f'<rect class="bar" x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}" '
        f'fill="{CATEGORIES[NAMES[category]][0]}"><title>{escape(tip)}</title></rect>'
    )


def _tip(line: TimelineContent, row: TimelineRow, number: int) -> str:
    begin, end = row.begin.item(number), row.end.item(number)
    named = row.numbers.item(number)
    of = f"\n{row.what} {named}" if named >= 0 else ""
    source = f"\n{row.sources[number]}" if row.sources[number] else ""
    return f"{row.names[number]}\n{begin:g} to {end:g} ns: {end - begin:g} ns{of}{source}"


def _grid(line: TimelineContent, left: float, top: float, bottom: float) -> Iterator[str]:
    for tick in ticks(line.ns, 10):
        x = left + (tick / line.ns * _TIME if line.ns > 0 else 0.0)
        yield f'<line class="grid" x1="{_n(x)}" y1="{_n(top - 4)}" x2="{_n(x)}" y2="{_n(bottom)}"/>'
        yield _text(f"{tick:g}{' ns' if tick == 0 else ''}", x, top - 12, anchor="middle")


def _legend(line: TimelineContent, y: float) -> Iterator[str]:
    x = _MARGIN
    entries = [CATEGORIES[name] for name in line.categories]
    if any(len(row.wait_begin) for group in line.groups for row in group.rows):
        entries.append((WAITING, "queued (thin line)"))
    for colour, name in entries:
        yield f'<rect x="{_n(x)}" y="{_n(y - 5)}" width="12" height="10" fill="{colour}"/>'
        yield _text(name, x + 17, y)
        x += 17 + width(name) + 20


def _text(text: str, x: float, y: float, kind: str = "", anchor: str = "") -> str:
    classes = f' class="{kind}"' if kind else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text{classes} x="{_n(x)}" y="{_n(y + SIZE * 0.36)}"{where}>{escape(text)}</text>'


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
