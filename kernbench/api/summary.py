"""Figures that sum a run up: which of its parts were busiest, and which were waited for longest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kernbench.kinds import COMPONENT_KINDS
from kernbench.report.cells import PART, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


def busiest(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The ``top`` parts by utilisation, then busy time, then name, from the columns of :meth:`Run.use`.

    All that serve are ranked together: links, engines, memories, CPUs, and routers and whatever else passes
    traffic on. Parts of others, such as pseudo-channels, are left out.
    """
    return _busiest(used, top, lambda _: True)


def busiest_by_class(used: Mapping[str, NDArray[Any]], top: int) -> dict[str, list[dict[str, Any]]]:
    """:func:`busiest` of links and of all else apart: ``busiest_links`` and ``busiest_engines``."""
    return {
        "busiest_links": _busiest(used, top, lambda kind: kind not in COMPONENT_KINDS),
        "busiest_engines": _busiest(used, top, lambda kind: kind in COMPONENT_KINDS),
    }


def _busiest(
    used: Mapping[str, NDArray[Any]], top: int, wanted: Callable[[str], bool]
) -> list[dict[str, Any]]:
    # Rounded, so that equal use is in order of name whatever the last bits are.
    return _ranked(
        used, "busy_ns", top,
        lambda row: (-round(row["utilisation"], 9), -round(row["busy_ns"], 6), row["resource"]),
        wanted,
    )  # fmt: skip


def most_waited_for(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]]:
    """The ``top`` of the same parts by the time that transactions and operations waited for them."""
    return _ranked(used, "wait_ns", top, lambda row: (-round(row["wait_ns"], 6), row["resource"]))


def _ranked(
    used: Mapping[str, NDArray[Any]],
    needed: str,
    top: int,
    by: Any,
    wanted: Callable[[str], bool] = lambda _: True,
) -> list[dict[str, Any]]:
    rows = []
    names = zip(used["kind"].tolist(), used[needed].tolist(), strict=True)
    for index, (kind, value) in enumerate(names):
        found = COMPONENT_KINDS.get(kind)
        if value > 0 and wanted(kind) and not (found is not None and found.counted_elsewhere):
            rows.append({column: plain(used[column][index]) for column in PART})
    rows.sort(key=by)
    return rows[:top]
