"""DMA transfers: near and far, alone and onto one target, from all PEs, and from the host; by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _dma_formula import beside_formula

from kernbench.api.evaluations import evaluation
from kernbench.api.sweeps.evaluator import Evaluator, Row
from kernbench.hardware.kinds.links import BLUE, FAINT, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from kernbench.workloads.benches.params import Param
from kernbench.workloads.probes.scenarios import scenarios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = (BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, YELLOW, FAINT)


@evaluation(
    name="dma",
    description="DMA near and far, onto a hot target, from all PEs of a SIP, from the host; time by cause.",
    params=[Param("nbytes", int, 16384, "bytes of each transfer of a PE", minimum=1)],
)
def run(evaluator: Evaluator) -> None:
    """Each scenario as a run of traffic, reads and writes."""
    nbytes = int(evaluator.params["nbytes"])
    rows: list[dict[str, Any]] = []
    causes: list[dict[str, float]] = []
    singles: list[dict[str, Any]] = []
    for scenario, op, flows, case in scenarios(evaluator.machine(), nbytes):
        found = evaluator.traffic(f"{scenario}, {op}", flows)
        if found is None:
            continue
        slowest = max(found.properties["flows"], key=lambda flow: flow["end_ns"] - flow["start_ns"])
        times = [flow["end_ns"] - flow["start_ns"] for flow in found.properties["flows"]]
        moved = sum(flow["bytes"] * flow["count"] for flow in found.properties["flows"])
        makespan = max(flow["end_ns"] for flow in found.properties["flows"])
        rows.append(
            {
                "scenario": scenario,
                "op": op,
                "flows": len(flows),
                "bytes": moved,
                "fastest_ns": min(times),
                "slowest_ns": slowest["end_ns"] - slowest["start_ns"],
                "of_it_contention_ns": slowest["wait_ns"],
                "makespan_ns": makespan,
                "bandwidth_gbs": moved / makespan,
                "of_path_peak": moved / makespan / found.properties["totals"]["peak_path_gbs"],
                "of_fair_peak": moved / makespan / found.properties["totals"]["peak_fair_gbs"],
                "run_id": found.id,
            }
        )
        causes.append(found.by_cause())
        if case is not None:
            beside = beside_formula(evaluator.machine(), case, moved, rows[-1]["slowest_ns"])
            singles.append({"scenario": scenario, "op": op, "bytes": moved, **beside})
    evaluator.table("dma", rows)
    kinds = list(dict.fromkeys(cause for by in causes for cause in by))
    broken = [
        {"scenario": row["scenario"], "op": row["op"], **{kind: by.get(kind, 0.0) for kind in kinds}}
        for row, by in zip(rows, causes, strict=True)
    ]
    evaluator.table("causes", broken)
    evaluator.table("formula", singles)
    if broken:
        evaluator.figure(
            "causes", lambda figure: _draw(figure, broken, kinds), (12.5, 1.6 + 0.42 * len(broken) / 2)
        )
    evaluator.note(
        "Causes are those of the critical path of the whole scenario, so of the flow that ends last. "
        "of_path_peak and of_fair_peak are shares of two peaks: the sum over the flows of the narrowest part "
        "on each way, and of their fair shares of parts that they have in common. The table 'formula' has "
        "single transfers beside the records' formula (ADR-0049), with the reason for each difference over "
        "10 %; 'kernbench validate records' has the records' measured figures."
    )


def _draw(figure: Figure, rows: list[dict[str, Any]], kinds: list[str]) -> None:
    figure.suptitle("DMA: critical path by cause, share of the makespan", fontsize=12, fontweight="bold")
    panels = figure.subplots(1, 2)
    for axes, op in zip(panels, ("read", "write"), strict=True):
        bars: list[Row] = [row for row in rows if row["op"] == op]
        total = [sum_ns(row[kind] for kind in kinds) for row in bars]
        left = [0.0] * len(bars)
        for number, kind in enumerate(kinds):
            shares = [100.0 * row[kind] / ns if ns else 0.0 for row, ns in zip(bars, total, strict=True)]
            axes.barh(
                range(len(bars)), shares, left=left, height=0.7, label=kind, edgecolor="white", linewidth=0.6,
                color=_COLOURS[number % len(_COLOURS)], hatch="////" if number >= len(_COLOURS) else "",
            )  # fmt: skip
            left = [a + b for a, b in zip(left, shares, strict=True)]
        for place, ns in enumerate(total):
            axes.annotate(f"{ns:.0f} ns", (101, place), va="center", fontsize=8, annotation_clip=False)
        axes.set_title(op, fontsize=11)
        axes.set_xlabel("%")
        axes.set_xlim(0, 114)
        axes.set_yticks(range(len(bars)), [str(row["scenario"]) for row in bars], fontsize=8)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=8, frameon=False, fontsize=9)


def sum_ns(values: Any) -> float:
    """The sum of times, rounded once."""
    from math import fsum

    return fsum(values)
