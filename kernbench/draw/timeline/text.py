"""A timeline for terminals: a character is an interval, and as high as the engine was occupied."""

from __future__ import annotations

import textwrap

import numpy as np

from kernbench.draw.timeline.model import TimelineContent, TimelineRow, ticks

_BARS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:-=+*%#"
"""The same where the terminal knows ASCII alone."""
_LEAST = 20
"""Characters of time at least."""


def text(line: TimelineContent, width: int, *, plain: bool = False) -> str:
    """Lines of at most ``width`` characters, if that is 40 at least."""
    steps = _PLAIN if plain else _BARS
    dot = "," if plain else "·"
    heads = [f"{group.place}{f'  x {group.count}' if group.count > 1 else ''}" for group in line.groups]
    single = [len(group.rows) == 1 and group.rows[0].label == group.place for group in line.groups]
    labels = [
        row.label for group, alone in zip(line.groups, single, strict=True) if not alone for row in group.rows
    ]
    names = min(max(map(len, labels), default=8) + 2, max(width - _LEAST - 8, 10))
    cells = max(width - names - 8, _LEAST)
    edges = np.linspace(0.0, line.ns, cells + 1)
    out = [line.title, *_axis(line.ns, names, cells)]
    for group, head, alone in zip(line.groups, heads, single, strict=True):
        out.append(head)
        for row in group.rows:
            label, wide = "" if alone else row.label, names - 2
            if len(label) > wide:
                label = "..." + label[len(label) - wide + 3 :]
            bar = _bar(row, edges, steps, dot)
            out.append(f"{'  ' + label:<{names}}|{bar}|{row.occupancy:>6.1%}".rstrip())
    waits = (
        f", {dot} only waited for" if any(len(row.wait_begin) for g in line.groups for row in g.rows) else ""
    )
    legend = [f"{steps[1]} to {steps[-1]}: under way for that share of the time{waits}", *line.remarks]
    out += textwrap.wrap("; ".join(legend), max(width, 40), break_long_words=False)
    return "\n".join(out) + "\n"


def _bar(row: TimelineRow, edges: np.ndarray, steps: str, dot: str) -> str:
    busy = row.shares(edges)
    waiting = row.shares(edges, waiting=True)
    level = np.ceil(np.round(busy, 9) * (len(steps) - 1)).astype(int)
    return "".join(
        dot if not high and wait > 1e-9 else steps[high]
        for high, wait in zip(level.tolist(), waiting.tolist(), strict=True)
    )


def _axis(ns: float, names: int, cells: int) -> list[str]:
    numbers, marks = [" "] * (cells + 12), [" "] * cells
    for tick in ticks(ns, max(cells // 12, 2)):
        at = min(int(tick / ns * cells), cells - 1)
        label = f"{tick:g}"
        if all(character == " " for character in numbers[max(at - 1, 0) : at + len(label) + 1]):
            numbers[at : at + len(label)] = label
            marks[at] = "|"
    scale = "".join(numbers)[: cells + 8].rstrip()
    return [f"{'ns':>{names - 1}}  {scale}".rstrip(), f"{'':{names}} {''.join(marks)}".rstrip()]
