"""Answers to questions about traffic within a window of time: who was in whose way, how long, how far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, columns, first, span_of


def small_behind_large(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w, t, span = columns(run.tables["WaitedFor"]), columns(run.tables["Transaction"]), span_of(run, params)
    rows: Rows = []
    for n, (a, b) in enumerate(zip(w["txn"], w["holder"], strict=True)):
        small, large = int(t["bytes"][a]), int(t["bytes"][b])
        if (
            small < large
            and large >= params["times"] * small
            and w["ns"][n] > 0
            and span.holds(w["t_from"][n])
        ):
            ends = ((int(at), t["kind"][at], t["src"][at], int(t["bytes"][at])) for at in (a, b))
            waits = (w[name][n] for name in ("resource", "seq", "t_from", "ns"))
            rows.append((*next(ends), *next(ends), *waits))
    return first(rows, lambda row: (-row[11], row[0], row[4], *row[8:11]), params)


def cube_by_cube(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w, t, span = columns(run.tables["WaitedFor"]), columns(run.tables["Transaction"]), span_of(run, params)
    cubes = {row["name"]: (row["sip"], row["cube"]) for row in topology.tables["Component"].to_pylist()}
    of: dict[tuple[int, ...], list[int]] = {}
    for n, (a, b) in enumerate(zip(w["txn"], w["holder"], strict=True)):
        if w["ns"][n] > 0 and span.holds(w["t_from"][n]):
            of.setdefault((*cubes[t["src"][a]], *cubes[t["src"][b]]), []).append(n)
    rows: Rows = [
        (
            *pair,
            len(waits),
            len(set(w["txn"][waits])),
            float(w["ns"][waits].sum()),
            float(w["ns"][waits].max()),
        )
        for pair, waits in of.items()
    ]
    return first(rows, lambda row: (-row[6], *row[:4]), params)


def tail_latency(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t, ways, span = columns(run.tables["Transaction"]), columns(run.tables["Route"]), span_of(run, params)
    at = {int(number): row for row, number in enumerate(ways["number"])}
    of: dict[tuple[Any, ...], list[float]] = {}
    for n, kind in enumerate(t["kind"]):
        way = at.get(int(t["route"][n]))
        if way is not None and span.holds(t["t_submit"][n]) and params["kind"] in ("", kind):
            mm = math.floor(ways["mm"][way] / params["bin_mm"] + 0.5) * params["bin_mm"]
            latency = float(t["t_done"][n] - t["t_submit"][n])
            of.setdefault((kind, mm, int(ways["hops"][way])), []).append(latency)
    rows: Rows = []
    for key, found in of.items():
        found.sort()
        least = [found[math.ceil(share * len(found)) - 1] for share in (0.5, 0.95, 0.99)]
        rows.append((*key, len(found), *least, found[-1]))
    return sorted(rows)


def outstanding(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t, span = columns(run.tables["Transaction"]), span_of(run, params)
    of: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for n, kind in enumerate(t["kind"]):
        sent, done = float(t["t_submit"][n]), float(t["t_done"][n])
        if sent < span.until and done > span.begin and params["kind"] in ("", kind):
            within = min(done, span.until) - max(sent, span.begin)
            of.setdefault((kind, t["src"][n]), []).append((int(t["bytes"][n]), within))
    rows: Rows = []
    for key, found in of.items():
        total = math.fsum(within for _, within in found)
        mean = total / span.ns if span.ns > 0 else 0.0
        rows.append((*key, len(found), sum(size for size, _ in found), mean, total / len(found), span.ns))
    return first(rows, lambda row: (-row[4], *row[:2]), params)


def directly_follows(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t, span, used = columns(run.tables["Transaction"]), span_of(run, params), columns(run.tables["Use"])
    kind = dict(zip(used["resource"], used["kind"], strict=True))
    of: dict[tuple[str, ...], list[float]] = {}
    for then, before in enumerate(t["caused_by"]):
        if before >= 0 and span.holds(t["t_submit"][then]):
            pair = (entry for at in (before, then) for entry in (t["kind"][at], kind[t["dst"][at]]))
            of.setdefault(tuple(pair), []).append(float(t["t_submit"][then] - t["t_submit"][before]))
    return _in_sequence(of, params)


def operations_in_sequence(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    o, d, span = columns(run.tables["Op"]), columns(run.tables["DependsOn"]), span_of(run, params)
    row = {int(number): n for n, number in enumerate(o["number"])}
    of: dict[tuple[str, ...], list[float]] = {}
    for op, on, hazard in zip(d["op"], d["on"], d["hazard"], strict=True):
        then, before = row[int(op)], row[int(on)]
        if span.holds(o["t_start"][then]):
            key = (o["name"][before], o["kind"][before], hazard, o["name"][then], o["kind"][then])
            of.setdefault(key, []).append(float(o["t_start"][then] - o["t_end"][before]))
    return _in_sequence(of, params)


def _in_sequence(of: Mapping[tuple[str, ...], list[float]], params: Mapping[str, Any]) -> Rows:
    rows: Rows = [(*key, len(ns), math.fsum(ns) / len(ns), max(ns)) for key, ns in of.items()]
    return first(rows, lambda row: (-row[-3], *row[:-3]), params)


TRAFFIC: dict[str, Oracle] = {
    "contention/small-behind-large": small_behind_large,
    "contention/cube-by-cube": cube_by_cube,
    "contention/outstanding": outstanding,
    "contention/directly-follows": directly_follows,
    "kernel/operations-in-sequence": operations_in_sequence,
    "bottleneck/tail-latency": tail_latency,
}
