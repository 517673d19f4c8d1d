"""Every wait of a run as a thing of its own: who stood, behind what, where and for how long.

The trace names the part that was held, which may be a pseudo-channel or cache of a memory, or a buffer. A
wait there is also one at the memory, or at the link that the buffer held up: so the waits at each use add up
to its ``wait_ns``, apart from what a run accounts for without having simulated it. Waits of operations are
those for the engine that executes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.trace_index import BUFFER, CLOSE_NS
from kernbench.analysis.trace_tables import Ints, Texts, rows_of
from kernbench.analysis.windows.time_window import Window
from kernbench.analysis.windows.window_facts import windows_of
from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

_QUEUED = ("pe_gemm", "pe_math", "pe_fetch_store")
"""Kinds of engines at which operations themselves wait; those of a PE_DMA wait as their transactions."""
_WITHIN = ("pseudo_channel", "memory_cache")
"""Kinds of parts whose waits are those of the memory that they are in as well."""
_KEPT = ("ns", "t_from", "t_to", "seq", "txn", "op", "behind", "behind_op")
Columns = Mapping[str, NDArray[Any]]


def wait_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The table ``Wait`` of a run."""
    import pyarrow as pa

    found = _waits(run.tables)
    names = np.append(run.tables["Use"]["resource"].to_numpy(zero_copy_only=False), "")
    return {
        "Wait": pa.table({
            "number": np.arange(len(found["ns"])),
            **{name: found[name] for name in _KEPT},
            "cause": pa.array(np.where(found["for_room"], "back_pressure", "queue").tolist(), pa.string()),
            "place": pa.array(names[found["place"]].tolist(), pa.string()),
            "part": pa.array(names[found["part"]].tolist(), pa.string()),
        })
    }  # fmt: skip


def waited_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The table ``Waited`` of a run: the waits that began within each window, by place."""
    import pyarrow as pa

    waits, windows = _waits(run.tables), windows_of(run.info)
    for_place = np.concatenate([waits["place"], waits["part"]])
    wait = np.tile(np.arange(len(waits["ns"])), 2)[for_place >= 0]
    # By place, then by who waited there: so each place has its rows, and each who of it, together.
    order = np.lexsort((waits["op"][wait], waits["txn"][wait], for_place[for_place >= 0]))
    wait, place = wait[order], for_place[for_place >= 0][order]
    began, sim_ns = waits["t_from"][wait], float(run.info["sim_ns"])
    rows: dict[str, list[Any]] = {name: [] for name in ("window", "place", "waits", "waiters", "ns", "worst")}
    for name, window in windows.items():
        some = np.flatnonzero(_begin_in(window, began, sim_ns))
        if not len(some):
            continue
        at, of = place[some], wait[some]
        txn, op, ns = waits["txn"][of], waits["op"][of], waits["ns"][of]
        other = np.concatenate([[True], at[1:] != at[:-1]])
        who = other | np.concatenate([[True], (txn[1:] != txn[:-1]) | (op[1:] != op[:-1])])
        first = np.flatnonzero(other)
        rows["window"].append(np.full(len(first), name, object))
        rows["place"].append(at[first])
        rows["waits"].append(np.diff(np.append(first, len(at))))
        rows["waiters"].append(np.add.reduceat(who.astype(np.int64), first))
        rows["ns"].append(np.add.reduceat(ns, first))
        rows["worst"].append(np.maximum.reduceat(ns, first))
    empty = {"window": np.array([], object), "ns": np.zeros(0), "worst": np.zeros(0)}
    columns = {
        key: np.concatenate([empty.get(key, np.zeros(0, np.int64)), *parts]) for key, parts in rows.items()
    }
    return {
        "Waited": pa.table({
            "window": pa.array(columns["window"].tolist(), pa.string()),
            "resource": run.tables["Use"]["resource"].take(pa.array(columns["place"])),
            "waits": columns["waits"], "waiters": columns["waiters"], "wait_ns": columns["ns"],
            "worst_ns": columns["worst"],
        })
    }  # fmt: skip


def _begin_in(window: Window, times: NDArray[np.float64], sim_ns: float) -> NDArray[np.bool_]:
    """Which times are in a window; before and after the whole run it is open."""
    found = np.zeros(len(times), bool)
    for begin, end in window.spans:
        found |= ((times >= begin) | (begin <= 0.0)) & ((times < end) | (end >= sim_ns))
    return found


def _waits(tables: Mapping[str, pa.Table]) -> Columns:
    """Of each wait its time, who waited, behind whom, and by number in ``Use`` where; -1 for none."""
    use, table, op = tables["Use"], tables["WaitedFor"], tables["Op"]
    names, kinds = use["resource"].to_pylist(), use["kind"].to_pylist()
    index = {name: number for number, name in enumerate(names)}
    around = [
        index.get(name.rpartition(".")[0], -1) if kind in _WITHIN else -1
        for name, kind in zip(names, kinds, strict=True)
    ]
    held = rows_of(table["resource"], index)
    around_it = np.array([*around, -1], np.int64)[held]
    for_room = np.array([*(kind == BUFFER for kind in kinds), False], bool)[held]
    around_it[for_room] = _stood_at(tables, for_room, index)
    # A fetch without overhead waits for TCM's port alone, and that wait is there.
    waited = use["wait_ns"].to_numpy() > 0.0
    queued = np.array([*(kind in _QUEUED for kind in kinds), False], bool) & np.append(waited, False)
    on = rows_of(op["component"], index)
    ready, start = op["t_ready"].to_numpy(), op["t_start"].to_numpy()
    some = np.flatnonzero(queued[on] & (start > ready))
    none, no_op = np.full(len(some), -1, np.int64), np.full(table.num_rows, -1, np.int64)
    parts: dict[str, tuple[Any, Any]] = {
        "ns": (table["ns"].to_numpy(), start[some] - ready[some]),
        "t_from": (table["t_from"].to_numpy(), ready[some]),
        "t_to": (table["t_to"].to_numpy(), start[some]),
        "seq": (table["seq"].to_numpy(), none),
        "txn": (table["txn"].to_numpy(), none),
        "op": (no_op, op["number"].to_numpy()[some]),
        "behind": (table["holder"].to_numpy(), none),
        "behind_op": (no_op, _holders(tables)[some]),
        "place": (np.where(around_it >= 0, around_it, held), on[some]),
        "part": (np.where(around_it >= 0, held, -1), none),
        "for_room": (for_room, np.zeros(len(some), bool)),
    }
    return {name: np.concatenate(both) for name, both in parts.items()}


def _stood_at(tables: Mapping[str, pa.Table], waits: NDArray[np.bool_], index: Mapping[str, int]) -> Ints:
    """Of some waits the number of the link at which the transaction stood; -1 where no hop says."""
    txn, seq = (tables["WaitedFor"][name].to_numpy()[waits] for name in ("txn", "seq"))
    hop = tables["Hop"]
    of, nth = (hop[name].to_numpy() for name in ("txn", "seq"))
    some = np.flatnonzero(np.isin(of, txn))
    if not len(some):
        return np.full(len(txn), -1, np.int64)
    base = int(max(seq.max(), nth.max())) + 1
    keys, wanted = of[some] * base + nth[some], txn * base + seq
    order = np.argsort(keys, kind="stable")
    at = order[np.minimum(np.searchsorted(keys[order], wanted), len(some) - 1)]
    return np.where(keys[at] == wanted, rows_of(hop["resource"].take(some), index)[at], -1)


def _holders(tables: Mapping[str, pa.Table]) -> Ints:
    """By row of ``Op`` the operation that held its engine until it began; -1 where none did."""
    op, table = tables["Op"], tables["DependsOn"]
    number, component = op["number"].to_numpy(), Texts(op["component"]).codes
    start, end = op["t_start"].to_numpy(), op["t_end"].to_numpy()
    found = np.full(len(number), -1, np.int64)
    if not len(number):
        return found
    chosen = Texts(table["hazard"]).rows("slot".__eq__)
    order = np.argsort(number, kind="stable")
    late, early = (
        order[np.searchsorted(number[order], table[name].to_numpy()[chosen])] for name in ("op", "on")
    )
    held = (component[late] == component[early]) & (start[early] < start[late])
    held &= start[late] <= end[early] + CLOSE_NS
    found[late[held]] = number[early[held]]
    return found
