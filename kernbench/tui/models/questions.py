"""The library of questions: its list, one question's form, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api import asking
from kernbench.api.asking import filled_in, names_by_default
from kernbench.api.contents import answers as screen
from kernbench.api.folding import told
from kernbench.draw.content import columns_of
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

_LIST = columns_of("question title about")
_WINDOW = ("launch", "from_ns", "to_ns")


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of a question as a form shows it; ``text`` is the value that is filled in."""

    name: str
    text: str
    hint: str
    needed: bool


def questions_table() -> ShownTable:
    """All questions, by name."""
    rows = [{"question": one["name"], "title": one["title"], "about": one["scope"]} for one in kb.questions()]
    return ShownTable.of_dicts(rows, _LIST, "no questions found; see 'kernbench doctor'")


def form(question: Mapping[str, Any], window: ChosenWindow) -> list[Field]:
    """The parameters of a question; those of a window hold the one that is looked at.

    A field that names something by default holds that: emptied, it stands for all.
    """
    chosen = window.given
    fields = []
    for param in question["params"]:
        name, default = param["name"], param["default"]
        text = str(chosen[name]) if name in _WINDOW and name in chosen else ""
        if text == str(default):
            text = ""
        choices = f" One of {', '.join(map(str, param['choices']))}." if param["choices"] else ""
        shown = "needed" if default is None else "empty" if default == "" else f"{default}"
        if names_by_default(param):
            text, shown = str(default), "empty"
        fields.append(Field(name, text, f"{shown}: {param['help']}{choices}", default is None))
    return fields


def answer(
    store: GraphStore, name: str, run_id: str, params: Mapping[str, str]
) -> tuple[ShownTable, list[str]]:
    """The answer as a table, and remarks; empty texts leave a parameter at its default.

    ``KernBenchError`` for a wrong parameter, with the remedy.
    """
    question = asking.question(name)
    given = filled_in(question, {key: value.strip() for key, value in params.items()})
    found = kb.ask(name, None if question["scope"] == "history" else run_id, store, given)
    names, rows = told(found, question)
    return ShownTable.of_rows(rows, screen.columns(question, names), screen.EMPTY), list(found.notes)
