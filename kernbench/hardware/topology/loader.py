"""Reads a topology file, applies overrides, and validates: from YAML to a :class:`TopologySpec`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.topology import checks
from kernbench.hardware.topology.component_file import read_components
from kernbench.hardware.topology.fields import out_of_range
from kernbench.hardware.topology.marked_yaml import Marked, dotted, load_mapping, load_value
from kernbench.hardware.topology.marked_yaml import Path as KeyPath
from kernbench.hardware.topology.problems import Problem, from_pydantic, report, show
from kernbench.hardware.topology.spec import SHAPE, TopologySpec
from kernbench.support.data_files import shipped_topologies
from kernbench.support.input_files import input_text
from kernbench.support.user_modules import search_in

LONGEST = 1_000_000
"""Bytes of a topology file."""
_OF_CUBES = frozenset({"sip", "cube", "pe"})
"""Keys of packages of cubes, which a file of parts need not know."""
_BUILT = (
    "is a key of former versions: machines are not built in steps; say its parts under 'parts', 'blocks' and "
    "'connect' (kb.Topology writes them), what is lost under 'faults' and what is slower under 'overrides'"
)
DEFAULT = "default"
"""Name of the shipped topology that is used when none is asked for."""


def find(path: str | os.PathLike[str] | None) -> Path:
    """The file meant by ``path``: a path, the bare name of a shipped topology, or ``None`` for the default.

    Raises :class:`ConfigError` when there is no such file.
    """
    wanted = Path(DEFAULT if path is None else path).expanduser()
    if path is not None and os.path.lexists(wanted) and not wanted.is_dir():
        return wanted
    known = shipped_topologies()
    if str(wanted) in known:
        return known[str(wanted)]
    if wanted.is_dir():
        raise ConfigError(f"{wanted}: is a folder, expected a topology file")
    raise ConfigError(f"{wanted}: no such topology file, expected a path or one of {', '.join(known)}")


Check = Callable[[TopologySpec], Iterable[Problem]]
"""A further check of a topology whose keys are valid each by itself."""


def load(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
    also: Check | None = None,
) -> TopologySpec:
    """The validated topology of a file. Modules that it names may lie in its folder.

    ``path``: see :func:`find`. ``overrides``: values by dotted key (``cube.hbm.switch_penalty_ns``, list
    items by position: ``sip.io_chiplets.0.side``); a text is read as the file would read it.
    Raises :class:`ConfigError` with a line for each error: ``file:line: key: what is wrong, expected what``.
    """
    file = find(path)
    return checked(read(file), str(file), overrides, also, file.parent)


def read(file: Path) -> Marked:
    """The content of a topology file, not yet checked. Modules that it names may lie in its folder."""
    text = input_text(file, "a topology file", most=LONGEST)
    search_in(file.parent)
    return load_mapping(text, str(file))[1]


def parse(
    text: str,
    source: str = "<topology>",
    overrides: Mapping[str, object] | None = None,
    also: Check | None = None,
) -> TopologySpec:
    """As :func:`load`, of a text, which errors call ``source``; a components file is not looked at."""
    return checked(load_mapping(text, source)[1], source, overrides, also)


def checked(
    marked: Marked,
    source: str,
    overrides: Mapping[str, object] | None = None,
    also: Check | None = None,
    folder: Path | None = None,
) -> TopologySpec:
    """As :func:`load`, of what a file says: the ``overrides`` are set in ``marked``.

    A components file is read relative to ``folder``; without one, the key is not looked at.
    """
    data = marked.data
    assert isinstance(data, dict)
    paths: dict[KeyPath, str] = {}
    for name, value in (overrides or {}).items():
        path: KeyPath = tuple(int(k) if k.isdecimal() and len(k) < 10 else k for k in name.split("."))
        if "" in path:
            raise ConfigError(f"override '{name}': is not a dotted key, expected one such as 'system.sips'")
        _override(marked, path, name, load_value(value) if isinstance(value, str) else deepcopy(value))
        paths[path] = name
    if beyond_any := list(_out_of_range(data)):
        raise report(beyond_any, source, marked, paths)
    if former := [Problem((key,), _BUILT) for key in ("built", "built_in_python") if key in data]:
        raise report(former, source, marked, paths)
    try:
        spec = TopologySpec.model_validate(data)
    except ValidationError as error:
        of_parts = bool(data.get("parts"))
        keys = [key for key in TopologySpec.model_fields if key not in (_OF_CUBES if of_parts else SHAPE)]
        problems = [
            replace(one, message=f"unknown key, expected one of {', '.join(keys)}")
            if len(one.path) == 1 and one.message.startswith("unknown key, expected")
            else one
            for one in from_pydantic(error, TopologySpec)
        ]
        beyond = "" if of_parts else "; a machine of another shape is made of parts"
        raise report(problems, source, marked, paths, beyond) from None
    found = [*_read_components(spec, folder), *checks.problems(spec), *(also(spec) if also else ())]
    if found:
        raise report(found, source, marked, paths)

    def located(path: KeyPath) -> str:
        said = (name for key, name in paths.items() if path[: len(key)] == key)
        return next((f"override {name}" for name in said), marked.place(path, source))

    spec.note_source(located)
    for i, override in enumerate(spec.overrides):
        override.note_location(located(("overrides", i, "where")))
    return spec


def _out_of_range(data: object, path: KeyPath = ()) -> Iterator[Problem]:
    """All numbers that no figure can be: those of parts are read as they are, wherever they are used."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _out_of_range(value, (*path, key))
    elif expected := out_of_range(data):
        yield Problem(path, f"is {show(data)}, expected {expected}")


def _read_components(spec: TopologySpec, folder: Path | None) -> Iterator[Problem]:
    if spec.components_file and folder is not None:
        try:
            spec.note_components(read_components(folder / Path(spec.components_file).expanduser()))
        except ConfigError as error:
            yield Problem(("components_file",), str(error))


def validate(spec: TopologySpec) -> None:
    """Raise :class:`ConfigError` when parts of a spec made in code do not fit together."""
    if found := checks.problems(spec):
        lines = (f"topology '{spec.name}': {dotted(problem.path)}: {problem.message}" for problem in found)
        raise ConfigError("\n".join(lines))


def _override(marked: Marked, path: KeyPath, name: str, value: object) -> None:
    """Set one value in the document, making sections that the file leaves out."""
    here: object = marked.data
    for depth, key in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, dict) and isinstance(key, str):
            if last:
                here[key] = value
            else:
                here = here.setdefault(key, [] if isinstance(path[depth + 1], int) else {})
                if here is None:
                    raise ConfigError(
                        f"override {name}: {dotted(path[: depth + 1])}: is empty, expected a mapping"
                    )
        elif isinstance(here, list) and isinstance(key, int):
            if key >= len(here):
                counted = f"{len(here)} item{'' if len(here) == 1 else 's'}"
                where = f"override {name}: {dotted(path[:depth])}"
                raise ConfigError(f"{where}: the file lists {counted}, expected a position from 0 below that")
            if last:
                here[key] = value
            else:
                here = here[key]
        else:
            what = show(here)
            raise ConfigError(
                f"override {name}: {dotted(path[:depth])}: is {what}, expected a key of a section"
            )
