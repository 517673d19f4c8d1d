"""What results show of themselves: their tabs, and what notebooks and ``print`` draw.

The drawing is in :mod:`kernbench.api.contents`, above the results; :mod:`kernbench.notebook` puts it here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from kernbench.draw.content import Content

SHOWN: dict[str, Callable[..., Content]] = {}
"""What draws a result, by what is shown: ``run``, ``tab``, ``advice`` and others."""


class Shows:
    """A result that is the same tables and lines in the shell, in a notebook and where it is printed."""

    __slots__ = ()

    shown_as: ClassVar[str]
    """Its entry of :data:`SHOWN`."""

    def content(self) -> Content:
        """Its lines and tables."""
        return SHOWN[self.shown_as](self)

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
