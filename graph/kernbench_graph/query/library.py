"""The question library, ``queries/<topic>/<name>.yaml``: loaded and checked, searched, asked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernbench_graph.errors import QueryError
from kernbench_graph.input_files import read_text
from kernbench_graph.query.guard import parameter_names
from kernbench_graph.query.plans import EXPLAIN
from kernbench_graph.query.question import Question, is_a
from kernbench_graph.result import Result
from kernbench_graph.store import QUERY_TIMEOUT_S, GraphStore
from kernbench_graph.yaml_text import load_plain

_PARTS = "parts.yaml"


def load_library(folder: Path | str, *, proved: bool = False) -> dict[str, Question]:
    """All questions below ``folder``, in order of name. ``QueryError`` names the file that is wrong.

    ``proved`` says that they are the shipped ones, whose texts the conformance suite has proved.
    """
    root = Path(folder)
    if stray := sorted(path for path in root.glob("*.yaml") if path.name != _PARTS):
        raise QueryError(f"{stray[0]}: a question lies in a folder named as its group; move it there")
    parts = _parts(root / _PARTS)
    questions = [load_question(path, root, parts, proved=proved) for path in sorted(root.glob("*/*.yaml"))]
    return {question.name: question for question in sorted(questions, key=lambda question: question.name)}


_PART = re.compile(r"^\{\{(\w+)\}\}\n", re.MULTILINE)


def _parts(path: Path) -> dict[str, str]:
    """Texts that questions of a folder have in common: each stands for a line ``{{its name}}`` of theirs.

    One with ``_within`` at the end of its name does where ``from_ns`` or ``to_ns`` cuts a window.
    """
    content = _content(path) if path.exists() else {}
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise QueryError(f"{path}: is not a mapping of names to texts")
    return {str(name): text for name, text in content.items()}


def _whole(text: Any, parts: Mapping[str, str], path: Path) -> Any:
    """A text with the parts that it names."""
    if not isinstance(text, str):
        return text
    if unknown := [name for name in _PART.findall(text) if name not in parts]:
        known = ", ".join(parts) or "none"
        raise QueryError(f"{path}: there is no part '{unknown[0]}'; parts.yaml has {known}")
    return _PART.sub(lambda match: parts[match[1]], text)


def _content(path: Path) -> Any:
    """What a file says; ``QueryError`` where it is not YAML."""
    try:
        return load_plain(read_text(path))
    except OSError as error:
        raise QueryError(f"{path}: cannot be read: {error.strerror}; put a question (YAML) there") from error
    except ValueError as error:
        raise QueryError(f"{path}:{error}") from error


def load_question(path: Path, root: Path, parts: Mapping[str, str], *, proved: bool = False) -> Question:
    """The question in one file; its name must be the file's place below ``root``."""
    content = _content(path)
    if not isinstance(content, dict):
        raise QueryError(f"{path}: is not a mapping; a question has name, title, scope, returns and cypher")
    keys = [key for key in content if isinstance(key, str) and key.startswith("cypher_")]
    fields = {key: value for key, value in content.items() if key not in keys}
    texts = {key.removeprefix("cypher_"): _whole(content[key], parts, path) for key in keys}
    if "cypher" in fields:
        within = {name: parts.get(f"{name}_within", text) for name, text in parts.items()}
        whole, cut = (_whole(fields["cypher"], some, path) for some in (parts, within))
        fields |= {"cypher": whole, "window": cut if cut != whole else ""}
    fields["dialects"] = texts
    if "proved" in content:
        raise QueryError(f"{path}: proved: no file can say so of itself; leave it out")
    fields["proved"] = proved
    try:
        question = Question.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise QueryError(f"{path}: {place + ': ' if place else ''}{first['msg']}") from error
    expected = path.relative_to(root).with_suffix("").as_posix()
    if question.name != expected:
        raise QueryError(f"{path}: name is '{question.name}', but the file's place makes it '{expected}'")
    return question


def find_question(library: Mapping[str, Question], name: str) -> Question:
    """The question of that name, or of that last part when only one has it.

    ``QueryError`` names the closest ones, or the topics when none is close.
    """
    matches = [key for key in library if key == name] or [key for key in library if key.endswith(f"/{name}")]
    if len(matches) == 1:
        return library[matches[0]]
    close = matches or _close(library, name)
    if close:
        raise QueryError(f"no question '{name}'; did you mean {' or '.join(close)}?")
    if any(sign in name for sign in " (\n"):
        raise QueryError(
            f"no question '{name}'; ask a Cypher text of your own with --cypher, in Python with cypher()"
        )
    topics = sorted({key.partition("/")[0] for key in library})
    raise QueryError(
        f"no question '{name}'; 'kernbench query --list' shows all {len(library)}, of {', '.join(topics)}"
    )


def _close(names: Iterable[str], name: str) -> list[str]:
    """At most three of ``names`` that are spelt much like ``name``, or have all its words, in part."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if len(word) > 2]
    within = [full for full in names if words and all(word in full for word in words)]
    short = {full.rpartition("/")[2]: full for full in reversed(list(names))}
    spelt = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
    spelt += [short[part] for part in difflib.get_close_matches(name, short, n=3, cutoff=0.7)]
    return list(dict.fromkeys([*spelt, *within]))[:3]


def ask(
    store: GraphStore,
    question: Question,
    run: str | None = None,
    timeout_s: float = QUERY_TIMEOUT_S,
    *,
    explain: bool = False,
    **params: Any,
) -> Result:
    """Ask ``question`` of one run, or of several.

    Args:
        store: Where the runs are kept.
        question: The question. One about the history is asked of the runs that its parameters name, or else
            of all; these may be references too.
        run: Id or reference of the run; None is the last.
        timeout_s: Seconds until it is given up.
        explain: Give the plan instead of the rows.
        params: The question's parameters.

    Raises:
        QueryError: Wrong parameters, or an answer without the declared columns and types.
    """
    bound = question.bind(params)
    target = None if question.scope == "history" else run or "last"
    for name in question.runs:
        bound[name] = store.resolve(bound[name])
        target = target or bound[name]
    engine = question.engine if question.engine in store.engines else store.engines[0]
    text = question.text(engine, bound)
    if unused := set(bound) - set(parameter_names(text)):
        bound = {name: value for name, value in bound.items() if name not in unused}
    # The suite has proved a shipped text on every engine but this, where it must be said.
    proved = question.proved and (engine != "ladybug" or engine == question.engine)
    text = f"{EXPLAIN} {text}" if explain else text
    result = store.query(text, bound, target, timeout_s, engine, proved=proved)
    if explain:
        return result
    declared = [column.name for column in question.returns]
    if result.columns != declared:
        raise QueryError(
            f"question '{question.name}' returned columns {result.columns}, but declares {declared}"
        )
    for index, column in enumerate(question.returns):
        for row in result.rows:
            if row[index] is not None and not is_a(column.type, row[index]):
                found = f"returned {row[index]!r} as '{column.name}'"
                raise QueryError(f"question '{question.name}' {found}, but declares {column.type}")
    return result
