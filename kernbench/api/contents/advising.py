"""Advice on a run that is named: what it is about, then each piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernbench.api.contents import advice
from kernbench.draw.cells import number
from kernbench.draw.content import Content


def content(found: Mapping[str, Any]) -> Content:
    """What :func:`kernbench.advise` has found."""
    shown = advice.content(found["advice"])
    of = f"{found['bench']} on {found['topology']}, {found['window']}: {number(found['ns'])} ns"
    return replace(shown, said=[of, *shown.said])
