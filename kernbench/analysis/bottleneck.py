"""Derived parameters of ``queries/bottleneck``: the use of resources within a window of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernbench.analysis.derived import AskedRun, Rows
from kernbench.analysis.window_use import resource_use

_COLUMNS = (
    "resource", "bytes", "busy_ns", "wait_ns", "utilisation", "occupancy", "transactions", "max_queue",
)  # fmt: skip


def link_use(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``resource bytes busy_ns wait_ns utilisation occupancy transactions max_queue`` per used link.

    Links of ``kind``.
    """
    frame = _use(asked, params)
    return _rows(frame, np.flatnonzero((frame["transactions"] > 0) & _of_kind(frame, params["kind"])))


def _of_kind(frame: Mapping[str, Any], kind: str) -> Any:
    return np.ones(len(frame["kind"]), dtype=bool) if not kind else frame["kind"] == kind


def _rows(frame: Mapping[str, Any], chosen: Any) -> Rows:
    values = [[None if v != v else v for v in frame[column][chosen].tolist()] for column in _COLUMNS]
    return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*values, strict=True)]


def _use(asked: AskedRun, params: Mapping[str, Any]) -> dict[str, Any]:
    """The use of the run's resources within the window of ``params``."""
    return resource_use(asked.tables, asked.window(params), float(asked.record.info["sim_ns"]))
