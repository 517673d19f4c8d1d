"""Causal cones, and meetings at a place, as the graph has them: an answer for each that was asked for."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.run_view import RunView
from kernbench.analysis.trace_tables import Ints, Texts

if TYPE_CHECKING:
    import pyarrow as pa

Overlap = tuple[float, int, int, float]
"""Begin (ns), first transaction, second transaction, length (ns)."""


def cone(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """All transactions behind the late one.

    ``depth`` is the fewest steps that lead there; ``through`` is the transaction one step nearer that it was
    reached from, by ``relation``. Among several waits the longest counts, and a wait before a cause. No
    answer where the run has no such transaction.
    """
    late = int(params["transaction"])
    if not asked.has("Transaction", late):
        return {}
    name = f"cone of transaction {late}"
    return {name: lambda: _cone(asked.tables, name, late)}


def _cone(tables: Mapping[str, pa.Table], name: str, late: int) -> dict[str, pa.Table]:
    import pyarrow as pa

    waited, sent = tables["WaitedFor"], tables["Transaction"]
    causes = sent["caused_by"].to_numpy()
    effects = sent["number"].to_numpy()[causes >= 0]
    near = np.concatenate([waited["txn"].to_numpy(), effects])
    behind = np.concatenate([waited["holder"].to_numpy(), causes[causes >= 0]])
    ids = np.unique(np.concatenate([near, behind, [late]]))
    near, behind = np.searchsorted(ids, near), np.searchsorted(ids, behind)
    step = _fewest_steps(near, behind, int(np.searchsorted(ids, late)), len(ids))

    edges = np.flatnonzero((step[near] >= 0) & (step[behind] == step[near] + 1))
    is_cause = edges >= waited.num_rows
    lost = np.zeros(len(edges))
    lost[~is_cause] = waited["ns"].to_numpy()[edges[~is_cause]]
    places = np.full(len(edges), "", object)
    places[~is_cause] = waited["resource"].take(pa.array(edges[~is_cause])).to_pylist()
    # Of the edges to each transaction the first in this order is the one by which it is reached.
    order = np.lexsort((places.astype(str), near[edges], -lost, is_cause, behind[edges]))
    reached, first = np.unique(behind[edges][order], return_index=True)
    chosen = order[first]
    return {
        "Cone": pa.Table.from_pylist([{"name": name, "txn": late}]),
        "Behind": pa.table({
            "cone": pa.array([name] * len(reached), pa.string()),
            "txn": pa.array(ids[reached], pa.int64()),
            "depth": pa.array(step[reached], pa.int64()),
            "relation": pa.array(np.where(is_cause[chosen], "CAUSED_BY", "WAITED_FOR").tolist(), pa.string()),
            "through": pa.array(ids[near[edges[chosen]]], pa.int64()),
            "resource": pa.array(places[chosen].tolist(), pa.string()),
            "lost_ns": pa.array(lost[chosen], pa.float64()),
        }),
    }  # fmt: skip


def _fewest_steps(near: Ints, behind: Ints, late: int, count: int) -> Ints:
    """Fewest steps from ``late`` to each of ``count`` transactions; -1 where there is no path."""
    order = np.argsort(near, kind="stable")
    first = np.searchsorted(near[order], np.arange(count + 1)).tolist()
    leads_to = behind[order].tolist()
    step = [-1] * count
    step[late] = 0
    ahead = [late]
    for here in ahead:
        for there in leads_to[first[here] : first[here + 1]]:
            if step[there] < 0:
                step[there] = step[here] + 1
                ahead.append(there)
    return np.array(step, dtype=np.int64)


def meetings(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The first ``limit`` pairs of transactions at ``resource`` at the same time, from ``from_ns`` on."""
    place, from_ns, limit = str(params["resource"]), float(params["from_ns"]), int(params["limit"])
    name = f"meetings at {place} from {from_ns!r} ns, {limit} at most"
    return {name: lambda: _meetings(asked.tables["Hop"], name, place, from_ns, limit)}


def _meetings(hops: pa.Table, name: str, place: str, from_ns: float, limit: int) -> dict[str, pa.Table]:
    import pyarrow as pa

    places = Texts(hops["resource"])
    txn, since, until = (hops[column].to_numpy() for column in ("txn", "t_in", "t_out"))
    there = np.flatnonzero(places.rows(place.__eq__) & (until >= from_ns))
    there = there[np.lexsort((until[there], txn[there], since[there]))]
    arrivals = zip(txn[there].tolist(), since[there].tolist(), until[there].tolist(), strict=True)
    found = first_overlaps(list(arrivals), from_ns, limit)
    rows = [
        {"name": f"{name}: {number}", "meetings": name, "first": first, "second": second, "t_ns": now,
         "together_ns": together}
        for number, (now, first, second, together) in enumerate(found)
    ]  # fmt: skip
    asked = [{"name": name, "resource": place, "from_ns": from_ns, "most": limit}]
    return {
        "Meetings": pa.Table.from_pylist(asked),
        **({"Meeting": pa.Table.from_pylist(rows)} if rows else {}),
    }


def first_overlaps(hops: Sequence[tuple[Any, ...]], from_ns: float, limit: int) -> list[Overlap]:
    """The first ``limit`` overlaps in order: no later arrival can change them.

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
                return before
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
    return before + of_moment
