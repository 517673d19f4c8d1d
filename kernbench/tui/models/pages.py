"""A page: a title, a few facts, and tables behind tabs that are loaded when first looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernbench.report.targets import Target
from kernbench.tui.models.table import ShownTable

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TabSection:
    """A tab: its name and its table, which may take a while to work out."""

    name: str
    load: Callable[[], ShownTable]
    short: str = ""
    """A name for a terminal without room for those of all tabs; the same by default."""


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
    leads: Callable[[Mapping[str, Any]], tuple[str, str] | None] = field(default=lambda _row: None)
    """Where a row leads that names no thing: the tab and its filter; None where it leads nowhere."""

    def labels(self, width: int) -> list[str]:
        """Names of the tabs, the short ones where all do not fit ``width`` with blanks on either side."""
        names = [section.name for section in self.sections]
        if sum(len(name) + 2 for name in names) <= width:
            return names
        return [section.short or section.name for section in self.sections]
