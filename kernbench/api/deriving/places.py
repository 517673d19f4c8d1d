"""The critical path summed by component or link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.api.deriving.sums import summed


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``place ns total_ns steps longest_ns`` per component or link."""
    return summed(asked, params["launch"], "place")
