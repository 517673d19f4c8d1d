"""The trace of a run in columns: :class:`TraceRecorder` gathers what becomes the run's archive.

Buffers are typed arrays; a finished transaction costs a few ``extend`` calls, and nothing is formatted
before the run is over.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from kernbench.sim.instrument import Instrument
from kernbench.sim.node import Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import Hop, Transaction, Wait

Columns = dict[str, Any]


_BATCH = 8192
"""Hops that wait as tuples before they go into the columns: few enough to be small, enough to be cheap."""


class TraceRecorder(Instrument):
    """Gathers transactions, hops, waits and their causes. :meth:`tables` gives them as columns."""

    def __init__(self) -> None:
        self._kind: list[str] = []
        self._src: list[str] = []
        self._dst: list[str] = []
        self._request: list[str] = []
        self._ints = [array("q") for _ in range(6)]  # number, cause, op, launch, bytes, number of hops
        self._floats = [array("d") for _ in range(2)]  # submit, done
        self._hop_ints = [array("q") for _ in range(2)]  # resource, bytes
        self._hop_floats = [array("d") for _ in range(5)]  # in, start, out, service, wait
        self._wait_ints = [array("q") for _ in range(5)]  # transaction, holder, resource, holders, hop
        self._wait_floats = [array("d") for _ in range(3)]  # ns, from, to
        self._transactions: list[tuple[int, str, str, str, str, int, int, int, int, int, float, float]] = []
        self._rows: list[Hop] = []
        self._waited: list[tuple[int, int, int, float, int, int, float, float]] = []

    def transaction_done(self, transaction: Transaction) -> None:
        """See :meth:`Instrument.transaction_done`."""
        t = transaction
        rows = t.hops
        launch = getattr(t.message, "launch", None)
        number = -1 if launch is None else launch.id
        self._transactions.append(
            (t.id, t.kind, t.src, t.dst, t.ids[1], t.parent, t.op, number, t.nbytes, len(rows),
             t.t_submit, t.t_done)
        )  # fmt: skip
        self._rows += rows
        if t.waits:
            self._add_waits(t)
        t.hops = []
        t.waits = []
        if len(self._rows) >= _BATCH:
            self._settle()

    def _settle(self) -> None:
        """Move the rows kept as tuples into the columns."""
        if self._transactions:
            ids, kind, src, dst, request, parent, op, launch, nbytes, hops, submit, done = zip(
                *self._transactions, strict=True
            )
            self._kind += kind
            self._src += src
            self._dst += dst
            self._request += request
            for ints, column in zip(self._ints, (ids, parent, op, launch, nbytes, hops), strict=True):
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
        if self._waited:
            of, holder, resource, lost, holders, seq, begun, end = zip(*self._waited, strict=True)
            for ints, column in zip(self._wait_ints, (of, holder, resource, holders, seq), strict=True):
                ints.extend(column)
            for floats, times in zip(self._wait_floats, (lost, begun, end), strict=True):
                floats.extend(times)
            self._waited.clear()

    def _add_waits(self, transaction: Transaction) -> None:
        """Waits on one holder at one resource and hop are one row."""
        total: dict[tuple[int, int, int], Wait] = {}
        for wait in transaction.waits:
            key = (wait.holder, wait.resource, wait.seq)
            before = total.get(key)
            total[key] = wait if before is None else _joined(before, wait)
        number = transaction.id
        self._waited += [(number, *wait) for wait in total.values()]

    @property
    def hops(self) -> int:
        """Hops gathered so far."""
        return len(self._hop_ints[0]) + len(self._rows)

    def tables(
        self,
        resources: Sequence[Server],
        sim_ns: float,
        also: Collection[str] = (),
        *,
        partial: bool = False,
    ) -> dict[str, Columns]:
        """All tables by name, rows by transaction number.

        ``sim_ns`` is the time that utilisation is a share of; ``also`` names resources that the table Use
        must have even where no transaction went through them. In a ``partial`` run, one that was stopped,
        nothing was busy for longer than that.
        """
        self._settle()
        ids, parents, ops, launches, nbytes, hops = (np.array(a, dtype=np.int64) for a in self._ints)
        submit, done = (np.array(a) for a in self._floats)
        place = np.repeat(np.arange(len(ids)), hops)
        service, wait = (
            np.bincount(place, weights=np.array(self._hop_floats[i]), minlength=len(ids)) for i in (3, 4)
        )
        order = np.argsort(ids, kind="stable")
        names = [r.resource for r in resources]
        found = self._hops(ids[place], hops, names)
        routes, route, via = _routes(found.pop("place"), hops[order], resources)
        return {
            "Use": use(resources, sim_ns, {*also, *self._src, *self._dst}, partial=partial),
            "Route": routes,
            "Via": via,
            "Transaction": {
                "number": ids[order],
                "kind": words(self._kind, order),
                "src": words(self._src, order),
                "dst": words(self._dst, order),
                "bytes": nbytes[order],
                "t_submit": submit[order],
                "t_done": done[order],
                "service_ns": service[order],
                "wait_ns": wait[order],
                "launch": launches[order],
                "route": route,
                "caused_by": parents[order],
                "op": ops[order],
                "request": words(self._request, order),
            },
            "Hop": found,
            "WaitedFor": self._waits(names, ids),
        }

    def _hops(self, transaction: Any, counts: Any, names: Sequence[str]) -> Columns:
        resource, nbytes = (np.array(a, dtype=np.int64) for a in self._hop_ints)
        t_in, t_start, t_out, service, wait = (np.array(a) for a in self._hop_floats)
        seq = np.arange(len(transaction)) - np.repeat(np.cumsum(counts) - counts, counts)
        order = np.lexsort((seq, transaction))
        where = resource[order]
        return {
            "txn": transaction[order],
            "seq": seq[order].astype(np.int32),
            "resource": coded(names, where),
            "place": where,
            "t_in": t_in[order],
            "t_start": t_start[order],
            "t_out": t_out[order],
            "service_ns": service[order],
            "wait_ns": wait[order],
            "bytes": nbytes[order],
        }

    def _waits(self, names: Sequence[str], ended: Any) -> Columns:
        transaction, holder, resource, holders, seq = (np.array(a, dtype=np.int64) for a in self._wait_ints)
        lost, begun, end = (np.array(a) for a in self._wait_floats)
        order = np.lexsort((seq, resource, holder, transaction))
        # Where the run has failed, a holder may be a transaction that never ended and so is not in the
        # record.
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

    present, position = np.unique(index, return_inverse=True)
    kept = pa.array([names[i] for i in present], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(position.astype(np.int32).reshape(-1)), kept)


def words(values: Sequence[str], order: Any) -> Any:
    """A dictionary-encoded column of ``values`` in ``order``; its dictionary is sorted."""
    names = sorted(set(values))
    number = {name: i for i, name in enumerate(names)}
    return coded(names, np.fromiter((number[v] for v in values), dtype=np.int64, count=len(values))[order])


def _joined(first: Wait, second: Wait) -> Wait:
    """Two waits of one transaction on one holder at one hop."""
    return first._replace(
        ns=first.ns + second.ns,
        holders=max(first.holders, second.holders),
        t_from=min(first.t_from, second.t_from),
        t_to=max(first.t_to, second.t_to),
    )


def _routes(place: Any, counts: Any, resources: Sequence[Server]) -> tuple[Columns, Any, Columns]:
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
    length = np.array(
        [float(r.edge.properties["distance_mm"]) if isinstance(r, Link) else 0.0 for r in resources]
    )
    hops = np.array([len(way) for way in ways], np.int64)
    through = np.concatenate(ways) if ways else np.zeros(0, np.int64)
    begins = np.cumsum(hops) - hops
    via = {
        "route": np.repeat(np.arange(len(ways)), hops),
        "seq": (np.arange(len(through)) - np.repeat(begins, hops)).astype(np.int32),
        "resource": coded([r.resource for r in resources], through),
    }
    mm = np.array([math.fsum(length[way].tolist()) for way in ways], np.float64)
    return {"number": np.arange(len(ways)), "hops": hops, "mm": mm}, route, via


def use(
    resources: Sequence[Server], sim_ns: float, also: Collection[str] = (), *, partial: bool = False
) -> Columns:
    """The use of each resource that was used, or is among ``also``: bytes, busy and waiting ns.

    Utilisation is busy time as a share of ``sim_ns``. A resource takes on work for some time ahead, so in a
    ``partial`` run its busy time may reach beyond the end, and is cut there.
    """
    active = [r for r in resources if r.transactions or r.resource in also]
    busy = np.array([r.busy_ns for r in active], dtype=np.float64)
    busy = np.minimum(busy, sim_ns) if partial else busy
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
