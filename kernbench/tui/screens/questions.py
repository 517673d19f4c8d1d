"""The library of questions, and one of them: its parameters and its answer."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, Label, Static

from kernbench.api.asking import question
from kernbench.tui.models.questions import answer, form, questions_table
from kernbench.tui.models.table import ShownTable
from kernbench.tui.screens.page import TableScreen
from kernbench.tui.widgets.rows import Rows
from kernbench.tui.widgets.words import facts, plain, styled


class QuestionsScreen(TableScreen):
    """All questions; Enter opens one."""

    def __init__(self, run_id: str) -> None:
        super().__init__("questions", run_id)

    def content(self) -> ComposeResult:
        """Which run is asked, and the list."""
        yield Static(facts([("asked of", self._run_id or "all runs")]), id="facts")
        yield from self.table_widgets()

    def begin(self) -> None:
        """List them."""
        self.rows.focus()
        self.ask(questions_table, self.show_whole, "questions")


class QuestionScreen(TableScreen):
    """One question: Enter in a field, or F5, asks it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,ctrl+r", "ask_now", "Ask"),
        Binding("p", "fields", "Parameters"),
    ]
    HELP = "p        to the parameters; Enter or F5 asks; Tab to the answer"
    DEFAULT_CSS = """
    QuestionScreen #form { height: auto; max-height: 35%; padding: 0 1; }
    QuestionScreen .field { height: 1; }
    QuestionScreen .field Label { width: 16; }
    QuestionScreen .field Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    QuestionScreen .field Input:focus { border: none; background: $primary 30%; }
    """

    def __init__(self, name: str, run_id: str) -> None:
        super().__init__(name, run_id)
        self.question: dict[str, Any] = question(name)

    @property
    def file_stem(self) -> str:
        """The question."""
        return self.title or "question"

    def content(self) -> ComposeResult:
        """Title, form, answer."""
        title, notes = (str(self.question[key]) for key in ("title", "notes"))
        yield Static(styled((title, "bold"), f" {notes}"), id="facts")
        with VerticalScroll(id="form", can_focus=False):
            for field in form(self.question, self.browser_app.window):
                with Horizontal(classes="field"):
                    yield Label(plain(field.name))
                    yield Input(field.text, placeholder=field.hint, id=f"param-{field.name}")
        yield from self.table_widgets()

    def begin(self) -> None:
        """Ask at once where nothing has to be given first."""
        if self.question["scope"] != "history" and not self._run_id:
            self.say("this question is about one run; choose a run first")
            self.rows.focus()
        elif any(field.needed for field in form(self.question, self.browser_app.window)):
            self.action_fields()
            self.say("fill in the required parameters, then press Enter")
        else:
            self.rows.focus()
            self.action_ask_now()

    @property
    def values(self) -> dict[str, str]:
        """The form as it is filled in."""
        fields = self.query("#form Input").results(Input)
        return {str(field.id).removeprefix("param-"): field.value for field in fields}

    def action_fields(self) -> None:
        """To the form."""
        for field in self.query("#form Input").results(Input):
            field.focus()
            return

    def action_ask_now(self) -> None:
        """Ask."""
        values, store = self.values, self.browser_app.browser.store
        self.ask(lambda: answer(store, str(self.title), self._run_id, values), self.show_answer, "question")

    @on(Input.Submitted, "#form Input")
    def submitted(self) -> None:
        """Enter in a field asks."""
        self.action_ask_now()

    def show_answer(self, found: tuple[ShownTable, list[str]]) -> None:
        """Show rows and remarks."""
        super().show_answer(found)
        if not self.query_one("#filter", Input).has_focus:
            self.query_one(Rows).focus()
