"""The page's tables of waits, from the trace itself: a graph of a million hops takes long to build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kernbench.analysis.contention import spans
from kernbench.analysis.derived import AskedRun
from kernbench.analysis.time_lines import transaction_rows
from kernbench.analysis.trace_tables import Texts

PAIRS = ("waiter", "waiter_kind", "waiter_src", "holder", "holder_kind", "holder_src", "resource", "seq",
         "from_ns", "wait_ns", "holders")  # fmt: skip
PLACES = ("resource", "waits", "waiters", "wait_ns", "worst_ns")

Rows = list[tuple[Any, ...]]


def pairs(asked: AskedRun, window: Mapping[str, Any], limit: int) -> Rows:
    """The longest waits as :data:`PAIRS`: the rows of the question ``contention/who-waited-for-whom``."""
    found = _longest_waits(asked, {**window, "resource": "", "min_ns": 0.0, "limit": limit})
    sent = asked.tables["Transaction"]
    for who in ("waiter", "holder"):
        rows = transaction_rows(asked.tables, np.array([wait[who] for wait in found], np.int64))
        for name, values in zip(("kind", "src"), (sent["kind"], sent["src"]), strict=True):
            for wait, text in zip(found, values.take(pa.array(rows)).to_pylist(), strict=True):
                wait[f"{who}_{name}"] = text
    return [tuple(wait[name] for name in PAIRS) for wait in found]


def places(asked: AskedRun, window: Mapping[str, Any], limit: int) -> Rows:
    """Where most was waited, as :data:`PLACES`: the rows of the question ``contention/waits-by-resource``."""
    waited = asked.tables["WaitedFor"]
    begun, ns, waiter = (waited[name].to_numpy() for name in ("t_from", "ns", "txn"))
    inside = np.zeros(len(begun), dtype=bool)
    for span in spans(asked, window):
        inside |= (begun >= span["begin"]) & (begun < span["until"])
    texts = Texts(waited["resource"])
    names = texts.all()
    at, ns, waiter = texts.codes[inside].astype(np.int64), ns[inside], waiter[inside]
    waits = np.bincount(at, minlength=len(names))
    total = np.bincount(at, ns, minlength=len(names))
    worst = np.zeros(len(names))
    np.maximum.at(worst, at, ns)
    waiters = np.bincount(np.unique(np.column_stack([at, waiter]), axis=0)[:, 0], minlength=len(names))
    rows = zip(names, waits.tolist(), waiters.tolist(), total.tolist(), worst.tolist(), strict=True)
    found = [row for row in rows if row[1]]
    return sorted(found, key=lambda row: (-row[3], row[0]))[:limit]


def _longest_waits(asked: AskedRun, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """``waiter holder resource seq from_ns wait_ns holders`` per wait that began within the window.

    Only those at ``resource`` of ``min_ns`` or more; longest first, at most ``limit``, picked without sorting
    all of them.
    """
    waits, limit = asked.tables["WaitedFor"], params["limit"]
    begun = waits["t_from"].to_numpy()
    wanted = np.zeros(len(begun), dtype=bool)
    for span in spans(asked, params):
        wanted |= (begun >= span["begin"]) & (begun < span["until"])
    wanted &= waits["ns"].to_numpy() >= params["min_ns"]
    if params["resource"]:
        wanted &= pc.equal(waits["resource"], params["resource"]).to_numpy(zero_copy_only=False)
    waits = waits.filter(pa.array(wanted))
    if 0 < limit < waits.num_rows:
        ns = waits["ns"].to_numpy()
        waits = waits.filter(pa.array(ns >= np.partition(ns, -limit)[-limit]))
    ascending = [(name, "ascending") for name in ("txn", "holder", "resource", "seq")]
    # Table.sort_by would leave threads behind: see kernbench_graph.archive.record.
    first = pc.sort_indices(waits, sort_keys=[("ns", "descending"), *ascending]).slice(0, limit)
    return [
        {
            "waiter": wait["txn"],
            "holder": wait["holder"],
            "resource": wait["resource"],
            "seq": wait["seq"],
            "from_ns": wait["t_from"],
            "wait_ns": wait["ns"],
            "holders": wait["holders"],
        }
        for wait in waits.take(first).to_pylist()
    ]
