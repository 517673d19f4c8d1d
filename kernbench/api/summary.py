"""Figures that sum a run up: which of its parts were busiest, and which were waited for longest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from kernbench.draw.cells import plain
from kernbench.hardware.kinds import COMPONENT_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART = ("resource", "kind", "utilisation", "occupancy", "wait_ns", "busy_ns", "bytes", "transactions",
        "max_queue")  # fmt: skip
"""Columns of a part."""
ALL = 1 << 40
"""More than there are."""


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
    return _rank(used, {"utilisation": 9, "busy_ns": 6}, top, wanted)


def most_waited_for(used: Mapping[str, NDArray[Any]], top: int) -> list[dict[str, Any]] | None:
    """The ``top`` of the same parts by the time that transactions and operations waited for them.

    None of a run without a trace: its waits are not known.
    """
    if any(map(isnan, used["wait_ns"].tolist())):
        return None
    return _rank(used, {"wait_ns": 6}, top)


def _rank(
    used: Mapping[str, NDArray[Any]],
    by: Mapping[str, int],
    top: int,
    wanted: Callable[[str], bool] = lambda _: True,
) -> list[dict[str, Any]]:
    """The largest by the columns ``by``, rounded to so many digits: equal ones are in order of name."""
    kinds, names = used["kind"].tolist(), used["resource"].tolist()
    values = [used[column].tolist() for column in by]
    digits = list(by.values())
    counted = {kind: wanted(kind) and not _is_counted_elsewhere(kind) for kind in set(kinds)}
    found = [at for at, kind in enumerate(kinds) if values[-1][at] > 0 and counted[kind]]
    found.sort(key=lambda at: (*(-round(c[at], d) for c, d in zip(values, digits, strict=True)), names[at]))
    return [{column: plain(used[column][at]) for column in PART} for at in found[:top]]


def _is_counted_elsewhere(kind: str) -> bool:
    found = COMPONENT_KINDS.get(kind)
    return found is not None and found.counted_elsewhere
