"""Turns what is wrong with a topology into lines that say where and what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kernbench.errors import ConfigError
from kernbench.hardware.topology.marked_yaml import Marked, Path, dotted
from kernbench.support.hints import did_you_mean


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the key that it is reported for, the message, further keys involved."""

    path: Path
    message: str
    also: tuple[Path, ...] = ()


def from_pydantic(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """The problems in pydantic's report, in this project's words."""
    errors = error.errors(include_url=False)
    paths = [tuple(e["loc"]) for e in errors]
    return [
        Problem(path, message_of(e, model))
        for path, e in zip(paths, errors, strict=True)
        # A list whose only item is wrong is reported as too short as well; the item says it all.
        if e["type"] != "too_short" or not any(p != path and p[: len(path)] == path for p in paths)
    ]


def report(
    problems: Iterable[Problem],
    source: str,
    marked: Marked,
    overrides: Mapping[Path, str],
    beyond: str = "",
) -> ConfigError:
    """The error for one or more problems: a line for each, in the order of the file.

    ``beyond`` says what there is for those who look for a key that is like none.
    """
    located = sorted(_locate(p, source, marked, overrides) for p in problems)
    lines = [text for *_, text in located]
    if unlike := [number for number, line in enumerate(lines) if ": unknown key, expected one of" in line]:
        lines[unlike[-1]] += beyond
    return ConfigError("\n".join(lines))


def _locate(
    problem: Problem, source: str, marked: Marked, overrides: Mapping[Path, str]
) -> tuple[int, int, str, str]:
    for path in (problem.path, *problem.also):
        for override, name in overrides.items():
            set_by_it = path[: len(override)] == override
            holds_it = override[: len(path)] == path and path not in marked.lines
            if set_by_it or holds_it:
                key = dotted(problem.path)
                where = name if key == name else f"{name}: {key}"
                return 0, 0, key, f"override {where}: {problem.message}"
    path = next((p for p in (problem.path, *problem.also) if p in marked.lines), problem.path)
    line = marked.line(path)
    key = dotted(problem.path)
    return 1, line, key, f"{marked.place(path, source)}: {key}: {problem.message}"


def show(value: object) -> str:
    """A value in a message: what was given and, where it helps, its type."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    return f"the text {text}" if isinstance(value, str) else text


_EXPECTED = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def message_of(error: ErrorDetails, model: type[BaseModel]) -> str:
    """What is wrong with a value, and what was expected."""
    kind, given, context = error["type"], error.get("input"), error.get("ctx", {})
    key = str(error["loc"][-1]) if error["loc"] else ""
    if kind == "extra_forbidden":
        return f"unknown key, {did_you_mean(key, _keys(model, error['loc'][:-1]))}"
    if kind == "missing":
        return "is missing, expected a value"
    if kind == "literal_error":
        expected = str(context["expected"])
        return f"is {show(given)}, expected {expected}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"is {show(given)}, expected {words} {_number(context[bound])}"
    if kind in ("too_short", "too_long"):
        few = kind == "too_short"
        limit = f"at least {context['min_length']}" if few else f"at most {context['max_length']}"
        return f"has {context['actual_length']} items, expected {limit}"
    if kind == "string_too_long":
        return f"is {show(given)}, expected at most {context['max_length']} characters"
    if kind in ("string_pattern_mismatch", "string_too_short"):
        rule = (
            "lower-case letters, digits and _"
            if "a-z0-9_" in str(context.get("pattern"))
            else "letters, digits, . _ -"
        )
        return f"is {show(given)}, expected a name of {rule}"
    if kind == "value_error":
        return str(context["error"])
    return f"is {show(given)}, expected {_EXPECTED.get(kind, error['msg'])}"


def _number(bound: Any) -> str:
    return str(int(bound)) if float(bound).is_integer() else str(bound)


def _keys(model: type[BaseModel], path: Iterable[str | int]) -> list[str]:
    """Keys that the section at ``path`` knows."""
    for step in path:
        if step in model.model_fields:  # else a key of a mapping of sections
            found = _section(model.model_fields[step].annotation)
            if found is None:
                return []
            model = found
    return list(model.model_fields)


def _section(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation such as ``Annotated[tuple[Model, ...], ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        if found := _section(argument):
            return found
    return None
