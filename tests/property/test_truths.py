"""Expressions of masks, integers and scalars in both languages, against numpy, whose integers wrap."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language.interpret import interpret
from tests.examples import examples

BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
NUMERIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
COMPARE = {"<": operator.lt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
N = 8
MASKS = ("p", "q")
LEAVES = ("a", "b", *MASKS)
expressions = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.tuples(st.just("~"), inner),
        st.tuples(st.sampled_from([*BITWISE, *NUMERIC, *COMPARE]), inner, inner),
        st.tuples(st.just("where"), inner, inner, inner),
    ),
    max_leaves=6,
)


def value(expression: Any, names: dict[str, Any], where: Any, wide: Any) -> Any:
    """The expression over ``names``; ``wide`` makes an integer of a mask where numbers are asked for."""
    if isinstance(expression, str):
        return names[expression]
    name, *inner = expression
    parts = [value(one, names, where, wide) for one in inner]
    if name == "~":
        return ~parts[0]
    if name == "where":
        return where(*parts)
    if name in BITWISE:
        return BITWISE[name](*parts)
    return {**NUMERIC, **COMPARE}[name](*(wide(one) for one in parts))


def expected(expression: Any, names: dict[str, np.ndarray]) -> np.ndarray:
    """Numpy's answer in i32."""
    found = value(expression, names, lambda c, a, b: np.where(c != 0, a, b), lambda x: x.astype(np.int32))
    return np.asarray(found, np.int32)


numbers = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2 * N, max_size=2 * N)


@examples(300)
@given(expressions, numbers, st.booleans())
def test_blocks(expression: Any, drawn: list[int], known: bool) -> None:
    a, b = np.array(drawn, np.int32).reshape(2, N)
    wanted = expected(expression, {"a": a, "b": b, "p": a > b, "q": a < 3})

    def names(x: Any, y: Any) -> dict[str, Any]:
        return {"a": x, "b": y, "p": x > y, "q": x < 3}

    @triton.jit
    def of_triton(x, y, out):
        at = tl.arange(0, N)
        first, second = tl.load(x + at), tl.load(y + at)
        if known:
            first, second = first.to(tl.int64), second.to(tl.int64)
            first, second = first.to(tl.int32), second.to(tl.int32)
        found = value(expression, names(first, second), tl.where, lambda x: x)
        tl.store(out + at, found)

    def of_tl(x, y, out, tl):
        tl.store(out, value(expression, names(tl.load(x), tl.load(y)), tl.where, lambda x: x))

    for kernel in (of_triton[(1,)], of_tl):
        out = np.zeros(N, np.int32)
        interpret(kernel, a, b, out)
        np.testing.assert_array_equal(out, wanted)


@examples(300)
@given(expressions, st.integers(0, 3), st.integers(-(2**31), 2**31 - 1))
def test_scalars(expression: Any, program: int, number: int) -> None:
    @triton.jit
    def kernel(y, out):
        a = tl.program_id(0)
        names = {"a": a, "b": y, "p": a > y, "q": a < 3}
        tl.store(out + a, value(expression, names, tl.where, lambda x: x))

    a, b = np.arange(4, dtype=np.int32), np.full(4, number, np.int32)
    out = np.zeros(4, np.int32)
    interpret(kernel[(4,)], number, out)
    wanted = expected(expression, {"a": a, "b": b, "p": a > b, "q": a < 3})
    np.testing.assert_array_equal(out, wanted)
