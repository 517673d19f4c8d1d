"""A timeline as the page draws it: columns of bars, short ones joined where there are too many."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kernbench.analysis.use.occupancy import united
from kernbench.analysis.windows.time_window import Floats
from kernbench.draw.timeline.model import CATEGORIES, WAITING, TimelineContent, TimelineRow

Order = dict[str, int]

_FINE = (0.0, 1 / 20000, 1 / 4000, 1 / 1000, 1 / 300)
"""Shares of the window below which bars are joined with their neighbours, tried in this order."""


def time_line(line: TimelineContent, most: int = 40_000) -> dict[str, Any]:
    """The timeline with ``most`` bars at most, so far as joining short ones leads there.

    Gives ``title start_ns ns remarks left_out joined categories waiting texts groups``. ``joined`` is the
    length in ns below which bars that touch or nearly so are one. A group has ``place count rows``, a row
    ``place label what occupancy lanes`` and columns by bar: ``begin end`` (ns since ``start_ns``),
    ``category`` (a number in ``categories``), ``lane``, ``number`` (-1: none), ``name`` and ``source``
    (numbers in ``texts``), ``count`` (bars that it stands for), ``filled`` (the share
    of it that they cover); and ``waits``, begins and ends by turns.
    """
    bars = sum(len(row.begin) for group in line.groups for row in group.rows)
    texts: Order = {}
    for fine in _FINE:
        shortest = fine * line.ns
        if bars <= most or fine == _FINE[-1]:
            break
        kept = sum(len(np.unique(_runs(row, shortest))) for group in line.groups for row in group.rows)
        if fine and kept <= most:
            break
    if bars <= most:
        shortest = 0.0
    groups = [
        {
            "place": group.place,
            "count": group.count,
            "rows": [_row(row, shortest, texts) for row in group.rows],
        }
        for group in line.groups
    ]
    return {
        "title": line.title,
        "start_ns": line.start_ns,
        "ns": line.ns,
        "remarks": dataclasses.replace(line, left_out=0).remarks,  # the page says it in its own words
        "left_out": line.left_out,
        "joined": shortest,
        "categories": [
            {"colour": colour, "title": title, "used": name in line.categories}
            for name, (colour, title) in CATEGORIES.items()
        ],
        "waiting": WAITING,
        "texts": list(texts),
        "groups": groups,
    }


def _runs(row: TimelineRow, shortest: float) -> Any:
    """By bar the number of the run of short neighbours, of one lane and category, that it belongs to."""
    count = len(row.begin)
    order = np.lexsort((row.begin, row.category, row.lane))
    begin, end = row.begin[order], row.end[order]
    short = end - begin < shortest
    same = np.zeros(count, np.bool_)
    if count > 1:
        same[1:] = (
            short[1:] & short[:-1]
            & (row.lane[order][1:] == row.lane[order][:-1])
            & (row.category[order][1:] == row.category[order][:-1])
            & (begin[1:] - end[:-1] < shortest)
        )  # fmt: skip
    found = np.empty(count, np.int64)
    found[order] = np.cumsum(~same)
    return found


def _row(row: TimelineRow, shortest: float, texts: Order) -> dict[str, Any]:
    runs = _runs(row, shortest) if shortest else np.arange(len(row.begin))
    _, first, of, count = np.unique(runs, return_index=True, return_inverse=True, return_counts=True)
    begin = np.full(len(first), np.inf)
    end = np.full(len(first), -np.inf)
    np.minimum.at(begin, of, row.begin)
    np.maximum.at(end, of, row.end)
    order = np.argsort(begin, kind="stable")
    first, count = first[order], count[order]
    one = count == 1
    waits = np.column_stack(united(row.wait_begin, row.wait_end)).ravel()
    return {
        "place": row.place,
        "label": row.label,
        "what": row.what,
        "occupancy": round(row.occupancy, 6),
        "lanes": row.lanes,
        "begin": _times(begin[order]),
        "end": _times(end[order]),
        "category": row.category[first].tolist(),
        "lane": row.lane[first].tolist(),
        "number": np.where(one, row.numbers[first], -1).tolist(),
        "name": [_text(row.names[at] if alone else "", texts) for at, alone in zip(first, one, strict=True)],
        "source": [
            _text(row.sources[at] if alone else "", texts) for at, alone in zip(first, one, strict=True)
        ],
        "count": [] if one.all() else count.tolist(),
        "filled": [] if one.all() else _fill_shares(row, of, begin, end)[order].round(4).tolist(),
        "waits": _times(waits),
    }


def _fill_shares(row: TimelineRow, of: Any, begin: Floats, end: Floats) -> Any:
    """The share of each bar that the bars which it stands for cover; those of a lane do not overlap."""
    covered = np.bincount(of, row.end - row.begin, minlength=len(begin))
    return np.clip(np.divide(covered, end - begin, out=np.ones(len(begin)), where=end > begin), 0.0, 1.0)


def _times(values: Floats) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def _text(text: str, texts: Order) -> int:
    return texts.setdefault(text, len(texts))
