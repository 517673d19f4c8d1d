"""Values as the TCK writes them, and rows of the engine in the same form.

A node is ``("node", labels, properties)``, a relationship ``("relationship", type, properties)``, a path
``("path", nodes, relationships)`` without the directions of its relationships.
"""

from __future__ import annotations

import math
import re
from typing import Any

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+|\d+(?:[eE][+-]?\d+)?))"
    r"|(?P<string>'(?:\\.|[^'\\])*')|(?P<word>`[^`]+`|\w+)|(?P<mark><-|->|.))"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class _Reader:
    def __init__(self, text: str) -> None:
        self.found = [(str(m.lastgroup), m[str(m.lastgroup)]) for m in _TOKEN.finditer(text.strip())]
        self.at = 0

    def peek(self) -> str:
        return self.found[self.at][1] if self.at < len(self.found) else ""

    def take(self, wanted: str = "") -> str:
        text = self.peek()
        if wanted and text != wanted:
            raise ValueError(f"expected {wanted!r}, found {text!r}")
        self.at += 1
        return text

    def value(self) -> Any:
        kind, text = self.found[self.at]
        if kind == "number":
            self.at += 1
            return float(text) if re.search(r"[.eE]", text) else int(text)
        if kind == "string":
            self.at += 1
            return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1])
        if text == "[":
            return self.bracket()
        if text == "{":
            return self.map()
        if text == "(":
            return self.node()
        if text == "<":
            return self.path()
        self.at += 1
        if text == "-":
            return -self.value()
        return {"true": True, "false": False, "null": None, "NaN": math.nan, "Inf": math.inf}[text]

    def bracket(self) -> Any:
        self.take("[")
        if self.peek() == ":":
            return self.relationship()
        found = []
        while self.peek() != "]":
            found.append(self.value())
            if self.peek() == ",":
                self.take()
        self.take("]")
        return found

    def relationship(self) -> Any:
        self.take(":")
        type_ = self.take().strip("`")
        properties = self.map() if self.peek() == "{" else {}
        self.take("]")
        return ("relationship", type_, properties)

    def map(self) -> dict[str, Any]:
        self.take("{")
        found = {}
        while self.peek() != "}":
            key = self.take().strip("`")
            self.take(":")
            found[key] = self.value()
            if self.peek() == ",":
                self.take()
        self.take("}")
        return found

    def node(self) -> Any:
        self.take("(")
        labels = set()
        while self.peek() == ":":
            self.take()
            labels.add(self.take().strip("`"))
        properties = self.map() if self.peek() == "{" else {}
        self.take(")")
        return ("node", frozenset(labels), properties)

    def path(self) -> Any:
        self.take("<")
        nodes, relationships = [self.node()], []
        while self.peek() != ">":
            self.take()  # '-' or '<-'
            self.take("[")
            relationships.append(self.relationship())
            self.take()
            nodes.append(self.node())
        self.take(">")
        return ("path", nodes, relationships)


def parsed(text: str) -> Any:
    """The value that a cell of the TCK means."""
    return _Reader(text).value()


def normal(value: Any, unlabelled: str) -> Any:
    """A value from the engine's process in the form of :func:`parsed`."""
    if isinstance(value, tuple):
        kind, *parts = value
        if kind == "node":
            labels = frozenset(label for label in parts[0] if label != unlabelled)
            return ("node", labels, normal(parts[1], unlabelled))
        if kind == "relationship":
            return ("relationship", parts[0], normal(parts[3], unlabelled))
        nodes, relationships = parts
        return ("path", *([normal(item, unlabelled) for item in some] for some in (nodes, relationships)))
    if isinstance(value, list):
        return [normal(item, unlabelled) for item in value]
    if isinstance(value, dict):
        return {key: normal(item, unlabelled) for key, item in value.items()}
    return value


def key(value: Any, ordered_lists: bool = True) -> str:
    """Text that is equal for equal values."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {key(value[name], ordered_lists)}" for name in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        items = [key(item, ordered_lists) for item in value]
        if isinstance(value, list) and not ordered_lists:
            items.sort()
        return f"{type(value).__name__}[{', '.join(items)}]"
    if isinstance(value, frozenset):
        return f"<{', '.join(sorted(value))}>"
    return repr(value + 0.0 if isinstance(value, float) else value)  # -0.0 is 0.0
