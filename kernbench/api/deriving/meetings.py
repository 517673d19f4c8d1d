"""Which transactions were at a place at the same time: a sweep over arrivals, not all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows

_FIRST = 4096
_HOPS = """
MATCH (t:Transaction)-[h:HOP]->(p:Link|Component)
WHERE p.id = $resource AND h.t_out >= $from_ns
RETURN t.id AS txn, h.t_in AS since, h.t_out AS until
ORDER BY since, txn, until
LIMIT $most
"""
Meeting = tuple[float, int, int, float]
"""When, who, whom, for how long."""


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``first second t_ns together_ns`` per meeting that began at ``from_ns`` or later.

    Earliest first, ``limit`` at most. Time grows with the hops until the last of these meetings, and with
    the meetings that begin until then.
    """
    from_ns, limit, most = params["from_ns"], params["limit"], _FIRST
    while True:
        hops = asked.query(_HOPS, resource=params["resource"], from_ns=from_ns, most=most).rows
        found, enough = _sweep(hops, from_ns, limit)
        if enough or len(hops) < most:
            break
        most *= 16
    return [
        {"first": first, "second": second, "t_ns": now, "together_ns": together}
        for now, first, second, together in sorted(found)[:limit]
    ]


def _sweep(hops: Sequence[tuple[Any, ...]], from_ns: float, limit: int) -> tuple[list[Meeting], bool]:
    """Meetings in order of time, and whether those are ``limit`` at least, whatever arrives later."""
    there: list[tuple[float, int]] = []
    found: list[Meeting] = []
    for number, (txn, now, until) in enumerate(hops):
        if len(found) >= limit and not (found and found[-1][0] == now):
            return found, True
        while there and there[0][0] <= now:
            heappop(there)
        if now >= from_ns:
            for left, other in there:
                met, since, _ = hops[other]
                if met != txn and since < until:
                    pair = (txn, met) if txn < met else (met, txn)
                    found.append((now, *pair, min(until, left) - now))
        heappush(there, (until, number))
    return found, False
