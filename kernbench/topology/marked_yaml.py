"""YAML with the line of every key, so that an error can name the line that it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from kernbench.errors import ConfigError

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


class _Loader(yaml.SafeLoader):
    """SafeLoader that also reads ``1e9`` as a number, as YAML 1.2 does."""


_Loader.yaml_implicit_resolvers = {k: list(v) for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+"), list("-+0123456789")
)


def load_marked(text: str, source: str) -> Marked:
    """Read one YAML document; ``source`` is what errors call it.

    Raises :class:`ConfigError` for bad syntax, a key given twice, and an alias within its own anchor.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        marked = Marked(None)
        if root is not None:
            marked.lines[()] = root.start_mark.line + 1
            marked.data = _construct(loader, root, (), marked.lines, source, ())
        return marked
    except ConfigError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = error.problem or ""
        if not problem or problem.startswith("but "):
            problem = f"{error.context} {problem}"
        raise ConfigError(f"{source}:{line}: bad YAML: {_flat(problem)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{source}:{line}: bad YAML: {error.reason}") from None


def _flat(message: object) -> str:
    return " ".join(str(message).split())


def load_value(text: str) -> object:
    """A value as the file would read it; text that is not YAML is taken as it stands."""
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError):
        return text


def _construct(
    loader: _Loader,
    node: yaml.Node,
    path: Path,
    lines: dict[Path, int],
    source: str,
    parents: tuple[yaml.Node, ...],
) -> object:
    if any(node is parent for parent in parents):
        raise ConfigError(f"{source}:{node.start_mark.line + 1}: {dotted(path)}: alias refers to itself")
    inside = (*parents, node)
    if isinstance(node, yaml.SequenceNode):
        items = []
        for i, item in enumerate(node.value):
            lines[(*path, i)] = item.start_mark.line + 1
            items.append(_construct(loader, item, (*path, i), lines, source, inside))
        return items
    if isinstance(node, yaml.MappingNode):
        _refuse_duplicates(loader, node, path, source)
        loader.flatten_mapping(node)
        data: dict[object, object] = {}
        for key_node, value_node in node.value:
            key = _key(loader, key_node, path, source)
            lines[(*path, key)] = key_node.start_mark.line + 1
            data[key] = _construct(loader, value_node, (*path, key), lines, source, inside)
        return data
    try:
        value: object = loader.construct_object(node, deep=True)
    except ValueError as error:  # it looks like a date or a number but is none
        message = f"{source}:{node.start_mark.line + 1}: {dotted(path)}: is '{node.value}': {_flat(error)}"
        raise ConfigError(message) from None
    return value


def _key(loader: _Loader, node: yaml.Node, path: Path, source: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        where = f"{source}:{node.start_mark.line + 1}: {dotted(path)}"
        raise ConfigError(f"{where}: has a list or mapping as a key, expected text")
    return str(node.value)


def _refuse_duplicates(loader: _Loader, node: yaml.MappingNode, path: Path, source: str) -> None:
    seen: dict[str, int] = {}
    for key_node, _ in node.value:
        key, line = _key(loader, key_node, path, source), key_node.start_mark.line + 1
        if key in seen:
            raise ConfigError(
                f"{source}:{line}: {dotted((*path, key))}: key given twice (first in line {seen[key]}),"
                " expected it once"
            )
        seen[key] = line


def dotted(path: Path) -> str:
    """``a.b.0.c`` for a path; the whole document is ``(file)``."""
    return ".".join(str(p) for p in path) or "(file)"
