"""A simulated service on every surface: its curve over rates, its times, waits, use over time, steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from kernbench.api.serving.result import Serving
from kernbench.draw.cells import number, share
from kernbench.draw.content import SHARE, Column, Content, Grid
from kernbench.support.sizes import counted
from kernbench.workloads.serving.measures import Row, over_time, waits

_SHARES = ("within", "machine_busy", "cache_mean", "cache_peak", "busy", "cache", "share")
_CURVE = ("rate", "throughput", "goodput", "within", "output_tokens_s", "machine_busy", "mean_batch",
          "cache_peak", "preemptions", "ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms",
          "latency_p50_ms")  # fmt: skip


def content(found: Serving) -> Content:
    """The tables of the point that is shown whole; the curve above them where there are several points."""
    point, curve = found.point, found.curve()
    at = f" at {number(point.rate)} requests/s" if len(curve) > 1 else ""
    grids = [
        Grid("curve", "By rate of arrival, requests/s", _columns(_CURVE), curve, bars="throughput",
             label="rate", in_summary=None),
        _grid("times", f"Times of requests{at}", point.percentiles),
        _grid("waits", f"What requests waited for in the queue{at}", waits(point.served), "none waited"),
        _grid("use", f"Use over time{at}", over_time(point.served)),
        _grid("steps", "Simulated steps; tokens: keys of each sequence, or of a prompt", found.steps,
              in_summary=0),
    ]  # fmt: skip
    return Content(
        grids if len(curve) > 1 else grids[1:],
        "no request was served",
        said=_said(found),
        note=" ".join(found.notes),
        title=f"Service of {found.model} on {found.machine}",
        facts=_facts(found),
    )


def _grid(
    key: str, heading: str, rows: Sequence[Row], empty: str = "", in_summary: int | None = None
) -> Grid:
    names = list(rows[0]) if rows else []
    return Grid(key, heading, _columns(names), rows, empty, in_summary=in_summary)


def _columns(names: Iterable[str]) -> list[Column]:
    return [Column(name, SHARE if name in _SHARES else "") for name in names]


def _facts(found: Serving) -> list[tuple[str, str]]:
    limits, target = found.limits, found.target
    room = limits.blocks * limits.block_tokens
    asked = {"ttft": target.ttft_ns, "tpot": target.tpot_ns}
    kept = [f"{name} {number(ns / 1e6)} ms" for name, ns in asked.items() if ns < inf]
    copies = [counted(found.replicas, "replica")] if found.replicas > 1 else []
    return [
        ("model", found.model),
        ("machine", ", ".join([found.machine, counted(found.packages, "package"), *copies])),
        *found.asked.items(),
        ("policy", found.policy),
        ("cache", f"{number(room)} tokens in blocks of {limits.block_tokens}"),
        ("batch", f"{limits.batch} requests, {limits.step_tokens} tokens a step"),
        *([("target", ", ".join(kept))] if kept else []),
    ]


def _said(found: Serving) -> list[str]:
    point, row = found.point, found.point.totals
    said = [
        f"{number(point.rate)} requests/s arrive, {number(row['throughput'])} are served: "
        f"{number(row['output_tokens_s'])} tokens/s of answers, {number(row['prompt_tokens_s'])} of prompts",
        f"machine busy {share(row['machine_busy'])}; in a step {number(row['mean_batch'])} requests, cache "
        f"{share(row['cache_mean'])} full, at the most {share(row['cache_peak'])}; {row['preemptions']} "
        f"preemptions, {row['tokens_read_again']} tokens read again",
    ]
    if found.target.given:
        said.append(f"goodput {number(row['goodput'])} requests/s: {share(row['within'])} keep the target")
    if len(found.points) > 1:
        if found.knee is not None:
            most_asked = ", the highest rate asked" if found.knee == found.points[-1].rate else ""
            said.append(
                f"knee: 99% of the requests keep the target up to {number(found.knee)} requests/s{most_asked}"
            )
        elif found.target.given:
            said.append("knee: at the lowest rate already, less than 99% of the requests keep the target")
        else:
            most = max(float(one.totals["throughput"]) for one in found.points)
            said.append(f"most served: {number(most)} requests/s; with --ttft and --tpot the knee is said")
    bars = ", ".join(
        f"{phase} at most {share(bar.worst)} (mean {share(bar.mean)}, {bar.points} points)"
        for phase, bar in found.bars.items()
    )
    off = f"; error where one of these is left out: {bars}" if bars else "; too few to tell how far off"
    said.append(f"steps are interpolated between {len(found.steps)} simulated ones{off}")
    return said
