"""The trace of a run in columns: what :class:`TraceRecorder` gathers becomes the run's archive.

Buffers are typed arrays; a finished transaction costs a few ``extend`` calls, and nothing is formatted
before the run is over.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.sim.instrument import Instrument
from kernbench.sim.node import Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import HopRow, Transaction

Columns = dict[str, Any]


_BATCH = 8192
"""Hops that wait as tuples before they go into the columns: few enough to be small, enough to be cheap."""


class TraceRecorder(Instrument):
    """Gathers transactions, hops, waits and their causes. :meth:`tables` gives them as columns."""

    def __init__(self) -> None:
        self._kind: list[str] = []
        self._src: list[str] = []
        self._dst: list[str] = []
        self._ints = [array("q") for _ in range(5)]  # id, parent, op, bytes, number of hops
        self._floats = [array("d") for _ in range(2)]  # submit, done
        self._hop_ints = [array("q") for _ in range(2)]  # resource, bytes
        self._hop_floats = [array("d") for _ in range(5)]  # in, start, out, service, wait
        self._wait_ints = [array("q") for _ in range(4)]  # transaction, holder, resource, holders
        self._wait_ns = array("d")
        self._transactions: list[tuple[int, str, str, str, int, int, int, int, float, float]] = []
        self._rows: list[HopRow] = []

    def transaction_done(self, transaction: Transaction) -> None:
        """See :meth:`Instrument.transaction_done`."""
        t = transaction
        rows = t.rows
        self._transactions.append(
            (t.id, t.kind, t.src, t.dst, t.parent, t.op, t.nbytes, len(rows), t.t_submit, t.t_done)
        )
        self._rows += rows
        if t.waits:
            self._add_waits(t)
        t.rows = []
        t.waits = []
        if len(self._rows) >= _BATCH:
            self._settle()

    def _settle(self) -> None:
        """Move what waits as tuples into the columns."""
        if self._transactions:
            ids, kind, src, dst, parent, op, nbytes, hops, submit, done = zip(
                *self._transactions, strict=True
            )
            self._kind += kind
            self._src += src
            self._dst += dst
            for ints, column in zip(self._ints, (ids, parent, op, nbytes, hops), strict=True):
                ints.extend(column)
            for floats, times in zip(self._floats, (submit, done), strict=True):
                floats.extend(times)
            self._transactions.clear()
        if self._rows:
            resource, t_in, t_start, t_out, service, wait, moved = zip(*self._rows, strict=True)
            self._hop_ints[0].extend(resource)
            self._hop_ints[1].extend(moved)
            for floats, times in zip(self._hop_floats, (t_in, t_start, t_out, service, wait), strict=True):
                floats.extend(times)
            self._rows.clear()

    def _add_waits(self, transaction: Transaction) -> None:
        """Waits on one holder at one resource are one row."""
        total: dict[tuple[int, int], tuple[float, int]] = {}
        for wait in transaction.waits:
            key = (wait.holder, wait.resource)
            ns, holders = total.get(key, (0.0, 0))
            total[key] = (ns + wait.ns, max(holders, wait.holders))
        of, by, at, merged = self._wait_ints
        for (holder, resource), (ns, holders) in total.items():
            of.append(transaction.id)
            by.append(holder)
            at.append(resource)
            merged.append(holders)
            self._wait_ns.append(ns)

    @property
    def hops(self) -> int:
        """Hops gathered so far."""
        return len(self._hop_ints[0]) + len(self._rows)

    def tables(self, resources: Sequence[Server], sim_ns: float) -> dict[str, Columns]:
        """All tables by name, rows by transaction id; ``sim_ns`` is what utilisation is a share of."""
        self._settle()
        ids, parents, ops, nbytes, hops = (np.array(a, dtype=np.int64) for a in self._ints)
        submit, done = (np.array(a) for a in self._floats)
        place = np.repeat(np.arange(len(ids)), hops)
        service, wait = (
            np.bincount(place, weights=np.array(self._hop_floats[i]), minlength=len(ids)) for i in (3, 4)
        )
        order = np.argsort(ids, kind="stable")
        names = [r.resource for r in resources]
        caused = order[parents[order] >= 0]
        return {
            "Transaction": {
                "id": ids[order],
                "kind": words(self._kind, order),
                "src": words(self._src, order),
                "dst": words(self._dst, order),
                "bytes": nbytes[order],
                "t_submit": submit[order],
                "t_done": done[order],
                "service_ns": service[order],
                "wait_ns": wait[order],
                "op": ops[order],
            },
            "Caused": {"parent": parents[caused], "child": ids[caused]},
            "Hop": self._hops(ids[place], hops, names, resources),
            "WaitedFor": self._waits(names),
            "Used": used(resources, sim_ns),
        }

    def _hops(
        self, transaction: Any, counts: Any, names: Sequence[str], resources: Sequence[Server]
    ) -> Columns:
        resource, nbytes = (np.array(a, dtype=np.int64) for a in self._hop_ints)
        t_in, t_start, t_out, service, wait = (np.array(a) for a in self._hop_floats)
        seq = np.arange(len(transaction)) - np.repeat(np.cumsum(counts) - counts, counts)
        order = np.lexsort((seq, transaction))
        is_link = np.array([isinstance(r, Link) for r in resources], dtype=bool)
        where = resource[order]
        return {
            "txn": transaction[order],
            "seq": seq[order].astype(np.int32),
            "resource": coded(names, where),
            "is_link": is_link[where],
            "t_in": t_in[order],
            "t_start": t_start[order],
            "t_out": t_out[order],
            "service_ns": service[order],
            "wait_ns": wait[order],
            "bytes": nbytes[order],
        }

    def _waits(self, names: Sequence[str]) -> Columns:
        transaction, holder, resource, holders = (np.array(a, dtype=np.int64) for a in self._wait_ints)
        order = np.lexsort((resource, holder, transaction))
        return {
            "txn": transaction[order],
            "holder": holder[order],
            "resource": coded(names, resource[order]),
            "ns": np.array(self._wait_ns)[order],
            "holders": holders[order],
        }


def coded(names: Sequence[str], index: Any) -> Any:
    """A dictionary-encoded column: ``names[index]``."""
    import pyarrow as pa

    present, position = np.unique(index, return_inverse=True)
    kept = pa.array([names[i] for i in present], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(position.astype(np.int32).reshape(-1)), kept)


def words(values: Sequence[str], order: Any) -> Any:
    """A dictionary-encoded column of ``values`` in ``order``; its dictionary is sorted."""
    names = sorted(set(values))
    number = {name: i for i, name in enumerate(names)}
    return coded(names, np.fromiter((number[v] for v in values), dtype=np.int64, count=len(values))[order])


def used(resources: Sequence[Server], sim_ns: float) -> Columns:
    """What every resource that was used at all did: bytes, busy and waiting ns, share of ``sim_ns``."""
    active = [r for r in resources if r.transactions]
    busy = np.array([r.busy_ns for r in active], dtype=np.float64)
    return {
        "resource": np.array([r.resource for r in active], dtype=object),
        "is_link": np.array([isinstance(r, Link) for r in active], dtype=bool),
        "kind": np.array(
            [r.kind if isinstance(r, Link) else str(getattr(r, "node").properties["kind"]) for r in active],  # noqa: B009
            dtype=object,
        ),
        "bytes": np.array([r.bytes for r in active], dtype=np.int64),
        "busy_ns": busy,
        "wait_ns": np.array([r.wait_ns for r in active], dtype=np.float64),
        "utilisation": busy / sim_ns if sim_ns > 0 else np.zeros(len(active)),
        "transactions": np.array([r.transactions for r in active], dtype=np.int64),
        "max_queue": np.array([r.max_queue for r in active], dtype=np.int64),
    }
