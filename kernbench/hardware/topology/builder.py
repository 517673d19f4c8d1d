"""A machine described in Python: the content of a topology file, said key by key."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernbench.errors import UsageError
from kernbench.hardware.topology.loader import Check, checked, find, read
from kernbench.hardware.topology.marked_yaml import Marked, dotted, dump
from kernbench.hardware.topology.marked_yaml import Path as KeyPath
from kernbench.hardware.topology.shapes.emit import compile_topology
from kernbench.hardware.topology.shapes.idle import unused_wires
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.hardware.topology.zero_paths import refuse_zero_paths
from kernbench.support.hints import shown
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.user_code import line_of


@dataclass(slots=True)
class _Said(Marked):
    """What was said in Python, and by which lines of it."""

    places: dict[KeyPath, str] = field(default_factory=dict)

    def place(self, path: KeyPath, source: str) -> str:
        """``file.py:12``, the line that set it or its section; ``source`` where no line did."""
        known = (self.places.get(path[:depth]) for depth in range(len(path), -1, -1))
        return next(filter(None, known), source)


class Parts:
    """Parts and the links among them: those of a machine, or of a block of it."""

    def __init__(self, whole: Topology, path: KeyPath) -> None:
        self._whole, self._path = whole, path

    def part(self, name: str, /, **keys: object) -> str:
        """Add a part, a block, or an array of either, as an entry of ``parts`` of a file does.

        Args:
            name: its name.
            keys: ``kind`` or ``block``; ``shape`` or ``count`` of an array; keys of the kind, such as
                ``overhead_ns``, or parameters of the block.

        Returns:
            Its name, for references.

        Raises:
            UsageError: the name is taken, or a value is not one of a file.
        """
        return self._whole._add((*self._path, "parts", name), keys)

    def connect(self, **keys: object) -> None:
        """Join parts, as an entry of ``connect`` of a file does.

        Args:
            keys: ``wire``, by name or figures; one of ``pair all mesh torus ring all_to_all dragonfly`` with
                references; ``one_way`` and the like.

        Raises:
            UsageError: a value is not one of a file.
        """
        self._whole._append((*self._path, "connect"), keys)


class Topology(Parts):
    """A machine described in Python, with the keys of a topology file: see "Describe a machine" in the docs.

    What is said is checked as a file is when it is compiled; errors name the line that said it. Wherever a
    topology is taken, this is too.

    Args:
        name: name of the machine.
        sections: sections of the file, such as ``system={"flit_bytes": 64}``. Without parts it is a tray of
            packages.

    Raises:
        UsageError: a value is not one of a file.
    """

    def __init__(self, name: str, /, **sections: object) -> None:
        super().__init__(self, ())
        self._content: dict[str, Any] = {"name": _plain((), name)}
        self._places: dict[KeyPath, str] = {(): line_of(sys._getframe())}
        self._beside: dict[str, object] = {}
        """Parts that there are before any is added."""
        self._folder: Path | None = None
        for key, value in sections.items():
            self._content[key] = _plain((key,), value)

    @classmethod
    def from_yaml(
        cls, file: str | os.PathLike[str] | None = None, overrides: Mapping[str, object] | None = None
    ) -> Topology:
        """The machine of a topology file, to which parts can be added.

        Args:
            file: a path or the name of a shipped topology; None is the default one.
            overrides: values by dotted key.

        Raises:
            ConfigError: as from :func:`kernbench.load_topology`.
        """
        found = find(file)
        marked = read(found)
        checked(marked, str(found), overrides, folder=found.parent)
        assert isinstance(marked.data, dict)
        made = cls(marked.data["name"], **{key: v for key, v in marked.data.items() if key != "name"})
        made._places = {path: marked.place(path, str(found)) for path in marked.lines}
        made._beside = {"tray": "tray"}
        made._folder = found.parent
        return made

    @property
    def name(self) -> str:
        """Name of the machine."""
        return str(self._content["name"])

    def wire(self, name: str, /, **keys: object) -> str:
        """Add a class of links, as ``wires`` of a file does; returns its name.

        Args:
            name: its name.
            keys: ``gbs mm delay_ns weight lanes kind``, and keys of buffers and arbiters.

        Raises:
            UsageError: the name is taken, or a value is not one of a file.
        """
        return self._add(("wires", name), keys)

    def block(self, name: str, /, **keys: object) -> Parts:
        """Add a block; parts and links are added to what is returned.

        Args:
            name: its name.
            keys: ``params``, ``level`` and ``port``.

        Raises:
            UsageError: the name is taken, or a value is not one of a file.
        """
        self._add(("blocks", name), keys)
        return Parts(self, ("blocks", name))

    def defaults(self, kind: str, /, **keys: object) -> None:
        """Say keys of all parts of a kind, beside those that are said already."""
        self._add(("defaults", kind), keys, more=True)

    def links(self, where: str, /, **keys: object) -> None:
        """Say keys of a kind of link, a wire or a link ``a->b``, as under ``links``, such as buffers."""
        self._add(("links", where), keys, more=True)

    def to_dict(self) -> dict[str, Any]:
        """The content of the topology file of this machine."""
        content = _plain((), self._content)
        assert isinstance(content, dict)
        return content

    def to_yaml(self) -> str:
        """The text of the topology file of this machine, which compiles to the same graph."""
        return dump(self._content)

    def checked(
        self,
        overrides: Mapping[str, object] | None = None,
        also: Check = unused_wires,
        folder: Path | None = None,
    ) -> TopologySpec:
        """The checked content with ``overrides``, values by dotted key; ``ConfigError`` as of a file.

        A components file is sought in the folder of the machine's file, else in ``folder``.
        """
        lines = {path: number for number, path in enumerate(self._places)}
        said = _Said(self.to_dict(), lines, self._places)
        return checked(said, f"topology '{self.name}'", overrides, also, self._folder or folder or Path())

    def compile(self) -> PropertyGraph:
        """The compiled machine.

        Raises:
            ConfigError: a line for each mistake, with the line of Python that said it, and the key.
        """
        spec = self.checked()
        graph = compile_topology(spec)
        refuse_zero_paths(spec, graph)
        return graph

    def _add(self, path: KeyPath, keys: Mapping[str, object], *, more: bool = False) -> str:
        """Put ``keys`` at ``path``, whose last is a name; returns that. With ``more``, beside those there."""
        section, name = self._section(path[:-1], {}), str(path[-1])
        if name in section and not more:
            raise UsageError(
                f"topology '{self.name}': {dotted(path)}: is there already, expected another name"
            )
        said = _plain(path, keys)
        section[name] = {**section[name], **said} if name in section else said
        self._places[path] = line_of(sys._getframe())
        for key in keys:
            self._places[*path, key] = self._places[path]
        return name

    def _append(self, path: KeyPath, keys: Mapping[str, object]) -> None:
        entries = self._section(path, [])
        entries.append(_plain((*path, len(entries)), keys))
        self._places[*path, len(entries) - 1] = line_of(sys._getframe())

    def _section(self, path: KeyPath, empty: Any) -> Any:
        """What is at ``path``, ``empty`` where nothing is."""
        here: Any = self._content
        if path[0] in ("parts", "connect"):
            here.setdefault("parts", dict(self._beside))
        for key in path[:-1]:
            here = here[key]
        return here.setdefault(path[-1], empty)


def _plain(path: KeyPath, value: object) -> Any:
    """``value`` as a file would have it; ``UsageError`` for what no file has."""
    if hasattr(value, "tolist"):  # an array, or a number of one
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain((*path, str(key)), item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain((*path, i), item) for i, item in enumerate(value)]
    raise UsageError(
        f"kb.Topology: {dotted(path)}: is {shown(value)}, expected a number, a text, a list or a mapping"
    )
