"""From the name of an arbiter in a topology file to its class."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from kernbench.engine.core.node import overrides
from kernbench.engine.core.port import Arbiter
from kernbench.errors import ConfigError
from kernbench.hardware.topology.problems import Problem
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import load_class


def shipped() -> list[str]:
    """The arbiters that come with KernBench. Each is the only one in the file of its name in this folder."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in names if name != "registry")


def arbiter_class(name: str, extra: Mapping[str, str] | None = None) -> type[Arbiter]:
    """The class behind an arbiter's name: a shipped one, one of ``extra``, or itself a class.

    A class is ``module:Class`` or ``file.py:Class``, found as those of components are. Raises
    :class:`ConfigError` when there is no such name, the class does not import, or is not an arbiter.
    """
    if name in shipped():
        module = importlib.import_module(f"kernbench.engine.arbiters.{name}")
        return next(_arbiters_of(module.__dict__, module.__name__))
    target = (extra or {}).get(name, name)
    if ":" not in target:
        known = [*shipped(), *(extra or {})]
        raise ConfigError(
            f"arbiter '{name}' does not exist, {suggestion(name, known)}expected {', '.join(shipped())}, "
            "or a class of your own, 'module:Class'"
        )
    meant = f"arbiter '{name}'" if name == target else f"arbiter '{name}', '{target}',"
    found = load_class(target, "arbiter", meant, Arbiter)
    if not overrides(found, "pick", Arbiter):
        raise ConfigError(f"{meant} lacks pick; define it")
    return found


def problems(spec: TopologySpec, extra: Mapping[str, str] | None = None) -> Iterator[Problem]:
    """Names of arbiters in a topology that do not exist."""
    for section, said in (("wires", spec.wires), ("links", spec.links)):
        for name, part in said.items():
            try:
                arbiter_class(part.arbiter, {**spec.components, **(extra or {})})
            except ConfigError as error:
                yield Problem((section, name, "arbiter"), str(error))


def _arbiters_of(names: Mapping[str, object], module: str) -> Iterator[type[Arbiter]]:
    for found in names.values():
        if isinstance(found, type) and issubclass(found, Arbiter) and found.__module__ == module:
            yield found
