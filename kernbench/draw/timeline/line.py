"""A run's timeline, as Python has it."""

from __future__ import annotations

import shutil

from kernbench.draw.timeline.model import TimelineContent
from kernbench.errors import UsageError


class TimeLine(TimelineContent):
    """Launches, PEs with their engines, and links, on one axis; made by :meth:`kernbench.Run.timeline`.

    ``print`` shows it in a terminal, a notebook as a picture.
    """

    def __repr__(self) -> str:
        return f"<TimeLine of {self.title}: {self.ns:.1f} ns>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg()}</div>'

    def text(self, width: int | None = None, *, ascii_only: bool = False) -> str:
        """Lines of ``width`` characters, by default the terminal's; each shows an interval of time.

        The height of a character is the occupancy of its engine in that time.
        """
        from kernbench.draw.timeline.text import text

        columns = width or shutil.get_terminal_size((110, 24)).columns
        if columns < 40:
            raise UsageError(f"a timeline needs 40 characters; {columns} are too few")
        return text(self, columns, plain=ascii_only)

    def svg(self) -> str:
        """The picture as SVG; bars show name, number, times and source line under the pointer."""
        from kernbench.draw.timeline.svg import svg

        return svg(self)
