"""A page on the screen: facts, tabs, one table, its filter; every row leads on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static, Tab, Tabs

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.draw.targets import Target
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.table import ShownTable
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.screens.choose import Choose
from kernbench.tui.widgets.rows import Rows
from kernbench.tui.widgets.words import facts

_NOTHING = "nothing to open in this row"


class TableScreen(BrowserScreen):
    """A screen with one table that can be filtered, sorted, followed and exported."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("f", "menu", "Follow"),
        Binding("z", "fold", "Fold", show=False),
        Binding("e", "export", "Export", show=False),
    ]

    _whole: ShownTable | None = None
    """The table in the order in which it came."""

    def table_widgets(self) -> ComposeResult:
        """The table and the line of its filter."""
        yield Rows(id="rows")
        yield Input(placeholder="words, kind=dma_read, wait_ns>100; Enter keeps, Escape clears", id="filter")

    @property
    def rows(self) -> Rows:
        """The table."""
        return self.query_one("#rows", Rows)

    def action_filter(self) -> None:
        """Show the filter's line."""
        line = self.query_one("#filter", Input)
        line.display = True
        line.focus()

    def action_leave(self) -> None:
        """Clear the filter first, if there is one."""
        line = self.query_one("#filter", Input)
        if line.display:
            line.value = ""
            line.display = False
            self.apply_filter("")
            self.rows.focus()
        else:
            super().action_leave()

    @on(Input.Submitted, "#filter")
    def keep_filter(self) -> None:
        """Back to the rows, filter on."""
        self.rows.focus()

    @on(Input.Changed, "#filter")
    def filter_changed(self, event: Input.Changed) -> None:
        """Filter as it is typed."""
        self.apply_filter(event.value)

    def apply_filter(self, words: str) -> None:
        """Show only rows that match."""
        table = self.rows.table
        if table is not None and words.strip() != self.rows.words:
            self.rows.words = words.strip()
            self.ask(lambda: table.filtered(words), self.show_table, "table")

    @on(Rows.Sorted)
    def sort(self, event: Rows.Sorted) -> None:
        """Sort in a worker, for it may be a million rows."""
        table = event.rows.table
        if table is not None:
            if event.column:
                self.ask(
                    lambda: table.sorted(event.column, event.descending).filtered(table.filter),
                    self.show_table,
                    "table",
                )
            else:
                self.reload_table()

    def action_fold(self) -> None:
        """Fold rows that are equal by symmetry, or unfold them."""
        table = self.rows.table
        if table is None:
            return
        if self.is_folded:
            self.reload_table()
        else:
            self.ask(table.folded, self.show_table, "table")

    @property
    def is_folded(self) -> bool:
        """Whether rows stand for several."""
        table = self.rows.table
        return table is not None and table.columns[-1:] != () and table.columns[-1].name == "count"

    def reload_table(self) -> None:
        """Show the table in the order in which it came."""
        if self._whole is not None:
            self.rows.show(self._whole.filtered(self.rows.words))

    def show_whole(self, table: ShownTable) -> None:
        """Put a table on the screen that others are orders and parts of."""
        self._whole = table
        self.rows.show(table)

    def show_answer(self, found: tuple[ShownTable, list[str]]) -> None:
        """Show rows and remarks."""
        table, notes = found
        self.rows.cursor = 0
        self.show_whole(table)
        self.say("; ".join(notes))

    def failed(self) -> None:
        """No table is waited for any longer."""
        if self.rows.table is not None and not self.rows.table.columns:
            self.rows.show(ShownTable.of_rows([], (), "nothing to show: see the error below"))

    def show_table(self, table: ShownTable) -> None:
        """Put a table on the screen."""
        self.rows.show(table)

    @on(Rows.Followed)
    def row_followed(self, event: Rows.Followed) -> None:
        """Open the first thing that the row names."""
        event.stop()
        table = event.rows.table
        found = [one for one in table.targets(event.row) if self.leads_on(one)] if table else []
        if found:
            self.follow(found[0])
        elif table is None or not self.follow_within(table.record(event.row)):
            self.say(_NOTHING)

    def follow_within(self, row: Mapping[str, Any]) -> bool:
        """Go to the place that a row without a target stands for; False if there is none."""
        return False

    def leads_on(self, target: Target) -> bool:
        """Whether a target is another thing than the one that is shown."""
        return target.sort != "line" and (bool(self.run_id) or target.sort in ("run", "question"))

    def action_menu(self) -> None:
        """Choose among all things that the row names."""
        table = self.rows.table
        found = table.targets(self.rows.cursor) if table is not None and len(table) else []
        found = [one for one in found if self.leads_on(one)]
        if not found:
            self.say(_NOTHING)
            return
        names = [str(target) for target in found]
        self.app.push_screen(
            Choose("Follow", names), lambda at: None if at is None else self.follow(found[at])
        )

    def action_export(self) -> None:
        """Write the rows that are shown into a file."""
        self.app.push_screen(Choose("Export the rows that are shown as", ["CSV", "JSON"]), self._export)

    def _export(self, at: int | None) -> None:
        table = self.rows.table
        if at is None or table is None:
            return
        suffix = ("csv", "json")[at]
        file = free_name(self.file_stem, suffix)

        def write() -> str:
            # Never over a file that is there: created, or an error.
            with file.open("x", encoding="utf-8") as out:
                out.write(table.exported(suffix))
            return f"wrote {len(table)} rows to {file.resolve()}"

        self.ask(write, self.say, "export")

    @property
    def file_stem(self) -> str:
        """Name of exported files."""
        return "kernbench"


def free_name(stem: str, suffix: str) -> Path:
    """A file in the working directory that does not exist yet."""
    clean = "".join(c if c.isalnum() or c in "-_." else "-" for c in stem).strip("-")
    number, file = 1, Path(f"{clean}.{suffix}")
    while file.exists():
        number += 1
        file = Path(f"{clean}-{number}.{suffix}")
    return file


class PageScreen(TableScreen):
    """The screen of a :class:`Page`, which ``build`` works out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket,ctrl+right", "tab(1)", "Tab", key_display="]"),
        Binding("left_square_bracket,ctrl+left", "tab(-1)", "Tab before", show=False),
        *(Binding(str(n), f"tab_at({n - 1})", f"Tab {n}", show=False) for n in range(1, 10)),
        Binding("0", "tab_at(9)", "Tab 10", show=False),
        Binding("w", "window", "Window"),
    ]
    HELP = "] [ 1-9 0  tabs"

    def __init__(self, name: str, build: Callable[[ChosenWindow], Page], run_id: str = "") -> None:
        super().__init__(name, run_id)
        self.build = build
        self.page: Page | None = None
        self.at = 0
        self._tables: dict[str, ShownTable] = {}
        self._words = ""
        """The filter that the next tab begins with."""
        self._back: int | None = None
        """The tab that led to this one."""
        self._cursors: dict[str, int] = {}

    @property
    def file_stem(self) -> str:
        """Thing and tab."""
        section = self.section
        return f"{self.title}-{section.name if section else ''}".replace(" ", "-").lower()

    def content(self) -> ComposeResult:
        """Facts, tabs, table."""
        yield Static(id="facts")
        yield Tabs(id="tabs")
        yield from self.table_widgets()

    def begin(self) -> None:
        """Work the page out."""
        self.query_one(Tabs).can_focus = False
        self.rows.focus()
        window = self.browser_app.window
        self.ask(lambda: self.build(window), self.show_page, "page")

    def on_screen_resume(self) -> None:
        """Come back; a window that was changed meanwhile is shown."""
        if self.page is not None and self._shown_window != self.browser_app.window and self._run_id:
            self.begin()

    _shown_window: ChosenWindow = ChosenWindow()

    def show_page(self, page: Page) -> None:
        """Show facts and tabs, and load the tab that is open."""
        first = self.page is None
        self.page = page
        self._shown_window = self.browser_app.window
        self._tables.clear()
        self.query_one("#facts", Static).update(facts(page.facts))
        if first:
            tabs = self.query_one(Tabs)
            for number, label in enumerate(page.labels(self.size.width)):
                tabs.add_tab(Tab(label, id=f"tab-{number}"))
            tabs.display = len(page.sections) > 1
            tabs.active = f"tab-{self.at}"
        self.load_section()

    def on_resize(self) -> None:
        """Name tabs as there is room."""
        if self.page is not None:
            for number, label in enumerate(self.page.labels(self.size.width)):
                self.query_one(f"#tab-{number}", Tab).label = label

    @property
    def section(self) -> TabSection | None:
        """The tab that is open."""
        return self.page.sections[self.at] if self.page is not None else None

    @on(Tabs.TabActivated)
    def tab_activated(self, event: Tabs.TabActivated) -> None:
        """Show another tab."""
        number = int(str(event.tab.id).removeprefix("tab-"))
        if number != self.at:
            if self.section is not None:
                self._cursors[self.section.name] = self.rows.cursor
            if number == self._back:
                self._back = None
            self.at = number
            self.load_section()

    def action_tab(self, by: int) -> None:
        """The next tab, or the one before."""
        if self.page is not None:
            self.action_tab_at((self.at + by) % len(self.page.sections))

    def action_tab_at(self, number: int) -> None:
        """The tab of that number."""
        if self.page is not None and number < len(self.page.sections):
            self.query_one(Tabs).active = f"tab-{number}"

    def load_section(self) -> None:
        """Show the open tab's table, worked out if it is the first time."""
        section = self.section
        if section is None:
            return
        line = self.query_one("#filter", Input)
        line.value = ""
        line.display = False
        self.rows.words = ""
        words, self._words = self._words, ""
        if section.name in self._tables:
            self.show_whole(self._tables[section.name])
            self.rows.cursor = self._cursors.get(section.name, 0)
            self._filter_by(words)
            return
        self._whole = None
        self.rows.show(ShownTable.of_rows([], (), "working ..."))

        def loaded(table: ShownTable) -> None:
            self._tables[section.name] = table
            if self.section is section:
                self.show_whole(table)
                self.rows.cursor = section.cursor
                self._filter_by(words)

        self.ask(section.load, loaded, "section")

    def action_leave(self) -> None:
        """Back to the tab whose row led here, else as on other screens."""
        if self._back is None:
            super().action_leave()
        else:
            back, self._back = self._back, None
            self.action_tab_at(back)
            self.rows.focus()

    def _filter_by(self, words: str) -> None:
        """Show a filter as if it had been typed."""
        if words:
            line = self.query_one("#filter", Input)
            line.display = True
            line.value = words

    def follow_within(self, row: Mapping[str, Any]) -> bool:
        """To the rows of another tab, filtered."""
        page = self.page
        found = page.leads(row) if page is not None else None
        if page is None or found is None:
            return False
        name, self._words = found
        self._back = self.at
        self.action_tab_at(next(at for at, one in enumerate(page.sections) if one.name == name))
        return True

    def leads_on(self, target: Target) -> bool:
        """Whether it is another thing than the page's own; a line, of the file that the run keeps."""
        page = self.page
        if target.sort == "line":
            return page is not None and str(target.key).rpartition(":")[0] == page.source
        return super().leads_on(target) and (page is None or target != page.target)
