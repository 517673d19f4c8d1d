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
from kernbench.analysis.use_over_time import use_over_time
from kernbench.kinds import COMPONENT_KINDS

_SAME = 1e-9
"""Shares that differ by less are the same: the rest is rounding."""


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
    """Where the window's ``intervals`` stretches begin, and where the last one ends, in ns."""
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
