"""The formats that a view can be written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kernbench.report.dot import dot
from kernbench.report.mermaid import mermaid
from kernbench.report.svg import svg
from kernbench.report.views import Overlay, View


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its writer, and how its files end."""

    write: Callable[[View, Overlay | None, str], str]
    suffix: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {"svg": Format(svg, ".svg"), "mermaid": Format(mermaid, ".mmd"), "dot": Format(dot, ".dot")}
)
"""By the name that ``--to`` takes."""
