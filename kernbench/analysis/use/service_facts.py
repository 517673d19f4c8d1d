"""What each hop and operation adds to the use of its place, as the graph has it.

With these facts the use of a resource within any interval is a sum over its hops or operations: see
:meth:`kernbench.analysis.windows.window_use.Usage.within`, whose rules these are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints, rows_of
from kernbench.analysis.use.occupancy import has_times
from kernbench.analysis.windows.time_window import Floats
from kernbench.analysis.windows.window_use import Usage
from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

COMPUTING = ("pe_gemm", "pe_math")
ENGINES = ("pe_dma", "pe_fetch_store", *COMPUTING)
"""Kinds of the engines of a PE: it is idle while none of them has an operation under way."""


def served_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The tables ``HopUse``, ``Served``, ``Measured`` and ``Busy`` of a run."""
    import pyarrow as pa

    usage = Usage(run.tables)
    course = usage.course
    used, names = usage.recorded, usage.all["resource"].tolist()
    index = {name: number for number, name in enumerate(names)}
    hop, op = run.tables["Hop"], run.tables["Op"]
    at, on = rows_of(hop["resource"], index), rows_of(op["component"], index)

    there = usage.entries
    hops, ops = int(usage.of_hop.sum()), int(usage.of_op.sum())
    dealt = there.taken(np.arange(len(there.where)) >= hops + ops)
    arrival = present_at_arrival(there.where, there.arrived, there.end)
    present, present_op = np.full(len(at), -1, np.int32), np.full(len(on), -1, np.int32)
    present[usage.of_hop], present_op[usage.of_op] = arrival[:hops], arrival[hops : hops + ops]
    left = hop["t_out"].to_numpy()
    begin, end, ready = (op[name].to_numpy() for name in ("t_start", "t_end", "t_ready"))
    since = not_before_others(
        np.concatenate([at, on]),
        np.concatenate([hop["t_start"].to_numpy(), begin]),
        np.concatenate([left, end]),
    )

    some = np.flatnonzero(on >= 0)
    begin, end, ready, alone = begin[some], end[some], ready[some], since[len(at) :][some]
    pe, kind = _pes(names)[on[some]], used["kind"][on[some]]
    by = usage.parts
    traced = np.array([has_times(kind) for kind in used["kind"].tolist()], bool)
    return {
        "HopUse": pa.table({"sole_ns": left - since[: len(at)], "present": present}),
        "Served": pa.concat_tables([
            pa.table({
                "op": op["number"].to_numpy()[some], "txn": np.full(len(some), -1),
                "resource": pa.array(used["resource"][on[some]].tolist(), pa.string()),
                "t_in": ready, "t_start": begin, "t_out": end, "t_busy": alone,
                "t_compute": _among(np.isin(kind, COMPUTING), pe, begin, end),
                "t_pe": _among(np.isin(kind, ENGINES), pe, begin, end),
                "wait_ns": begin - ready, "bytes": op["bytes"].to_numpy()[some],
                "present": present_op[some],
            }),
            pa.table({
                "op": np.full(len(dealt.where), -1), "txn": usage.dealt_of,
                "resource": pa.array(used["resource"][dealt.where].tolist(), pa.string()),
                "t_in": dealt.arrived, "t_start": dealt.begin, "t_out": dealt.end, "t_busy": dealt.begin,
                "t_compute": dealt.end, "t_pe": dealt.end,
                "wait_ns": dealt.wait, "bytes": dealt.nbytes.astype(np.int64),
                "present": arrival[hops + ops :],
            }),
        ]),
        "Measured": pa.table({
            "resource": pa.array(names, pa.string()),
            "by": pa.array(used["resource"][by].tolist(), pa.string()),
            "of_bytes": np.where(usage.as_busy, -1.0, _ratio(used["bytes"], usage.whole["bytes"][by])),
            "of_wait": _ratio(used["wait_ns"], usage.whole["wait"][by]),
            "of_transactions": _ratio(used["transactions"], usage.whole["n"][by]),
            "of_occupied": np.where(traced, (by == np.arange(len(by))) * 1.0, -1.0),
        }),
        "Busy": pa.table({
            "resource": pa.array(used["resource"][course.where].tolist(), pa.string()),
            "t_from": course.begin, "t_to": course.end, "busy_ns": course.ns,
        }),
    }  # fmt: skip


def _pes(names: list[str]) -> Ints:
    """By resource the number of what it is a part of: of an engine its PE."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name.rpartition(".")[0], len(known)) for name in names], np.int64)


def _among(chosen: NDArray[np.bool_], where: Ints, begin: Floats, end: Floats) -> Floats:
    """As :func:`not_before_others`, of the chosen intervals alone; of others their end."""
    found = end.copy()
    found[chosen] = not_before_others(where[chosen], begin[chosen], end[chosen])
    return found


def _ratio(of: NDArray[Any], by: NDArray[Any]) -> Floats:
    return np.asarray(np.where(by > 0, of / np.where(by > 0, by, 1), 0.0), np.float64)


def present_at_arrival(where: Ints, arrived: Floats, left: Floats) -> NDArray[np.int32]:
    """How many are at a place when each arrives, itself included; 0 for one that leaves as it arrives.

    Those that leave at that time are gone; of several that arrive at once, each finds the ones before it.
    """
    found = np.zeros(len(where), np.int32)
    some = np.flatnonzero(left > arrived)
    count = len(some)
    place = np.concatenate([where[some], where[some]])
    times = np.concatenate([left[some], arrived[some]])
    change = np.concatenate([-np.ones(count, np.int32), np.ones(count, np.int32)])
    order = np.lexsort((change, times, place))
    level = np.cumsum(change[order])  # every place's changes add up to 0
    arrivals = order >= count
    found[some[order[arrivals] - count]] = level[arrivals]
    return found


def not_before_others(where: Ints, begin: Floats, end: Floats) -> Floats:
    """By interval the time from which on none that began before it there is under way; its end at most."""
    if not len(where):
        return begin
    order = np.lexsort((end, begin, where))
    place, first, last = where[order], begin[order], end[order]
    # The latest end so far at each place: that of the one before in order, once ends at a place only grow.
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
    latest = np.concatenate([np.maximum.accumulate(some) for some in np.split(last, starts[1:])])
    before = np.concatenate([[-np.inf], latest[:-1]])
    before[starts] = -np.inf
    found = np.empty(len(where))
    found[order] = np.minimum(np.maximum(first, before), last)
    return found
