"""Rules of this project that no linter knows, asked of the parsed source.

======================== ==============================================================================
``private of SimPy``     a name of SimPy's that begins with one underscore, in a module that imports SimPy
``written into another`` ``vars(x)[...] = ...``, ``vars(x).update(...)``, the same with ``x.__dict__``
``methods compared``     ``is``, ``==`` and their like between methods: ordinary dispatch calls the right one
======================== ==============================================================================
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import simpy

_COMPARING = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_PROPERTIES = ("property", "cached_property", "setter", "deleter")


class Finding(NamedTuple):
    line: int
    rule: str
    what: str


def findings(tree: ast.AST, methods: frozenset[str] = frozenset()) -> list[Finding]:
    """All that breaks a rule; ``methods`` are names that are methods wherever the project defines them."""
    nodes = list(ast.walk(tree))
    found = [*_written_into_another(nodes), *_methods_compared(nodes, methods)]
    if _imports_simpy(nodes):
        found += _private_of_simpy(nodes)
    return sorted(set(found))


def method_names(trees: Iterable[ast.AST]) -> frozenset[str]:
    """Names that classes define as methods, and that are nowhere a property, a field or an attribute."""
    methods: set[str] = set()
    others: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, ast.FunctionDef):
                        words = {one for d in member.decorator_list for one in _words(d)}
                        (others if words & {*_PROPERTIES} else methods).add(member.name)
                    elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                        others.add(member.target.id)
                    elif isinstance(member, ast.Assign):
                        others |= {t.id for t in member.targets if isinstance(t, ast.Name)}
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                others.add(node.attr)
    return frozenset(methods - others)


def _words(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


# -- private names of SimPy ---------------------------------------------------------------------------


def _imports_simpy(nodes: list[ast.AST]) -> bool:
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(name.split(".")[0] == "simpy" for name in names):
            return True
    return False


@cache
def simpy_private() -> frozenset[str]:
    """The names that SimPy's classes and their objects have for themselves."""
    found: set[str] = set()
    for module in (simpy, simpy.core, simpy.events, simpy.exceptions):
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__.startswith("simpy."):
                words = _words(ast.parse(inspect.getsource(inspect.getmodule(cls) or cls)))
                found |= {*vars(cls), *words}
    return frozenset(name for name in found if name.startswith("_") and not name.startswith("__"))


def _private_of_simpy(nodes: list[ast.AST]) -> Iterator[Finding]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.FunctionDef):
            name = node.name
        else:
            continue
        if name in simpy_private():
            yield Finding(node.lineno, "private of SimPy", name)


# -- attributes written into an object by its dictionary -------------------------------------------------


def _is_dictionary(node: ast.AST) -> bool:
    """Whether it is ``vars(x)`` or ``x.__dict__``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "vars" and len(node.args) == 1
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _written_into_another(nodes: list[ast.AST]) -> Iterator[Finding]:
    for node in nodes:
        changed = (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and _is_dictionary(node.value)
        )
        updated = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("update", "setdefault", "pop", "clear")
            and _is_dictionary(node.func.value)
        )
        if changed or updated:
            yield Finding(node.lineno, "written into another", ast.unparse(node))  # type: ignore[attr-defined]


# -- methods compared ----------------------------------------------------------------------------------------


def _methods_compared(nodes: list[ast.AST], methods: frozenset[str]) -> Iterator[Finding]:
    for node in nodes:
        if isinstance(node, ast.Compare) and any(isinstance(op, _COMPARING) for op in node.ops):
            sides = [node.left, *node.comparators]
            nothing = any(isinstance(side, ast.Constant) for side in sides)
            if not nothing and any(_is_method(side, methods) for side in sides):
                yield Finding(node.lineno, "methods compared", ast.unparse(node))


def _is_method(node: ast.AST, methods: frozenset[str]) -> bool:
    """Whether it is a method, as far as names tell: ``x.leave``, ``Server.leave``, ``getattr(cls, name)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return bool(node.args) and _is_class(node.args[0])
    if not isinstance(node, ast.Attribute):
        return False
    of_class = _is_class(node.value) and node.attr.islower() and not node.attr.startswith("__")
    return of_class or node.attr in methods or node.attr in ("__func__", "__code__")


def _is_class(node: ast.AST) -> bool:
    """Whether it stands for a class, as far as its name tells."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    if isinstance(node, ast.Name):
        return node.id == "cls" or (node.id[:1].isupper() and not node.id.isupper())
    return False
