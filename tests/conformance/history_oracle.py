"""Answers to the questions about many runs, in plain Python over what was kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernbench_graph.records import RunRecord

Rows = list[tuple[Any, ...]]
Infos = Sequence[dict[str, Any]]
Records = Mapping[str, RunRecord]
WHAT_IF = ".what-if"


def _good(infos: Infos) -> list[dict[str, Any]]:
    found = [i for i in infos if i["status"] == "ok" and i["verified"] != "no"]
    return sorted(found, key=lambda i: (i["started_at"], i["id"]))


def _on(info: dict[str, Any], topology: str) -> bool:
    name = info["topology_name"]
    return bool(name == topology or (topology == "" and not name.endswith(WHAT_IF)))


def runs(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    of = [i for i in infos if p["bench"] in ("", i["bench"])]
    columns = ("id", "bench", "topology_name", "started_at", "status", "sim_ns", "latency_ns", "wall_s",
               "verified", "hops", "tags")  # fmt: skip
    by_id = sorted(of, key=lambda i: i["id"])
    newest = sorted(by_id, key=lambda i: i["started_at"], reverse=True)
    launched = [{**i, "latency_ns": i["latency_ns"] or None} for i in newest]
    return [tuple(i[c] for c in columns) for i in launched][: p["limit"]]


def bench_over_time(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    of = [i for i in _good(infos) if i["bench"] == p["bench"] and _on(i, p["topology"])]
    rows: Rows = []
    for i in of:
        fastest = min(_ns(o) for o in of if (o["params"], o["topology"]) == (i["params"], i["topology"]))
        rows.append((i["id"], i["started_at"], i["version"], i["topology_name"], i["topology"], i["params"],
                     _ns(i), _ns(i) / fastest if fastest > 0 else 1.0, i["tags"]))  # fmt: skip
    return rows[: p["limit"]]


def best_of_sweep(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    groups: dict[tuple[str, ...], list[float]] = {}
    for i in _points(infos, p):
        key = (i["params"], i["topology_name"], i["topology"])
        groups.setdefault(key, []).append(_ns(i))
    values = [json.loads(key[0] or "{}") for key in groups]
    rows = []
    for own, (key, times) in zip(values, groups.items(), strict=True):
        differ = [f"{k}={v}" for k, v in own.items() if any(other.get(k, ...) != v for other in values)]
        rows.append((", ".join(sorted(differ)), *key, len(times), min(times)))
    return sorted(rows, key=lambda row: (row[5], *row[1:4]))[: p["limit"]]


def _points(infos: Infos, p: Mapping[str, Any]) -> list[dict[str, Any]]:
    wanted = {f"sweep-{p['bench']}" if p["tag"] == "sweep-BENCH" else p["tag"]} - {""}
    return [i for i in _good(infos) if i["bench"] == p["bench"] and wanted <= {*json.loads(i["tags"])}]


def sweep_keys(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    points = [(json.loads(i["params"]), _ns(i)) for i in _points(infos, p)]
    rows: Rows = []
    for key in sorted({key for own, _ in points for key in own}):
        found: dict[str, list[float]] = {}
        for own, ns in points:
            if key in own:
                found.setdefault(str(own[key]), []).append(ns)
        if len(found) > 1:
            means = sorted((sum(times) / len(times), text) for text, times in found.items())
            worst = max(means, key=lambda mean: mean[0])
            factor = worst[0] / means[0][0] if means[0][0] > 0 else 1.0
            rows.append((key, "parameter", len(found), *means[0][::-1], *worst[::-1], factor))
    return sorted(rows, key=lambda row: (-round(row[7], 9), row[0]))[: p["limit"]]


def pareto(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    points = [(json.loads(i["params"]), _ns(i), i) for i in _points(infos, p)]
    best: dict[float, tuple[float, str]] = {}
    for own, ns, i in points:
        if p["key"] in own:
            value = float(own[p["key"]])
            best[value] = min(best.get(value, (ns, i["id"])), (ns, i["id"]))
    by_id = {i["id"]: i for i in infos}
    kept, rows = float("inf"), list[Any]()
    for value in sorted(best, reverse=p["cheaper"] == "more"):  # cheapest first: each must be faster
        ns, run = best[value]
        if ns < kept:
            kept = ns
            rows.append((value, ns, run, by_id[run]["params"], by_id[run]["topology_name"]))
    return sorted(rows)[: p["limit"]]


def _ns(info: Mapping[str, Any]) -> float:
    return float(info["latency_ns"] or info["sim_ns"])


def regressions(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    """Every run against all before it: quadratic, and so unlike what is tested."""
    of = [i for i in _good(infos) if p["bench"] in ("", i["bench"]) and _on(i, p["topology"])]
    rows: Rows = []
    for number, i in enumerate(of):
        line = [o for o in of[:number] if all(o[k] == i[k] for k in ("bench", "params", "topology"))]
        if line:
            last, best = line[-1], min(line, key=_ns)
            change, over = ((_ns(i) - _ns(o)) / _ns(o) if _ns(o) > 0 else 0.0 for o in (last, best))
            if over > p["threshold"]:
                rows.append((i["id"], i["started_at"], i["version"], i["bench"], i["params"],
                             i["topology_name"], i["topology"], _ns(i), last["id"], _ns(last), change,
                             best["id"], _ns(best), over))  # fmt: skip
    return rows[: p["limit"]]


def slower_where(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    totals: dict[tuple[str, str], list[Any]] = {}
    for run, sign in ((p["before"], -1), (p["after"], 1)):
        for row in records[run].tables["Use"].to_pylist():
            total = totals.setdefault((row["resource"], row["kind"]), [0.0, 0.0, 0])
            for n, name in enumerate(("busy_ns", "wait_ns", "bytes")):
                total[n] += sign * row[name]
    found = [(*key, *total) for key, total in totals.items() if total[0] > 0 or total[1] > 0]
    return sorted(found, key=lambda row: (-(row[2] + row[3]), row[0]))[: p["limit"]]


def regressed_where(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    rows: Rows = []
    for row in regressions(infos, records, {**p, "limit": None}):
        run, best = row[0], row[11]
        grown = slower_where(infos, records, {"before": best, "after": run, "limit": None})
        more = [(round(max(g[2], 0.0) + max(g[3], 0.0), 6), g) for g in grown]
        if more:
            most = max(entry[0] for entry in more)
            first = min((g for by, g in more if by == most), key=lambda g: g[0])
            rows.append((run, row[1], row[3], row[7], best, *row[12:], *first[:4]))
    return rows[: p["limit"]]


def slower_lines(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    found: dict[tuple[str, str], list[Any]] = {}
    if p["before"] == p["after"]:
        return []
    for side, run in ((0, p["before"]), (1, p["after"])):
        tables = records[run].tables
        ops = {op["number"]: op for op in tables["Op"].to_pylist()}
        sent = {row["number"]: row for row in tables["Transaction"].to_pylist()}
        for op in ops.values():
            key = (op["name"], op.get("source", ""))
            entry = found.setdefault(key, [[0, 0], [0.0, 0.0], [0.0, 0.0], {}])
            entry[0][side] += 1
            entry[1][side] += op["t_end"] - op["t_start"]
        for wait in tables["WaitedFor"].to_pylist():
            if (of := sent[wait["txn"]]["op"]) < 0:
                continue
            entry = found[ops[of]["name"], ops[of].get("source", "")]
            behind = sent[wait["holder"]]
            cause = ops.get(behind["op"])
            name = f"{cause['name']} {cause.get('source', '')}" if cause else behind["kind"]
            entry[2][side] += wait["ns"]
            entry[3].setdefault(name, [0.0, 0.0])[side] += wait["ns"]
    rows: Rows = []
    for (name, line), (times, ns, waits, holders) in found.items():
        more, waited = round(ns[1] - ns[0], 6), round(waits[1] - waits[0], 6)
        if more > 0 or waited > 0:
            grown = {holder: round(was[1] - was[0], 6) for holder, was in holders.items()}
            most = max(grown.values(), default=0.0)
            holder = min((holder for holder, by in grown.items() if by == most and most > 0), default="")
            new = bool(holder) and holders[holder][0] == 0
            rows.append((name, line, *times, more, waited, holder, max(most, 0.0), new))
    return sorted(rows, key=lambda row: (-row[4], -row[5], *row[:2]))[: p["limit"]]


def configured_differently(infos: Infos, records: Records, p: Mapping[str, Any]) -> Rows:
    by_id = {info["id"]: info for info in infos}
    old, new = (by_id[p[end]] for end in ("before", "after"))
    rows: Rows = []
    if old["bench"] != new["bench"]:
        rows.append(("bench", "bench", old["bench"], new["bench"]))
    a, b = (json.loads(info["params"]) for info in (old, new))
    for key in {**a, **b}:
        if a.get(key) != b.get(key):
            shown = (str(values[key]) if key in values else "" for values in (a, b))
            rows.append(("parameter", key, *shown))
    if old["version"] != new["version"]:
        rows.append(("version", "version", old["version"], new["version"]))
    return rows


HISTORY: dict[str, Callable[[Infos, Records, Mapping[str, Any]], Rows]] = {
    "history/runs": runs,
    "history/bench-over-time": bench_over_time,
    "history/best-of-sweep": best_of_sweep,
    "history/regressions": regressions,
    "history/regressed-where": regressed_where,
    "history/slower-where": slower_where,
    "history/slower-lines": slower_lines,
    "history/sweep-keys": sweep_keys,
    "history/pareto": pareto,
    "history/configured-differently": configured_differently,
}
