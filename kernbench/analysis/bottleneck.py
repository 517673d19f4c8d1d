"""Derived parameters of ``queries/bottleneck``: the use of resources within a window of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from kernbench.analysis.contention import spans
from kernbench.analysis.derived import AskedRun, Rows
from kernbench.analysis.window_use import resource_use, rows_of

_COLUMNS = (
    "resource", "bytes", "busy_ns", "wait_ns", "utilisation", "occupancy", "transactions", "max_queue",
)  # fmt: skip


def link_use(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``resource bytes busy_ns wait_ns utilisation occupancy transactions max_queue`` per used link.

    Links of ``kind``.
    """
    frame = _use(asked, params)
    return _rows(frame, np.flatnonzero((frame["transactions"] > 0) & _of_kind(frame, params["kind"])))


def crossings(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``from_sip from_cube to_sip to_cube src kind transactions bytes wait_ns`` per sender over a seam.

    The seam is that of ``link``; where it is empty, that of the busiest link of ``kind``. Transactions count
    whose service on a link of it began within the window.
    """
    seam, ends = _seam(asked, params)
    hops, sent = asked.tables["Hop"], asked.tables["Transaction"]
    begun = hops["t_start"].to_numpy()
    within = np.zeros(len(begun), dtype=bool)
    for span in spans(asked, params):
        within |= (begun >= span["begin"]) & (begun < span["until"])
    found = hops.filter(pa.array(within & (rows_of(hops["resource"], dict.fromkeys(seam, 0)) >= 0)))
    row_of = {number: row for row, number in enumerate(sent["number"].to_pylist())}
    senders = list(zip(sent["src"].to_pylist(), sent["kind"].to_pylist(), strict=True))
    of: dict[tuple[str, str], list[tuple[int, int, float]]] = {}
    columns = (found[name].to_pylist() for name in ("txn", "bytes", "wait_ns"))
    for txn, nbytes, wait in zip(*columns, strict=True):
        of.setdefault(senders[row_of[txn]], []).append((txn, nbytes, wait))
    return [
        {
            **ends,
            "src": src,
            "kind": kind,
            "transactions": len({txn for txn, _, _ in crossed}),
            "bytes": sum(nbytes for _, nbytes, _ in crossed),
            "wait_ns": math.fsum(wait for _, _, wait in crossed),
        }
        for (src, kind), crossed in of.items()
    ]


def _seam(asked: AskedRun, params: Mapping[str, Any]) -> tuple[list[str], dict[str, int]]:
    """Names of the links of the seam that a question is about, and the two cubes; none where no link is."""
    links, parts = asked.topology_tables["Link"], asked.topology_tables["Component"]
    chosen = str(params["link"])
    if not chosen:
        frame = _use(asked, params)
        of_kind = frame["is_link"].astype(bool) & (frame["kind"] == params["kind"])
        chosen = next((row["resource"] for row in _busiest(frame, of_kind, "bytes", {"limit": 1})), "")
    places = (parts[name].to_pylist() for name in ("name", "sip", "cube"))
    cube = {name: (sip, cube) for name, sip, cube in zip(*places, strict=True)}
    columns = (links[name].to_pylist() for name in ("name", "kind", "src", "dst"))
    sides = {name: (kind, *cube[src], *cube[dst]) for name, kind, src, dst in zip(*columns, strict=True)}
    if chosen not in sides:
        return [], {}
    ends = zip(("from_sip", "from_cube", "to_sip", "to_cube"), sides[chosen][1:], strict=True)
    return [name for name, side in sides.items() if side == sides[chosen]], dict(ends)


def _of_kind(frame: Mapping[str, Any], kind: str) -> Any:
    return np.ones(len(frame["kind"]), dtype=bool) if not kind else frame["kind"] == kind


def _busiest(frame: Mapping[str, Any], wanted: Any, then: str, params: Mapping[str, Any]) -> Rows:
    chosen = np.flatnonzero(wanted & (frame["transactions"] > 0))
    names = frame["resource"][chosen].astype(str)
    order = np.lexsort((names, -frame[then][chosen], -frame["utilisation"][chosen]))
    return _rows(frame, chosen[order][: params["limit"]])


def _rows(frame: Mapping[str, Any], chosen: Any) -> Rows:
    values = [[None if v != v else v for v in frame[column][chosen].tolist()] for column in _COLUMNS]
    return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*values, strict=True)]


def _use(asked: AskedRun, params: Mapping[str, Any]) -> dict[str, Any]:
    """The use of the run's resources within the window of ``params``."""
    return resource_use(asked.tables, asked.window(params), float(asked.record.info["sim_ns"]))
