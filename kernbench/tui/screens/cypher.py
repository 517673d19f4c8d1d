"""Free Cypher: an editor with completion and a history, and the rows of the answer."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea, Tree

from kernbench.api.contents.schema import labels
from kernbench.api.saving import save_question
from kernbench.tui.models.cypher import EXAMPLE, ask, complete
from kernbench.tui.models.table import ShownTable
from kernbench.tui.screens.choose import Choose, Line
from kernbench.tui.screens.page import TableScreen
from kernbench.tui.widgets.words import facts


class Editor(TextArea):
    """A text of several lines; Tab completes the word before the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete"),
        Binding("f5,ctrl+r,alt+enter", "run", "Ask"),
        Binding("ctrl+up,alt+up", "earlier", "Earlier", show=False),
        Binding("ctrl+down,alt+down", "later", "Later", show=False),
        Binding("escape", "screen.focus_rows", "Rows"),
    ]

    class Run(Message):
        """The text is to be asked."""

    class History(Message):
        """An earlier or later text is wanted."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def action_run(self) -> None:
        """Ask."""
        self.post_message(self.Run())

    def action_earlier(self) -> None:
        """The text asked before."""
        self.post_message(self.History(-1))

    def action_later(self) -> None:
        """The text asked after."""
        self.post_message(self.History(1))

    def action_complete(self) -> None:
        """Complete the word, or offer the words that it may become."""
        row, column = self.cursor_location
        lines = self.text.split("\n")
        before = "\n".join([*lines[:row], lines[row][:column]])
        begun, options = complete(before)
        if len(options) == 1:
            self._put(begun, options[0])
        elif options:
            self.app.push_screen(
                Choose("Complete", options), lambda at: None if at is None else self._put(begun, options[at])
            )

    def _put(self, begun: int, word: str) -> None:
        row, column = self.cursor_location
        self.replace(word, (row, column - begun), (row, column))
        self.move_cursor((row, column - begun + len(word)))


class CypherScreen(TableScreen):
    """Editor above, rows below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "editor", "Editor"),
        Binding("f5,ctrl+r", "ask_now", "Ask"),
        Binding("ctrl+s", "save", "Save"),
        Binding("ctrl+t", "schema", "Schema"),
    ]
    HELP = (
        "p        to the editor; F5 or ctrl+r asks; Tab completes; ctrl+up: previous query\n"
        "ctrl+t   to the schema: space opens a label, Enter inserts a name\n"
        "ctrl+s   save the text as a question, in the folder that $KERNBENCH_QUERIES names"
    )
    DEFAULT_CSS = """
    CypherScreen #beside { height: 7; }
    CypherScreen Editor { width: 2fr; border: round $primary; }
    CypherScreen Tree { width: 1fr; border: round $primary; }
    """

    def __init__(self, run_id: str) -> None:
        super().__init__("cypher", run_id)
        self._at = 0

    def content(self) -> ComposeResult:
        """Which graph is asked, editor, rows."""
        about = f"run {self._run_id}, $run in the text" if self._run_id else "all runs"
        yield Static(facts([("asked of", f"{about}; reads only")]), id="facts")
        history = self.browser_app.history
        with Horizontal(id="beside"):
            yield Editor(history[-1] if history else EXAMPLE, id="editor", show_line_numbers=False)
            tree: Tree[str] = Tree("schema", id="schema")
            for label in labels():
                branch = tree.root.add(Text(label.name), data=label.name)
                for pattern in label.patterns:
                    branch.add_leaf(Text(pattern), data=pattern)
                for name, unit in label.properties:
                    branch.add_leaf(Text(f"{name} ({unit})"), data=name)
            tree.root.expand()
            yield tree
        yield from self.table_widgets()

    def begin(self) -> None:
        """Begin to type."""
        self._at = len(self.browser_app.history)
        self.rows.show(ShownTable.of_rows([], (), "F5 asks"))
        self.action_editor()

    def action_editor(self) -> None:
        """To the text."""
        self.query_one(Editor).focus()

    def action_focus_rows(self) -> None:
        """From the text to the rows."""
        self.rows.focus()

    @on(Editor.Run)
    def action_ask_now(self) -> None:
        """Ask, and remember the text."""
        text, app = self.query_one(Editor).text, self.browser_app
        if text.strip() and (not app.history or app.history[-1] != text):
            app.history.append(text)
        self._at = len(app.history)
        self.ask(lambda: ask(app.browser.store, text, self._run_id), self.show_answer, "cypher")

    def action_schema(self) -> None:
        """To the labels, with their patterns and properties."""
        self.query_one(Tree).focus()

    @on(Tree.NodeSelected)
    def put(self, event: Tree.NodeSelected[str]) -> None:
        """Put the chosen word where the cursor is."""
        if event.node.data and not event.node.allow_expand:
            editor = self.query_one(Editor)
            editor.insert(event.node.data)
            editor.focus()

    def action_save(self) -> None:
        """Save the text as a question, under a name and a title that are asked for."""
        text, store, run = self.query_one(Editor).text, self.browser_app.browser.store, self._run_id or None

        def titled(name: str, title: str | None) -> None:
            if title is not None:
                self.ask(lambda: save_question(name, title, text, run, store), self.saved, "save")

        def named(name: str | None) -> None:
            if name is not None:
                self.app.push_screen(Line("Title of the question"), lambda title: titled(name, title))

        self.app.push_screen(Line("Save as (topic/name)"), named)

    def saved(self, file: Path) -> None:
        """Say where."""
        self.say(f"saved as {file}")

    @on(Editor.History)
    def history(self, event: Editor.History) -> None:
        """Another text of the history."""
        texts, editor = self.browser_app.history, self.query_one(Editor)
        at = self._at + event.by
        while 0 <= at < len(texts) and texts[at] == editor.text:
            at += event.by
        if 0 <= at < len(texts):
            self._at = at
            editor.text = texts[at]

    def show_answer(self, found: tuple[ShownTable, list[str]]) -> None:
        """Show rows and remarks."""
        super().show_answer(found)
        if self.rows.count:
            self.rows.focus()
