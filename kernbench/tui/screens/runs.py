"""All runs of the store, the newest first; two of them can be compared."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kernbench.api.contents import runs
from kernbench.draw.targets import Target
from kernbench.tui.models.screen_table import grid_table
from kernbench.tui.screens.page import TableScreen
from kernbench.tui.widgets.words import facts

_EVERY_S = 1.5


class RunsScreen(TableScreen):
    """The list of runs; ``first`` is opened as soon as it is there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "mark", "Mark"),
        Binding("d", "compare", "Compare"),
    ]
    DEFAULT_CSS = """
    RunsScreen #under-way { height: auto; display: none; }
    """
    HELP = "m        mark a run as the one before; d compares the run under the cursor with it"

    def __init__(self, first: str | None = None) -> None:
        super().__init__("runs")
        self.first = first
        self.marked = ""
        self._newest = ""

    @property
    def run_id(self) -> str:
        """The run under the cursor."""
        table = self.rows.table
        return str(table.value(self.rows.cursor, "run_id")) if table is not None and len(table) else ""

    @property
    def file_stem(self) -> str:
        """Name of exported files."""
        return "kernbench-runs"

    def content(self) -> ComposeResult:
        """The store's name, what is under way, and the table."""
        yield Static(facts([("store", self.browser_app.browser.url)]), id="facts")
        yield Static(id="under-way")
        yield from self.table_widgets()

    def begin(self) -> None:
        """List the runs."""
        self.rows.focus()
        if self.first is not None:
            ref, self.first = self.first, None
            self.ask(
                lambda: self.browser_app.browser.resolve(ref),
                lambda run_id: self.browser_app.open_target(Target("run", run_id), ""),
                "first",
            )
        self.ask(self.browser_app.browser.runs, self.show_runs, "runs")
        self.set_interval(_EVERY_S, self.look)

    def show_runs(self, rows: list[dict[str, Any]]) -> None:
        """Show the list, with the cursor where it was."""
        at, ids = self.run_id, [row["run_id"] for row in rows]
        self._newest = str(ids[0]) if ids else ""
        self.show_whole(grid_table(runs.grid(rows)))
        self.rows.cursor = ids.index(at) if at in ids else 0

    def look(self) -> None:
        """Say what is under way, and list what has been kept since."""
        if not self.is_there:
            return
        going = self.browser_app.browser.under_way()
        line = self.query_one("#under-way", Static)
        line.update(facts([(work.name, work.text) for work in going.works]))
        line.display = bool(going.works)
        as_it_came = self._whole is not None and self.rows.table is self._whole  # neither sorted nor filtered
        if going.newest and going.newest != self._newest and as_it_came and not self.asking:
            self.ask(self.browser_app.browser.runs, self.show_runs, "runs")

    def action_mark(self) -> None:
        """Remember the run under the cursor as the one to compare with."""
        self.marked = self.run_id
        if self.marked:
            self.say(f"marked {self.marked}; go to another run and press d to compare")

    def action_compare(self) -> None:
        """Compare with the marked run, or with the one before of the same bench."""
        after = self.run_id
        before = self.marked if self.marked != after else ""
        if not before and self._whole is not None:
            listed = [self._whole.record(row) for row in range(len(self._whole))]
            at = next((row for row, one in enumerate(listed) if one["run_id"] == after), len(listed))
            same = [one["run_id"] for one in listed[at + 1 :] if one["bench"] == listed[at]["bench"]]
            before = same[0] if same else ""
        if before:
            self.browser_app.compare(before, after)
        else:
            self.say("there is no earlier run of this bench; mark another run with m, then press d here")
