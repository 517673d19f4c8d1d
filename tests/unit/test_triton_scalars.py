"""Numbers beside blocks have Triton's types and are rounded as these are; expected values are numpy's."""

from __future__ import annotations

import math
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
N = 16
HALVES = np.array([0, 1e-3, 0.1, 0.25, 1 / 3, 1, 2, 3, 5, 7, 2.5, -0.1, -1, -7, 300, 65504], np.float16)


@triton.jit
def applied(x, y, out, made: tl.constexpr, types: tl.constexpr, n: tl.constexpr, number, count):
    at = tl.arange(0, n)
    found = made(tl.load(x + at), tl.load(y + at), number, count)
    types.append(str(found.dtype))
    tl.store(out + at, found)


def carried_out(made: Callable[..., Any], x: Array, of: Any, y: Array = HALVES, count: int = 3) -> Any:
    """The values of ``made`` in the type ``of``, and its type."""
    types: list[str] = []
    out = np.zeros(N, of)
    interpret(applied[(1,)], x, y, out, made=made, types=types, n=N, number=0.1, count=count)
    return out, types[-1]


@pytest.mark.parametrize("of", [np.float16, ml_dtypes.bfloat16])
def test_a_number_that_is_written_is_rounded_to_the_type_of_short_floats_first(of: Any) -> None:
    x, tenth = HALVES.astype(of), np.asarray(0.1, of)
    name = "f16" if of == np.float16 else "bf16"
    with np.errstate(over="ignore", invalid="ignore"):
        for made, expected in [
            (lambda v, *_: v * 0.1, x * tenth),
            (lambda v, *_: 0.1 + v, tenth + x),
            (lambda v, *_: v * 1e39, x * np.asarray(np.inf, of)),
            (lambda v, *_: tl.where(v > 0, v, 0.1), np.where(x > 0, x, tenth)),
        ]:
            found, kind = carried_out(made, x, of)
            assert kind == name
            np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
    np.testing.assert_array_equal(carried_out(lambda v, *_: v == 0.1, x, np.int8)[0], x == tenth)
    quotients, kind = carried_out(lambda v, *_: v / 0.1, x, np.float32)
    assert kind == "f32"
    np.testing.assert_array_equal(quotients, x.astype(np.float32) / np.float32(0.1))


def test_a_scalar_with_a_type_is_converted_as_a_block_is() -> None:
    times = lambda v, _y, _number, count: v * count  # noqa: E731
    found, kind = carried_out(times, HALVES, np.float16, count=70000)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, HALVES * np.float16(np.inf))
    assert kind == "f16"
    short = HALVES.astype(ml_dtypes.bfloat16)
    found, kind = carried_out(times, short, np.float32)
    assert kind == "f32"
    np.testing.assert_array_equal(found, short.astype(np.float32) * np.float32(3))
    assert carried_out(lambda v, _y, number, _: v * number.to(tl.float16), HALVES, np.float16)[1] == "f16"
    assert carried_out(lambda v, _y, number, _: v * number, HALVES, np.float32)[1] == "f32"


def test_scalars_of_f32_are_rounded_at_every_step() -> None:
    one, tenth = np.float32(1e9), np.float32(0.1)
    for made, expected in [
        (lambda _x, _y, number, _: number + 1e9 - 1e9, tenth + one - one),
        (lambda _x, _y, number, _: number * 1e30 * 1e30, np.inf),
        (lambda _x, _y, number, _: number == 0.1, 1),
        (lambda _x, _y, _n, count: 1 / (count - 3), np.inf),
        (lambda _x, _y, _n, count: (count - 3) / (count - 3), np.nan),
        (lambda _x, _y, number, count: -(number + count) % 2.0, -math.fmod(np.float32(3) + tenth, 2)),
        (lambda _x, _y, _n, count: count * 16777217, np.float32(3 * 16777217)),
    ]:
        spread = lambda *given, made=made: tl.zeros((N,), tl.float32) + made(*given)  # noqa: E731
        found, _ = carried_out(spread, HALVES, np.float32)
        np.testing.assert_array_equal(found, np.full(N, expected, np.float32))


def test_the_numbers_of_fma_have_types() -> None:
    x = np.arange(-8, 8, dtype=np.int8) * 16
    found, kind = carried_out(lambda v, *_: tl.fma(v, v, 1), x, np.int32)
    assert kind == "i32"
    np.testing.assert_array_equal(found, x.astype(np.int32) ** 2 + 1)
    assert carried_out(lambda v, *_: tl.fma(v, v, 0.5), HALVES, np.float32)[1] == "f32"
    assert carried_out(lambda v, *_: tl.fma(v, v, v), HALVES, np.float16)[1] == "f16"


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("signed", ["int8", "int16", "int32"])
@pytest.mark.parametrize("unsigned", ["uint8", "uint16", "uint32", "uint64"])
def test_a_shift_to_the_right_copies_the_sign_whatever_the_counts_are(
    signed: str, unsigned: str, known: bool
) -> None:
    x, y = (np.arange(N) * 7 - 50).astype(signed), (np.arange(N) % 5).astype(unsigned)
    wide = np.dtype(unsigned).itemsize >= np.dtype(signed).itemsize
    of = np.dtype(unsigned) if wide else np.dtype(signed)
    expected = (x.astype(np.int64) >> y.astype(np.int64)).astype(of)
    blocks = lambda a, b, *_: a >> b  # noqa: E731
    computed = lambda a, b, *_: tl.where(b < 9, a, a) >> tl.where(b < 9, b, b)  # noqa: E731
    found, kind = carried_out(blocks if known else computed, x, of, y)
    assert kind == of.name.replace("uint", "u").replace("int", "i")
    np.testing.assert_array_equal(found, expected)


def test_random_integers_have_no_sign() -> None:
    found, kind = carried_out(lambda *_: tl.randint(7, tl.arange(0, N)) % 10, HALVES, np.int64)
    assert kind == "u32"
    assert (found >= 0).all()


@pytest.mark.parametrize("call", [tl.join, tl.cat, tl.interleave])
def test_blocks_of_two_types_are_not_put_into_one(call: Callable[..., Any]) -> None:
    x = np.arange(N, dtype=np.int8)
    with pytest.raises(KernBenchError, match="f16 elements beside those of i8; cast one"):
        carried_out(lambda v, w, *_: call(v, w), x, np.int8)
