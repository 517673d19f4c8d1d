"""all_reduce over six SIPs by size, pattern between SIPs, and memory of the queues' slots (ADR-0043)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import _ccl_theory
import yaml
from _axes import bytes_axis

from kernbench.api.evaluations import evaluation
from kernbench.api.sweeps.evaluator import Evaluator
from kernbench.errors import UsageError
from kernbench.hardware.kinds.links import BLUE, FAINT, GREEN, VERMILION
from kernbench.hardware.topology.neighbours import MachineShape, neighbours
from kernbench.support import dtypes
from kernbench.support.data_files import data_dir
from kernbench.workloads.benches.params import Param

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ELEMENTS = "8,16,32,64,128,512,1024,2048,4096,8192,16384,32768,49152"
KIND_ELEMENTS = "64,512,4096,16384"
DTYPE = "f16"
_SIX = {"system.sips": 6}
GRIDS: dict[str, dict[str, object]] = {
    "ring 6": {**_SIX, "system.inter_sip": {"pattern": "ring_1d"}},
    "torus 2x3": {**_SIX, "system.inter_sip": {"pattern": "torus_2d", "w": 2, "h": 3}},
    "mesh 2x3": {**_SIX, "system.inter_sip": {"pattern": "mesh_2d_no_wrap", "w": 2, "h": 3}},
    "torus 3x2": {**_SIX, "system.inter_sip": {"pattern": "torus_2d", "w": 3, "h": 2}},
}
"""Changes of the topology for each arrangement of SIPs, columns x rows."""
BY_SIZE = ("ring 6", "torus 2x3", "mesh 2x3")
BY_KIND = "torus 3x2"
KINDS = {"tcm": BLUE, "sram": GREEN, "hbm": VERMILION}
Rows = list[dict[str, Any]]


@evaluation(
    name="milestone-1h-ccl",
    description="all_reduce over six SIPs: by size on ring, torus and mesh, and by memory of the slots.",
    params=[
        Param("elements", str, ELEMENTS, "elements of each cube's row, between commas"),
        Param("kind_elements", str, KIND_ELEMENTS, "likewise, where memories of the slots are compared"),
        Param("grids", str, ",".join(BY_SIZE), "arrangements of the SIPs, between commas"),
    ],
)
def run(evaluator: Evaluator) -> None:
    """Latency is the largest time of a PE; the values of every point are checked against numpy."""
    sizes = _sizes(evaluator, "elements")
    grids = [text.strip() for text in str(evaluator.params["grids"]).split(",")]
    if unknown := [grid for grid in grids if grid not in GRIDS]:
        raise UsageError(
            f"evaluation 'milestone-1h-ccl': there is no grid '{unknown[0]}'; use some of {', '.join(GRIDS)}"
        )
    rows: Rows = []
    for grid in grids:
        rows += _measure(evaluator, grid, [{"elements": n} for n in sizes])
    evaluator.table("all_reduce", rows)
    points = [
        {"elements": n, "buffer_kind": kind} for kind in KINDS for n in _sizes(evaluator, "kind_elements")
    ]
    kinds = _measure(evaluator, BY_KIND, points)
    evaluator.table("buffer_kinds", kinds)
    for grid in grids:
        if own := [row for row in rows if row["grid"] == grid]:
            name = f"all_reduce-{grid.replace(' ', '-')}"
            evaluator.figure(name, lambda figure, own=own, grid=grid: _latency(figure, own, grid), (7.5, 4.5))  # type: ignore[misc]
    if kinds:
        evaluator.figure("buffer-kinds", lambda figure: _kinds(figure, kinds), (7.5, 4.5))
    shapes = {grid: MachineShape.of(evaluator.machine(topo=GRIDS[grid])) for grid in (*grids, BY_KIND)}
    evaluator.figure("sips", lambda figure: _picture(figure, shapes), (3.4 * len(shapes), 3.4))
    reference = reference_point()
    against = [row for row in rows if row["bytes_per_pe"] == reference["bytes_per_pe"]]
    if against:
        evaluator.figure("reference", lambda figure: _against(figure, against, reference), (6.5, 4.8))
        evaluator.note(f"{reference['name']}: {reference['source'].strip()}")
    evaluator.note(_ccl_theory.sources())
    evaluator.note(
        "The latency of a point is the largest time of a PE, from the start of its kernel to its end; a PE's "
        "bytes are its cube's row, for one PE a cube takes part."
    )


def reference_point() -> dict[str, Any]:
    """``bytes_per_pe latency_ns name source`` of the point that results are set beside."""
    file = data_dir("configs") / "evaluations" / "allreduce-reference.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def _sizes(evaluator: Evaluator, name: str) -> list[int]:
    texts = [text.strip() for text in str(evaluator.params[name]).split(",")]
    if bad := [text for text in texts if not text.isdecimal() or len(text) > 9 or int(text) < 1]:
        raise UsageError(
            f"evaluation 'milestone-1h-ccl', parameter '{name}': '{bad[0]}' is not a number of elements"
        )
    return [int(text) for text in texts]


def _measure(evaluator: Evaluator, grid: str, points: list[dict[str, Any]]) -> Rows:
    rows: Rows = []
    wanted = [{**point, "dtype": DTYPE} for point in points]
    for point, found in zip(points, evaluator.points("ccl-allreduce", wanted, topo=GRIDS[grid]), strict=True):
        if found is not None:
            rows.append(
                {
                    "grid": grid,
                    **point,
                    "bytes_per_pe": point["elements"] * dtypes.dtype(DTYPE).itemsize,
                    "theory_ns": _ccl_theory.line_ns(point["elements"] * dtypes.dtype(DTYPE).itemsize),
                    "latency_ns": max(float(launch["pe_ns"]) for launch in found.launches),
                    "verified": found.verified,
                    "run_id": found.id,
                }
            )
    return rows


def _latency(figure: Figure, rows: Rows, grid: str) -> None:
    figure.suptitle(f"all_reduce over cubes and SIPs, {grid}", fontsize=12, fontweight="bold")
    axes = figure.subplots()
    axes.plot(*_line(rows), color=BLUE, marker="o", markersize=5, label="simulated")
    _finish(axes)
    _ccl_theory.draw(axes, [row["bytes_per_pe"] for row in rows], torus=grid.startswith("torus"))


def _kinds(figure: Figure, rows: Rows) -> None:
    figure.suptitle(f"all_reduce by memory of the queues' slots, {BY_KIND}", fontsize=12, fontweight="bold")
    axes = figure.subplots()
    for kind, colour in KINDS.items():
        if own := [row for row in rows if row["buffer_kind"] == kind]:
            axes.plot(*_line(own), color=colour, marker="o", markersize=5, label=kind)
    _finish(axes)
    axes.legend(frameon=False)


def _line(rows: Rows) -> tuple[list[float], list[float]]:
    return [row["bytes_per_pe"] for row in rows], [row["latency_ns"] / 1e3 for row in rows]


def _finish(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    bytes_axis(axes)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda us, _: f"{us:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("bytes a PE")
    axes.set_ylabel("us, the slowest PE")
    axes.grid(color="#e4e7eb", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def _picture(figure: Figure, shapes: dict[str, MachineShape]) -> None:
    """The SIPs and who is whose neighbour, as the collectives see them; links that wrap around are arcs."""
    from matplotlib.patches import FancyArrowPatch

    for axes, (grid, shape) in zip(
        figure.subplots(1, len(shapes), squeeze=False)[0], shapes.items(), strict=True
    ):
        wide = shape.sip_grid[0] if shape.inter_sip != "ring_1d" else 3
        place = {sip: (sip % wide, -(sip // wide)) for sip in range(shape.sips)}
        if shape.inter_sip == "ring_1d":  # the second row runs back
            place = {sip: (sip if sip < wide else 2 * wide - 1 - sip, -(sip // wide)) for sip in place}
        table = neighbours("inter_sip", shape, [(sip, 0, 0) for sip in range(shape.sips)])
        joined = {tuple(sorted((a[0], b[0]))) for a, to in table.items() for b in to.values()}
        for a, b in sorted(joined):
            far = abs(place[a][0] - place[b][0]) + abs(place[a][1] - place[b][1]) > 1
            axes.add_patch(
                FancyArrowPatch(
                    place[a],
                    place[b],
                    arrowstyle="-",
                    color=VERMILION if far else FAINT,
                    linewidth=1.8,
                    connectionstyle="arc3,rad=0.35" if far else "arc3",
                    shrinkA=14,
                    shrinkB=14,
                )
            )
        for sip, (x, y) in place.items():
            axes.plot([x], [y], "s", markersize=26, color=BLUE)
            axes.annotate(str(sip), (x, y), ha="center", va="center", color="white", fontsize=11)
        axes.set_title(grid, fontsize=11)
        axes.set_xlim(-0.8, max(x for x, _ in place.values()) + 0.8)
        axes.set_ylim(min(y for _, y in place.values()) - 0.8, 0.8)
        axes.set_aspect("equal")
        axes.axis("off")


def _against(figure: Figure, rows: Rows, reference: dict[str, Any]) -> None:
    """Bars, with an axis that is broken where the reference point would flatten the others."""
    nbytes = reference["bytes_per_pe"] // 1024
    figure.suptitle(
        f"all_reduce of {nbytes} KB a PE, beside a reference point", fontsize=12, fontweight="bold"
    )
    times = [row["latency_ns"] / 1e3 for row in rows] + [reference["latency_ns"] / 1e3]
    names = [row["grid"] for row in rows] + [reference["name"]]
    colours = [BLUE] * len(rows) + [FAINT]
    ordered = sorted(times)
    broken = len(times) > 1 and ordered[-1] > 3 * ordered[-2]
    panels = figure.subplots(
        2 if broken else 1, 1, sharex=True, squeeze=False, height_ratios=[1, 3] if broken else None
    )
    for axes in panels[:, 0]:
        axes.bar(range(len(times)), times, 0.6, color=colours)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xticks(range(len(names)), names, fontsize=9)
    if broken:
        upper, lower = panels[:, 0]
        upper.set_ylim(ordered[-1] * 0.95, ordered[-1] * 1.05)
        lower.set_ylim(0, ordered[-2] * 1.25)
        upper.spines["bottom"].set_visible(False)
        upper.tick_params(axis="x", length=0)
        for axes, y in ((upper, 0.0), (lower, 1.0)):
            axes.plot(
                [0], [y], transform=axes.transAxes, marker=[(-1, -0.6), (1, 0.6)], markersize=12, color="k",
                clip_on=False,
            )  # fmt: skip
    for place, time in enumerate(times):
        axes = panels[0 if broken and time == ordered[-1] else -1, 0]
        axes.annotate(
            f"{time:.1f}", (place, time), (0, 3), textcoords="offset points", ha="center", fontsize=9
        )
    panels[-1, 0].set_ylabel("us, the slowest PE")
