"""One page of what a machine makes of a model: the tables, and the figure where matplotlib is installed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from kernbench.draw.figures import drawing
from kernbench.draw.figures.model_plot import model_figure
from kernbench.errors import MissingExtraError
from kernbench.export.html import files

if TYPE_CHECKING:
    from kernbench.api.models.model import ModelAnswer


def write_page(found: ModelAnswer, file: Path) -> None:
    """Write the page."""
    files.write_still(file, found.content(), _figure(found))


def _figure(found: ModelAnswer) -> str:
    rows = [row for row in found.steps if row["phase"] == "decode"]
    if not rows:
        return ""
    drawn = BytesIO()
    try:
        drawing.save(model_figure(rows), drawn)
    except MissingExtraError as missing:
        return f"<p>{missing}</p>"
    return files.picture("tokens a second by batch", drawn.getvalue())
