"""Axes that evaluations share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bytes_axis(axes: Axes) -> None:
    """The x axis by powers of two, as ``16 B`` and ``64 KB``."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda nbytes, _: size_text(nbytes))


def size_text(nbytes: float) -> str:
    """``16 B`` or ``64 KB``."""
    return f"{nbytes:g} B" if nbytes < 1024 else f"{nbytes / 1024:g} KB"
