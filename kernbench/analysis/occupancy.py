"""Occupancy: for how much of a window something of a resource's own was there.

An engine is occupied while at least one of its operations is under way; a link, a memory, a router and
any other part without operations while at least one transaction is there, from the service of its first
flit to the departure of its last. Overlaps count once. Something may be there only to wait for another part,
so a resource can be occupied all the time and hardly utilised: a read that waits for its memory occupies the
DMA engine that sent it.

Every timeline, table and question takes its occupancy from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.time_window import Floats, Window
from kernbench.analysis.trace_tables import Texts
from kernbench.kinds import COMPONENT_KINDS, LINK_KINDS

Ints = NDArray[np.int64]
Use = Mapping[str, NDArray[Any]]


def with_occupancy(use: Use, tables: Mapping[str, pa.Table], window: Window) -> dict[str, NDArray[Any]]:
    """The columns ``use`` of a window with ``occupied_ns`` and ``occupancy``, its share of the window.

    Resources that record no times of their own, which are the wires within a PE and the pseudo-channels of a
    slice, serve without a gap whatever they serve: they are occupied for as long as they are busy.
    """
    known = occupied_ns(tables, window)
    columns = zip(use["resource"].tolist(), use["kind"].tolist(), use["busy_ns"].tolist(), strict=True)
    ns = np.array(
        [known.get(name, 0.0) if has_times(kind) else busy for name, kind, busy in columns], np.float64
    )
    return {**use, "occupied_ns": ns, "occupancy": ns / window.ns if window.ns > 0 else ns * 0.0}


def occupied_ns(tables: Mapping[str, pa.Table], window: Window) -> dict[str, float]:
    """ns of ``window`` for which each resource was occupied, of those that operations or hops name."""
    ops, hops = Texts(tables["Op"]["component"]), Texts(tables["Hop"]["resource"])
    engines = set(ops.all())
    by_op = _covered(ops, tables["Op"]["t_start"].to_numpy(), tables["Op"]["t_end"].to_numpy(), window)
    by_hop = _covered(hops, tables["Hop"]["t_start"].to_numpy(), tables["Hop"]["t_out"].to_numpy(), window)
    # Transactions cross engines as well; there the operations that sent them count.
    return {**{name: ns for name, ns in by_hop.items() if name not in engines}, **by_op}


def has_times(kind: str) -> bool:
    """Whether the trace has the times of what is at a component or link of this kind."""
    found = COMPONENT_KINDS.get(kind)
    link = LINK_KINDS.get(kind)
    return not ((found is not None and found.counted_elsewhere) or (link is not None and link.within_pe))


def covered_ns(start: Floats, end: Floats, window: Window) -> float:
    """ns of the window that intervals at one place cover."""
    _, start, end = united(np.zeros(len(start), np.int64), start, end)
    return float(np.sum(window.covered(end) - window.covered(start)))


def _covered(names: Texts, start: Floats, end: Floats, window: Window) -> dict[str, float]:
    """By name the ns of the window that its intervals cover."""
    where, start, end = united(names.codes.astype(np.int64), start, end)
    inside = np.bincount(where, window.covered(end) - window.covered(start), minlength=len(names.all()))
    return dict(zip(names.all(), inside.tolist(), strict=True))


def united(where: Ints, start: Floats, end: Floats) -> tuple[Ints, Floats, Floats]:
    """The intervals for which something is under way at a place: place, start and end, ordered by both."""
    if not len(where):
        return where, start, end
    order = np.lexsort((start, where))
    where, start, end = where[order], start[order], end[order]
    apart = (float(end.max()) + 1.0) * where  # moves each place's times beyond those of the one before
    latest = np.maximum.accumulate(end + apart)
    first = np.flatnonzero(np.concatenate([[True], (start + apart)[1:] > latest[:-1]]))
    return where[first], start[first], np.maximum.reduceat(end, first)
