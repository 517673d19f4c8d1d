"""Small screens on top of another: a choice, and a question for a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from kernbench.tui.widgets.words import plain


class Choose(ModalScreen[int | None]):
    """A list to choose one entry from: gives its index, or None when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "dismiss(None)", "Back"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, question: str, options: Sequence[str]) -> None:
        super().__init__()
        self.question = question
        self.options = options

    def compose(self) -> ComposeResult:
        """The question and its answers."""
        with Vertical(classes="dialog"):
            yield Static(plain(self.question), classes="question")
            yield OptionList(*(plain(option) for option in self.options))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the one that was chosen."""
        self.dismiss(event.option_index)


class Line(ModalScreen[str | None]):
    """Asks for a line of text; None when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self.question = question
        self.text = text

    def compose(self) -> ComposeResult:
        """The question and a line to answer it."""
        with Vertical(classes="dialog"):
            yield Static(plain(self.question), classes="question")
            yield Input(self.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the line."""
        self.dismiss(event.value)
