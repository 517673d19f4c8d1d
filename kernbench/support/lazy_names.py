"""Public names that are imported when they are first asked for, so that importing a package costs nothing.

Such names are listed once, as imports in the stub (``.pyi``) beside the module. Type checkers and editors
read them there, and so does :class:`LazyNames`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from pathlib import Path
from typing import Any


class LazyNames:
    """The names in the stub of ``module``; its methods are that module's ``__getattr__`` and ``__dir__``."""

    def __init__(self, module: str, file: str) -> None:
        self._module = module
        self._stub = Path(file).with_suffix(".pyi")

    @functools.cached_property
    def _imports(self) -> dict[str, tuple[str, str]]:
        """By name: the module that it comes from, and what it is called there."""
        stub = ast.parse(self._stub.read_text(encoding="utf-8"))
        return {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in stub.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def value(self, name: str) -> Any:
        """What the module's name ``name`` is, kept there from now on; ``AttributeError`` for none."""
        if name == "__all__":
            return sorted(self._imports)
        found = None if name.startswith("__") else self._imports.get(name)
        if found is None:
            raise AttributeError(f"module '{self._module}' has no attribute '{name}'")
        module, theirs = found
        if module == self._module:
            return importlib.import_module(f"{module}.{theirs}")
        value = getattr(importlib.import_module(module), theirs)
        setattr(sys.modules[self._module], name, value)
        return value

    def names(self) -> list[str]:
        """What ``dir()`` of the module lists: these names, and those that Python gives to every module."""
        own = (name for name in vars(sys.modules[self._module]) if name.startswith("__"))
        return sorted({*own, *self._imports})
