"""Call sites of math: result and bytes moved, by the shapes and types of the arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from kernbench.engine.program import tile_plans
from kernbench.engine.program.computing import CallSite
from kernbench.language import arguments, promotion
from kernbench.language.arguments import BadArgumentError
from kernbench.language.extents import broadcast
from kernbench.operations import OPERATIONS
from kernbench.operations.of_several import ZERO_DIVISOR
from kernbench.support import dtypes

KNOWN_ELEMENTS = 1 << 16
"""Largest result of index arithmetic that is computed at once, so that kernels may branch on it."""

_MOST = 1 << 60


def elementwise(name: str, names: Sequence[str], given: Sequence[Any]) -> CallSite:
    """The site of an elementwise call.

    Args:
        name: Its operation.
        names: Its arguments.
        given: Of each argument the shape and the type, or of a number None and the number.

    Raises:
        BadArgumentError: They do not go together.
    """
    rule = OPERATIONS[name]
    tensors: list[tuple[str, tuple[int, ...], str]] = []
    numbers: dict[str, int | float] = {}
    scalars: dict[int, int | float] = {}
    for place, argument in enumerate(names):
        shape, value = given[2 * place], given[2 * place + 1]
        if shape is None:
            numbers[argument] = scalars[place] = value
        else:
            tensors.append((argument, shape, value))
    if rule.block_first and given[0] is None:
        raise BadArgumentError(names[0], f"{given[1]!r} is not a tensor handle")
    if not tensors:
        raise BadArgumentError(names[0], "at least one argument must be a tensor handle")
    result: tuple[int, ...] = ()
    for argument, shape, dtype in tensors:
        if rule.integer_only and dtypes.dtype(dtype).is_float:
            raise BadArgumentError(argument, f"{dtype} has no bits to work on; use integers or masks")
        if not result or result == shape:
            result = shape
            continue
        both = broadcast(result, shape)
        if both is None:
            raise BadArgumentError(argument, f"shape {shape} does not broadcast with {result}")
        result = both
    typed = [dtype for argument, _, dtype in tensors if not rule.chooses or argument != names[0]]
    for argument, number in numbers.items():
        if rule.integer_only and isinstance(number, float):
            raise BadArgumentError(argument, "must be an integer")
    values = list(numbers.values())
    dtype = promotion.math_result(rule, typed, values)
    operand_type = promotion.promote(typed, values)
    for argument, number in numbers.items():
        arguments.held(argument, number, operand_type)
        if rule.divides and not number and argument == "b" and not dtypes.dtype(dtype).is_float:
            raise BadArgumentError(argument, ZERO_DIVISOR)
    in_bytes = sum(arguments.nbytes(shape, dtype) for _, shape, dtype in tensors)
    types = [dtype for _, _, dtype in tensors]
    return by_rule(name, types, result, dtype, math.prod(result), in_bytes, {"scalars": scalars})


@functools.lru_cache(maxsize=1024)
def moving(name: str, of: tuple[int, ...], of_dtype: str, shape: tuple[int, ...], dtype: str) -> CallSite:
    """The site of calls that give elements another type or place."""
    in_bytes = arguments.nbytes(of, of_dtype)
    return by_rule(name, [of_dtype], shape, dtype, math.prod(shape), in_bytes, {"scalars": {}})


@functools.lru_cache(maxsize=1024)
def along(name: str, of: tuple[int, ...], of_dtype: str, index: int | None, keep_dims: bool) -> CallSite:
    """The site of calls along axis ``index`` of a tensor, or over all of it."""
    rule = OPERATIONS[name]
    shape, reduced = list(of), 0
    if rule.kind == "reduce":
        for axis in range(len(of)) if index is None else (index,):
            shape[axis] = 1
        reduced = of[-1] if index == len(of) - 1 else math.prod(of)
        if not keep_dims:
            shape = [] if index is None else [*shape[:index], *shape[index + 1 :]]
            shape = shape or [1]
    dtype = promotion.math_result(rule, [of_dtype])
    in_bytes = arguments.nbytes(of, of_dtype)
    params: dict[str, Any] = {"scalars": {}, "axis": index}
    return by_rule(name, [of_dtype], tuple(shape), dtype, math.prod(of), in_bytes, params, reduced)


def by_rule(
    name: str,
    inputs: Sequence[str],
    shape: tuple[int, ...],
    dtype: str,
    elements: int,
    in_bytes: int,
    params: dict[str, Any],
    reduced: int = 0,
) -> CallSite:
    """The site of calls of ``name`` on operands of types ``inputs`` and ``in_bytes`` in all.

    ``shape`` and ``dtype`` are the result's; PE_MATH works on ``elements``.
    ``reduced``: see :class:`~kernbench.engine.program.tile_plans.Stage`.
    """
    row = OPERATIONS[name]
    integers = not any(dtypes.dtype(one).is_float for one in (*inputs, dtype))
    if row.kind not in ("cast", "move") and any(one in ("i64", "u64") for one in inputs):
        elements *= 2  # a lane is 32 bits wide
    knowable = math.prod(shape) <= KNOWN_ELEMENTS and (integers or row.result == "mask")
    out_bytes = arguments.nbytes(shape, dtype)
    if elements > _MOST:  # no scratch has room for that
        elements, in_bytes, reduced = _MOST, min(in_bytes, _MOST), min(reduced, _MOST)
    plan = tile_plans.math(row.engine, elements, in_bytes, min(out_bytes, _MOST), reduced)
    return CallSite("math", name, shape, dtype, params, out_bytes, plan, knowable)
