"""A page: a title, a few facts, and tables behind tabs that are loaded when first looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernbench.draw.targets import Target
from kernbench.tui.models.table import ShownTable

_LEAST = 2
"""Characters of a name that is cut."""

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TabSection:
    """A tab: its name and its table, which may take a while to work out."""

    name: str
    load: Callable[[], ShownTable]
    short: str = ""
    """A name for a terminal without room for those of all tabs; the same by default."""
    cursor: int = 0
    """The row that is looked at first."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that one screen shows of one thing."""

    title: str
    facts: Facts
    sections: Sequence[TabSection]
    target: Target | None = None
    """The thing itself; None for what has no name, such as a comparison."""
    run: str = ""
    """Id of the run to which the numbers in its rows belong; empty for pages over all runs."""
    source: str = ""
    """The file whose lines rows may lead to; empty where the run keeps none."""
    leads: Callable[[Mapping[str, Any]], tuple[str, str] | None] = field(default=lambda _row: None)
    """What a row without a link target opens: the tab and its filter; None for nothing."""

    def labels(self, width: int) -> list[str]:
        """Names of the tabs, whole, short or cut, such that they fit ``width`` with blanks on either side."""
        room = width - 2 * len(self.sections)
        names = [section.name for section in self.sections]
        if sum(map(len, names)) > room:
            names = [section.short or section.name for section in self.sections]
        longest = max(map(len, names), default=0)
        while sum(min(len(name), longest) for name in names) > room and longest > _LEAST:
            longest -= 1
        return [name[:longest] for name in names]
