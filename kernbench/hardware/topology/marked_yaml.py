"""YAML with the line of every key, so that an error can name the line that it is about."""

from __future__ import annotations

import pathlib
import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml

from kernbench.errors import ConfigError
from kernbench.support.input_files import input_text
from kernbench.support.pgraph import loaded

Path = tuple[str | int, ...]
"""Keys and list positions from the root of a document."""


@dataclass(slots=True)
class Marked:
    """A document: plain data, and the line (from 1) of every key and list item by its path."""

    data: object
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """Line of ``path``, or of the innermost part of it that the document has."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)

    def place(self, path: Path, source: str) -> str:
        """``file:line`` of ``path`` in the document, which is called ``source``."""
        return f"{source}:{self.line(path)}"


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's numbers: ``1e9`` is one; ``010`` (8 in YAML 1.1) and ``1:30`` (90) not."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":int", ":float"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"([-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"
    ),
    list("-+.0123456789"),
)


class _Dumper(yaml.SafeDumper):
    """Quotes the texts that :class:`_Loader` would read as something else."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers

    def ignore_aliases(self, data: object) -> bool:
        """Write out what is said twice."""
        return True


def dump(data: object) -> str:
    """The text of ``data``, which :func:`load_marked` reads as the same again."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
    )


ALIASED_NODES = 1_000_000
"""Values that aliases may add to a document: a page of them could stand for more than any memory holds."""


def load_marked(text: str, source: str) -> Marked:
    """Read one YAML document; ``source`` is what errors call it.

    Raises :class:`ConfigError` for bad syntax, a key given twice, an alias within its own anchor, and
    nesting or aliases without measure.
    """
    read = _read(text, source)
    return Marked(deepcopy(read.data), dict(read.lines))


@lru_cache(maxsize=8)  # a sweep reads one file for each point, and it takes longer than a small run
def _read(text: str, source: str) -> Marked:
    """What :func:`load_marked` gives, the same object for the same text."""
    loader: _Loader | None = None

    def load() -> Marked:
        nonlocal loader
        loader = _Loader(text)
        root = loader.get_single_node()
        marked = Marked(None)
        if root is not None:
            marked.lines[()] = root.start_mark.line + 1
            document = _Document(loader, source, marked.lines, len(text) + ALIASED_NODES)
            marked.data = document.construct(root, (), ())
        return marked

    try:
        return loaded(load, text, lambda: loader.line if loader else 0)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{source}:{error}") from None


def load_mapping(text: str, source: str, expected: str = "a mapping") -> tuple[dict[str, Any], Marked]:
    """As :func:`load_marked`, of a document that is a mapping, and that mapping.

    :class:`ConfigError` where it is something else: nothing of it is quoted, for it may be any file.
    """
    marked = load_marked(text, source)
    if not isinstance(marked.data, dict):
        kind = {type(None): "empty", list: "a list", str: "a text"}.get(type(marked.data), "a single value")
        raise ConfigError(f"{source}:{marked.line(())}: (file): is {kind}, expected {expected}")
    return marked.data, marked


def load_data(file: pathlib.Path) -> Any:
    """The content of one of KernBench's own data files. ``ConfigError`` names file and line."""
    return load_marked(input_text(file, "a file of KernBench's"), str(file)).data


def _flat(message: object) -> str:
    return " ".join(str(message).split())


def load_value(text: str) -> object:
    """A value as the file would read it; text that is not YAML is taken as it stands."""
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


@dataclass(slots=True)
class _Document:
    """Turns the nodes of one document into plain data."""

    loader: _Loader
    source: str
    lines: dict[Path, int]
    left: int
    """Values that it may still have."""
    merged: set[int] = field(default_factory=set)
    """Mappings whose ``<<`` are resolved already: those of an anchor are met again at each alias."""

    def construct(self, node: yaml.Node, path: Path, parents: tuple[yaml.Node, ...]) -> object:
        """The value of a node; its lines, and those of all in it, are noted."""
        if any(node is parent for parent in parents):
            raise self._error(node, path, "alias refers to itself")
        self.left -= 1
        if self.left < 0:
            raise self._error(node, path, f"aliases add more than {ALIASED_NODES} values, expected fewer")
        inside = (*parents, node)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for i, item in enumerate(node.value):
                self.lines[(*path, i)] = item.start_mark.line + 1
                items.append(self.construct(item, (*path, i), inside))
            return items
        if isinstance(node, yaml.MappingNode):
            if id(node) not in self.merged:
                self._refuse_duplicates(node, path)
                self.loader.flatten_mapping(node)
                self.merged.add(id(node))
            data: dict[object, object] = {}
            for key_node, value_node in node.value:
                key = self._key(key_node, path)
                self.lines[(*path, key)] = key_node.start_mark.line + 1
                data[key] = self.construct(value_node, (*path, key), inside)
            return data
        try:
            return self.loader.construct_object(node, deep=True)
        except ValueError as error:  # it looks like a date or a number but is none
            problem = _flat(error).partition(";")[0]  # what follows is advice to programmers
            raise self._error(node, path, f"is '{_short(node.value)}': {problem}") from None

    def _key(self, node: yaml.Node, path: Path) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, path, "has a list or mapping as a key, expected text")
        return str(node.value)

    def _refuse_duplicates(self, node: yaml.MappingNode, path: Path) -> None:
        seen: dict[str, int] = {}
        for key_node, _ in node.value:
            key, line = self._key(key_node, path), key_node.start_mark.line + 1
            if key in seen:
                message = f"key given twice (first in line {seen[key]}), expected it once"
                raise self._error(key_node, (*path, key), message)
            seen[key] = line

    def _error(self, node: yaml.Node, path: Path, message: str) -> ConfigError:
        return ConfigError(f"{self.source}:{node.start_mark.line + 1}: {dotted(path)}: {message}")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def dotted(path: Path) -> str:
    """``a.b.0.c`` for a path; the whole document is ``(file)``."""
    return ".".join(str(p) for p in path) or "(file)"
