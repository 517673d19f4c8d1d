"""Every row of the table of operations, in both languages, of every type, against numpy or closed forms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language import interpret
from kernbench.operations import EPILOGUES, NAMES, OPERATIONS, Operation
from kernbench.support import dtypes
from kernbench.triton.calls import current
from kernbench.values.numeric import cast

Array = np.ndarray[Any, Any]
ONE: dict[str, Any] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "abs": np.abs,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
    "sinh": lambda x: np.exp(x) / 2 - np.exp(-x) / 2,
    "cosh": lambda x: np.exp(x) / 2 + np.exp(-x) / 2, "erf": np.vectorize(math.erf, otypes=[float]),
    "cos": np.cos, "sin": np.sin, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.round,
    "round": lambda x: np.where(x < 0, -np.floor(0.5 - x), np.floor(x + 0.5)), "isnan": lambda x: x != x,
    "isinf": lambda x: np.abs(x) == np.inf, "neg": lambda x: -x, "bitwise_not": lambda x: ~x,
    "logical_not": lambda x: x == 0,
}  # fmt: skip
TWO: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "pow": np.power, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
    "truncdiv": lambda a, b: np.where((a < 0) == (b < 0), abs(a) // abs(b), -(abs(a) // abs(b))),
    "truncmod": np.fmod, "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b, "left_shift": lambda a, b: a << b, "right_shift": lambda a, b: a >> b,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "maximum": lambda a, b: np.where(~(a < b) & (a == a), a, b),
    "minimum": lambda a, b: np.where(~(a > b) & (a == a), a, b),
    "maximum_nan": lambda a, b: np.where((a != a) | (a > b), a, b),
    "minimum_nan": lambda a, b: np.where((a != a) | (a < b), a, b),
}  # fmt: skip
THREE: dict[str, Any] = {
    "clamp": lambda x, low, high: np.where(x != x, low, np.where(x < low, low, np.where(x > high, high, x))),
    "clamp_nan": lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)),
    "where": lambda c, a, b: np.where(c != 0, a, b),
    "fma": lambda a, b, c: a * b + c,
}
ALONG: dict[str, Any] = {
    "softmax": lambda x: 1 / np.exp(x[:, None, :] - x[:, :, None]).sum(2),
    "cumsum": lambda x: np.cumsum(x, 1), "cumprod": lambda x: np.cumprod(x, 1),
    "sum": lambda x: x.sum(1, keepdims=True), "max": lambda x: np.nanmax(x, 1, keepdims=True),
    "min": lambda x: np.nanmin(x, 1, keepdims=True),
    "argmax": lambda x: np.nanargmax(x, 1, keepdims=True),
    "argmin": lambda x: np.nanargmin(x, 1, keepdims=True),
}  # fmt: skip
MOVED = {"cast", "broadcast_to"}
FLOATS, INTEGERS = ("f32", "f16", "bf16"), ("i32", "i8", "u8", "i1")
RELATIVE = {"f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2}


def values_of(name: str) -> Array:
    """NaN, infinities, zeros, the largest and the smallest of a type, and some in between."""
    kind = dtypes.dtype(name)
    if not kind.is_float:
        low, high = kind.limits
        return np.unique(np.array([low, high, 0, 1, high // 3, max(low, -5)])).astype(kind.numpy)
    large = float(np.finfo(np.float32).max) if name != "f16" else 65504.0
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0, large, -large, 1.0, -1.0, 0.5, -2.5, 3.25, 1e-3]
    return cast(np.array(special), name)


def given_to(row: Operation, name: str) -> list[Array]:
    """What ``row`` is tried with."""
    values, whole = values_of(name), not dtypes.dtype(name).is_float
    if row.kind in ("reduce", "rowwise"):
        wide = np.abs(values.astype(np.float64))
        most = 1e4 if row.name == "cumprod" else np.finfo(np.float32).max
        row_of = values if whole else values[wide <= most][:8]
        return [np.stack([row_of, row_of[::-1]])]
    rows = list(itertools.product(*[values[:9]] * row.arity))
    if row.divides and not row.float_only:
        rows = [r for r in rows if r[1] != 0 and all(abs(float(x)) < 1e4 or whole for x in r)]
    if row.name.endswith("shift"):
        rows = [r for r in rows if 0 <= int(r[1]) < 8]
    if row.name.startswith("clamp"):
        rows = [r for r in rows if r[1] <= r[2]]
    return [np.array(column, values.dtype) for column in zip(*rows, strict=True)]


def expected(row: Operation, given: list[Array], name: str) -> Array:
    """By the oracle, in f64 or in integers of 64 bits."""
    oracle = {**ONE, **TWO, **THREE, **ALONG}[row.name]
    whole = not dtypes.dtype(name).is_float and not row.float_only
    wide = np.bool_ if name == "i1" and row.logical else np.int64 if whole else np.float64
    given = [one.astype(np.float32) for one in given] if wide is np.float64 else given
    with np.errstate(all="ignore"):
        return np.asarray(oracle(*(one.astype(wide) for one in given)))


def call_of(language: Any, row: Operation, in_triton: bool) -> Any:
    """The call of a row in one of the languages; None where it has none."""
    for plain, variant in ((one, OPERATIONS[one.nan]) for one in OPERATIONS.values() if one.nan):
        if variant is row:
            return lambda *given: getattr(language, plain.name)(*given, propagate_nan=True)
    if not in_triton:
        return getattr(language, row.name) if row.tl else None
    return getattr(language, row.in_triton[0]) if row.in_triton else None


@triton.jit
def of_blocks(body, row, ROWS: tl.constexpr, COLUMNS: tl.constexpr, a, b=None, c=None):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    body(row, [tl.load(one + at) for one in (a, b, c)[: row.arity]])


@pytest.mark.parametrize("in_triton", [False, True], ids=["tl", "triton"])
@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_every_row_of_every_type_in_both_languages(name: str, in_triton: bool) -> None:
    found: dict[str, Array] = {}
    given: dict[str, list[Array]] = {}

    def body(row: Operation, blocks: list[Any], language: Any) -> None:
        call = call_of(language, row, in_triton)
        if call is None:
            return
        axis = {"axis": 1} if row.kind in ("reduce", "rowwise") and row.name != "softmax" else {}
        if in_triton and row.name == "softmax":
            axis = {"dim": 1}
        handle = call(*blocks, **axis)
        handle = handle.handle() if hasattr(handle, "handle") else handle
        found[row.name] = np.array(handle.data)

    for row in OPERATIONS.values():
        integer_only = row.integer_only and dtypes.dtype(name).is_float
        shifts_truth = name == "i1" and row.name.endswith("shift")
        integer_only |= in_triton and row.name == "truncdiv" and name in FLOATS  # an error there
        if row.name in MOVED or integer_only or shifts_truth:
            continue
        arrays = given[row.name] = given_to(row, name)
        if in_triton:
            rows, columns = arrays[0].shape if arrays[0].ndim == 2 else (1, arrays[0].size)
            interpret(of_blocks[(1,)], lambda r, b: body(r, b, current("test")), row, rows, columns, *arrays)
        else:
            interpret(lambda *all, tl, row=row: body(row, [tl.load(one) for one in all], tl), *arrays)
    assert len(found) > (30 if name == "i1" else 35)
    for one, got in found.items():
        row = OPERATIONS[one]
        want = expected(row, given[one], name).reshape(-1)
        kind = dtypes.of_numpy(got.dtype).name
        assert kind == type_of(row, name, in_triton), one
        got = got.reshape(-1)
        if kind in RELATIVE:
            with np.errstate(all="ignore"):
                limited = cast(want, kind).astype(np.float64)
            exact = RELATIVE[kind] if kind != "f32" or row.check is None or row.check.kind != "exact" else 0
            np.testing.assert_allclose(got.astype(np.float64), limited, exact, exact, err_msg=one)
        else:
            np.testing.assert_array_equal(got, cast(want, kind), err_msg=one)


def type_of(row: Operation, name: str, in_triton: bool) -> str:
    """The type of a result, by the rules on the page of the language."""
    if row.result:
        return {"mask": "i1", "index": "i32"}[row.result]
    halves = name in ("f16", "bf16")
    if in_triton and halves and row.name in ("div", "truncmod"):
        return "f32"
    summed = row.name == "sum" or (in_triton and row.name in ("max", "min"))
    if summed and (halves or name not in FLOATS):
        signless = row.name == "sum" and (name == "u8" or (in_triton and name == "i1"))
        return "f32" if halves else "u32" if signless else "i32"
    if in_triton and name == "bf16" and row.name.startswith(("maximum", "minimum", "clamp")):
        return "f32"
    if row.name == "cumprod":  # as in Triton, products do not widen integers
        return {"bf16": "f32", "i1": "i32"}.get(name, name)
    if row.name == "cumsum" and name != "f16" and name != "f32":
        return {"bf16": "f32", "u8": "u32"}.get(name, "i32")
    if name in FLOATS:
        return name
    if row.float_only:
        return "f32"
    return "i32" if name == "i1" and not row.logical else name


def test_every_row_has_an_oracle_and_its_names() -> None:
    assert {*ONE, *TWO, *THREE, *ALONG, *MOVED} == {*OPERATIONS}
    assert {*NAMES} == {row.engine for row in OPERATIONS.values()} | {*EPILOGUES}
    for row in OPERATIONS.values():
        assert all(hasattr(tl, name) for name in row.triton)
        assert all(hasattr(tl.extra.cuda.libdevice, name) for name in row.libdevice)
        assert all(hasattr(tl.math, name) for name in row.triton if row.math)


def test_nan_is_kept_where_it_is_asked_for() -> None:
    x = np.array([math.nan, 1, 2, math.nan], np.float32)
    y = np.array([1, math.nan, 5, math.nan], np.float32)
    out = np.zeros(16, np.float32)

    @triton.jit
    def kernel(x, y, out):
        at = tl.arange(0, 4)
        a, b = tl.load(x + at), tl.load(y + at)
        tl.store(out + at, tl.maximum(a, b))
        tl.store(out + 4 + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
        tl.store(out + 8 + at, tl.minimum(a, b, tl.PropagateNan.NONE))
        tl.store(out + 12 + at, tl.clamp(a, 1.5, 3.0, propagate_nan=tl.PropagateNan.ALL))

    interpret(kernel[(1,)], x, y, out)
    nan = math.nan
    np.testing.assert_array_equal(out, [1, 1, 5, nan, nan, nan, 5, nan, 1, 1, 2, nan, nan, 1.5, 2, nan])
