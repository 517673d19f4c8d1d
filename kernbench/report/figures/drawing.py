"""The figures themselves, with matplotlib, which is imported only here and only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernbench.errors import MissingExtraError
from kernbench.kinds.links import BLUE, FAINT, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from kernbench.report.colours import INK
from kernbench.report.figures.breakdown import PARTS
from kernbench.report.figures.transfers import OPS, Row
from kernbench.written_files import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "setup": (YELLOW, "", "setup (DMA, translation)"),
    "mesh": (BLUE, "", "mesh"),
    "ucie": (VERMILION, "", "UCIe"),
    "fabric": (PURPLE, "", "fabric (IO chiplet, PCIe, switch)"),
    "transfer": (SKY, "", "wire transfer"),
    "hbm": (GREEN, "", "HBM"),
    "contention": (ORANGE, "////", "contention"),
}
_TITLES = {"write": "write (acknowledged)", "read": "read (last byte)"}
_ROW_INCHES = 0.42


def require() -> None:
    """:class:`~kernbench.errors.MissingExtraError` when matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "figures need matplotlib, which is not installed; run: pip install 'kernbench[figures]'"
        ) from None


def latency_figure(rows: Sequence[Row], topology: str, nbytes: int) -> Figure:
    """Stacked bars: where the ns of the slowest transfer of each scenario went, writes beside reads."""
    shown = [row for row in rows if row["slowest"]]
    figure, panels = _panels(shown, f"{topology}: latency of one PE DMA transfer of {nbytes} bytes")
    for axes, op in zip(panels, OPS, strict=True):
        bars = [row for row in shown if row["op"] == op]
        places = _places(bars)
        left = [0.0] * len(bars)
        for part in PARTS:
            colour, hatch, label = _LOOKS[part]
            widths = [row[f"{part}_ns"] for row in bars]
            axes.barh(
                places, widths, left=left, height=0.68, color=colour, hatch=hatch, label=label,
                edgecolor="white", linewidth=0.6,
            )  # fmt: skip
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for place, total in zip(places, left, strict=True):
            axes.annotate(
                f"{total:.1f}", (total, place), (4, 0), textcoords="offset points", va="center", fontsize=9
            )
        axes.set_title(_TITLES[op], fontsize=11)
        axes.set_xlabel("ns from submission to answer, slowest flow")
        axes.set_xlim(0, max(row["total_ns"] for row in shown) * 1.12)
    _finish(figure, panels, columns=4)
    return figure


def bandwidth_figure(rows: Sequence[Row], topology: str, nbytes: int) -> Figure:
    """Bars of the bandwidth that all flows of a scenario got together, against what could be had."""
    figure, panels = _panels(rows, f"{topology}: bandwidth of PE DMA transfers of {nbytes} bytes each")
    for axes, op in zip(panels, OPS, strict=True):
        bars = [row for row in rows if row["op"] == op]
        places = _places(bars)
        peaks = [row["peak_gbs"] for row in bars]
        axes.barh(
            places, peaks, height=0.74, color="#eef1f4", edgecolor=FAINT, linewidth=0.8,
            label="peak: the tightest link or memory never idle",
        )  # fmt: skip
        axes.barh(places, [row["achieved_gbs"] for row in bars], height=0.44, color=BLUE, label="achieved")
        for place, row in zip(places, bars, strict=True):
            axes.annotate(
                f"{row['achieved_gbs']:.0f} of {row['peak_gbs']:.0f}  ({row['utilisation'] * 100:.0f} %)",
                (row["peak_gbs"], place), (4, 0), textcoords="offset points", va="center", fontsize=9,
            )  # fmt: skip
        axes.set_title(_TITLES[op].partition(" ")[0], fontsize=11)
        axes.set_xlabel("GB/s, all flows together")
        axes.set_xlim(0, max(row["peak_gbs"] for row in rows) * 1.42)
    _finish(figure, panels, columns=2)
    return figure


def _panels(rows: Sequence[Row], title: str) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    bars = [row for row in rows if row["op"] == OPS[0]]
    figure = Figure(figsize=(12.5, 2.1 + _ROW_INCHES * max(len(bars), 3)), dpi=110)
    figure.set_layout_engine("constrained", wspace=0.06)
    panels = list(figure.subplots(1, len(OPS), sharey=True))
    figure.suptitle(title, fontsize=13, fontweight="bold")
    places = _places(bars)
    panels[0].set_yticks(places, [row["scenario"] for row in bars])
    middle, half = (places[0] + places[-1]) / 2, max((places[-1] - places[0]) / 2 + 0.8, 1.5)
    panels[0].set_ylim(middle + half, middle - half)  # the first on top, and a few bars no thicker than many
    return figure, panels


def _places(bars: Sequence[Row]) -> list[float]:
    """One row a bar; a gap parts what is alone from what contends."""
    return [number + (0.6 if row["contended"] else 0.0) for number, row in enumerate(bars)]


def _finish(figure: Figure, panels: Sequence[Axes], columns: int) -> None:
    from matplotlib.ticker import MaxNLocator

    for axes in panels:
        # No mark at the far end: it would run into the first one of the next panel.
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, prune="upper"))
        axes.grid(axis="x", color="#e4e7eb", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines[["top", "right", "left"]].set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def save(figure: Figure, file: str) -> None:
    """Write a PNG: the same bytes for the same figure, so without matplotlib's version in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    plain: dict[str, Any] = {"Software": None}
    with writing(file):
        figure.savefig(file, metadata=plain)
