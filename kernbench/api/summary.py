"""Figures that sum a run up: how long its launches took, and which resources were busiest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernbench.kinds import COMPONENT_KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHOWN = ("resource", "kind", "utilisation", "busy_ns", "wait_ns", "bytes", "transactions")


def busiest_links(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The ``top`` links by utilisation, then busy time, then name, from the columns of table ``Use``."""
    return _busiest(used, used["is_link"].astype(bool), top)


def busiest_engines(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The same for components that do work of their own: PE engines, memories, CPUs, PCIe endpoints."""
    import numpy as np

    works = np.array([_works(kind) for kind in used["kind"]], dtype=bool)
    return _busiest(used, ~used["is_link"].astype(bool) & works, top)


def _works(kind: str) -> bool:
    """Neither does it merely forward traffic, nor is its use part of another component's."""
    found = COMPONENT_KINDS.get(kind)
    return found is None or not (found.forwards_flits or found.counted_elsewhere)


def _busiest(used: Mapping[str, NDArray[Any]], chosen: NDArray[np.bool_], top: int) -> list[dict[str, Any]]:
    import numpy as np

    rows: list[dict[str, Any]] = []
    for index in np.flatnonzero(chosen & (used["busy_ns"] > 0)):
        values = ((column, used[column][index]) for column in _SHOWN)
        rows.append({column: v.item() if isinstance(v, np.generic) else v for column, v in values})
    # Rounded, so that equal use is in order of name whatever the last bits are.
    rows.sort(key=lambda row: (-round(row["utilisation"], 9), -round(row["busy_ns"], 6), row["resource"]))
    return rows[:top]
