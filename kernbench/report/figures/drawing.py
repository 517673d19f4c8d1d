"""What all figures need: matplotlib, which is imported only when something is drawn, and files of theirs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbench.errors import MissingExtraError
from kernbench.written_files import writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require() -> None:
    """:class:`~kernbench.errors.MissingExtraError` when matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "figures need matplotlib, which is not installed; run: pip install 'kernbench[figures]'"
        ) from None


def save(figure: Figure, file: str | BinaryIO) -> None:
    """Write a PNG: the same bytes for the same figure, so without matplotlib's version in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    plain: dict[str, Any] = {"Software": None}
    with writing(file) if isinstance(file, str) else nullcontext(file) as out:
        figure.savefig(out, format="png", metadata=plain)
