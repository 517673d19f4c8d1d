"""The trace of a run in columns: :class:`TraceRecorder` gathers what becomes the run's archive.

Buffers are typed arrays (:mod:`kernbench.engine.core.rows`), and nothing is formatted before the run is over.
Then numpy sorts and names whole columns. Rows are sorted by transaction and not as they ended: the archive is
the same whatever ended first at one time. What is not needed any more goes before the next column is made, as
each is 8 bytes a hop.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from kernbench.engine.core.counts import Counts, counted
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.node import Link
from kernbench.engine.core.rows import TransactionRows
from kernbench.engine.core.server import Server

Columns = dict[str, Any]


class TraceRecorder(Instrument):
    """Gathers transactions, hops, waits and their causes. :meth:`tables` gives them as columns."""

    def __init__(self) -> None:
        self._rows = self.access_rows = TransactionRows()
        self.transaction_done = self._rows.take  # type: ignore[method-assign]

    @property
    def hops(self) -> int:
        """Number of hops gathered so far."""
        return self._rows.hop_count

    def tables(
        self,
        resources: Sequence[Server],
        sim_ns: float,
        also: Collection[str] = (),
        *,
        partial: bool = False,
        last: bool = False,
        accesses: Columns | None = None,
        beyond: Counts | None = None,
    ) -> dict[str, Columns]:
        """All tables by name, rows by transaction number.

        ``sim_ns`` is the time that utilisation is a share of; ``also`` names resources that the table Use
        must have even if no transaction passed them. In a ``partial`` run, one that was stopped, busy times
        are cut at ``sim_ns``. With ``last`` hops and waits are dropped as they become tables, since memory
        cannot hold millions twice. ``accesses`` are those to TCMs that are recorded with operations: ``id op
        src nbytes hops is_write``, and when they requested the port, got it and ended, ns. ``beyond`` is
        added to counters.
        """
        rows = self._rows if accesses is None else _with_accesses(self._rows, accesses, resources)
        numbers = rows.numbers.columns()
        ids, parents, ops, launches, nbytes, counts, *_, submit, done = numbers.values()
        order = np.argsort(ids, kind="stable")
        names = [r.resource for r in resources]
        used = [r for r in resources if r.transactions]
        hops = rows.hops.columns()
        service, wait = (_sums(hops[name], counts) for name in ("service_ns", "wait_ns"))
        row, seq = _in_order(counts, order)
        place = hops["resource"][row]
        routes, route, via = _routes(place, counts[order], names, resources)
        where = coded(names, place)
        del place  # what is not needed goes before the next is made: each is 8 bytes a hop
        found = {
            "txn": np.repeat(ids[order], counts[order]),
            "seq": seq,
            "resource": where,
            **{name: hops[name][row] for name in ("t_in", "t_start", "t_out", "service_ns", "wait_ns")},
            "bytes": hops["bytes"][row],
        }
        del row, hops
        if last:
            rows.forget_hops()
        waits = _waits(rows.waits.columns(), names, ids)
        if last:
            rows.forget_waits()
        return {
            "Use": use(resources, sim_ns, {*also, *rows.src, *rows.dst}, partial=partial, beyond=beyond),
            "Route": routes,
            "Via": via,
            "Transaction": {
                "number": ids[order],
                "kind": words(rows.kind, order),
                "src": words(rows.src, order),
                "dst": words(rows.dst, order),
                "bytes": nbytes[order],
                "t_submit": submit[order],
                "t_done": done[order],
                "service_ns": service[order],
                "wait_ns": wait[order],
                "launch": launches[order],
                "route": route,
                "caused_by": parents[order],
                "op": ops[order],
                "request": words(rows.request, order),
            },
            "Split": _splits(rows),
            "Hop": found,
            "WaitedFor": waits,
            "Dealt": _dealt(rows, numbers, order, names, used),
            "RowUse": _outcomes(ids, names, used, "RowUse", _OF_ROWS, ("row_ns", "refresh_ns")),
            "CacheUse": _outcomes(ids, names, used, "CacheUse", _OF_CACHES, ("miss_ns",)),
        }


def _with_accesses(rows: TransactionRows, accesses: Columns, resources: Sequence[Server]) -> TransactionRows:
    """``rows``, and transactions of at most one hop at the TCM of the PE."""
    index = {one.resource: one.index for one in resources}
    columns = [column if isinstance(column, list) else column.tolist() for column in accesses.values()]
    for number, op, src, nbytes, hops, is_write, submit, start, done in zip(*columns, strict=True):
        tcm = f"{src.rpartition('.')[0]}.pe_tcm"
        kind = "tcm_write" if is_write else "tcm_read"
        rows.add_access(number, op, kind, src, tcm, nbytes, index[tcm], hops, submit, start, done)
    return rows


def _sums(values: Any, counts: Any) -> Any:
    """The sum of each transaction's values, which stand together as they were gathered."""
    return np.bincount(np.repeat(np.arange(len(counts)), counts), weights=values, minlength=len(counts))


def _in_order(counts: Any, order: Any) -> tuple[Any, Any]:
    """Where each hop was gathered, and its number within its transaction, in the order of transactions.

    Hops of a transaction are adjacent, so they are in order once the transactions are.
    """
    taken = counts[order]
    seq = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
    row = np.repeat((np.cumsum(counts) - counts)[order], taken)
    row += seq
    return row, seq.astype(np.int32)


def _splits(rows: TransactionRows) -> Columns:
    legs, whole = zip(*sorted(rows.splits), strict=True) if rows.splits else ((), ())
    return {"txn": np.array(legs, np.int64), "whole": np.array(whole, np.int64)}


def _waits(waits: Columns, names: Sequence[str], ended: Any) -> Columns:
    transaction, holder, resource, lost, holders, seq, begun, end = waits.values()
    order = np.lexsort((seq, resource, holder, transaction))
    # Where the run has failed, a holder may be a transaction that never ended and so is not in the record.
    order = order[np.isin(holder[order], ended)]
    return {
        "txn": transaction[order],
        "holder": holder[order],
        "seq": seq[order].astype(np.int32),
        "resource": coded(names, resource[order]),
        "ns": lost[order],
        "t_from": begun[order],
        "t_to": end[order],
        "holders": holders[order],
    }


def coded(names: Sequence[str], index: Any) -> Any:
    """A dictionary-encoded column: ``names[index]``."""
    import pyarrow as pa

    present = np.flatnonzero(np.bincount(index, minlength=len(names)))
    position = np.zeros(len(names), np.int32)
    position[present] = np.arange(len(present), dtype=np.int32)
    kept = pa.array([names[i] for i in present.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(arrow(position[index]), kept)


def arrow(values: Any) -> Any:
    """The Arrow array of a column; numbers share the column's memory.

    ``pyarrow.array`` would import ``numpy.ma``, to see whether any are masked.
    """
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        return values if isinstance(values, pa.Array) else pa.array(values)
    if values.dtype.kind not in "iuf":
        return pa.array(values.tolist(), pa.bool_() if values.dtype.kind == "b" else None)
    type_ = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def words(values: Sequence[str], order: Any) -> Any:
    """A dictionary-encoded column of ``values`` in ``order``; its dictionary is sorted."""
    names = sorted(set(values))
    number = {name: i for i, name in enumerate(names)}
    return coded(names, np.fromiter((number[v] for v in values), dtype=np.int64, count=len(values))[order])


def _routes(
    place: Any, counts: Any, names: Sequence[str], resources: Sequence[Server]
) -> tuple[Columns, Any, Columns]:
    """The tables Route and Via, and between them the route of each transaction.

    ``place`` are the numbers of the resources that transactions went through, one transaction after another,
    ``counts`` how many there are of each. Routes are numbered in the order in which they were first taken; a
    transaction that went nowhere has none, which is -1.
    """
    known: dict[bytes, int] = {}
    route = np.full(len(counts), -1, np.int64)
    ends = np.cumsum(counts)
    for number, (begin, end) in enumerate(zip((ends - counts).tolist(), ends.tolist(), strict=True)):
        if end > begin:
            route[number] = known.setdefault(place[begin:end].tobytes(), len(known))
    ways = [np.frombuffer(way, np.int64) for way in known]
    hops = np.array([len(way) for way in ways], np.int64)
    through = np.concatenate(ways) if ways else np.zeros(0, np.int64)
    begins = np.cumsum(hops) - hops
    via = {
        "route": np.repeat(np.arange(len(ways)), hops),
        "seq": (np.arange(len(through)) - np.repeat(begins, hops)).astype(np.int32),
        "resource": coded(names, through),
    }
    mm = np.array([math.fsum(_mm(resources[at]) for at in way.tolist()) for way in ways], np.float64)
    return {"number": np.arange(len(ways)), "hops": hops, "mm": mm}, route, via


def _mm(resource: Server) -> float:
    """The length of a link; None for a component."""
    return float(resource.edge.properties["distance_mm"]) if isinstance(resource, Link) else 0.0


def _dealt(
    rows: TransactionRows, numbers: Columns, order: Any, names: Sequence[str], used: Sequence[Server]
) -> Columns:
    """The table Dealt: the share of each part of a memory in the transactions that were traced at it.

    A memory that distributes its bytes has a method ``dealt`` and ``channels``. A user's class may distribute
    them otherwise: if a part would have more than it has counted, that memory has no rows.
    """
    dealing: dict[str, Any] = {r.resource: r for r in used if hasattr(r, "dealt")}
    dst = rows.dst
    some = [n for n in order.tolist() if dst[n] in dealing and numbers["hops"][n]]
    address, nbytes, chosen = (numbers[name][some].tolist() for name in ("address", "nbytes", "channel"))
    known: dict[tuple[str, int, object, int], int] = {}
    deals: list[tuple[Server, int]] = []
    begins, lengths, of = [], [], []
    for at, n in enumerate(some):
        memory = dealing[dst[n]]
        runs = None if address[at] >= 0 else rows.gathered[-1 - address[at]]
        begin, moved = (address[at], nbytes[at]) if runs is None else (runs.at, runs.form)
        key = (dst[n], begin % memory.period, moved, chosen[at])
        if key not in known:
            known[key] = len(known)
            dealt = memory.dealt(*key[1:]) if runs is None else memory.dealt_runs(runs, chosen[at])
            begins.append(len(deals))
            lengths.append(len(dealt))
            deals += [(memory.channels[channel], part) for channel, part in sorted(dealt.items())]
        of.append(known[key])
    pattern = np.array(of, np.int64)
    count = np.array(lengths, np.int64)[pattern]
    row = np.repeat(np.array(begins, np.int64)[pattern] - np.cumsum(count) + count, count)
    row += np.arange(len(row))
    place = np.array([channel.index for channel, _ in deals], np.int64)[row]
    part = np.array([part for _, part in deals], np.int64)[row]
    total = np.bincount(place, part, len(names))
    otherwise = {
        r.index
        for m in dealing.values()
        if any(total[c.index] > c.bytes for c in m.channels)
        for r in m.channels
    }
    fits = ~np.isin(place, list(otherwise))
    txn, place, part = np.repeat(numbers["id"][some], count)[fits], place[fits], part[fits]
    fetched = _fetched(numbers["id"][order], len(names), used)
    txn, place, part = (np.concatenate(pair) for pair in zip((txn, place, part), fetched, strict=True))
    return {"txn": txn, "resource": coded(names, place), "bytes": part}


def _fetched(ended: Any, count: int, used: Sequence[Server]) -> tuple[Any, Any, Any]:
    """What channels behind a cache moved for transactions, of ``count`` resources: once for each of both."""
    rows = [r.dealt_rows for r in used if hasattr(r, "dealt_rows")]
    columns = [[np.frombuffer(of.column(at, "q"), "q") for of in rows] for at in range(3)]
    txn, place, nbytes = (np.concatenate([np.zeros(0, np.int64), *column]) for column in columns)
    keys, at = np.unique(txn * count + place, return_inverse=True)
    known = np.isin(keys // count, ended)
    sums = np.bincount(at, nbytes, len(keys)).astype(np.int64)
    return keys[known] // count, keys[known] % count, sums[known]


_OF_ROWS = ("hits", "misses", "conflicts", "refreshes")
_OF_CACHES = (
    "hits", "misses", "again", "merged", "writes", "evictions", "fetched_bytes", "written_bytes",
    "coalesced", "coalesced_bytes",
)  # fmt: skip


def _outcomes(
    ended: Any,
    names: Sequence[str],
    used: Sequence[Server],
    table: str,
    counts: Sequence[str],
    ns: Sequence[str],
) -> Columns:
    """``table``: what transactions met in memories that have ``outcomes`` for it, then the run's totals."""
    memories: list[Any] = [r for r in used if getattr(r, "outcomes_for", "") == table]

    def column(number: int, type_: str) -> Any:
        of = (np.frombuffer(m.outcomes.column(number, type_), type_) for m in memories)
        return np.concatenate([np.zeros(0, type_), *of])

    txn, place = column(0, "q"), column(1, "q")
    order = np.lexsort((place, txn))
    order = order[np.isin(txn[order], ended)]
    totals = np.array([row for m in memories for row in m.counted()], np.int64).reshape(-1, 1 + len(counts))
    times = [column(2 + len(counts) + i, "d")[order] for i in range(len(ns))]
    sums = [np.bincount(place[order], of, len(names))[totals[:, 0]] for of in times]
    return {
        "txn": np.concatenate([txn[order], np.full(len(totals), -1)]),
        "resource": coded(names, np.concatenate([place[order], totals[:, 0]])),
        **{n: np.concatenate([column(2 + i, "q")[order], totals[:, 1 + i]]) for i, n in enumerate(counts)},
        **{n: np.concatenate([times[i], sums[i]]) for i, n in enumerate(ns)},
    }


def use(
    resources: Sequence[Server],
    sim_ns: float,
    also: Collection[str] = (),
    *,
    partial: bool = False,
    beyond: Counts | None = None,
) -> Columns:
    """The use of each resource that was used, or is among ``also``: bytes, busy and waiting ns.

    Utilisation is busy time as a share of ``sim_ns``. A resource takes on work for some time ahead, so in a
    ``partial`` run its busy time may reach beyond the end, and is cut there. ``beyond`` is what was not
    simulated, by part, and is added.
    """
    counts = counted(resources) + (0.0 if beyond is None else beyond)
    active = [r for r, n in zip(resources, counts[:, 3], strict=True) if n or r.resource in also]
    counts = counts[[r.index for r in active]].reshape(-1, 4)
    busy = counts[:, 1]
    busy = np.minimum(busy, sim_ns) if partial else busy
    return {
        "resource": np.array([r.resource for r in active], dtype=object),
        "is_link": np.array([isinstance(r, Link) for r in active], dtype=bool),
        "kind": np.array(
            [r.kind if isinstance(r, Link) else str(r.node.properties["kind"]) for r in active],
            dtype=object,
        ),
        "bytes": np.rint(counts[:, 0]).astype(np.int64),
        "busy_ns": busy,
        "wait_ns": counts[:, 2],
        "utilisation": busy / sim_ns if sim_ns > 0 else np.zeros(len(active)),
        "transactions": np.rint(counts[:, 3]).astype(np.int64),
        "max_queue": np.array([r.max_queue for r in active], dtype=np.int64),
    }
