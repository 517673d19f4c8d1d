"""Kernels as Triton reads them: ``and``, ``or``, ``not`` of blocks, and numbers that are given a name.

Python asks a block for one truth value and gives numbers no ``.to``; Triton's compiler does neither. The
function of a kernel is compiled again from its source with calls in their place, on the same lines.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from kernbench.language.handles import TensorHandle
from kernbench.triton.values import Float, Int, KnownBlock, Literal, scalar


def rewritten(fn: FunctionType) -> CodeType:
    """The code of ``fn`` that calls :data:`CALLS`; its own where its source is not at hand."""
    code = fn.__code__
    try:
        source = fn.__globals__.get("__kernel_source__") or "".join(inspect.findsource(code)[0])
        if not _same(_within(_compiled(source, code.co_filename), code), code):  # the file was changed since
            return _named(code)
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (node.name, _first(node)) == _place(code):
                node.body = [_Rewriting().visit(one) for one in node.body]
        made = compile(ast.fix_missing_locations(tree), code.co_filename, "exec", dont_inherit=True)
        return _named(_within(made, code))
    except (OSError, SyntaxError, StopIteration):
        return _named(code)


@functools.lru_cache(maxsize=16)
def _compiled(source: str, filename: str) -> CodeType:
    return compile(source, filename, "exec", dont_inherit=True)


def _within(module: CodeType, wanted: CodeType) -> CodeType:
    """Of the code of a file that of the function ``wanted``: what it is compiled to depends on the file."""

    def walk(code: CodeType) -> Iterator[CodeType]:
        yield code
        for one in code.co_consts:
            if isinstance(one, CodeType):
                yield from walk(one)

    return next(one for one in walk(module) if _place(one) == _place(wanted))


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _same(a: CodeType, b: CodeType) -> bool:
    """Whether two codes do the same."""
    if (a.co_code, a.co_names, a.co_varnames) != (b.co_code, b.co_names, b.co_varnames):
        return False
    both = [[repr(x) for x in one.co_consts if not isinstance(x, CodeType)] for one in (a, b)]
    return both[0] == both[1]


def _named(code: CodeType) -> CodeType:
    """``code`` whose floats are scalars of the language; what is beside one of these becomes one."""
    return code.replace(co_consts=tuple([Literal(x) if type(x) is float else x for x in code.co_consts]))


class _Rewriting(ast.NodeTransformer):
    def __init__(self) -> None:
        self._temporaries = 0

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """``a and b``: ``t if _kb_and_ends(t := a) else _kb_and(t, b)``: ``b`` only where it counts."""
        name = "_kb_and" if isinstance(node.op, ast.And) else "_kb_or"
        found: ast.expr = self.visit(node.values[0])
        for value in node.values[1:]:
            self._temporaries += 1
            kept = f"_kb_{self._temporaries}"
            ends = _call(f"{name}_ends", ast.NamedExpr(ast.Name(kept, ast.Store()), found))
            both = _call(name, ast.Name(kept, ast.Load()), self.visit(value))
            found = ast.copy_location(ast.IfExp(ends, ast.Name(kept, ast.Load()), both), node)
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """``not a``."""
        self.generic_visit(node)
        return _call("_kb_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """``x = 0``: what is given a name is a value of the language."""
        self.generic_visit(node)
        if all(isinstance(one, ast.Name) for one in node.targets):
            node.value = _named_value(node.value)
        elif all(isinstance(one, ast.Tuple) for one in node.targets) and isinstance(node.value, ast.Tuple):
            node.value.elts = [*map(_named_value, node.value.elts)]
        return node


def _named_value(node: ast.expr) -> ast.expr:
    return ast.copy_location(_call("_kb_scalar", node), node) if _may_be_a_number(node) else node


def _may_be_a_number(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int | float)
    return isinstance(node, ast.UnaryOp | ast.BinOp | ast.Compare | ast.IfExp)


def _call(name: str, *given: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*given], [])


def _is_block(value: object) -> bool:
    """Whether it has no truth value that Python could branch by now."""
    if isinstance(value, KnownBlock):
        return value.data.size != 1
    return isinstance(value, TensorHandle) and (any(size != 1 for size in value.shape) or value.pending)


def _mask(value: Any) -> Any:
    """The truth values of a block."""
    return value if not hasattr(value, "dtype") or value.dtype == "i1" else value != 0


def _not(value: Any) -> Any:
    if _is_block(value):
        return ~_mask(value)
    return scalar(not value) if isinstance(value, Int | Float) else not value


def _combining(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def call(a: Any, b: Any) -> Any:
        """``b`` where ``a`` does not say it, else both together."""
        if not _is_block(a):
            return _mask(b) if _is_block(b) else b
        if not _is_block(b):
            b = bool(b)
        return combine(_mask(a), _mask(b))

    return call


CALLS: dict[str, Callable[..., Any]] = {
    "_kb_and": _combining(lambda a, b: a & b),
    "_kb_and_ends": lambda value: not _is_block(value) and not value,
    "_kb_or": _combining(lambda a, b: a | b),
    "_kb_or_ends": lambda value: not _is_block(value) and bool(value),
    "_kb_not": _not,
    "_kb_scalar": scalar,
}
"""Globals of rewritten kernels."""
