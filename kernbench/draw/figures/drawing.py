"""What all figures need: matplotlib, which is imported only when something is drawn, and files of theirs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbench.errors import MissingExtraError
from kernbench.hardware.kinds.links import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from kernbench.support.pgraph import install
from kernbench.support.written_files import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
"""Of lines and points, in the order in which they are taken."""


def require() -> None:
    """:class:`~kernbench.errors.MissingExtraError` when matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"figures need matplotlib, which is not installed; run: {install('figures')}"
        ) from None


def blank(size: tuple[float, float], title: str = "") -> Figure:
    """A figure of ``size`` inches with nothing in it; raises as :func:`require` does."""
    require()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=110)
    figure.set_layout_engine("constrained")
    if title:
        figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure


def with_grid(axes: Axes, thick: float = 0.8) -> None:
    """Pale lines behind what is drawn, and a frame of two sides."""
    axes.grid(color="#e4e7eb", linewidth=thick)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, file: str | BinaryIO) -> None:
    """Write a PNG: the same bytes for the same figure, so without matplotlib's version in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    plain: dict[str, Any] = {"Software": None}
    with writing(file) if isinstance(file, str) else nullcontext(file) as out:
        figure.savefig(out, format="png", metadata=plain)
