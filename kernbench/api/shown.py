"""What results show of themselves: their tabs, and what notebooks and ``print`` draw.

The drawing is in :mod:`kernbench.api.contents`, above the results, and is imported when something is shown,
for the sake of start-up time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from kernbench.draw.content import Content, Flat


def drawn(by: str, *given: Any) -> Content:
    """What a function of :mod:`kernbench.api.contents` draws, by its module and name: ``overview:of_run``."""
    module, _, name = by.rpartition(":")
    found: Content = getattr(import_module(f"kernbench.api.contents.{module}".rstrip(".")), name)(*given)
    return found


class Shows:
    """A result that is the same tables and lines in the shell, in a notebook and where it is printed."""

    __slots__ = ()

    shown_by: ClassVar[str]
    """The function that draws it, as for :func:`drawn`."""

    def content(self) -> Content:
        """Its lines and tables."""
        return drawn(self.shown_by, self)

    def flat(self) -> Flat:
        """The one table that CSV has of it: its first, unless a result has all of it in one."""
        return self.content().flat()

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON prints it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.content().html()

    def __str__(self) -> str:
        return self.content().text()


class Found(Shows, dict[str, Any]):
    """A result that is its JSON."""

    def as_dict(self) -> dict[str, Any]:
        """The same as a plain dictionary."""
        return dict(self)


def flat_rows(rows: Sequence[Mapping[str, Any]]) -> Flat:
    """Rows that all have the same keys, as CSV has them."""
    return list(rows[0]) if rows else [], [list(row.values()) for row in rows]
