"""Tracks over time: a line for each track, a character for each interval, as high as it was occupied."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kernbench.draw.cells import number, printable
from kernbench.draw.colours import STEPS, step
from kernbench.tui.models.timeline import Timeline, TimeSpan
from kernbench.tui.widgets.lines import Lines

_LEVELS = " ▁▂▃▄▅▆▇█"
_PAINTS = tuple(Style(color=colour) for colour in STEPS)


class Bars(Lines):
    """Draws a :class:`Timeline`; zooms, moves, opens the track under the cursor."""

    DEFAULT_CSS = """
    Bars { height: 1fr; }
    Bars > .bars--cursor { background: $primary; color: $text; text-style: bold; }
    Bars > .bars--axis { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"bars--cursor", "bars--axis"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "pan(-0.25)", "Earlier", show=False),
        Binding("right,l", "pan(0.25)", "Later", show=False),
        Binding("plus,equals_sign,z", "zoom(0.5)", "Zoom in", key_display="+"),
        Binding("minus,Z", "zoom(2.0)", "Zoom out", key_display="-"),
        Binding("0", "whole", "All", show=False),
    ]

    class Opened(Message):
        """A track is to be opened: a resource by name, or a launch by number."""

        def __init__(self, track: str | int) -> None:
            super().__init__()
            self.track = track

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.timeline: Timeline | None = None
        self.tracks: list[str] = []
        self.span = TimeSpan(0.0, 0.0)
        self._lines: dict[int, list[float]] = {}

    def show(self, timeline: Timeline, tracks: list[str]) -> None:
        """Draw other tracks; the interval stays if it is still of that window."""
        if self.timeline is None or self.timeline.whole != timeline.whole:
            self.span = timeline.whole
        self.timeline, self.tracks = timeline, tracks
        self.virtual_size = Size(self.room, self.count + 1)
        self.cursor = min(self.cursor, max(self.count - 1, 0))
        self._redraw()

    @property
    def count(self) -> int:
        """Launches and tracks."""
        return len(self.tracks) + (len(self.timeline.launches) if self.timeline else 0)

    @property
    def _names(self) -> int:
        """Characters for names."""
        return min(36, max(14, self.room // 3))

    @property
    def _bins(self) -> int:
        return max(self.room - self._names - 2, 1)

    def _redraw(self) -> None:
        self._lines.clear()
        self.refresh()

    def on_resize(self) -> None:
        """As many intervals as there are characters."""
        self._redraw()

    def action_pan(self, share: float) -> None:
        """Earlier or later."""
        if self.timeline is not None:
            self.span = self.span.moved(share, self.timeline.whole)
            self._redraw()

    def action_zoom(self, factor: float) -> None:
        """Closer, or further away; a thousandth of a ns is as close as it gets."""
        if self.timeline is not None and (factor > 1 or self.span.end - self.span.begin > 1e-3):
            self.span = self.span.zoomed(factor, self.timeline.whole)
            self._redraw()

    def action_whole(self) -> None:
        """The whole window."""
        if self.timeline is not None:
            self.span = self.timeline.whole
            self._redraw()

    def action_open(self) -> None:
        """Open the track under the cursor."""
        if self.timeline is not None and self.count:
            launches = len(self.timeline.launches)
            at = self.cursor
            self.post_message(self.Opened(at if at < launches else self.tracks[at - launches]))

    def render_line(self, y: int) -> Strip:
        """The axis, or a track."""
        width, base = self.room, self.rich_style
        if self.timeline is None:
            return Strip.blank(width, base)
        if y == 0:
            style = self.get_component_rich_style("bars--axis")
            return Strip([Segment(self._axis(), style)]).adjust_cell_length(width, style)
        row = self.scroll_offset.y + y - 1
        if row >= self.count:
            return Strip.blank(width, base)
        launches = len(self.timeline.launches)
        name = self.timeline.launches[row][0] if row < launches else self.tracks[row - launches]
        wide = self._names
        name = printable(name)
        shown = name if len(name) <= wide else f"…{name[-wide + 1 :]}"
        style = self.get_component_rich_style("bars--cursor") if row == self.cursor else base
        segments = [Segment(f"{shown.ljust(wide)} ", style)]
        for share in self._line(row):
            level = _LEVELS[0] if share <= 0 else _LEVELS[max(1, round(share * 8))]
            at = step(share, 1.0)
            segments.append(Segment(level, base if at < 0 else base + _PAINTS[at]))
        return Strip(segments).adjust_cell_length(width, base)

    def _line(self, row: int) -> list[float]:
        """The shares of a track, worked out when it is first seen."""
        assert self.timeline is not None
        if row not in self._lines:
            launches = len(self.timeline.launches)
            if row < launches:
                found = self.timeline.launch_shares(row, self.span, self._bins)
            else:
                found = self.timeline.shares(self.tracks[row - launches], self.span, self._bins)
            self._lines[row] = found.tolist()
        return self._lines[row]

    def _axis(self) -> str:
        """Start, middle and end, relative to the start of the window."""
        assert self.timeline is not None
        zero, span, bins = self.timeline.whole.begin, self.span, self._bins
        begin, end = (f"{number(time - zero)} ns" for time in (span.begin, span.end))
        middle = number((span.begin + span.end) / 2 - zero)
        line = begin.ljust(bins - len(end)) + end
        at = (bins - len(middle)) // 2
        if at > len(begin) + 1:
            line = line[:at] + middle + line[at + len(middle) :]
        return " " * (self._names + 1) + line
