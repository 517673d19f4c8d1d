"""Answers about the cache before memory, from the raw tables and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first

COUNTS = ("hits", "misses", "again", "merged", "coalesced")


def made_of_it(run: RunRecord) -> list[dict[str, Any]]:
    return run.tables["CacheUse"].to_pylist() if "CacheUse" in run.tables else []


def cache_use(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    rows: Rows = []
    for row in made_of_it(run):
        if row["txn"] < 0:
            read = row["hits"] + row["misses"] + row["merged"]
            rest = ("writes", "evictions", "fetched_bytes", "written_bytes", "miss_ns")
            rows.append((
                row["resource"], *(row[name] for name in COUNTS), row["hits"] / read if read else 0.0,
                *(row[name] for name in rest),
            ))  # fmt: skip
    return first(rows, lambda row: (-row[2], -row[1], row[0]), params)


def cache_misses(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    ops = {row["number"]: row for row in run.tables["Op"].to_pylist()}
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    names = {row["number"]: row["name"] for row in run.tables["Tensor"].to_pylist()}
    reads: dict[int, set[str]] = defaultdict(set)
    for row in run.tables["Access"].to_pylist():
        if not row["is_write"]:
            reads[row["op"]].add(names[row["tensor"]])
    at: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in made_of_it(run):
        if row["txn"] >= 0:
            number = sent[row["txn"]]["op"]
            op = ops.get(number, {})
            line = op.get("source") or ops.get(op.get("parent"), {}).get("source") or ""
            at[line, min(reads.get(number, {""}))].append(row)
    rows: Rows = [
        (
            *key,
            len({row["txn"] for row in of}),
            *(sum(row[name] for row in of) for name in (*COUNTS, "evictions")),
            sum(round(row["miss_ns"] * 1e6) for row in of) / 1e6,
        )
        for key, of in at.items()
    ]
    return first(rows, lambda row: (-row[4], -row[3], row[0], row[1]), params)


CACHED: dict[str, Oracle] = {"memory/cache-use": cache_use, "memory/cache-misses": cache_misses}
