"""One page of what a machine makes of a model: the tables, and the figure where matplotlib is installed."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from kernbench.draw.figures import drawing
from kernbench.draw.figures.model_plot import model_figure
from kernbench.errors import MissingExtraError
from kernbench.export.html import files
from kernbench.support.written_files import writing

if TYPE_CHECKING:
    from kernbench.api.models.model import ModelAnswer


def write_page(found: ModelAnswer, file: Path) -> None:
    """Write the page."""
    shown = found.content
    with writing(file) as partial:
        partial.write_text(files.still(shown.title, shown.html() + _figure(found)), encoding="utf-8")


def _figure(found: ModelAnswer) -> str:
    rows = [row for row in found.steps if row["phase"] == "decode"]
    drawn = BytesIO()
    try:
        if rows:
            drawing.save(model_figure(rows), drawn)
    except MissingExtraError as missing:
        return f"<p>{missing}</p>"
    data = base64.b64encode(drawn.getvalue()).decode("ascii")
    return f'<p><img alt="tokens a second by batch" src="data:image/png;base64,{data}"></p>' if rows else ""
