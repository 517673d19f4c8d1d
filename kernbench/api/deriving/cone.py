"""The causal cone behind a transaction: whom it waited for and what brought it about, and so on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order

from kernbench.api.deriving.asked import Asked, Rows

Ints = NDArray[np.int64]


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``step id relation through resource lost_ns`` per transaction of the cone.

    Nearest first, ``limit`` at most. ``step`` is the fewest steps that lead there, ``through`` the one a step
    nearer that it was reached from, by ``relation``: among several waits the longest, a wait before a cause.
    """
    waited, caused = asked.tables["WaitedFor"], asked.tables["Caused"]
    waits = waited.num_rows
    near = np.concatenate([waited["txn"].to_numpy(), caused["child"].to_numpy()])
    behind = np.concatenate([waited["holder"].to_numpy(), caused["parent"].to_numpy()])
    late = int(params["transaction"])
    ids = np.unique(np.concatenate([near, behind, [late]]))
    near, behind = np.searchsorted(ids, near), np.searchsorted(ids, behind)
    step = _steps(near, behind, int(np.searchsorted(ids, late)), len(ids))
    within = step > 0
    if params["steps"]:
        within &= step <= params["steps"]
    found = np.flatnonzero(within)
    found = found[np.lexsort((ids[found], step[found]))][: params["limit"]]

    chosen = np.zeros(len(ids), dtype=bool)
    chosen[found] = True
    edges = np.flatnonzero(chosen[behind] & (step[near] >= 0) & (step[behind] == step[near] + 1))
    by_wait = edges < waits
    resources = [""] * len(edges)
    lost = np.zeros(len(edges))
    resources[: int(by_wait.sum())] = waited["resource"].take(edges[by_wait]).to_pylist()
    lost[by_wait] = waited["ns"].to_numpy()[edges[by_wait]]
    way: dict[int, tuple[Any, ...]] = {}
    for place, edge in enumerate(edges.tolist()):
        key = (edge >= waits, -float(lost[place]), int(ids[near[edge]]), resources[place])
        way[int(behind[edge])] = min(key, way.get(int(behind[edge]), key))
    return [
        {
            "step": int(step[place]),
            "id": int(ids[place]),
            "relation": "CAUSED" if way[place][0] else "WAITED_FOR",
            "through": way[place][2],
            "resource": way[place][3],
            "lost_ns": -way[place][1],
        }
        for place in found.tolist()
    ]


def _steps(near: Ints, behind: Ints, late: int, count: int) -> Ints:
    """Fewest steps from ``late`` to each of ``count`` transactions; -1 where there is no way."""
    ones = np.ones(len(near), dtype=np.int8)
    edges = csr_matrix((ones, (near, behind)), shape=(count, count))
    edges.data[:] = 1  # of edges between the same two, which were added up, maybe to nothing
    order, before = breadth_first_order(edges, late)
    step = [-1] * count
    step[late] = 0
    came_from = before.tolist()
    for place in order[1:].tolist():
        step[place] = step[came_from[place]] + 1
    return np.array(step, dtype=np.int64)
