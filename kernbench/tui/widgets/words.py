"""Texts for widgets that show nothing but what they say: no markup, no control characters.

Names of launches, runs, parameters and folders are the user's, and may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from kernbench.draw.cells import printable


def plain(text: str) -> Content:
    """A text as it is; its lines stay lines."""
    return Content(_lines(text))


def styled(*parts: str | tuple[str, str]) -> Content:
    """Texts one after the other, some of them with a style: ``("text", "bold")``."""
    shown = [(part, "") if isinstance(part, str) else part for part in parts]
    return Content("").join([Content.styled(_lines(text), style) for text, style in shown])


def facts(pairs: Iterable[tuple[str, str]], width: int = 0) -> Content:
    """A line for each name and value, the names bold and of one width, ``width`` at least."""
    listed = [(printable(name), printable(value)) for name, value in pairs]
    wide = max((len(name) for name, _ in listed), default=0)
    lines = [styled((name.ljust(max(wide, width)), "bold"), f"  {value}") for name, value in listed]
    return Content("\n").join(lines)


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
