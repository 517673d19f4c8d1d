"""Figures of a service: percentiles of its times, goodput, waits by cause, and its use over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.workloads.serving.request import CAUSES
from kernbench.workloads.serving.served import Served

Times = NDArray[np.float64]
Row = dict[str, Any]
PERCENTILES = (50, 90, 99)
_BINS = 10
_MS = 1e6


@dataclass(frozen=True, slots=True)
class Target:
    """What a request should keep, ns: the time to its first token, and the mean time a token after it."""

    ttft_ns: float = inf
    tpot_ns: float = inf

    @property
    def given(self) -> bool:
        """Whether either is given."""
        return min(self.ttft_ns, self.tpot_ns) < inf


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Times of the requests that were served, ns, in order of arrival.

    ``ttft``: from arrival to the first token. ``tpot``: from the first to the last, for each token after the
    first; NaN of answers of one token. ``latency``: from arrival to the last. ``queue``: from arrival until
    its prompt is first worked on.
    """

    number: NDArray[np.int64]
    ttft: Times
    tpot: Times
    latency: Times
    queue: Times

    @classmethod
    def of(cls, served: Served) -> RequestTimes:
        """The times of all requests that were not refused."""
        number = np.setdiff1d(np.arange(len(served.done_ns)), np.array(served.refused, np.int64))
        arrive = served.load.arrive_ns[number]
        admit, first, done = (np.array(t)[number] for t in (served.admit_ns, served.first_ns, served.done_ns))
        more = (served.load.output[number] - 1).astype(float)
        tpot = np.divide(done - first, more, out=np.full(len(number), np.nan), where=more > 0)
        return cls(number, first - arrive, tpot, done - arrive, admit - arrive)

    def within(self, target: Target) -> NDArray[np.bool_]:
        """Which requests kept the target; an answer of one token keeps ``tpot_ns``."""
        return (self.ttft <= target.ttft_ns) & ~(self.tpot > target.tpot_ns)


def percentiles(times: RequestTimes) -> list[Row]:
    """A row a time, ms: ``time mean_ms p50_ms p90_ms p99_ms max_ms``."""
    rows = []
    for name in ("ttft", "tpot", "latency", "queue"):
        of = getattr(times, name)
        of = of[~np.isnan(of)] / _MS
        if not len(of):
            continue
        row: Row = {"time": name, "mean_ms": float(of.mean())}
        row |= {f"p{p}_ms": float(np.percentile(of, p)) for p in PERCENTILES}
        rows.append(row | {"max_ms": float(of.max())})
    return rows


def totals(served: Served, times: RequestTimes, target: Target) -> Row:
    """One row of figures of the whole: what was asked, done, and in use. Rates are per second.

    Seconds count from the first arrival to the last token. ``goodput`` counts requests within the target,
    without one all that are served; ``within`` is their share of all requests, refused ones among them.
    """
    count = len(served.done_ns)
    end, begin = _end(served), float(served.load.arrive_ns[0])
    seconds = (end - begin) / 1e9
    good = int(times.within(target).sum())
    busy = sum(float(np.sum(steps.ns)) for steps in served.steps)
    prompts = int(served.load.prompt[times.number].sum())

    def mean(name: str) -> float:
        spent = sum(
            float(np.dot(np.array(getattr(steps, name)), np.array(steps.ns))) for steps in served.steps
        )
        return spent / busy if busy else 0.0

    def a_second(number: float) -> float:
        return number / seconds if seconds else 0.0

    return {
        "requests": count,
        "refused": len(served.refused),
        "seconds": seconds,
        "throughput": a_second(len(times.number)),
        "goodput": a_second(good),
        "within": good / count,
        "output_tokens_s": a_second(served.output_tokens),
        "prompt_tokens_s": a_second(prompts),
        "machine_busy": busy / (end - begin) / len(served.steps) if end > begin else 0.0,
        "mean_batch": mean("batch"),
        "cache_mean": mean("blocks") / served.limits.blocks,
        "cache_peak": max(max(steps.blocks, default=0.0) for steps in served.steps) / served.limits.blocks,
        "preemptions": sum(served.preemptions.values()),
        "tokens_read_again": served.prompt_tokens - prompts,
    }


def waits(served: Served) -> list[Row]:
    """A row a cause: ``waited_for requests mean_ms max_ms share``, of the requests that waited for it."""
    table = np.array(list(served.waits.values())).reshape(-1, len(CAUSES)) / _MS
    whole = table.sum()
    rows = []
    for name, of in zip(CAUSES, table.T, strict=True):
        some = of[of > 0]
        if len(some):
            rows.append({"waited_for": name, "requests": len(some), "mean_ms": float(some.mean()),
                         "max_ms": float(some.max()), "share": float(some.sum() / whole)})  # fmt: skip
    return sorted(rows, key=lambda row: -float(row["share"]))


def over_time(served: Served, bins: int = _BINS) -> list[Row]:
    """A row for each of ``bins`` equal parts of the time: ``from_s busy batch cache queue arrived done``.

    ``busy`` is a share, as ``cache`` of its blocks; ``batch`` and ``queue`` are requests, on the average, of
    all machines together.
    """
    begin, end = float(served.load.arrive_ns[0]), _end(served)
    edges = np.linspace(begin, end, bins + 1)
    if not end > begin:
        return []

    def mean(name: str, scale: float = 1.0) -> Times:
        """Over each part; in idle time nothing is in use."""
        found = np.zeros(bins)
        for steps in served.steps:
            step_ns, step_end = np.array(steps.ns), np.array(steps.end_ns)
            at = np.stack([step_end - step_ns, step_end], axis=1).reshape(-1)
            grown = np.cumsum(step_ns * (np.array(getattr(steps, name)) if name else 1.0))
            whole = np.stack([np.concatenate([[0.0], grown[:-1]]), grown], axis=1).reshape(-1)
            found += np.diff(np.interp(edges, at, whole)) if len(at) else 0.0
        return found / np.diff(edges) / scale

    count = len(served.steps)
    columns: Mapping[str, Times] = {
        "from_s": (edges[:-1] - begin) / 1e9,
        "busy": mean("", count),
        "batch": mean("batch"),
        "cache": mean("blocks", served.limits.blocks * count),
        "queue": mean("queue"),
        "arrived": np.histogram(served.load.arrive_ns, edges)[0],
        "done": np.histogram([ns for ns in served.done_ns if ns == ns], edges)[0],
    }
    return [dict(zip(columns, map(_plain, row), strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    return value.item()


def _end(served: Served) -> float:
    last = max((steps.end_ns[-1] for steps in served.steps if steps.end_ns), default=0.0)
    return max(float(last), float(served.load.arrive_ns[0]))
