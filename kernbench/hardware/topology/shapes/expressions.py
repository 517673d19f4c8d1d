"""Numbers that a file works out: ``"{n * 2}"`` in a value, ``[x+1, y]`` in a reference."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from kernbench.hardware.topology.fields import LARGEST

LONGEST = 100
"""Characters of an expression."""
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_HOLE = re.compile(r"\{([^{}]*)\}")


def number(text: str, names: Mapping[str, Any]) -> int | float:
    """The value of an expression of ``names``; ``ValueError`` says what is wrong with it."""
    found = _value(text, _parsed(text), names)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"'{text}' is not a number, expected an expression of numbers")
    return found


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """``value`` with the expressions in its texts worked out, in lists and mappings too.

    A text that is one expression becomes what that is, a number or a name's value. ``ValueError`` as above.
    """
    if isinstance(value, str):
        if (whole := _HOLE.fullmatch(value)) is not None:
            return _value(whole[1], _parsed(whole[1]), names)
        return _HOLE.sub(lambda hole: str(_value(hole[1], _parsed(hole[1]), names)), value)
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, names) for item in value]
    return value


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"'{text[:20]}...' has {len(text)} characters, expected at most {LONGEST}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(_expected(text)) from None


def _value(text: str, node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _bounded(text, node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            known = ", ".join(names) or "no names"
            raise ValueError(f"'{node.id}' in '{text}' is not known here, expected one of {known}")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_operand(text, node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        a, b = _operand(text, node.left, names), _operand(text, node.right, names)
        try:
            found = _OPERATORS[type(node.op)](a, b)
        except ZeroDivisionError:
            raise ValueError(f"'{text}' divides by 0, expected another divisor") from None
        return _bounded(text, found)
    raise ValueError(_expected(text))


def _bounded(text: str, found: Any) -> Any:
    if abs(found) > LARGEST:
        raise ValueError(f"'{text}' is too large, expected at most {LARGEST:g}")
    return found


def _operand(text: str, node: ast.expr, names: Mapping[str, Any]) -> int | float:
    found = _value(text, node, names)
    if type(found) not in (int, float):
        raise ValueError(f"'{text}' calculates with {found!r}, expected numbers")
    return found  # type: ignore[no-any-return]


def _expected(text: str) -> str:
    return f"'{text}' is not an expression, expected numbers, names and + - * / // % ( )"
