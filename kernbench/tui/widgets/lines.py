"""Lines below a heading: a cursor that stays in sight, moved by keys and clicks."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.scroll_view import ScrollView


class Lines(ScrollView, can_focus=True):
    """A widget with a heading and ``count`` lines; a second click on the line under the cursor opens it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("enter", "open", "Open"),
    ]
    cursor: reactive[int] = reactive(0)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return 0

    @property
    def room(self) -> int:
        """Characters of a line: those beside the scrollbar that more lines than fit have."""
        bar = self.styles.scrollbar_size_vertical if self.count + 1 > self.size.height else 0
        return self.size.width - bar

    def action_open(self) -> None:
        """Open the line under the cursor."""

    def validate_cursor(self, cursor: int) -> int:
        """Within the lines."""
        return max(0, min(cursor, self.count - 1))

    def watch_cursor(self) -> None:
        """Keep the cursor in sight."""
        self.reveal()
        self.refresh()

    def reveal(self) -> None:
        """Scroll to the cursor where it is out of sight."""
        seen, top = max(self.size.height - 1, 1), self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + seen:
            self.scroll_to(y=self.cursor - seen + 1, animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """Move the cursor by a screenful."""
        self.cursor += by * max(self.size.height - 2, 1)

    def on_click(self, event: events.Click) -> None:
        """A click on a line moves the cursor there, a second one opens it."""
        row = self.scroll_offset.y + event.y - 1
        if event.y > 0 and row < self.count:
            again = row == self.cursor and event.chain > 1
            self.cursor = row
            if again:
                self.action_open()
