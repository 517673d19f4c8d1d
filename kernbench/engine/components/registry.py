"""From an ``impl`` name to its class (``configs/components.yaml``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kernbench.engine.arbiters import registry as arbiters
from kernbench.engine.components.base import Component
from kernbench.engine.components.memory import Memory
from kernbench.engine.components.pe_compute import ComputeEngine
from kernbench.engine.core.node import overrides
from kernbench.errors import ConfigError
from kernbench.hardware.topology.checks import parts
from kernbench.hardware.topology.component_file import read_components
from kernbench.hardware.topology.marked_yaml import Path
from kernbench.hardware.topology.problems import Problem
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.data_files import data_dir
from kernbench.support.hints import suggestion
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.user_modules import load_class


@cache
def shipped() -> Mapping[str, str]:
    """The entries of KernBench's own ``components.yaml``."""
    return read_components(data_dir("configs") / "components.yaml")


def own_classes(graph: PropertyGraph, extra: Mapping[str, str] | None) -> dict[str, str]:
    """``impl`` names and classes beyond the shipped ones: of the topology's file, then ``extra``."""
    of_topology: dict[str, str] = json.loads(graph.notes.get("components", "{}"))
    return {**of_topology, **(extra or {})}


def component_class(impl: str, extra: Mapping[str, str] | None = None) -> type[Component]:
    """The class for ``impl``: a name of ``extra`` or of the shipped file, or itself a class.

    A class is ``module:Class`` or ``file.py:Class``, found as benches are: a module may lie in the working
    directory, or in the topology file's folder. Raises :class:`ConfigError` when the name is not registered,
    does not import, is not a Component, or lacks methods of the base that it fills in.
    """
    known = {**shipped(), **(extra or {})}
    target = known.get(impl, impl)
    if ":" not in target:
        hint = suggestion(impl, known).rstrip()
        raise ConfigError(
            f"impl '{impl}' is not registered; add it to a components file as 'impl: module:Class' or name "
            f"'module:Class' itself{hint and f'; {hint}'}"
        )
    meant = f"impl '{impl}'" if impl == target else f"impl '{impl}', '{target}',"
    found = load_class(target, "component", meant, Component)
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    for base in (Memory, ComputeEngine):
        if issubclass(found, base):
            missing += [name for name in base.filled_in if not overrides(found, name, base)]
    if missing:
        raise ConfigError(f"{meant} lacks {', '.join(missing)}; define them")
    return found


def classes_of(spec: TopologySpec, extra: Mapping[str, str] | None) -> dict[str, str]:
    """The users' classes by ``impl`` name: of the topology's components file, its own, then ``extra``."""
    named = [
        *(impl for _, impl in _impls(spec)),
        *(link.arbiter for link in (*spec.wires.values(), *spec.links.values())),
    ]
    own = {name: name for name in named if ":" in name}
    return {**own, **spec.components, **(extra or {})}


def problems(spec: TopologySpec, extra: Mapping[str, str] | None = None) -> Iterator[Problem]:
    """Keys of a topology that should name a component or arbiter class but do not."""
    yield from arbiters.problems(spec, extra)
    classes = {**spec.components, **(extra or {})}
    for path, impl in _impls(spec):
        try:
            component_class(impl, classes)
        except ConfigError as error:
            yield Problem(path, str(error))


def _impls(spec: TopologySpec) -> Iterator[tuple[Path, str]]:
    """Every implementation that a topology names: of its sections, and of the parts of any shape."""
    yield from (((*path, "impl"), section.impl) for path, _, section in parts(spec) if section.impl)
    shape = spec.model_dump(include={"defaults", "blocks", "parts"}, exclude_unset=True)
    yield from _impls_within((), shape)


def _impls_within(path: Path, said: Any) -> Iterator[tuple[Path, str]]:
    for key, value in said.items() if isinstance(said, dict) else ():
        if key == "impl" and isinstance(value, str) and value and "{" not in value:
            yield (*path, key), value
        yield from _impls_within((*path, key), value)
