"""Names that modules register with a decorator, read from their source: to complete them at no import's cost.

A bench imports numpy, an evaluation the whole simulator; a shell that completes a name should not wait for
either. Only what is written out is found, ``name="my-bench"`` and ``Param("m", ...)``, and parameters that
are assigned to a name in the same module or in a helper of its package that it imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path


def registered(folder: Path, decorator: str) -> dict[str, tuple[str, ...]]:
    """The names that modules in ``folder`` give to ``@decorator(...)``: names of parameters by name, sorted.

    Modules whose name starts with an underscore are helpers. A module whose source is not there or cannot
    be parsed has nothing.
    """
    found: dict[str, tuple[str, ...]] = {}
    for path in folder.glob("[!_]*.py"):
        found |= registered_in(path, decorator)
    return dict(sorted(found.items()))


def registered_in(path: Path, decorator: str) -> dict[str, tuple[str, ...]]:
    """The names that module ``path`` gives to ``@decorator(...)``, in order; see :func:`registered`."""
    found: dict[str, tuple[str, ...]] = {}
    module = _parse(path, f"@{decorator}(")
    for node in module.body if module else ():
        for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != decorator:
                continue
            given = {word.arg: word.value for word in call.keywords}
            name = given.get("name", call.args[0] if call.args else None)
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                params = given.get("params")
                listed = params.elts if isinstance(params, ast.List | ast.Tuple) else ()
                known = _assigned_params(module, path.parent) if listed else {}
                found[name.value] = tuple(_param_names(listed, known))
    return found


def _parse(path: Path, needed: str = "") -> ast.Module | None:
    try:
        source = path.read_text(encoding="utf-8")
        return ast.parse(source) if needed in source else None
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None


def _assigned_params(module: ast.Module | None, folder: Path) -> dict[str, str]:
    """Names of parameters by the name that they are assigned to, here or in helpers imported from beside."""
    known: dict[str, str] = {}
    for node in module.body if module else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            stem = node.module.rpartition(".")[2]
            if stem.startswith("_") and (folder / f"{stem}.py").is_file():
                known |= _assigned_params(_parse(folder / f"{stem}.py"), folder)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for name in _param_names([node.value], {}):
                known[node.targets[0].id] = name
    return known


def _param_names(values: list[ast.expr] | tuple[()], known: Mapping[str, str]) -> Iterator[str]:
    for value in values:
        if isinstance(value, ast.Name) and value.id in known:
            yield known[value.id]
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == "Param":
            name = value.args[0] if value.args else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value
