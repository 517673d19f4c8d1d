"""Tokens a second of Llama: a layer of each size is simulated, and a token takes as many as the model has."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import floor, log10
from typing import TYPE_CHECKING, Any

from kernbench.api.evaluations import evaluation
from kernbench.api.models.step_time import ns_by_part
from kernbench.api.sweeps.evaluator import Evaluator, PointRun
from kernbench.errors import UsageError
from kernbench.hardware.kinds.links import BLUE, FAINT, GREEN, ORANGE, PURPLE, SKY, VERMILION
from kernbench.workloads.benches.llama_decoder import named, sizes_of
from kernbench.workloads.benches.params import Param

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbench.workloads.models.config import Model

PARTS = {"qkv": BLUE, "attention": ORANGE, "o": SKY, "all-reduce": PURPLE, "gate, up": GREEN,
         "down": VERMILION, "norm, add": FAINT}  # fmt: skip
WHOLE = {"models": "llama-8b,llama-70b", "packages": "1,2,4,8", "batch": "1,16,64,256",
         "kv": "512,1024,2048,4096,8192", "tokens": "128,512,2048,8192"}  # fmt: skip
"""All of it: a night on one machine, an hour on a cluster."""
Rows = list[dict[str, Any]]


@evaluation(
    name="llama",
    description="Tokens a second of Llama, decode and prefill, over packages; where a layer's time goes.",
    params=[
        Param(
            "models",
            str,
            "llama-8b",
            "names or files config.json, with commas between them, as are the next ones; whole: "
            f"{WHOLE['models']}",
        ),
        Param(
            "packages",
            str,
            "1",
            "by which a layer is shared, of the topology's kind; of a machine of parts 1 or all; "
            f"whole: {WHOLE['packages']}",
        ),
        Param("batch", str, "1,64", f"sequences in decode; whole: {WHOLE['batch']}"),
        Param("kv", str, "512,2048", f"keys of each; whole: {WHOLE['kv']}"),
        Param("tokens", str, "128", f"tokens of a prefill; whole: {WHOLE['tokens']}"),
        Param("whole", bool, False, "all of it instead, a night on one machine"),
        Param(
            "flit_bytes", int, 1024, "coarse flits are 1 to 9 % slow and simulate twice as fast", minimum=64
        ),
    ],
)
def run(evaluator: Evaluator) -> None:
    """A layer for each model, number of packages and size."""
    p = {**evaluator.params, **(WHOLE if evaluator.params["whole"] else {})}
    models = [named(one) for one in str(p["models"]).split(",")]
    for which in models:
        sizes_of(**which)  # refuses what there is not, before anything runs
    sizes = [
        {"phase": "decode", "batch": b, "kv": k} for b in _numbers(p, "batch") for k in _numbers(p, "kv")
    ]
    sizes += [{"phase": "prefill", "tokens": t} for t in _numbers(p, "tokens")]
    rows: Rows = []
    shares: Rows = []
    for packages in _numbers(p, "packages"):
        points = [
            {**which, "resident": True, "capacity": "model", **size} for which in models for size in sizes
        ]
        topo = {"system.flit_bytes": p["flit_bytes"], **_of_so_many(evaluator, packages)}
        device = "sip:0" if packages == 1 else "all"
        found = evaluator.points("llama-decoder", points, topo=topo, device=device, verify=False)
        for point, one in zip(points, found, strict=True):
            if one is None:
                continue
            size = {k: point.get(k, "") for k in ("phase", "batch", "kv", "tokens")}
            row = {"model": _model(point).name, "packages": packages, **size}
            parts = ns_by_part(one.launches)
            rows.append({**row, **_measure(one, point), "run_id": one.id})
            shares.append({**row, **{part: parts.get(part, 0.0) / _layer_ns(one) for part in PARTS}})
    evaluator.table("llama", rows)
    evaluator.table("parts", shares)
    if rows:
        evaluator.figure("parts", lambda figure: _bars(figure, shares), (10.0, 1.5 + 0.32 * len(shares)))
        evaluator.figure("tokens", lambda figure: _beside_roof(figure, rows), (10.0, 1.5 + 0.32 * len(rows)))
    evaluator.note(
        "A step is as many layers as the model has, each as long as the one simulated; embedding and "
        "vocabulary are left out. Roof: each launch as fast as the busiest of engines, memory and links "
        "allows. hbm, links_in_dies and links_between_dies, those between packages among them: share of "
        "their bandwidth used, of the first package. mj_token: energy of all packages, mJ a token."
    )


def _numbers(params: dict[str, Any], name: str) -> list[int]:
    try:
        found = [int(text) for text in str(params[name]).split(",") if text]
    except ValueError:
        raise UsageError(
            f"evaluation 'llama', parameter '{name}': '{params[name]}' is not a list of whole numbers; "
            "write one or more with commas between them, such as 1,64"
        ) from None
    if any(number < 1 for number in found):
        raise UsageError(f"evaluation 'llama', parameter '{name}': {params[name]} must be 1 or more each")
    return found


def _of_so_many(evaluator: Evaluator, packages: int) -> dict[str, object]:
    """Changes that give the machine ``packages`` packages; a machine of parts has those of its file."""
    graph = evaluator.machine()
    there = int(graph.properties["sips"])
    if "parts" not in json.loads(str(graph.properties["spec"])):
        return {"system.sips": packages}
    if packages not in (1, there):
        raise UsageError(
            f"evaluation 'llama', parameter 'packages': {graph.properties['name']} is made of parts "
            f"and has {there} packages, so it cannot have {packages}; give 1 or {there}"
        )
    return {}


def _first(run: PointRun) -> set[int]:
    """The launches of the first package."""
    return {one["launch"] for one in run.launches if one["rank"] in (None, 0)}


def _layer_ns(run: PointRun) -> float:
    """From the start of the first launch to the end of the last, waits for other packages included."""
    ends = [(float(one["t_start"]), float(one["t_done"])) for one in run.launches]
    return max(end for _, end in ends) - min(start for start, _ in ends)


def _model(point: dict[str, Any]) -> Model:
    return sizes_of(point.get("model", ""), point.get("config", ""))


def _measure(run: PointRun, point: dict[str, Any]) -> dict[str, Any]:
    model, mine = _model(point), _first(run)
    tokens = point.get("tokens") or point["batch"]
    roof = [row for row in run.roofline("launch") if row["launch"] in mine]
    layer_ns, light_ns = _layer_ns(run), sum(row["light_ns"] for row in roof)
    rate = tokens * 1e9 / model.layers

    def used(name: str) -> float:
        peak = max((row[f"{name}_gbs"] for row in roof), default=0.0)
        return float(sum(row[f"{name}_bytes"] for row in roof) / (peak * layer_ns)) if peak else 0.0

    return {
        "layer_us": layer_ns / 1e3,
        "step_ms": layer_ns * model.layers / 1e6,
        "tokens_s": rate / layer_ns,
        "roof_tokens_s": rate / light_ns,
        "of_roof": light_ns / layer_ns,
        "hbm": used("hbm"),
        "links_in_dies": used("link"),
        "links_between_dies": used("package"),
        "mj_token": run.energy()["launches_pj"] * model.layers / tokens / 1e9,
    }


def _name(row: dict[str, Any]) -> str:
    size = f"{row['batch']} x {row['kv']}" if row["phase"] == "decode" else f"{row['tokens']}"
    return f"{row['model']} on {row['packages']}, {row['phase']} {size}"


def _bars(figure: Figure, rows: Rows) -> None:
    """Shares of a layer's time, a bar a point."""
    figure.suptitle("Where a layer's time goes", fontsize=12, fontweight="bold")
    axes = figure.subplots()
    left = [0.0 for _ in rows]
    for part, colour in PARTS.items():
        width = [row[part] for row in rows]
        axes.barh(_names(rows), width, left=left, color=colour, label=part)
        left = [a + b for a, b in zip(left, width, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the time")
    axes.legend(frameon=False, fontsize=8, ncols=len(PARTS), loc="lower center", bbox_to_anchor=(0.4, 1.0))


def _beside_roof(figure: Figure, rows: Rows) -> None:
    """Tokens a second, and those of the roof."""
    figure.suptitle("Tokens a second", fontsize=12, fontweight="bold")
    axes = figure.subplots()
    names = _names(rows)
    axes.barh(names, [row["roof_tokens_s"] for row in rows], color=FAINT, label="roof")
    axes.barh(names, [row["tokens_s"] for row in rows], color=BLUE, height=0.5, label="simulated")
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(left=10 ** floor(log10(min(row["tokens_s"] for row in rows))) / 2)
    axes.legend(frameon=False, fontsize=8)


def _names(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [_name(row) for row in rows]
