"""Operators of all types against numpy, with the types that Triton's documentation gives results."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError
from kernbench.language import interpret

Array = np.ndarray[Any, Any]
N = 64
SIGNED = {"int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64}
UNSIGNED = {"uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64}
EIGHT = {"float8e4nv": ml_dtypes.float8_e4m3fn, "float8e5": ml_dtypes.float8_e5m2}
FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": np.float64,
}
INTEGERS = SIGNED | UNSIGNED
TYPES: dict[str, Any] = INTEGERS | EIGHT | FLOATS
KNOWN = ("int16", "uint16", "int64", "uint32", "uint64")
"""Integers that a kernel knows once they are loaded."""


def values(name: str, seed: int) -> Array:
    """All sizes that the type has, its ends and 0 and 1 among them."""
    of, rng = TYPES[name], np.random.default_rng(seed)
    if name in INTEGERS:
        ends = np.iinfo(of)
        found = rng.integers(ends.min, ends.max, N, dtype=of, endpoint=True)
        found[:4] = ends.min, ends.max, 0, 1
        return found
    drawn = (rng.standard_normal(N) * 8).astype(of)
    drawn[:4] = np.array([0, 1, -1, 2.5]).astype(of)
    return drawn


def bits(name: str) -> int:
    return int(np.dtype(TYPES[name]).itemsize) * 8


def result(a: str, b: str, divides: bool) -> str | None:
    """The type in which two blocks are calculated; ``None`` where Triton refuses."""
    if "float64" in (a, b):
        return "float64"
    if "float32" in (a, b):
        return "float32"
    if "float16" in (a, b):
        return "float32" if divides else "float16"
    if a == b == "bfloat16":
        return "float32" if divides else "bfloat16"
    if "bfloat16" in (a, b):
        return "float32"
    if a in EIGHT and b in EIGHT:
        return a if a == b else "float16"
    if a in EIGHT or b in EIGHT or (divides and (a in SIGNED) != (b in SIGNED)):
        return None
    if (a in SIGNED) == (b in SIGNED):
        return a if bits(a) > bits(b) else b
    unsigned, signed = (b, a) if a in SIGNED else (a, b)
    return unsigned if bits(unsigned) >= bits(signed) else signed


@triton.jit
def binary(x, y, out, op: tl.constexpr, types: tl.constexpr, n: tl.constexpr, form=None, ones=None):
    at = tl.arange(0, n)
    a, b = tl.load(x + at), tl.load(y + at)
    if form is not None:
        always = tl.load(ones + at) > 0
        a, b = (tl.where(always, a, a), tl.where(always, b, b)) if form == "computed" else (a, tl.load(y))
    z = op(a, b)
    types.append(z.dtype)
    tl.store(out + at, z)


def pairs(a: Array, b: Array) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in zip(a, b, strict=True)]


def cut(a: Array, b: Array) -> Array:
    found = [abs(i) // abs(j) * (1 if (i < 0) == (j < 0) else -1) for i, j in pairs(a, b)]
    return np.array(found, object).astype(a.dtype)


def rest(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.fmod(a, b))
    found = [int(i) - int(j) * int(q) for i, j, q in zip(a, b, cut(a, b), strict=True)]
    return np.array(found, object).astype(a.dtype)


SAME: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    name: (op, op)
    for name, op in {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
        "^": operator.xor, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
        ">=": operator.ge, ">": operator.gt, "<<": operator.lshift, ">>": operator.rshift,
        "/": operator.truediv,
    }.items()
}  # fmt: skip
OPS = SAME | {
    "//": (operator.floordiv, cut),
    "%": (operator.mod, rest),
    "maximum": (tl.maximum, np.maximum),
    "minimum": (tl.minimum, np.minimum),
}
DIVIDES, WHOLE, COMPARES = (
    ("/", "//", "%"),
    ("//", "&", "|", "^", "<<", ">>"),
    ("<", "<=", "==", "!=", ">=", ">"),
)


def operands(name: str, a: str, b: str) -> tuple[Array, Array]:
    x, y = values(a, 1), values(b, 2)
    if name in DIVIDES:
        y = np.where(y == 0, np.array(3, y.dtype), y)
    if name in ("<<", ">>"):
        y = np.arange(N).astype(y.dtype) % np.array(min(bits(a), bits(b)), y.dtype)
    if a in INTEGERS and b not in INTEGERS:
        x = np.clip(x, *((-100, 100) if a in SIGNED else (0, 100))).astype(x.dtype)
    if b in INTEGERS and a not in INTEGERS:
        y = np.clip(y, *((-100, 100) if b in SIGNED else (0, 100))).astype(y.dtype)
    return x, y


def check_binary(name: str, a: str, b: str, form: str | None = None) -> None:
    ours, theirs = OPS[name]
    x, y = operands(name, a, b)
    if form == "scalar":
        y[:] = y[5]
    compared = [
        "float32" if one == "bfloat16" and name in ("maximum", "minimum") else one for one in (a, b)
    ]  # as these do first
    of = result(compared[0], compared[1], name in DIVIDES)
    if of is not None and of not in INTEGERS and name in WHOLE:
        of = None
    whole = of in INTEGERS and name == "/"
    out_type = np.int8 if name in COMPARES else np.float32 if of is None or whole else TYPES[of]
    types: list[Any] = []
    try:
        more = {} if form is None else {"form": form, "ones": np.ones(N, np.float32)}
        got = interpret(binary[(1,)], x, y, out=np.zeros(N, out_type), op=ours, types=types, n=N, **more)
    except KernBenchError:
        assert of is None or "float64" in (a, b)
        return
    assert of is not None, "Triton refuses"
    exact: Any = np.float32 if whole or of not in INTEGERS else TYPES[of]
    exact = np.float64 if of == "float64" else exact
    with np.errstate(all="ignore"):
        left, right = (one.astype(TYPES[of]).astype(exact) for one in (x, y))
        if name == ">>" and a in SIGNED:  # the first operand's sign says what is shifted in
            left, right = x.astype(np.int64), y.astype(np.int64)
        expected = np.asarray(theirs(left, right)).astype(out_type)
    same = (got == expected) | ((got != got) & (expected != expected))
    assert same.all(), (x[~same][:2], y[~same][:2], got[~same][:2], expected[~same][:2])
    if name not in COMPARES:
        assert str(types[0]) == str(getattr(tl, "float32" if whole else of))


@pytest.mark.daily("*-int8", "*-int32", "*-uint16", "*-float16", "*-bfloat16", "*-float32", "*-float8e5")
@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("name", OPS)
def test_operators_of_two_blocks(name: str, a: str) -> None:
    for b in TYPES:
        check_binary(name, a, b)


@pytest.mark.daily("+-*", "//-*", ">>-*", "/-computed", "==-scalar")
@pytest.mark.parametrize("form", ["computed", "scalar"])
@pytest.mark.parametrize("name", OPS)
def test_operators_of_integers_that_engines_computed_or_that_are_scalars(name: str, form: str) -> None:
    for a in INTEGERS:
        for b in INTEGERS:
            check_binary(name, a, b, form)


@triton.jit
def converted(x, out, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(out + at, tl.load(x + at).to(out.dtype.element_ty))


@pytest.mark.parametrize("a", TYPES)
def test_casts(a: str) -> None:
    for b in TYPES:
        x = values(a, 3)
        if a not in INTEGERS and b in INTEGERS:
            x = np.clip(x.astype(np.float64), 0, 100).astype(x.dtype)
        got = interpret(converted[(1,)], x, out=np.zeros(N, TYPES[b]), n=N)
        expected = x.astype(np.float64 if a not in INTEGERS else x.dtype)
        if b in EIGHT:
            largest = float(ml_dtypes.finfo(TYPES[b]).max)
            expected = np.clip(expected.astype(np.float32), -largest, largest)
        with np.errstate(all="ignore"):
            expected = expected.astype(TYPES[b])
        assert ((got == expected) | ((got != got) & (expected != expected))).all(), b


@triton.jit
def reduced(x, out, how: tl.constexpr, axis: tl.constexpr, types: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    z = how(tl.load(x + at), axis)
    types.append(z.dtype)
    tl.store(out + tl.arange(0, 16 if axis else 32), z)


def widened(name: str) -> str:
    """The type of the largest element."""
    return name if bits(name) >= 32 else "int32" if name in INTEGERS else "float32"


def summed(name: str) -> str:
    if name not in INTEGERS or bits(name) >= 32:
        return "float32" if name in ("float16", "bfloat16") else name
    return "int32" if name in SIGNED else "uint32"


@pytest.mark.parametrize("name", [name for name in TYPES if name != "float64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_and_their_types(name: str, axis: int) -> None:
    x = values(name, 4).repeat(8).reshape(16, 32)
    ties = (x.astype(np.float64) % 5).astype(TYPES[name])
    whole = name in INTEGERS
    few = x if whole else (x.astype(np.float64).astype(np.int64) % 3).astype(TYPES[name])
    exact = x.dtype if whole else np.dtype(np.float64)
    for how, given, theirs, kind in (
        (tl.max, x, lambda a: a.astype(exact).max(axis), widened(name)),
        (tl.min, x, lambda a: a.astype(exact).min(axis), widened(name)),
        (tl.argmax, ties, lambda a: a.astype(exact).argmax(axis), "int32"),
        (tl.argmin, ties, lambda a: a.astype(exact).argmin(axis), "int32"),
        (tl.sum, few, lambda a: a.astype(exact).sum(axis, dtype=TYPES[summed(name)] if whole else None),
         summed(name)),
    ):  # fmt: skip
        types: list[Any] = []
        out = np.zeros(16 if axis else 32, TYPES[kind])
        got = interpret(reduced[(1,)], given, out=out, how=how, axis=axis, types=types)
        if name not in EIGHT or how is not tl.sum:  # which is rounded to 8 bits
            assert (got == theirs(given)).all(), how
        assert str(types[0]) == str(getattr(tl, kind)), how


@triton.jit
def changed(x, out, how: tl.constexpr, n: tl.constexpr):
    at = tl.arange(0, n)
    how(out + at % 8, tl.load(x + at))


@pytest.mark.parametrize("name", [*INTEGERS, "float16", "float32", "float64"])
def test_atomics_in_their_type(name: str) -> None:
    x = values(name, 5) if name in INTEGERS else (values(name, 5) % 4).astype(np.int32).astype(TYPES[name])
    if name == "float64":
        x += 2.0**-40
    for how, theirs in (
        (tl.atomic_add, np.add), (tl.atomic_max, np.maximum), (tl.atomic_min, np.minimum),
        (tl.atomic_and, np.bitwise_and), (tl.atomic_or, np.bitwise_or), (tl.atomic_xor, np.bitwise_xor),
    ):  # fmt: skip
        bits_of = theirs in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
        if name not in INTEGERS and bits_of:
            with pytest.raises(KernBenchError, match="has no bits"):
                interpret(changed[(1,)], x, out=np.zeros(8, x.dtype), how=how, n=N)
            continue
        expected = np.zeros(8, x.dtype)
        with np.errstate(all="ignore"):
            theirs.at(expected, np.arange(N) % 8, x)  # type: ignore[attr-defined]
        assert (interpret(changed[(1,)], x, out=np.zeros(8, x.dtype), how=how, n=N) == expected).all(), how


@triton.jit
def product(x, y, out, types: tl.constexpr):
    rows, between, columns = tl.arange(0, 16), tl.arange(0, 32), tl.arange(0, 16)
    a = tl.load(x + rows[:, None] * 32 + between[None, :])
    z = tl.dot(a, tl.load(y + between[:, None] * 16 + columns[None, :]))
    types.append(z.dtype)
    tl.store(out + rows[:, None] * 16 + columns[None, :], z)


@pytest.mark.parametrize("name", [*INTEGERS, *EIGHT, "float16", "bfloat16", "float32"])
def test_products_of_all_types(name: str) -> None:
    rng = np.random.default_rng(6)
    x, y = (rng.integers(0, 4, shape).astype(TYPES[name]) for shape in ((16, 32), (32, 16)))
    types: list[Any] = []
    out = np.zeros((16, 16), np.int32 if name in INTEGERS else np.float32)
    got = interpret(product[(1,)], x, y, out=out, types=types)
    assert (got == x.astype(np.float64) @ y.astype(np.float64)).all()
    assert str(types[0]) == str(tl.int32 if name in INTEGERS else tl.float32)


@triton.jit
def arranged(x, y, out, how: tl.constexpr, n: tl.constexpr):
    at = tl.arange(0, n)
    z = how(tl.load(x + at), tl.load(y + at))
    tl.store(out + tl.arange(0, z.numel), tl.reshape(z, (z.numel,)))


@pytest.mark.parametrize("name", TYPES)
def test_arranging_keeps_elements(name: str) -> None:
    x, y = values(name, 7), values(name, 8)
    for how, expected in (
        (tl.join, np.stack([x, y], 1).ravel()),
        (tl.interleave, np.stack([x, y], 1).ravel()),
        (lambda a, _: tl.flip(a), x[::-1]),
        (lambda a, _: tl.trans(tl.reshape(a, (16, 4))), x.reshape(16, 4).T.ravel()),
        (lambda a, b: tl.split(tl.join(a, b))[1], y),
    ):
        got = interpret(arranged[(1,)], x, y, out=np.zeros(expected.size, x.dtype), how=how, n=N)
        assert (got == expected).all()
    ordered = {"how": lambda a, _: tl.sort(a), "n": N, "out": np.zeros(N, x.dtype)}
    if name == "float64":
        with pytest.raises(KernBenchError, match="do not calculate with f64"):
            interpret(arranged[(1,)], x, y, **ordered)
    else:
        exact = x if name in INTEGERS else x.astype(np.float64)
        assert (interpret(arranged[(1,)], x, y, **ordered) == np.sort(exact)).all()
