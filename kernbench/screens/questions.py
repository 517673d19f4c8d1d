"""Answers to questions on every screen: their columns, and the text shown when there are no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernbench.report.content import Column, column

EMPTY = "no matching rows in this run"


def columns(question: Mapping[str, Any], names: Sequence[str]) -> list[Column]:
    """The columns of these names, with what :func:`kernbench.question` says of them."""
    known = {one["name"]: Column(one["name"], one["unit"]) for one in question["returns"]}
    return [known.get(name) or column(name) for name in names]
