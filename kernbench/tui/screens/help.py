"""The help: keys, the filter's language, and how to go on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from kernbench.tui.widgets.words import plain

_KEYS = """\
Enter    open what the row names: a run, a transaction, a resource ...
f        choose from all that the row names
Esc      back (first clears the filter)      r   all runs
t        topology with its utilisation map        i   timeline
a        ask questions of the library        c   free Cypher
/        filter                              s   sort by the next column
w  W     next window; choose a window        e   export these rows
j k g G  or arrows, page, home, end          h l move the columns
z        merge symmetric rows, with a count  q   quit (also ctrl+c)
Q  F4    running queries: x cancels the selected one
ctrl+p   all commands and themes             ctrl+z  to the shell\
"""
_FILTER = """\
dma cube3         rows that contain both words
kind=dma_read     that value in one column; also kind=dma* kind!=view
wait_ns>100       more; also < >= <= on columns with numbers\
"""


class HelpScreen(ModalScreen[None]):
    """Keys on top of whatever is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace,question_mark,q,enter", "dismiss(None)", "Back")
    ]

    def __init__(self, extra: str) -> None:
        super().__init__()
        self.extra = extra

    def compose(self) -> ComposeResult:
        """Three short parts."""
        with VerticalScroll(classes="dialog"):
            yield Static("Keys", classes="question")
            yield Static(plain(_KEYS + (f"\n{self.extra}" if self.extra else "")))
            yield Static("Filter", classes="question")
            yield Static(plain(_FILTER))
            yield Static("\nNothing here writes to the store. Times are ns of simulated time.")
