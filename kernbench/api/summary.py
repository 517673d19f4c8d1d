"""Figures that sum a run up: how long its launches took, and which resources were busiest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

PASSED_THROUGH = frozenset(
    {"router", "switch", "io_noc", "io_ucie", "io_ucie_conn", "ucie_port", "ucie_conn"}
)
"""Kinds of components that only hand traffic on; all others do work of their own and count as engines."""

_COUNTED_ELSEWHERE = frozenset({"pseudo_channel"})
"""Kinds whose use is also that of the engine that they are parts of."""

_SHOWN = ("resource", "kind", "utilisation", "busy_ns", "wait_ns", "bytes", "transactions")


def latency_ns(launches: Sequence[Mapping[str, Any]]) -> float:
    """Length of the union of the launches' intervals from ``t_start`` to ``t_done``, ns."""
    total, covered = 0.0, float("-inf")
    for start, end in sorted((float(launch["t_start"]), float(launch["t_done"])) for launch in launches):
        total += max(0.0, end - max(start, covered))
        covered = max(covered, end)
    return total


def busiest_links(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The ``top`` links by utilisation, then busy time, then name, from the columns of table ``Used``."""
    return _busiest(used, used["is_link"].astype(bool), top)


def busiest_engines(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The same for components that do work of their own: PE engines, memories, CPUs, PCIe endpoints."""
    others = PASSED_THROUGH | _COUNTED_ELSEWHERE
    works = np.array([kind not in others for kind in used["kind"]], dtype=bool)
    return _busiest(used, ~used["is_link"].astype(bool) & works, top)


def _busiest(used: Mapping[str, NDArray[Any]], chosen: NDArray[np.bool_], top: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for index in np.flatnonzero(chosen & (used["busy_ns"] > 0)):
        values = ((column, used[column][index]) for column in _SHOWN)
        rows.append({column: v.item() if isinstance(v, np.generic) else v for column, v in values})
    rows.sort(key=lambda row: (-row["utilisation"], -row["busy_ns"], row["resource"]))
    return rows[:top]
