"""A text that was asked, saved as a question: a file in a folder of the user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent
from typing import Any

from kernbench.api import asking
from kernbench.api.names import QUERIES_VARIABLE, Folders, question_folders
from kernbench.api.stores import Store
from kernbench.errors import UsageError


def save_question(
    name: str, title: str, text: str, run: str | None = None, store: Store = None, *, queries: Folders = ()
) -> Path:
    """Save free Cypher as a question, which is then among the others.

    The text is asked once, for the types of its columns.

    Args:
        name: ``topic/name``.
        title: What it asks, in words.
        text: As :func:`ask_cypher` takes it, without parameters other than ``$run``.
        run: The run to ask; None for a text about all runs.
        store: An open store, a URL, or None for the default one.
        queries: Folders with questions of your own, beside those of ``$KERNBENCH_QUERIES``; the file goes to
            the first.

    Returns:
        The file.

    Raises:
        QueryError: The text cannot be a question.
        UsageError: There is no folder, the name is taken, or a column has no value that tells its type.
    """
    from kernbench.support.pgraph import QueryError, load_library, replace_file

    folders = question_folders(queries)
    if not folders:
        raise UsageError(f"no folder is set for your own questions; set ${QUERIES_VARIABLE}")
    if not re.fullmatch(r"[\w-]+/[\w-]+", name):
        raise UsageError(f"'{name}' is not a name of the form topic/name")
    if name in asking.library(queries):
        raise UsageError(f"there is a question '{name}' already; give yours another name")
    found = asking.ask_cypher(text, run, store)
    returns = [
        {"name": column, "type": _type(column, [row[at] for row in found.rows])}
        for at, column in enumerate(found.columns)
    ]
    about = {"name": name, "title": title, "scope": "run" if run else "history", "returns": returns}
    content = _written(about, text)
    with TemporaryDirectory() as scratch:
        tried = Path(scratch) / f"{name}.yaml"
        tried.parent.mkdir()
        tried.write_text(content, encoding="utf-8")
        try:
            load_library(scratch)
        except QueryError as error:
            raise QueryError(str(error).replace(f"{scratch}/", "")) from error
    place = Path(folders[0]) / f"{name}.yaml"
    try:
        place.parent.mkdir(exist_ok=True)
        replace_file(place, content.encode())
    except OSError as error:
        raise UsageError(
            f"{name}.yaml cannot be written to ${QUERIES_VARIABLE} ({error.strerror}); check who owns it"
        ) from error
    asking.look_again()
    return place


def _type(column: str, values: Sequence[Any]) -> str:
    from kernbench.support.pgraph import is_a

    given = [value for value in values if value is not None]
    for type_ in ("bool", "int", "float", "string", "list", "path") if given else ():
        if all(is_a(type_, value) for value in given):
            return type_
    kinds = " and ".join(sorted({type(value).__name__ for value in given})) or "no value in this answer"
    raise UsageError(
        f"column '{column}' has {kinds}; a column of a question is numbers, texts, booleans, lists "
        "or paths: return a property, or ask a run that has rows"
    )


def _written(about: dict[str, Any], text: str) -> str:
    import yaml

    head = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110)
    body = "\n".join(line.rstrip() for line in text.strip().rstrip(";").splitlines())
    return f"{head}cypher: |\n{indent(body, '  ')}\n"
