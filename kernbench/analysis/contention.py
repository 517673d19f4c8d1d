"""Derived parameters of ``queries/contention``: causal cones and overlaps."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.derived import AskedRun, Rows

Ints = NDArray[np.int64]
Overlap = tuple[float, int, int, float]
"""Begin (ns), first transaction, second transaction, length (ns)."""

_FIRST_HOPS = 4096
_HOPS = """
MATCH (:Run {id: $run})-[:USED]->(u:Use)<-[h:HOP]-(t:Transaction)
WHERE u.resource = $resource AND h.t_out >= $from_ns
RETURN t.number AS txn, h.t_in AS since, h.t_out AS until
ORDER BY since, txn, until
LIMIT $most
"""


def causal_cone(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``step id relation through resource lost_ns`` per transaction behind the late one, at most ``limit``.

    Nearest first. ``step`` is the fewest steps that lead there; ``through`` is the transaction one step
    nearer that it was reached from, by ``relation``. Among several waits the longest counts, and a wait
    before a cause.
    """
    waited, sent = asked.tables["WaitedFor"], asked.tables["Transaction"]
    waits = waited.num_rows
    causes = sent["caused_by"].to_numpy()
    effects = sent["number"].to_numpy()[causes >= 0]
    near = np.concatenate([waited["txn"].to_numpy(), effects])
    behind = np.concatenate([waited["holder"].to_numpy(), causes[causes >= 0]])
    late = int(params["transaction"])
    ids = np.unique(np.concatenate([near, behind, [late]]))
    near, behind = np.searchsorted(ids, near), np.searchsorted(ids, behind)
    step = _fewest_steps(near, behind, int(np.searchsorted(ids, late)), len(ids))
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
    reached_by: dict[int, tuple[Any, ...]] = {}
    for index, edge in enumerate(edges.tolist()):
        key = (edge >= waits, -float(lost[index]), int(ids[near[edge]]), resources[index])
        target = int(behind[edge])
        reached_by[target] = min(key, reached_by.get(target, key))
    return [
        {
            "step": int(step[index]),
            "id": int(ids[index]),
            "relation": "CAUSED_BY" if reached_by[index][0] else "WAITED_FOR",
            "through": reached_by[index][2],
            "resource": reached_by[index][3],
            "lost_ns": -reached_by[index][1],
        }
        for index in found.tolist()
    ]


def _fewest_steps(near: Ints, behind: Ints, late: int, count: int) -> Ints:
    """Fewest steps from ``late`` to each of ``count`` transactions; -1 where there is no path."""
    from scipy.sparse import csr_matrix  # only a cone needs it, and it is slow to import
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(len(near), dtype=np.int8)
    edges = csr_matrix((ones, (near, behind)), shape=(count, count))
    edges.data[:] = 1  # parallel edges were added up, and the sum may have overflowed to 0
    order, before = breadth_first_order(edges, late)
    step = [-1] * count
    step[late] = 0
    came_from = before.tolist()
    for index in order[1:].tolist():
        step[index] = step[came_from[index]] + 1
    return np.array(step, dtype=np.int64)


def overlaps(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``first second t_ns together_ns`` per pair of transactions at ``resource`` at the same time.

    Only overlaps that began at ``from_ns`` or later, earliest first, at most ``limit``. A sweep over
    arrivals: the time grows with the hops until the last of these overlaps, and with their number.
    """
    from_ns, limit, most = params["from_ns"], params["limit"], _FIRST_HOPS
    while True:
        hops = asked.query(_HOPS, resource=params["resource"], from_ns=from_ns, most=most).rows
        found, enough = first_overlaps(hops, from_ns, limit)
        if enough or len(hops) < most:
            break
        most *= 16
    return [
        {"first": first, "second": second, "t_ns": now, "together_ns": together}
        for now, first, second, together in found
    ]


def first_overlaps(hops: Sequence[tuple[Any, ...]], from_ns: float, limit: int) -> tuple[list[Overlap], bool]:
    """The first ``limit`` overlaps in order, and whether no later arrival can change them.

    ``hops`` are ``(transaction, arrival, departure)``, in order of arrival, transaction and departure. An
    overlap is ``(arrival, transactions in order, ns together)``. Hundreds may meet hundreds at one moment:
    those present are gone through in order of transaction, and left once the rest comes too late.
    """
    present: list[tuple[int, int]] = []
    leaving: list[tuple[float, int]] = []
    before: list[Overlap] = []
    of_moment: list[Overlap] = []
    moment = -inf
    for number, (txn, now, until) in enumerate(hops):
        if now > moment:
            before, of_moment, moment = before + of_moment, [], now
            if len(before) >= limit:
                return before, True
        while leaving and leaving[0][0] <= now:
            gone = heappop(leaving)[1]
            present.pop(bisect_left(present, (hops[gone][0], gone)))
        room = limit - len(before)
        if now >= from_ns:
            for met, other in present:
                _, since, left = hops[other]
                if met == txn or since >= until:
                    continue
                pair = (txn, met) if txn < met else (met, txn)
                if len(of_moment) == room and pair > of_moment[-1][1:3]:
                    break
                insort(of_moment, (now, *pair, min(until, left) - now))
                del of_moment[room:]
        insort(present, (txn, number))
        heappush(leaving, (until, number))
    return before + of_moment, False
