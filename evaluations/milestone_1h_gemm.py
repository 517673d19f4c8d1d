"""The tiled GEMM of one PE by shape and staging: where time goes, how busy the MACs are (ADR-0044)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from _gemm_pipeline import (
    STAGES,
    Hardware,
    ideal,
    measure_stages,
    row_of,
    shape_of,
    under_tile,
)

from kernbench.api.evaluations import evaluation
from kernbench.api.sweeps.evaluator import Evaluator
from kernbench.errors import UsageError
from kernbench.hardware.kinds.links import BLUE, FAINT, GREEN, ORANGE, SKY, VERMILION
from kernbench.workloads.benches.matmul_composite import VARIANTS
from kernbench.workloads.benches.params import Param

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHAPES = "32x128x32,32x512x32,32x3072x32,16x128x16,128x128x128,256x256x256,64x1024x64,512x512x512"
NOT_DRAWN = "512x512x512"
"""A shape that is measured and left out of the figures: its bars would flatten all others."""
DTYPE = "f16"
PACKED = {"pe.pe_scheduler.tile_transfers": "packed"}
"""As the record's figures have it: the ideal pipeline knows no rows."""
_COLOURS = {"dma_in": BLUE, "fetch": SKY, "gemm": VERMILION, "dma_out": GREEN}
Rows = list[dict[str, Any]]


@evaluation(
    name="milestone-1h-gemm",
    description="Tiled GEMM on one PE: stages, and MAC utilisation measured and against the ideal pipeline.",
    params=[Param("shapes", str, SHAPES, "MxKxN between commas")],
)
def run(evaluator: Evaluator) -> None:
    """Each shape with each staging of its operands."""
    shapes = [text.strip() for text in str(evaluator.params["shapes"]).split(",")]
    if bad := [text for text in shapes if not re.fullmatch(r"[1-9]\d*x[1-9]\d*x[1-9]\d*", text)]:
        raise UsageError(f"evaluation 'milestone-1h-gemm': shape '{bad[0]}' is not MxKxN, such as 32x128x32")
    hardware = Hardware.of(evaluator.machine())
    wanted = [(text, variant) for text in shapes for variant in VARIANTS]
    points = [
        {**row_of(shape_of(text), variant), "dtype": DTYPE, "tiles": "native"} for text, variant in wanted
    ]
    rows: Rows = []
    for (text, variant), found in zip(
        wanted, evaluator.points("matmul-composite", points, topo=PACKED), strict=True
    ):
        if found is None:
            continue
        shape = shape_of(text)
        rows.append(
            {
                "shape": text,
                "variant": variant,
                "under_tile": under_tile(shape, hardware),
                **measure_stages(found, shape, hardware),
                **ideal(shape, variant, DTYPE, hardware),
                "run_id": found.id,
            }
        )
    evaluator.table("gemm", rows)
    evaluator.note("Tiles are the hardware's and move in one piece (pe.pe_scheduler.tile_transfers: packed).")
    drawn = [row for row in rows if row["shape"] != NOT_DRAWN and row["variant"] == "load_ref"]
    if not drawn:
        return
    evaluator.figure("stage-breakdown", lambda figure: _stages(figure, drawn), (11.0, 5.0))
    evaluator.figure("mac-utilisation", lambda figure: _utilisation(figure, drawn), (11.0, 5.0))
    evaluator.figure("ideal-against-measured", lambda figure: _against(figure, drawn), (11.0, 5.0))
    evaluator.note("The figures show the staging load_ref: A is pinned in TCM, B is streamed.")


def _names(rows: Rows) -> list[str]:
    return [f"{row['shape']}\n(under-tile)" if row["under_tile"] else row["shape"] for row in rows]


def _draw_groups(
    figure: Figure, rows: Rows, series: dict[str, tuple[str, str, str]], label: str, unit: str
) -> Any:
    """Bars side by side: ``series`` has the key of the rows, the colour and the hatch by name."""
    axes = figure.subplots()
    wide = 0.8 / len(series)
    for number, (name, (key, colour, hatch)) in enumerate(series.items()):
        places = [place - 0.4 + wide * (number + 0.5) for place in range(len(rows))]
        heights = [row[key] * (100.0 if unit == "%" else 1.0) for row in rows]
        axes.bar(places, heights, wide * 0.94, color=colour, hatch=hatch, edgecolor="white", label=name)
        for place, height in zip(places, heights, strict=True):
            axes.annotate(
                f"{height:.0f}", (place, height), (0, 2), textcoords="offset points", ha="center", fontsize=7
            )
    axes.set_xticks(range(len(rows)), _names(rows), fontsize=8)
    axes.set_ylabel(label)
    axes.grid(axis="y", color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return axes


def _stages(figure: Figure, rows: Rows) -> None:
    figure.suptitle("Busy time of each stage, load_ref (M x K x N)", fontsize=12, fontweight="bold")
    series = {name: (f"{key}_busy_ns", _COLOURS[key], "") for key, name in STAGES.items()}
    axes = _draw_groups(figure, rows, series, "ns, overlaps counted once (log)", "ns")
    axes.set_yscale("log")


def _utilisation(figure: Figure, rows: Rows) -> None:
    figure.suptitle("MAC utilisation measured, load_ref (M x K x N)", fontsize=12, fontweight="bold")
    series = {
        "GEMM engine busy": ("mac_utilisation", VERMILION, ""),
        "useful multiply-accumulates": ("mac_efficiency", ORANGE, "////"),
    }
    _draw_groups(figure, rows, series, "% of the PE's window", "%")


def _against(figure: Figure, rows: Rows) -> None:
    figure.suptitle(
        "MAC utilisation: ideal pipeline of the topology against measured, load_ref (M x K x N)",
        fontsize=12,
        fontweight="bold",
    )
    series = {
        "ideal": ("ideal_mac_utilisation", FAINT, ""),
        "measured": ("mac_utilisation", VERMILION, ""),
        "ideal, useful": ("ideal_mac_efficiency", FAINT, "////"),
        "measured, useful": ("mac_efficiency", ORANGE, "////"),
    }
    _draw_groups(figure, rows, series, "% of the PE's window", "%")
