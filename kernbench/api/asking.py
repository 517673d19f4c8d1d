"""Questions: the library's by name, or free Cypher."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kernbench.api.stores import Store, borrowed
from kernbench.data_files import data_dir
from kernbench.pgraph import Question, Result


@cache
def library() -> Mapping[str, Question]:
    """All questions of the library by name."""
    from kernbench.pgraph import load_library

    return load_library(data_dir("queries"))


def questions() -> list[dict[str, Any]]:
    """The library as plain data: ``name title scope params returns notes``, in order of name.

    Each parameter has ``name type default help choices minimum`` (without a default it must be given), each
    returned column ``name type unit help``.
    """
    return [
        {
            "name": question.name,
            "title": question.title,
            "scope": question.scope,
            "params": [
                {"name": name, **param.model_dump(exclude={"derived"})}
                for name, param in question.params.items()
                if not param.derived
            ],
            "returns": [column.model_dump() for column in question.returns],
            "notes": question.notes,
        }
        for question in library().values()
    ]


def ask(
    name: str, run: str | None = None, store: Store = None, params: Mapping[str, object] | None = None
) -> Result:
    """Ask the library question ``name``; its last part is enough where no other question ends so.

    ``run`` is an id or a reference such as ``last~1``, by default the last run; questions about the history
    are asked of all runs. Parameters may be given as text. ``QueryError`` for an unknown name or parameter.
    """
    from kernbench.pgraph import QueryError, find_question
    from kernbench.pgraph import ask as ask_question

    question = find_question(library(), name)
    # Bound before anything is opened: a wrong parameter is told at once, and names that ``ask`` itself takes
    # (store, run) cannot clash with the question's.
    given = dict(params or {})
    if clash := [name for name in question.derived if name in given]:
        raise QueryError(f"unknown parameter '{clash[0]}': it is worked out from the others; leave it out")
    bound = question.bind({**given, **{name: [] for name in question.derived}})
    with borrowed(store) as opened:
        if question.derived:
            from kernbench.api.deriving import derive

            bound |= derive(opened, question, run, bound)
        return ask_question(opened, question, run, **bound)


def ask_cypher(
    text: str, run: str | None = None, store: Store = None, params: Mapping[str, object] | None = None
) -> Result:
    """Ask free Cypher, which may only read, of one run's graph, or of the one over all runs (None)."""
    with borrowed(store) as opened:
        return opened.query(text, dict(params or {}), run)
