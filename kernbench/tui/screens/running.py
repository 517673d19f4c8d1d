"""The running queries, with a key that cancels the selected one."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kernbench.errors import KernBenchError
from kernbench.tui.models.browser import running_table
from kernbench.tui.screens.page import TableScreen
from kernbench.tui.widgets.words import facts

_EVERY_S = 0.5


class RunningScreen(TableScreen):
    """A list that keeps itself up to date."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x,delete", "cancel", "Cancel")]
    HELP = "x        cancel the query under the cursor"

    def __init__(self) -> None:
        super().__init__("running queries")
        self._shown: list[tuple[int, str, int]] = []

    @property
    def file_stem(self) -> str:
        """Name of exported files."""
        return "kernbench-running"

    def content(self) -> ComposeResult:
        """The store's name and the table."""
        yield Static(facts([("store", self.browser_app.browser.url)]), id="facts")
        yield from self.table_widgets()

    def begin(self) -> None:
        """List them, now and from now on."""
        self.rows.focus()
        self.reload_table()
        self.set_interval(_EVERY_S, self._look)

    def _look(self) -> None:
        """Draw anew only where something is different."""
        if self.is_there and not self.rows.words:
            running = self.browser_app.browser.store.queries.listed()
            if self._shown != [(query.number, query.doing, int(query.seconds)) for query in running]:
                self.reload_table()

    def reload_table(self) -> None:
        """Oldest first; the cursor stays at its query."""
        running = self.browser_app.browser.store.queries.listed()
        self._shown = [(query.number, query.doing, int(query.seconds)) for query in running]
        at = self._chosen()
        self.rows.show(running_table(running))
        numbers = [number for number, _, _ in self._shown]
        self.rows.cursor = numbers.index(at) if at in numbers else 0

    def _chosen(self) -> int | None:
        """The number of the query under the cursor; None where there is none."""
        table = self.rows.table
        return int(str(table.value(self.rows.cursor, "query"))) if table else None

    def action_cancel(self) -> None:
        """Cancel the query under the cursor."""
        number = self._chosen()
        if number is None:
            self.say("no query is running")
            return
        try:
            self.browser_app.browser.store.queries.cancel(number)
        except KernBenchError as error:
            self.say(str(error))
        else:
            self.say(f"query {number} is cancelled")
        self._look()
