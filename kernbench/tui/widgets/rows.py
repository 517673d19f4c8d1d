"""A table of any length on the screen: only the rows that are seen are made into text."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kernbench.draw.cells import printable
from kernbench.draw.colours import CAUSES
from kernbench.tui.models.table import ShownTable
from kernbench.tui.widgets.lines import Lines

_GAP, _MARK = "  ", " ▍"
_NARROW = 28
"""Characters below which no column of texts is narrowed."""
_SORTED = {False: "▲", True: "▼"}


def _shorten(text: str, width: int) -> str:
    """Names of links without their middle, for they differ at both ends; of parts without what comes before
    their end, which says which of many it is; prose without its end."""
    if " " in text:
        return f"{text[: width - 1]}…"
    left = (width - 1) // (2 if "->" in text else 6)
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


class Rows(Lines):
    """The rows of a :class:`ShownTable` with a cursor; Enter or a second click follows the row under it."""

    DEFAULT_CSS = """
    Rows { height: 1fr; background: $surface; color: $foreground; }
    Rows:focus { background-tint: $foreground 3%; }
    Rows > .rows--head { background: $panel; color: $foreground; text-style: bold; }
    Rows > .rows--cursor { background: $primary; color: $text; text-style: bold; }
    Rows > .rows--blurred { background: $primary 30%; }
    Rows > .rows--empty { color: $text-muted; text-style: italic; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--head", "rows--cursor", "rows--blurred", "rows--empty"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home,g", "move(-1000000000)", "First row", show=False),
        Binding("end,G", "move(1000000000)", "Last row", show=False),
        Binding("left,h", "sideways(-8)", "Left", show=False),
        Binding("right,l", "sideways(8)", "Right", show=False),
        Binding("s", "sort", "Sort"),
    ]

    class Followed(Message):
        """A row was chosen: by Enter, or by a click on the row under the cursor."""

        def __init__(self, rows: Rows, row: int) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Rows:
            """The table that the row is in."""
            return self.rows

    class Sorted(Message):
        """Another order is wanted."""

        def __init__(self, rows: Rows, column: str, descending: bool) -> None:
            super().__init__()
            self.rows = rows
            self.column = column
            self.descending = descending

    def __init__(self, table: ShownTable | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.table: ShownTable | None = None
        self.words = ""
        """The filter as it was typed, which the table has or is about to have."""
        self._widths: list[tuple[int, bool]] = []
        self._layout: list[tuple[int, bool]] = []
        if table is not None:
            self.show(table)

    def show(self, table: ShownTable) -> None:
        """Show another table, or the same one in another order."""
        self.table = table
        self._widths = table.layout()
        self._fit()
        self.cursor = min(self.cursor, max(len(table) - 1, 0))
        self.scroll_to(y=min(self.scroll_offset.y, max(len(table) - 1, 0)), animate=False)
        self.reveal()
        self.refresh()

    @property
    def count(self) -> int:
        """Rows of the table."""
        return len(self.table) if self.table is not None else 0

    def on_resize(self) -> None:
        """The cursor stays in sight in a smaller window."""
        self._fit()
        self.reveal()

    def _fit(self) -> None:
        """Narrow the widest texts while the table is wider than the screen, but leave them readable."""
        widths = [width for width, _ in self._widths]
        gaps = len(_GAP) * max(len(widths) - 1, 0)
        while sum(widths) + gaps > self.room:
            texts = [(width, at) for at, width in enumerate(widths) if not self._widths[at][1]]
            width, at = max(texts, default=(0, 0))
            if width <= _NARROW:
                break
            widths[at] -= 1
        self._layout = [(width, right) for width, (_, right) in zip(widths, self._widths, strict=True)]
        self.virtual_size = Size(sum(widths) + gaps, self.count + 1)

    def action_sideways(self, by: int) -> None:
        """Move the columns."""
        self.scroll_to(x=self.scroll_offset.x + by, animate=False)

    def action_open(self) -> None:
        """Follow the row under the cursor."""
        if self.count:
            self.post_message(self.Followed(self, self.cursor))

    def action_sort(self) -> None:
        """Sort by the next column, numbers from the largest down; after the last as it came."""
        if self.table is None:
            return
        names = [column.name for column in self.table.columns]
        current = self.table.sorted_by
        at = 0 if current is None else names.index(current[0]) + 1
        if at == len(names):
            self.post_message(self.Sorted(self, "", False))
        else:
            self._ask_order(at)

    def _ask_order(self, at: int) -> None:
        assert self.table is not None
        name = self.table.columns[at].name
        by = self.table.sorted_by
        descending = not by[1] if by is not None and by[0] == name else self._layout[at][1]
        self.post_message(self.Sorted(self, name, descending))

    def on_click(self, event: events.Click) -> None:
        """A click on a heading sorts."""
        if self.table is None or event.y > 0:
            return
        x, begin = event.x + self.scroll_offset.x, 0
        for at, (width, _) in enumerate(self._layout):
            begin += width + len(_GAP)
            if x < begin:
                self._ask_order(at)
                return

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the headings, or a row."""
        table = self.table
        width = self.room
        base = self.rich_style
        if table is None:
            return Strip.blank(width, base)
        if y == 0:
            cells = [self._heading(at) for at in range(len(table.columns))]
            return self._line(cells, self.get_component_rich_style("rows--head"))
        row = self.scroll_offset.y + y - 1
        if not len(table) and y == 1:
            words = f"no row matches '{table.filter}'" if table.filter else table.empty
            style = self.get_component_rich_style("rows--empty")
            return Strip([Segment(f" {printable(words)}", style)]).adjust_cell_length(width, style)
        if row >= len(table):
            return Strip.blank(width, base)
        style = base
        if row == self.cursor:
            style = self.get_component_rich_style("rows--cursor" if self.has_focus else "rows--blurred")
        return self._line(table.cells(row), style)

    def _heading(self, at: int) -> str:
        assert self.table is not None
        column = self.table.columns[at]
        by = self.table.sorted_by
        return f"{column.title}{_SORTED[by[1]]}" if by is not None and by[0] == column.name else column.title

    def _line(self, cells: list[str], style: Style) -> Strip:
        segments: list[Segment] = []
        for at, (cell, (width, right)) in enumerate(zip(cells, self._layout, strict=True)):
            cut = cell if len(cell) <= width else _shorten(cell, width)
            if at:
                segments.append(self._before(at, cells, style))
            segments.append(Segment(cut.rjust(width) if right else cut.ljust(width), style))
        left, width = self.scroll_offset.x, self.room
        strip = Strip(segments)
        return strip.crop(left, left + width).extend_cell_length(width, style)

    def _before(self, at: int, cells: list[str], style: Style) -> Segment:
        """The gap before a cell; before a cause it ends in that cause's colour."""
        assert self.table is not None
        name = self.table.columns[at].name
        if (name == "cause" or (name, cells[0]) == ("name", "cause")) and cells[at] in CAUSES:
            return Segment(_MARK, style + Style(color=CAUSES[cells[at]]))
        return Segment(_GAP, style)
