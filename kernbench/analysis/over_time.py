"""Derived parameters of questions about stretches of a window: what was busy when, how much was carried.

A window is cut into ``intervals`` stretches of equal length, from its begin to its end. Time between two
launches, which is no part of a window of launches, counts in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.derived import AskedRun, Rows
from kernbench.analysis.time_window import Floats
from kernbench.analysis.use_over_time import spread, use_over_time
from kernbench.analysis.window_use import rows_of
from kernbench.errors import UsageError
from kernbench.kinds import COMPONENT_KINDS

_MOST_INTERVALS = 1000
_SAME = 1e-9
"""Shares that differ by less are the same: the rest is rounding."""


def saturated(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``begin until resource kind busy_ns utilisation`` of what was busy for ``least`` of a stretch or more.

    Of ``kind``, or of all kinds; the busiest first, then the earliest; ``limit`` of them at most.
    """
    shares, edges, lengths, names, kinds = _shares(asked, params)
    wanted = (shares >= params["least"] - _SAME) & (shares > 0)
    stretch, column = np.nonzero(wanted & _of_kind(kinds, params["kind"]))
    busiest = np.lexsort((names[column], stretch, -np.round(shares[stretch, column], 9)))[: params["limit"]]
    return [_row(shares, edges, lengths, names, kinds, stretch[n], column[n]) for n in busiest.tolist()]


def hot_spots(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """The same of the ``top`` busiest in each stretch, in order of time, with their ``rank`` from 1."""
    shares, edges, lengths, names, kinds = _shares(asked, params)
    found: Rows = []
    columns = np.flatnonzero(_of_kind(kinds, params["kind"]))
    for stretch in range(len(shares)):
        at = columns[shares[stretch, columns] > 0]
        order = np.lexsort((names[at], -np.round(shares[stretch, at], 9)))[: params["top"]]
        for rank, column in enumerate(at[order].tolist(), 1):
            found.append({"rank": rank, **_row(shares, edges, lengths, names, kinds, stretch, column)})
    return found


def carried_over_time(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``begin until kind links bytes achieved_gbs peak_gbs`` per stretch and kind of link that carried any.

    The bytes of a transaction are spread evenly over the time from its first flit's service on a link to its
    last flit's leaving. ``links`` and ``peak_gbs`` are of those that carried something in the window.
    """
    tables, window = asked.tables, asked.window(params)
    edges = stretches(asked, params)
    lengths = np.diff(window.covered(edges))
    links = asked.topology_tables["Link"]
    names, kinds = links["name"].to_pylist(), links["kind"].to_pylist()
    at = rows_of(tables["Hop"]["resource"], {name: number for number, name in enumerate(names)})
    hop = at >= 0
    nbytes, begin, end = (tables["Hop"][name].to_numpy()[hop] for name in ("bytes", "t_start", "t_out"))
    sorts = sorted(set(kinds))
    of = np.array([sorts.index(kind) for kind in kinds], np.int64)
    moved = spread(window, edges, of[at[hop]], nbytes.astype(np.float64), begin, end, len(sorts))
    used = np.bincount(at[hop], nbytes * (window.share(begin, end) > 0), minlength=len(names)) > 0
    count = np.bincount(of, used, minlength=len(sorts))
    peak = np.bincount(of, np.where(used, links["bw_gbs"].to_numpy(), 0.0), minlength=len(sorts))
    return [
        {
            "begin": float(edges[stretch]),
            "until": float(edges[stretch + 1]),
            "kind": sorts[kind],
            "links": int(count[kind]),
            "bytes": round(float(moved[stretch, kind])),
            "achieved_gbs": float(moved[stretch, kind] / lengths[stretch]),
            "peak_gbs": float(peak[kind]),
        }
        for stretch, kind in zip(*(places.tolist() for places in np.nonzero(moved > _SAME)), strict=True)
        if params["kind"] in ("", sorts[kind]) and lengths[stretch] > 0
    ]


def _shares(
    asked: AskedRun, params: Mapping[str, Any]
) -> tuple[Floats, Floats, Floats, NDArray[np.str_], NDArray[np.str_]]:
    """Utilisation by stretch and resource; edges and lengths of the stretches; names and kinds of resources.

    Parts of others, such as pseudo-channels, only where ``kind`` asks for them.
    """
    window, edges = asked.window(params), stretches(asked, params)
    found, _, shares = use_over_time(asked.tables, window, params["intervals"])
    names = np.array(found, str)
    kinds = np.array(asked.tables["Use"]["kind"].to_pylist(), str)
    if not params["kind"]:
        parts = [kind for kind, record in COMPONENT_KINDS.items() if record.counted_elsewhere]
        kept = ~np.isin(kinds, parts)
        shares, names, kinds = shares[:, kept], names[kept], kinds[kept]
    return shares, edges, np.diff(window.covered(edges)), names, kinds


def stretches(asked: AskedRun, params: Mapping[str, Any]) -> Floats:
    """Where the window's ``intervals`` stretches begin, and where the last one ends, in ns.

    Raises:
        UsageError: There are too many of them.
    """
    if params["intervals"] > _MOST_INTERVALS:
        raise UsageError(
            f"{params['intervals']} intervals are more than {_MOST_INTERVALS}; choose a shorter window "
            "with from_ns and to_ns"
        )
    spans = asked.window(params).spans
    begin, end = (spans[0][0], spans[-1][1]) if spans else (0.0, 0.0)
    return np.linspace(begin, end, params["intervals"] + 1)


def _of_kind(kinds: NDArray[np.str_], kind: str) -> NDArray[np.bool_]:
    return np.ones(len(kinds), dtype=bool) if not kind else kinds == kind


def _row(
    shares: Floats,
    edges: Floats,
    lengths: Floats,
    names: NDArray[np.str_],
    kinds: NDArray[np.str_],
    stretch: int,
    column: int,
) -> dict[str, Any]:
    share = float(shares[stretch, column])
    return {
        "begin": float(edges[stretch]),
        "until": float(edges[stretch + 1]),
        "resource": str(names[column]),
        "kind": str(kinds[column]),
        "busy_ns": share * float(lengths[stretch]),
        "utilisation": share,
    }
