"""The meaning of operations, against numpy written out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import UsageError
from kernbench.operations import OPERATIONS
from kernbench.support.dtypes import DTYPES
from kernbench.values.numeric import cast, product
from kernbench.values.semantics import compute, stack_of, stacked_dot

BF16 = ml_dtypes.bfloat16
F32 = np.float32


def name_of(array):
    return next(d.name for d in DTYPES.values() if d.numpy == array.dtype)


def op(kind, name, inputs, shape, dtype, **params):
    operands = tuple(Operand(a.shape, name_of(a), handle=i) for i, a in enumerate(inputs))
    return Op(9, kind, name, operands, Operand(shape, dtype, handle=9), params)


def math_op(name, inputs, shape, dtype, **params):
    params.setdefault("scalars", {})
    return compute(op("math", name, inputs, shape, dtype, **params), inputs)


X = np.array([[-2.0, -0.5, 0.25], [1.0, 3.0, 80.0]], F32)

FUNCTIONS = {
    "exp": math.exp,
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
    "cos": math.cos,
    "sin": math.sin,
    "abs": abs,
    "neg": lambda v: -v,
    "sqrt": lambda v: math.sqrt(v) if v >= 0 else math.nan,
    "log": lambda v: math.log(v) if v > 0 else math.nan,
    "exp2": lambda v: 2.0**v,
    "log2": lambda v: math.log2(v) if v > 0 else math.nan,
    "rsqrt": lambda v: 1 / math.sqrt(v) if v > 0 else math.nan,
    "tanh": math.tanh,
    "erf": math.erf,
    "floor": math.floor,
    "ceil": math.ceil,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unary_functions(name):
    expected = np.array([[FUNCTIONS[name](float(v)) for v in row] for row in X])
    np.testing.assert_allclose(math_op(name, [X], X.shape, "f32"), expected, rtol=3e-7)


def test_f16_and_bf16_are_computed_in_f32_and_rounded_once():
    rng = np.random.default_rng(1)
    for dtype, tag in ((np.float16, "f16"), (BF16, "bf16")):
        a, b = (rng.standard_normal((5, 7)).astype(dtype) for _ in range(2))
        got = math_op("mul", [a, b], a.shape, tag)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, (a.astype(F32) * b.astype(F32)).astype(dtype))
        total = math_op("sum", [a], (5, 1), tag, axis=1)
        np.testing.assert_array_equal(total, a.astype(F32).sum(axis=1, keepdims=True).astype(dtype))


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_broadcast_and_put_scalars_where_they_were(name):
    row = np.array([1.0, 2.0, -3.0], F32)
    np.testing.assert_array_equal(math_op(name, [X, row], X.shape, "f32"), BINARY[name](X, row))
    left = math_op(name, [X], X.shape, "f32", scalars={0: 3})
    np.testing.assert_array_equal(left, BINARY[name](F32(3), X))
    right = math_op(name, [X], X.shape, "f32", scalars={1: 0.7})
    np.testing.assert_array_equal(right, BINARY[name](X, F32(0.7)))


def test_division_by_zero_and_overflow_are_quiet():
    zero = np.zeros(3, F32)
    values = math_op("div", [np.array([1, -1, 0], F32), zero], (3,), "f32")
    np.testing.assert_array_equal(values, [np.inf, -np.inf, np.nan])
    assert math_op("exp", [np.full(1, 100, np.float16)], (1,), "f16")[0] == np.inf


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_fma_is_the_exact_value_rounded_once(dtype):
    """Against rational arithmetic: sums whose f64 is just at the middle between two values of the type."""
    kind = DTYPES[dtype]
    bits = {"f32": 24, "f16": 11, "bf16": 8}[dtype]
    near = [1 + 2.0**-k for k in (bits // 2, bits - 1)] + [1 - 2.0**-k for k in (bits // 2, bits - 1)]
    far = [s * 2.0**-k for s in (1, -1) for k in (24, 14, 30, 40, 55, 80)] + [0.0]
    rows = np.array([(a, b, c) for a in near for b in near for c in far], F32)
    rows = rows.astype(kind.numpy)
    got = math_op("fma", [np.ascontiguousarray(column) for column in rows.T], (len(rows),), dtype)
    for value, (a, b, c) in zip(got, rows, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        steps = np.array([-np.inf, np.inf], kind.numpy)
        around = [float(value), *(float(np.nextafter(value, step)) for step in steps)]
        errors = [abs(Fraction(x) - exact) for x in around]
        assert errors[0] <= min(errors[1:]), (a, b, c)
        if errors[0] in errors[1:]:
            unsigned = np.asarray(value).view(f"u{kind.itemsize}")
            assert int(unsigned) % 2 == 0, (a, b, c)


def test_fma_rounds_once():
    a = np.array([1 + 2**-12], F32)
    once = math_op("fma", [a, a, np.array([-1.0], F32)], (1,), "f32")
    assert once[0] == F32((1 + 2**-12) ** 2 - 1)
    assert once[0] != a[0] * a[0] - F32(1)
    integers = [np.array([7], np.int32), np.array([2], np.int32)]
    assert math_op("fma", integers, (1,), "i32", scalars={1: 5})[0] == 37


def test_clamp_and_where():
    np.testing.assert_array_equal(
        math_op("clamp", [X], X.shape, "f32", scalars={1: -1.0, 2: 1.0}), np.clip(X, -1, 1)
    )
    low = np.array([0, 0, 10], F32)
    np.testing.assert_array_equal(
        math_op("clamp", [X, low], X.shape, "f32", scalars={2: 50}), np.clip(X, low, 50)
    )
    large = np.array([2**31 - 1, -(2**31) + 1, 5], np.int32)
    condition = np.array([np.nan, 0.0, 0.5], F32)
    got = math_op("where", [condition, large], (3,), "i32", scalars={2: -1})
    np.testing.assert_array_equal(got, [2**31 - 1, -1, 5])


def test_reductions_and_softmax():
    x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(F32)
    for axis in range(3):
        shape = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
        for name, reference in (("sum", np.sum), ("max", np.max), ("min", np.min)):
            got = math_op(name, [x], shape, "f32", axis=axis)
            np.testing.assert_allclose(
                got, reference(x.astype(float), axis=axis, keepdims=True), rtol=1e-5, atol=1e-6
            )
        got = math_op("softmax", [x + 1000], x.shape, "f32", axis=axis)
        wide = np.exp((x + F32(1000)).astype(float) - 1000)
        np.testing.assert_allclose(got, wide / wide.sum(axis=axis, keepdims=True), rtol=1e-5)


def test_integers_wrap_and_their_sums_are_wide():
    x = np.array([127, -128, 100], np.int8)
    np.testing.assert_array_equal(math_op("add", [x, x], (3,), "i8"), np.array([-2, 0, -56], np.int8))
    assert math_op("sum", [np.full(1000, 127, np.int8)], (1,), "i32", axis=0)[0] == 127000
    big = np.array([2**31 - 1], np.int32)
    assert math_op("add", [big], (1,), "i32", scalars={1: 1})[0] == -(2**31)
    assert math_op("sub", [big], (1,), "i32", scalars={1: 1})[0] == 2**31 - 2
    np.testing.assert_array_equal(math_op("div", [x], (3,), "f32", scalars={1: 2}), x / 2)


def test_operations_that_shrink_an_axis():
    assert {name for name, rule in OPERATIONS.items() if rule.kind == "reduce"} == {
        *("sum", "max", "min", "argmax", "argmin")
    }


def test_casts():
    assert cast(X, "f32") is X
    odd = np.array([np.nan, np.inf, -np.inf, 1e9, -1e9, 2.9, -2.9], F32)
    np.testing.assert_array_equal(cast(odd, "i8"), [0, 127, -128, 127, -128, 2, -2])
    limits = np.array([2**31, -(2**31), 3e9], F32)
    np.testing.assert_array_equal(cast(limits, "i32"), [2**31 - 1, -(2**31), 2**31 - 1])
    np.testing.assert_array_equal(cast(np.array([300, -300], np.int32), "i8"), [44, -44])
    assert cast(np.array([1e6], F32), "f16")[0] == np.inf
    assert cast(np.array([1 + 2**-8, 1 + 3 * 2**-8], F32), "bf16").tolist() == [1.0, 1 + 2**-6]
    np.testing.assert_array_equal(cast(np.array([1.5, -3.0], BF16), "i32"), [1, -3])


def test_views():
    x = np.arange(12, dtype=np.int32).reshape(2, 2, 3)
    np.testing.assert_array_equal(
        compute(op("view", "trans", [x], (2, 3, 2), "i32"), [x]), np.swapaxes(x, 1, 2)
    )
    arange = compute(op("view", "arange", [], (4,), "f16", start=2, stop=6), [])
    assert (arange.dtype, arange.tolist()) == (np.float16, [2, 3, 4, 5])
    zeros = compute(op("view", "zeros", [], (2, 2), "bf16"), [])
    assert (zeros.dtype, zeros.shape, zeros.any()) == (BF16, (2, 2), np.False_)
    full = compute(op("view", "full", [], (3,), "i8", value=-7), [])
    assert (full.dtype, full.tolist()) == (np.int8, [-7] * 3)


def test_moves_cast_and_share():
    x = np.array([1.5, -2.5], F32)
    assert np.shares_memory(compute(op("memory", "dma_read", [x], (2,), "f32"), [x]), x)
    written = compute(op("memory", "dma_write", [x], (2, 1), "i8"), [x])
    assert (written.dtype, written.tolist()) == (np.int8, [[1], [-2]])
    data = np.arange(4, dtype=np.int32)
    host = Op(1, "memory", "host_write", (), Operand((4,), "i32", regions=(Region(0, 16),)), {"data": data})
    np.testing.assert_array_equal(compute(host, []), data)


def test_inputs_are_used_in_the_shape_of_their_operand():
    x = np.arange(4, dtype=F32)
    exp = Op(
        1, "math", "composite_exp", (Operand((1, 4), "f32", handle=1),), Operand((1, 4), "f32", address=0)
    )
    np.testing.assert_array_equal(compute(exp, [x]), np.exp(x)[None])


@pytest.mark.parametrize(
    ("kind", "name"), [("tile", "GEMM"), ("math", "cot"), ("math", "composite_softmax"), ("view", "roll")]
)
def test_operations_without_a_value(kind, name):
    with pytest.raises(UsageError, match=f"{kind}/{name} has no value"):
        compute(op(kind, name, [X], X.shape, "f32"), [X])
    with pytest.raises(UsageError, match="no output"):
        compute(Op(1, kind, name), [])


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_dot_accumulates_in_f32(dtype):
    rng = np.random.default_rng(2)
    a = rng.standard_normal((5, 300)).astype(DTYPES[dtype].numpy)
    b = rng.standard_normal((300, 4)).astype(DTYPES[dtype].numpy)
    got = compute(op("gemm", "dot", [a, b], (5, 4), dtype, acc_dtype="f32"), [a, b])
    exact = a.astype(float) @ b.astype(float)
    assert got.dtype == DTYPES[dtype].numpy
    tolerance = DTYPES[dtype].tolerance
    np.testing.assert_allclose(got.astype(float), exact, rtol=tolerance, atol=tolerance * 10)
    # 4096 + 1 has no f16 or bf16 neighbour: a narrow accumulator would lose the ones.
    ones = np.ones((1, 2049), DTYPES[dtype].numpy)
    total = compute(op("gemm", "dot", [ones, ones.T], (1, 1), "f32", acc_dtype="f32"), [ones, ones.T])
    assert total[0, 0] == 2049


def test_dot_in_a_narrow_accumulator():
    a = np.ones((1, 2049), np.float16)
    got = compute(op("gemm", "dot", [a, a.T], (1, 1), "f32", acc_dtype="f16"), [a, a.T])
    assert got[0, 0] == np.float16(2049)


def test_integer_dots_are_exact_and_wrap_at_32_bits():
    rng = np.random.default_rng(3)
    a = rng.integers(-128, 128, (4, 500), dtype=np.int8)
    b = rng.integers(-128, 128, (500, 3), dtype=np.int8)
    got = compute(op("gemm", "dot", [a, b], (4, 3), "i32"), [a, b])
    np.testing.assert_array_equal(got, a.astype(np.int64) @ b.astype(np.int64))
    big = np.full((1, 4), 2**16, np.int32)
    wrapped = compute(op("gemm", "dot", [big, big.T + 1], (1, 1), "i32"), [big, big.T + 1])
    assert wrapped[0, 0] == np.int64(4 * 2**16 * (2**16 + 1)).astype(np.int32)
    mixed = product(a[:1].astype(np.int32), b)
    np.testing.assert_array_equal(mixed, got[:1])


def test_stacked_dots_equal_single_ones_and_stacks_are_of_one_shape_and_type():
    rng = np.random.default_rng(4)
    pairs = [
        [rng.standard_normal((6, 9)).astype(F32), rng.standard_normal((5, 9)).astype(F32).T] for _ in range(4)
    ]
    ops = [op("gemm", "dot", pair, (6, 5), "f32", acc_dtype="f32") for pair in pairs]
    for value, single, pair in zip(stacked_dot(ops, pairs), ops, pairs, strict=True):
        assert value.tobytes() == compute(single, pair).tobytes()
    types = (("f16", "f32"), ("f32", "f16"))
    others = [op("gemm", "dot", pairs[0], (6, 5), out, acc_dtype=acc) for out, acc in types]
    wider = [pairs[0][0], np.zeros((9, 7), F32)]
    others.append(op("gemm", "dot", wider, (6, 7), "f32", acc_dtype="f32"))
    assert {stack_of(one) for one in ops} == {stack_of(ops[0])}
    assert stack_of(ops[0]) not in map(stack_of, others)


@pytest.mark.parametrize("kind", ["dot", "composite_gemm"])
def test_integers_that_accumulate_in_floats_do_not_wrap(kind):
    a = np.full((2, 3), 60_000, np.int32)
    got = compute(op("gemm", kind, [a, a.T.copy()], (2, 2), "f32", acc_dtype="f32", tile=(2, 2, 2)), [a, a.T])
    np.testing.assert_array_equal(got, np.full((2, 2), 3 * 60_000.0**2, F32))


@pytest.mark.parametrize("sign", [1, -1])
def test_casts_to_bf16_round_once(sign):
    """Just above the middle of two values; by way of f32 it would be the middle, and go to the even one."""
    above = sign * np.array([2**24 + 2**16 + 1], np.int32)
    assert cast(above, "bf16").astype(np.int64) == sign * (2**24 + 2**17)
    assert cast(above.astype(np.int64), "bf16").astype(np.int64) == sign * (2**24 + 2**17)
    below = sign * np.array([1 + 2.0**-7 + 2.0**-8 - 2.0**-40])
    assert cast(below, "bf16").astype(float) == sign * (1 + 2.0**-7)
    middle = sign * np.array([1 + 2.0**-8])
    assert cast(middle, "bf16").astype(float) == sign
    for value in (np.inf, np.nan, 0.0, 1e300, 1e-300):
        with np.errstate(all="ignore"):
            direct = np.array([sign * value]).astype(BF16)
        assert cast(np.array([sign * value]), "bf16").tobytes() == direct.tobytes()
