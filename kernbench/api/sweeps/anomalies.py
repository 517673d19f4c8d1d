"""Points of a sweep that are slower than one whose machine is worse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from kernbench.api.open_runs import open_run
from kernbench.api.sweeps.result import SweepPoint
from kernbench.hardware.topology.better import only_better
from kernbench.support.pgraph import GraphStore, topology_graph

_SMALLEST_NS = 1e-6
"""Differences below are rounding."""


def anomalies(points: Sequence[SweepPoint], store: GraphStore) -> list[dict[str, Any]]:
    """Neighbours in the order of a topology key, all else equal, of which the better one is slower.

    Whether more or less of a key is better is asked of the machines of the first two such points, whose runs
    are in ``store``. See :attr:`~kernbench.api.sweeps.result.Sweep.anomalies`.
    """
    found = []
    for key in dict.fromkeys(name for point in points for name in point.topo):
        more: bool | None = None
        for number, (low, high) in enumerate(_neighbours(points, key)):
            if not number:
                more = _more_is_better(low, high, store)
            if more is None:
                break
            better, worse = (high, low) if more else (low, high)
            if _ns(better) > _ns(worse) + _SMALLEST_NS:
                one, than = (
                    {"value": point.topo[key], "point": point.point, "ns": _ns(point)}
                    for point in (better, worse)
                )
                found.append({"key": key, **one, **{f"than_{name}": value for name, value in than.items()}})
    return found


def _neighbours(points: Sequence[SweepPoint], key: str) -> Iterator[tuple[SweepPoint, SweepPoint]]:
    """Points that differ in ``key`` alone, each with that of the next larger value."""
    groups: dict[str, list[SweepPoint]] = {}
    for point in points:
        value = point.topo.get(key)
        timed = point.latency_ns is not None and point.run_id and not point.error
        if timed and type(value) in (int, float):
            others = {name: other for name, other in point.topo.items() if name != key}
            same = json.dumps([point.topology, point.params, others], default=repr, sort_keys=True)
            groups.setdefault(same, []).append(point)
    for group in groups.values():
        yield from pairwise(sorted(group, key=lambda point: point.topo[key]))


def _more_is_better(low: SweepPoint, high: SweepPoint, store: GraphStore) -> bool | None:
    """Whether the machine with the larger value is better; None where neither is."""
    one, other = (topology_graph(open_run(point.run_id, store).topology_record()) for point in (low, high))
    if only_better(one, other):
        return True
    return False if only_better(other, one) else None


def _ns(point: SweepPoint) -> float:
    return point.latency_ns or 0.0
