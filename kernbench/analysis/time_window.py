"""Windows of a run: a launch, all launches, the setup outside of them, or any stretch of simulated time.

A window selects what summaries, questions, pictures and critical paths show. The use of resources within a
window is worked out from the trace (:func:`use_within`): a resource's recorded busy time is distributed over
its hops, or over its operations, in proportion to what determines their service (bytes on links and in
memories, the time during which operations are under way, the same overhead for every message elsewhere).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.path_steps import CriticalPath
from kernbench.analysis.trace_tables import Texts
from kernbench.errors import UsageError
from kernbench.kinds import COMPONENT_KINDS

ALL, SETUP, RUN = "all", "setup", "run"
"""Names of windows: all launches, the time outside of launches, the whole run."""

_SAME_NS = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """Stretches of simulated time (``(begin, end)`` in ns, disjoint, ascending) with a name for people."""

    name: str
    spans: tuple[tuple[float, float], ...]
    launch: int | None = None
    """The number of the launch that it is, where it is exactly one."""

    @property
    def ns(self) -> float:
        """Its length, ns."""
        return math.fsum(time for begin, end in self.spans for time in (end, -begin))

    def covered(self, times: Floats) -> Floats:
        """ns of the window before each of ``times``."""
        if not self.spans:
            return np.zeros(len(times))
        edges = np.array([edge for span in self.spans for edge in span])
        lengths = np.diff(edges)
        lengths[1::2] = 0.0
        return np.asarray(np.interp(times, edges, np.concatenate([[0.0], np.cumsum(lengths)])))

    def share(self, begin: Floats, end: Floats) -> Floats:
        """Share of each interval that lies within; of an interval without length 1 where it lies within."""
        length = end - begin
        shares = self.covered(end) - self.covered(begin)
        for first, last in self.spans if not np.all(length > 0) else ():
            shares = np.where((length <= 0) & (begin >= first) & (begin <= last), 1.0, shares)
        return np.asarray(np.where(length > 0, shares / np.where(length > 0, length, 1.0), shares))

    def touches(self, begin: Floats, end: Floats) -> NDArray[np.bool_]:
        """Whether a part of each interval lies within; times less than 1e-9 ns apart are one."""
        found = np.zeros(len(begin), np.bool_)
        point = end - begin < _SAME_NS
        for first, last in self.spans:
            found |= (begin < last - _SAME_NS) & (end > first + _SAME_NS)
            found |= point & (begin > first - _SAME_NS) & (end < last + _SAME_NS)
        return found

    def clip(self, path: CriticalPath) -> CriticalPath:
        """The parts of ``path``'s steps that lie within, in order."""
        steps = []
        spans = iter(self.spans)
        span = next(spans, None)
        for step in path.steps:
            while span is not None and span[0] < step.t_end:
                begin, end = max(step.t_start, span[0]), min(step.t_end, span[1])
                if begin < end:
                    steps.append(replace(step, t_start=begin, t_end=end))
                if span[1] > step.t_end:
                    break
                span = next(spans, None)
        begin, end = (self.spans[0][0], self.spans[-1][1]) if self.spans else (path.t_start, path.t_start)
        return CriticalPath(begin, end, tuple(steps), path.paths, gaps_ns=end - begin - self.ns)


def select(
    info: Mapping[str, Any],
    launch: int | str | None = None,
    from_ns: float | None = None,
    to_ns: float | None = None,
) -> Window:
    """The window of a run that is meant.

    Args:
        info: The run's properties: ``sim_ns`` and ``launches``.
        launch: A launch's number (from 0; text too), ``all`` launches, ``setup``: the time outside of them,
            or ``run`` or None: all of the run. ``all`` is the whole run where there are no launches.
        from_ns: Leave out what is before this simulated time.
        to_ns: Leave out what is after it.

    Raises:
        UsageError: There is no such launch, or nothing lies between ``from_ns`` and ``to_ns``.
    """
    launches: Sequence[Mapping[str, Any]] = info.get("launches") or []
    sim_ns = float(info["sim_ns"])
    number: int | None = None
    if launch is None or launch == RUN or (launch == ALL and not launches):
        name, spans = "the whole run", [(0.0, sim_ns)]
    elif launch in (ALL, SETUP):
        spans = _united([_span(one, sim_ns) for one in launches])
        name = "launch 0" if len(launches) == 1 else f"{len(launches)} launches"
        number = 0 if len(launches) == 1 else None
        if launch == SETUP:
            name, spans, number = "setup", _outside(spans, sim_ns), None
    else:
        number = _number(launch, len(launches))
        name, spans = f"launch {number}", [_span(launches[number], sim_ns)]
    if from_ns or to_ns is not None:
        begin, end = max(from_ns or 0.0, 0.0), sim_ns if to_ns is None else min(to_ns, sim_ns)
        if not begin < end:
            raise UsageError(
                f"there is no time from {begin:g} to {end:g} ns; the run goes from 0 to {sim_ns:.3f} ns"
            )
        spans = [(max(a, begin), min(b, end)) for a, b in spans if min(b, end) > max(a, begin)]
        name, number = f"{name} from {begin:.3f} to {end:.3f} ns", None
        if not spans:
            raise UsageError(f"nothing is there in {name}; choose another time, or --launch run")
    return Window(name, tuple(spans), number)


def _number(launch: int | str, count: int) -> int:
    try:
        number = int(launch)
    except ValueError:
        raise UsageError(f"launch '{launch}' is none; give a number from 0, all, setup or run") from None
    if not 0 <= number < count:
        raise UsageError(f"the run has no launch {number}; it has {count}, counted from 0")
    return number


def _span(launch: Mapping[str, Any], sim_ns: float) -> tuple[float, float]:
    """From its start to its end; times that have not come, -1 in the record, are the end of the run."""
    begin, end = (float(launch[name]) for name in ("t_start", "t_done"))
    return (sim_ns if begin < 0 else begin, sim_ns if end < 0 else end)


def _united(launches: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    spans: list[tuple[float, float]] = []
    for begin, end in sorted(launches):
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans


def _outside(spans: Sequence[tuple[float, float]], sim_ns: float) -> list[tuple[float, float]]:
    edges = [0.0, *(edge for span in spans for edge in span), sim_ns]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]


def use_within(tables: Mapping[str, pa.Table], window: Window) -> dict[str, NDArray[Any]]:
    """The use of each resource within ``window``: the columns of a run's table ``Use``, in its order.

    Resources without use there are left out. ``utilisation`` is a share of the window's length.
    ``max_queue`` is the most that were present at once at a time of the window.
    """
    used = {name: tables["Use"][name].to_numpy() for name in tables["Use"].column_names}
    hops = {name: tables["Hop"][name].to_numpy() for name in ("t_in", "t_start", "t_out", "wait_ns", "bytes")}
    ops = {name: tables["Op"][name].to_numpy() for name in ("t_ready", "t_start", "t_end", "bytes")}
    names, kinds = used["resource"], used["kind"]
    index = {name: number for number, name in enumerate(names.tolist())}
    by_op = np.array([kind in BY_OPERATION for kind in kinds], dtype=bool)
    memory = np.array(
        [kind in COMPONENT_KINDS and COMPONENT_KINDS[kind].memory for kind in kinds], dtype=bool
    )

    at = rows_of(tables["Hop"]["resource"], index)
    hop = (at >= 0) & ~by_op[at]
    where = at[hop]
    weighs = used["is_link"].astype(bool) | memory
    weight = np.where(weighs[where], hops["bytes"][hop], 1.0)
    begin, end = hops["t_start"][hop], hops["t_out"][hop]
    entries = [(where, hops["bytes"][hop], hops["t_in"][hop], begin, end, hops["wait_ns"][hop])]
    busy_entries = [(where, weight, begin, end)]
    on = rows_of(tables["Op"]["component"], index)
    op = (on >= 0) & by_op[on]
    starts, ends, ready = ops["t_start"][op], ops["t_end"][op], ops["t_ready"][op]
    entries.append((on[op], ops["bytes"][op], ready, starts, ends, starts - ready))
    busy_entries.append(united_at(on[op], starts, ends))

    count = len(names)
    found = {f"{of}{key}": np.zeros(count) for key in ("busy", "wait", "bytes", "n") for of in ("", "all_")}
    queue = np.zeros(count, dtype=np.int64)
    for where, weight, begin, end in busy_entries:
        found["busy"] += np.bincount(where, weight * window.share(begin, end), minlength=count)
        found["all_busy"] += np.bincount(where, weight, minlength=count)
    for where, nbytes, arrived, begin, end, wait in entries:
        share = window.share(begin, end)
        waited = window.share(np.minimum(arrived, begin), begin)
        for key, values in (
            ("wait", wait * waited), ("all_wait", wait),
            ("bytes", nbytes * share), ("all_bytes", nbytes),
            ("n", (share > 0) * 1.0), ("all_n", np.ones(len(share))),
        ):  # fmt: skip
            found[key] += np.bincount(where, values, minlength=count)
        inside = (share > 0) | (waited > 0)
        queue = np.maximum(queue, _most_at_once(where[inside], arrived[inside], end[inside], count))

    parts = np.arange(count)
    for number in np.flatnonzero(found["all_n"] == 0).tolist():
        parts[number] = stands_for(number, names[number], kinds, index)

    def scaled(key: str, recorded: NDArray[Any]) -> Floats:
        whole = found[f"all_{key}"]
        share = np.where(whole > 0, found[key] / np.where(whole > 0, whole, 1.0), 0.0)
        return np.asarray(recorded * share[parts])

    # Bytes are not spread quite evenly over a hop, so in a short window the sum could exceed it.
    busy = np.minimum(scaled("busy", used["busy_ns"]), window.ns)
    rows = found["n"][parts] > 0
    result = {
        "resource": names,
        "is_link": used["is_link"],
        "kind": kinds,
        "bytes": np.rint(scaled("bytes", used["bytes"])).astype(np.int64),
        "busy_ns": busy,
        "wait_ns": scaled("wait", used["wait_ns"]),
        "utilisation": busy / window.ns if window.ns > 0 else busy * 0.0,
        "transactions": np.rint(scaled("n", used["transactions"])).astype(np.int64),
        "max_queue": np.minimum(queue[parts], used["max_queue"]),
    }
    return {key: values[rows] for key, values in result.items()}


BY_OPERATION = frozenset({"pe_gemm", "pe_math", "pe_dma", "pe_fetch_store", "pe_scheduler"})
"""Kinds whose service is that of operations rather than of messages."""


def united_at(
    where: NDArray[np.int64], begin: Floats, end: Floats
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """The stretches during which at least one interval is under way at a place: place, length, begin, end.

    Operations of one engine overlap where it has several in flight; its time is busy once.
    """
    if not len(where):
        return where, begin, begin, end
    order = np.lexsort((begin, where))
    where, begin, end = where[order], begin[order], end[order]
    apart = (float(end.max()) + 1.0) * where  # moves each place's times beyond those of the one before
    latest = np.maximum.accumulate(end + apart)
    first = np.flatnonzero(np.concatenate([[True], (begin + apart)[1:] > latest[:-1]]))
    where, begin, end = where[first], begin[first], np.maximum.reduceat(end, first)
    return where, end - begin, begin, end


def rows_of(column: pa.ChunkedArray, index: Mapping[str, int]) -> NDArray[np.int64]:
    """By row the number of the resource that it names; -1 where that was not used."""
    texts = Texts(column)
    rows: NDArray[np.int64] = np.array([index.get(text, -1) for text in texts.all()], np.int64)[texts.codes]
    return rows


_CARRIERS = frozenset({"pe_dma", "pe_fetch_store"})
"""Kinds whose operations move the bytes on the wires within a PE, which messages do not cross."""


def stands_for(number: int, name: str, kinds: NDArray[Any], index: Mapping[str, int]) -> int:
    """The resource in whose proportions ``name`` is used where no hop and no operation names it.

    Of a part, such as a pseudo-channel, that is the component it is in; of a wire within a PE, the end
    whose operations move bytes over it.
    """
    source, arrow, target = name.partition("->")
    ends = (source, target) if arrow else (name.rpartition(".")[0],)
    found = [index[end] for end in ends if end in index]
    return next((one for one in found if not arrow or kinds[one] in _CARRIERS), number)


def _most_at_once(where: NDArray[Any], begin: Floats, end: Floats, count: int) -> NDArray[np.int64]:
    """Per resource, the most intervals that overlap at one time; touching ones do not."""
    resource = np.concatenate([where, where])
    times = np.concatenate([end, begin])
    change = np.concatenate([-np.ones(len(where)), np.ones(len(where))])
    order = np.lexsort((change, times, resource))
    resource, change = resource[order], change[order]
    level = np.cumsum(change)  # every resource's changes add up to 0
    most = np.zeros(count)
    np.maximum.at(most, resource, level)
    return most.astype(np.int64)
