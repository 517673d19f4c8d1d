"""What each PE did with its time in each launch: the table ``RanAt``, as launches have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

TIMES = ("exec_ns", "dma_ns", "compute_ns", "wait_ns")


def ran_at(launches: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of the table, of launches with ``pe_times``."""
    rows = [(n, pe, times) for n, one in enumerate(launches) for pe, times in one["pe_times"].items()]
    return {
        "launch": [number for number, _, _ in rows],
        "pe": [pe for _, pe, _ in rows],
        **{name: [float(times[name]) for _, _, times in rows] for name in TIMES},
    }


def pe_times(
    launches: Sequence[Mapping[str, Any]], tables: Mapping[str, pa.Table]
) -> list[Mapping[str, Mapping[str, float]]]:
    """Of each launch the times of its PEs by name, ns; runs of older versions have them with the launches."""
    found: list[dict[str, Mapping[str, float]]] = [dict(one.get("pe_times") or {}) for one in launches]
    for row in tables["RanAt"].to_pylist() if "RanAt" in tables else ():
        found[row["launch"]][row["pe"]] = {name: row[name] for name in TIMES}
    return list(found)
