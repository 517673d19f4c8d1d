"""Grouped-query attention of Llama-70B in four panels: one user or several, prefill or decode.

One user's keys and values are spread over the PEs of a cube, several users' over PE 0 of four cubes; see
``_gqa_attention.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernbench.api.evaluations import evaluation
from kernbench.api.sweeps.evaluator import Evaluator, PointRun
from kernbench.errors import BenchError
from kernbench.hardware.kinds.links import BLUE, FAINT, GREEN, ORANGE, PURPLE, SKY, VERMILION
from kernbench.workloads.benches.params import Param

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BENCH = f"{Path(__file__).with_name('_gqa_attention.py')}:gqa-attention"
PANELS = {
    "single-user prefill": {"users": "single", "phase": "prefill", "q_tokens": 16},
    "single-user decode": {"users": "single", "phase": "decode", "q_tokens": 1},
    "multi-user prefill": {"users": "multi", "phase": "prefill", "q_tokens": 16},
    "multi-user decode": {"users": "multi", "phase": "decode", "q_tokens": 1},
}
Q_HEADS = (1, 2, 4)
KV_HEADS = (1, 2, 4, 8)
"""Llama-70B has 8."""
VALIDATION, FULL = {"d_head": 64, "kv_tokens": 256}, {"d_head": 128, "kv_tokens": 1024}
MOST_TOKENS = 1 << 15
COUNTED = ("gemm", "ipcq_send", "ipcq_recv", "dma_read", "dma_write")
_COLOURS = {"dma_read": BLUE, "gemm": VERMILION, "math": ORANGE, "ipcq_send": GREEN, "ipcq_recv": PURPLE,
            "dma_write": SKY}  # fmt: skip
Rows = list[dict[str, Any]]


@evaluation(
    name="milestone-gqa-llama70b",
    description="Grouped-query attention of Llama-70B: ring prefill and merged decode, one user and several.",
    params=[
        Param(
            "validation", bool, False, "d_head 64 and 256 keys, instead of 128 and 1024", env="GQA_VALIDATION"
        ),
        Param("causal", bool, True, "in prefill, no new token sees those after it"),
        Param("capacity", bool, True, "at full scale, double the keys until they do not fit"),
    ],
)
def run(evaluator: Evaluator) -> None:
    """Each panel with 1, 2 and 4 query heads; the panels' figures are those with 4."""
    validation = bool(evaluator.params["validation"])
    scale = {**(VALIDATION if validation else FULL), "causal": evaluator.params["causal"]}
    wanted = [(panel, heads) for panel in PANELS for heads in Q_HEADS]
    points = [{**PANELS[panel], **scale, "q_heads": heads} for panel, heads in wanted]
    rows: Rows = []
    runs: dict[str, PointRun] = {}
    for (panel, _), point, found in zip(wanted, points, evaluator.points(BENCH, points), strict=True):
        if found is None:
            continue
        rows.append({"panel": panel, **point, **_measure(found), "run_id": found.id})
        runs[panel] = found
        if point["phase"] == "decode" and rows[-1]["gemm"] != 2 * rows[-1]["ranks"]:
            raise BenchError(
                f"{panel}: {rows[-1]['gemm']} GEMMs on {rows[-1]['ranks']} ranks, expected 2 a rank"
            )
    evaluator.table("panels", rows)
    for panel, found in runs.items():
        evaluator.figure(panel.replace(" ", "-"), partial(_over_time, panel, found), (10.0, 3.6))
    if rows:
        largest = [row for row in rows if row["q_heads"] == max(Q_HEADS)]
        evaluator.figure("panels", lambda figure: _panels(figure, largest), (11.0, 4.4))
        evaluator.figure("scaling", lambda figure: _lines(figure, rows, "q_heads", Q_HEADS), (7.5, 4.5))
    if heads := _over_kv_heads(evaluator, scale):
        evaluator.table("kv_heads", heads)
        evaluator.figure("kv-heads", lambda figure: _lines(figure, heads, "kv_heads", KV_HEADS), (7.5, 4.5))
    if not validation and evaluator.params["capacity"]:
        evaluator.table("capacity", [_capacity(evaluator, scale, panel) for panel in PANELS])
    mask = "" if evaluator.params["causal"] else " No mask: in prefill, too, every new token sees all keys."
    evaluator.note(
        "The panels are one key-value head and its query heads; the new tokens are the last of the keys."
        f"{mask} Several key-value heads have a ring each: on cubes of their own where ranks are "
        "PEs, on the same cubes where ranks are cubes. Every point's values are checked against numpy "
        "attention in f32."
    )


def _over_kv_heads(evaluator: Evaluator, scale: dict[str, Any]) -> Rows:
    """Latency of each panel with several key-value heads at once, as many as the machine has places for."""
    machine = evaluator.machine().properties
    places = {"single": int(machine["cubes_per_sip"]), "multi": int(machine["pes_per_cube"])}
    wanted = [
        (panel, {**PANELS[panel], **scale, "q_heads": max(Q_HEADS), "kv_heads": heads})
        for panel in PANELS
        for heads in KV_HEADS
        if heads <= places[str(PANELS[panel]["users"])]
    ]
    found = evaluator.points(BENCH, [point for _, point in wanted])
    return [
        {"panel": panel, **point, "latency_ns": run.latency_ns, "verified": run.verified, "run_id": run.id}
        for (panel, point), run in zip(wanted, found, strict=True)
        if run is not None
    ]


def _measure(found: PointRun) -> dict[str, Any]:
    ops = found.ops
    on_pe = (ops["launch"] >= 0) & (ops["parent"] < 0)
    counts = Counter(_kind(k, n) for k, n in zip(ops["kind"][on_pe], ops["name"][on_pe], strict=True))
    (launch,) = found.launches
    ranks = sum(1 for times in launch["pe_times"].values() if times["compute_ns"] > 0)
    return {
        "ranks": ranks,
        "latency_ns": found.latency_ns,
        "pe_ns": float(launch["pe_ns"]),
        **{name: counts[name] for name in COUNTED},
        "verified": found.verified,
    }


def _kind(kind: object, name: object) -> str:
    """How an operation is counted and coloured: by its kind, but memory and queues by its name."""
    return str(kind) if str(kind) in ("gemm", "math") else str(name)


def _capacity(evaluator: Evaluator, scale: dict[str, Any], panel: str) -> dict[str, Any]:
    """The most keys, by doubling, with which a panel runs; and what stops it."""
    tokens, most, why = FULL["kv_tokens"], 0, "not tried further"
    while tokens <= MOST_TOKENS:
        point = {**PANELS[panel], **scale, "kv_tokens": tokens, "q_heads": max(Q_HEADS)}
        (found,) = evaluator.points(BENCH, [point], optional=True)
        if found is None:
            why = evaluator.why()
            break
        most, tokens = tokens, 2 * tokens
    return {"panel": panel, "most_kv_tokens": most, "stopped_at": tokens, "because": why}


def _over_time(panel: str, found: PointRun, figure: Figure) -> None:
    """A line for each rank, its operations as bars."""
    figure.suptitle(
        f"{panel}: operations over time, {max(Q_HEADS)} query heads", fontsize=12, fontweight="bold"
    )
    axes = figure.subplots()
    ops = found.ops
    used = zip(ops["component"], ops["launch"], strict=True)
    pes = {str(component).rpartition(".")[0] for component, launch in used if launch >= 0}
    ranks = {
        pe: line
        for line, pe in enumerate(sorted(pes, key=lambda pe: [int(n) for n in re.findall(r"\d+", pe)]))
    }
    seen: set[str] = set()
    columns = ("launch", "component", "kind", "name", "t_start", "t_end", "parent")
    begun = min(t for t, launch in zip(ops["t_start"], ops["launch"], strict=True) if launch >= 0)
    for launch, component, kind, name, begin, end, parent in zip(*(ops[c] for c in columns), strict=True):
        shown = _kind(kind, name)
        if launch < 0 or parent >= 0 or shown not in _COLOURS:
            continue
        line = ranks[str(component).rpartition(".")[0]]
        axes.barh(
            line, end - begin, left=begin - begun, height=0.72, color=_COLOURS[shown],
            label="" if shown in seen else shown,
        )  # fmt: skip
        seen.add(shown)
    axes.set_yticks(range(len(ranks)), list(ranks), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("ns from the first operation")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=9)


def _panels(figure: Figure, rows: Rows) -> None:
    figure.suptitle(f"Latency and operations of each panel, {max(Q_HEADS)} query heads", fontsize=12,
                    fontweight="bold")  # fmt: skip
    left, right = figure.subplots(1, 2)
    names = [str(row["panel"]).replace(" ", "\n") for row in rows]
    bars = left.bar(range(len(rows)), [row["latency_ns"] for row in rows], 0.6, color=BLUE)
    left.bar_label(bars, fmt="%.0f", fontsize=8)
    left.set_ylabel("latency, ns")
    wide = 0.8 / len(COUNTED)
    for number, name in enumerate(COUNTED):
        places = [place - 0.4 + wide * (number + 0.5) for place in range(len(rows))]
        bars = right.bar(
            places, [row[name] for row in rows], wide * 0.94, color=_COLOURS.get(name, FAINT), label=name
        )
        right.bar_label(bars, fontsize=7)
    right.set_ylabel("operations, all ranks")
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.set_xticks(range(len(rows)), names, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)


_HEADS = {"q_heads": "query heads of a key-value head", "kv_heads": "key-value heads at once"}


def _lines(figure: Figure, rows: Rows, key: str, ticks: tuple[int, ...]) -> None:
    """Latency of each panel over the number of heads."""
    figure.suptitle(f"Latency over {_HEADS[key]}", fontsize=12, fontweight="bold")
    axes = figure.subplots()
    for panel, colour in zip(PANELS, (BLUE, SKY, VERMILION, ORANGE), strict=True):
        own = [row for row in rows if row["panel"] == panel]
        axes.plot(
            [row[key] for row in own],
            [row["latency_ns"] for row in own],
            marker="o",
            color=colour,
            label=panel,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, map(str, ticks))
    axes.minorticks_off()
    axes.set_xlabel(_HEADS[key])
    axes.set_ylabel("latency, ns")
    axes.set_ylim(bottom=0)
    axes.grid(color="#e4e7eb", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(PANELS), frameon=False, fontsize=9)
