"""Every reference of a docstring, such as :func:`kernbench.run`, names something that there is."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r":(func|class|meth|mod|data|attr|exc|obj|const):`(?:[^`<]*<)?[~!]?([\w.]+)>?`")


@cache
def texts() -> dict[str, str]:
    """The packages' modules, by name."""
    found = {}
    for root, package in ((ROOT, "kernbench"), (ROOT / "graph", "kernbench_graph")):
        for path in sorted((root / package).glob("**/*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path.read_text(encoding="utf-8")
    return found


def documented(tree: ast.Module) -> Iterator[tuple[list[str], str]]:
    """Each docstring and text after an attribute, with the names of the classes around it."""

    def walk(node: ast.AST, classes: list[str]) -> Iterator[tuple[list[str], str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                if isinstance(child.value.value, str):
                    yield classes, child.value.value
            else:
                yield from walk(child, [*classes, child.name] if isinstance(child, ast.ClassDef) else classes)

    yield from walk(tree, [])


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a module imports, for type checkers too: names and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


@cache
def module_of(name: str) -> ModuleType:
    return importlib.import_module(name)


def absolute(name: str) -> bool:
    """Whether there is something under a full name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = module_of(".".join(parts[:length]))
        except (ModuleNotFoundError, TypeError, ValueError):
            continue
        return within(found, parts[length:])
    return False


def within(owner: Any, parts: list[str]) -> bool:
    """Whether an object has an attribute, and that one the next: of classes, also those of instances."""
    for place, part in enumerate(parts):
        if hasattr(owner, part):
            owner = getattr(owner, part)
        else:
            return place == len(parts) - 1 and isinstance(owner, type) and of_instances(owner, part)
    return True


def of_instances(owner: type, name: str) -> bool:
    """Whether a class annotates an attribute, sets it or, compiled, has the method for others of its kind."""
    for one in owner.__mro__:
        if name in inspect.get_annotations(one):
            return True
        if re.search(rf"\bself\.{name}\b|\bdef {name}\b", texts().get(one.__module__, "")):
            return True
    return False


def defined() -> dict[str, list[str]]:
    """Modules that define a class or function, by its name: docstrings name those of elsewhere so too."""
    found: dict[str, list[str]] = {name: ["builtins"] for name in dir(builtins)}
    for module, text in texts().items():
        for name in re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE):
            found.setdefault(name, []).append(module)
    return found


def test_every_reference_of_a_docstring_names_something_that_there_is() -> None:
    known, dead = defined(), []
    for name, text in texts().items():
        if not REFERENCE.search(text):
            continue
        module = module_of(name)
        tree = ast.parse(text)
        imported = dict(imports(tree))
        for classes, doc in documented(tree):
            owners = [module, *(getattr(module, one, None) for one in classes[:1])]
            for _, said in REFERENCE.findall(doc):
                first, *rest = said.split(".")
                full = [".".join([imported.get(first, first), *rest])]
                full += [f"{one}.{said}" for one in known.get(first, ())]
                here = any(within(owner, [first, *rest]) for owner in owners if owner)
                if not here and not any(absolute(one) for one in full):
                    dead.append(f"{name}: {said}")
    assert not dead, "\n".join(dead)
