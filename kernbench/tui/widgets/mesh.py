"""A map of a mesh: cells and what joins them, coloured by use and with percentages, arrows move about."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kernbench.draw.colours import INK, STEPS, step
from kernbench.tui.models.mesh import At, Cell, MeshMap

_DARK = "#ffffff"
"""Text on the two darkest steps."""


def heat(share: float) -> Style:
    """The colour of a share of time, 0 to 1, on the scale of all pictures; none for what was idle."""
    number = step(share, 1.0)
    if number < 0:
        return Style()
    return Style(bgcolor=STEPS[number], color=_DARK if number >= len(STEPS) - 2 else INK)


def percent(share: float) -> str:
    """At most four characters; empty for what was idle."""
    if share <= 0.0:
        return ""
    return "<1%" if share < 0.005 else f"{share:.0%}"


class MeshWidget(ScrollView, can_focus=True):
    """Draws a :class:`MeshMap`; the cell under the cursor can be opened."""

    DEFAULT_CSS = """
    MeshWidget { height: 1fr; padding: 0; scrollbar-size: 1 1; }
    MeshWidget > .mesh--cursor { text-style: bold reverse; }
    MeshWidget > .mesh--idle { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"mesh--cursor", "mesh--idle"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1, 0)", "Up", show=False),
        Binding("down", "go(1, 0)", "Down", show=False),
        Binding("left", "go(0, -1)", "Left", show=False),
        Binding("right", "go(0, 1)", "Right", show=False),
        Binding("enter", "open", "Open"),
    ]
    cursor: reactive[At] = reactive((0, 0))

    class Moved(Message):
        """The cursor is on another cell."""

        def __init__(self, cell: Cell) -> None:
            super().__init__()
            self.cell = cell

    class Opened(Message):
        """A cell is to be opened."""

        def __init__(self, cell: Cell) -> None:
            super().__init__()
            self.cell = cell

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.map: MeshMap | None = None

    def show(self, found: MeshMap | None) -> None:
        """Draw another map."""
        self.map = found
        if found is not None:
            rows, columns = found.size
            wide = columns * (self._cell + self._gap) - self._gap
            self.virtual_size = Size(wide, rows * 3 - 1)
            if self.cursor not in found.cells:
                self.cursor = min(found.cells)
        self.refresh()

    @property
    def _cell(self) -> int:
        """Characters of a cell: narrow where there are many."""
        return 8 if self.map is not None and self.map.size[1] <= 4 else 6

    @property
    def _gap(self) -> int:
        return 5 if self._cell == 8 else 4

    def watch_cursor(self) -> None:
        """Say where the cursor is, and keep it in sight."""
        self.refresh()
        if self.map is not None and self.cursor in self.map.cells:
            row, column = self.cursor
            left = column * (self._cell + self._gap)
            if not self.scroll_offset.x <= left <= self.scroll_offset.x + self.size.width - self._cell:
                self.scroll_to(x=left, animate=False)
            if not self.scroll_offset.y <= row * 3 <= self.scroll_offset.y + self.size.height - 2:
                self.scroll_to(y=row * 3, animate=False)
            self.post_message(self.Moved(self.map.cells[self.cursor]))

    def action_go(self, down: int, right: int) -> None:
        """To the next cell in that direction, over holes in the mesh."""
        if self.map is None:
            return
        rows, columns = self.map.size
        row, column = self.cursor[0] + down, self.cursor[1] + right
        while 0 <= row < rows and 0 <= column < columns:
            if (row, column) in self.map.cells:
                self.cursor = row, column
                return
            row, column = row + down, column + right

    def action_open(self) -> None:
        """Open the cell under the cursor."""
        if self.map is not None and self.cursor in self.map.cells:
            self.post_message(self.Opened(self.map.cells[self.cursor]))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one opens."""
        row = (event.y + self.scroll_offset.y) // 3
        column = (event.x + self.scroll_offset.x) // (self._cell + self._gap)
        if self.map is not None and (row, column) in self.map.cells:
            again = self.cursor == (row, column) and event.chain > 1
            self.cursor = row, column
            if again:
                self.action_open()

    def render_line(self, y: int) -> Strip:
        """Two lines of a row of cells, then the links down from it."""
        width, base = self.size.width, self.rich_style
        if self.map is None:
            return Strip.blank(width, base)
        rows, columns = self.map.size
        row, part = divmod(y + self.scroll_offset.y, 3)
        if row >= rows:
            return Strip.blank(width, base)
        draw = (self._names, self._shares, self._links)[part]
        segments = [segment for column in range(columns) for segment in draw((row, column), base)]
        left = self.scroll_offset.x
        return Strip(segments).crop(left, left + width).extend_cell_length(width, base)

    def _style(self, at: At, base: Style) -> Style:
        assert self.map is not None
        style = base + heat(self.map.cells[at].share)
        if at == self.cursor:
            style += self.get_component_rich_style("mesh--cursor", partial=True)
        return style

    def _names(self, at: At, base: Style) -> list[Segment]:
        assert self.map is not None
        if at not in self.map.cells:
            return [Segment(" " * (self._cell + self._gap), base)]
        label = self.map.cells[at].label[: self._cell]
        return [Segment(label.center(self._cell), self._style(at, base)), Segment(" " * self._gap, base)]

    def _shares(self, at: At, base: Style) -> list[Segment]:
        assert self.map is not None
        if at not in self.map.cells:
            return [Segment(" " * (self._cell + self._gap), base)]
        text = percent(self.map.cells[at].share).center(self._cell)
        if at == self.cursor:
            text = f"▸{text[1:-1]}◂"  # seen without colours too
        cell = Segment(text, self._style(at, base))
        share = self.map.across.get(at)
        if share is None:
            return [cell, Segment(" " * self._gap, base)]
        idle = self.get_component_rich_style("mesh--idle", partial=True)
        style = base + (heat(share) if share > 0 else idle)
        return [cell, Segment(percent(share).center(self._gap, "─"), style)]

    def _links(self, at: At, base: Style) -> list[Segment]:
        assert self.map is not None
        share = self.map.down.get(at)
        gap = Segment(" " * self._gap, base)
        if share is None:
            return [Segment(" " * self._cell, base), gap]
        idle = self.get_component_rich_style("mesh--idle", partial=True)
        text = percent(share) or "│"
        around = (self._cell - len(text)) // 2
        left, right = " " * around, " " * (self._cell - around - len(text))
        style = base + (heat(share) if share > 0 else idle)
        return [Segment(left, base), Segment(text, style), Segment(right, base), gap]
