"""From an ``impl`` name to the class that carries it out (``configs/components.yaml``)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from kernbench.components.base import Component
from kernbench.data_files import data_dir
from kernbench.errors import ConfigError


def read_components(path: Path) -> dict[str, str]:
    """The ``impl: module:Class`` entries of one components file."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); name an existing components file"
        ) from None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
        raise ConfigError(
            f"{path}:{line}: is not YAML; expected lines of the form 'impl: module:Class'"
        ) from None
    if not isinstance(entries, Mapping):
        raise ConfigError(f"{path}:1: expected lines of the form 'impl: module:Class'")
    for name, target in entries.items():
        if not isinstance(target, str) or target.count(":") != 1:
            raise ConfigError(f"{path}: {name}: expected 'module:Class', got {target!r}")
    return {str(name): str(target) for name, target in entries.items()}


@cache
def shipped() -> Mapping[str, str]:
    """The entries of KernBench's own ``components.yaml``."""
    return read_components(data_dir("configs") / "components.yaml")


def component_class(impl: str, node: str, extra: Mapping[str, str] | None = None) -> type[Component]:
    """The class for ``impl`` of component ``node``.

    Raises :class:`ConfigError` when the name is not registered, does not import, is no Component, or lacks
    methods of the base that it fills in.
    """
    target = (extra or {}).get(impl) or shipped().get(impl)
    if target is None and ":" in impl:
        target = impl  # a topology may name the class itself
    if target is None:
        raise ConfigError(f"component '{node}': impl '{impl}' is not registered; add it to a components file "
                          "as 'impl: module:Class' or name 'module:Class' itself")  # fmt: skip
    module_name, _, class_name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"component '{node}': impl '{impl}' is '{target}', which does not import ({error})"
        ) from None
    if not (isinstance(found, type) and issubclass(found, Component)):
        raise ConfigError(
            f"component '{node}': '{target}' is not a subclass of kernbench.components.base.Component"
        )
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise ConfigError(f"component '{node}': '{target}' lacks {', '.join(missing)}; define them")
    return found
