"""The kept runs on every screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernbench.draw.cells import number
from kernbench.draw.content import Grid, columns_of

_COLUMNS = columns_of("run_id bench tags latency_ns params topology verified status changed started_at")
_CHANGES = 3
"""What fits in a cell; ``kernbench compare`` has them all."""
EMPTY = "no runs here; keep one with 'kernbench run qkv-gemm'"


def grid(listed: Iterable[Mapping[str, Any]]) -> Grid:
    """Runs as :func:`kernbench.api.kept_runs.listed` gives them; parameters and what changed as texts."""
    rows = [
        {
            **row,
            "verified": None if row["verdict"] == "not asked" else row["verdict"],
            "params": " ".join(f"{key}={value}" for key, value in row["params"].items()),
            "changed": _changed(row["changed"]),
            "started_at": str(row["started_at"])[:19].replace("T", " "),
            "tags": ", ".join(row["tags"]),
        }
        for row in listed
    ]
    return Grid("runs", "Runs", _COLUMNS, rows, EMPTY)


def _changed(texts: Sequence[str] | None) -> str:
    if texts is None:
        return "first"
    more = len(texts) - _CHANGES
    return ", ".join([*texts[:_CHANGES], *([f"{more} more"] if more > 0 else [])])


def label(row: Mapping[str, Any]) -> str:
    """A row of that table on one line, where runs are chosen from a list."""
    tags = f" [{row['tags']}]" if row["tags"] else ""
    ns = number(row["latency_ns"] or row["sim_ns"])
    return f"{row['bench']}{tags} {ns} ns {row['params']} {row['run_id']}"
