"""What is installed and works, on every screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.draw.content import Content, Grid, columns_of


def content(report: Mapping[str, Any]) -> Content:
    """A row for each thing that was looked at."""
    return Content([Grid("checks", "", columns_of("check state detail"), report["checks"])], "")
