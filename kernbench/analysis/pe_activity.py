"""Derived parameters of questions about PEs: what each did with its time, and what its TCM held."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernbench.analysis.derived import AskedRun, Rows
from kernbench.analysis.occupancy import united
from kernbench.analysis.over_time import stretches
from kernbench.analysis.time_counters import Counter, held_in_tcm
from kernbench.analysis.trace_tables import Texts

_ENGINES = {
    "pe_dma": "dma_ns",
    "pe_fetch_store": "fetch_store_ns",
    "pe_gemm": "gemm_ns",
    "pe_math": "math_ns",
}
_COMPUTING = ("pe_gemm", "pe_math")


def pe_time(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``number pe dma_ns fetch_store_ns gemm_ns math_ns compute_ns idle_ns window_ns`` per PE that was busy.

    An engine is busy while at least one of its operations is under way; ``compute_ns`` is the time when the
    GEMM or the math engine was, ``idle_ns`` that when none of the four was. In order of SIP, cube and PE.
    """
    window, parts = asked.window(params), asked.topology_tables["Component"]
    engine_at = {
        row["name"]: (row["kind"], (row["sip"], row["cube"], row["pe"], row["parent"]))
        for row in parts.select(["name", "kind", "sip", "cube", "pe", "parent"]).to_pylist()
        if row["kind"] in _ENGINES
    }
    ops = asked.tables["Op"]
    texts = Texts(ops["component"])
    engines = [engine_at.get(name, ("", None)) for name in texts.all()]
    pes = sorted({pe for _, pe in engines if pe})
    number = {pe: n for n, pe in enumerate(pes)}
    of_pe = np.array([number[pe] if pe else -1 for _, pe in engines], np.int64)[texts.codes]
    kind = np.array([kind for kind, _ in engines], str)[texts.codes]
    begin, end = ops["t_start"].to_numpy(), ops["t_end"].to_numpy()

    def busy(*kinds: str) -> list[float]:
        chosen = np.isin(kind, kinds)
        where, first, last = united(of_pe[chosen], begin[chosen], end[chosen])
        within = window.covered(last) - window.covered(first)
        return [float(ns) for ns in np.bincount(where, within, minlength=len(pes))]

    columns = {column: busy(engine) for engine, column in _ENGINES.items()}
    columns["compute_ns"], any_ns = busy(*_COMPUTING), busy(*_ENGINES)
    window_ns = window.ns
    return [
        {
            "number": n,
            "pe": pe[-1],
            **{column: values[n] for column, values in columns.items()},
            "idle_ns": max(window_ns - any_ns[n], 0.0),
            "window_ns": window_ns,
        }
        for n, pe in enumerate(pes)
        if any_ns[n] > 0
    ]


def tcm_held(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``component begin until max_bytes mean_bytes size_bytes`` per stretch of the window, of one TCM.

    ``component`` is the TCM; where it is empty, the one that held most at once, of several the first by name.
    """
    edges = stretches(asked, params).tolist()
    found = {counter.place: counter for counter in held_in_tcm(asked.tables, asked.window(params))}
    name = str(params["component"])
    if not name and found:
        name = min(found, key=lambda place: (-found[place].values.max(), place))
    if name not in found:
        return []
    parts = asked.topology_tables["Component"]
    own = json.loads(parts["attributes"][parts["name"].to_pylist().index(name)].as_py() or "{}")
    return [
        {"component": name, "begin": begin, "until": until, **_held(found[name], begin, until),
         "size_bytes": int(own.get("size_bytes", 0))}
        for begin, until in itertools.pairwise(edges)
        if until > begin
    ]  # fmt: skip


def _held(counter: Counter, begin: float, until: float) -> dict[str, Any]:
    """The most bytes, and the mean, between two times."""
    ends = np.append(counter.times[1:], np.inf)
    within = np.minimum(ends, until) - np.maximum(counter.times, begin)
    there = within > 0
    most = counter.values[there].max() if there.any() else 0.0
    mean = float((counter.values[there] * within[there]).sum()) / (until - begin)
    return {"max_bytes": int(most), "mean_bytes": mean}
