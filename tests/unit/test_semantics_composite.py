"""Composites: K tiles, accumulators, and epilogues of every kind in every scope."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernbench.engine.program.operations import Op, Operand
from kernbench.operations import EPILOGUES
from kernbench.values.epilogues import BY_NAME
from kernbench.values.semantics import DEFAULT_TILE, compute

F32 = np.float32
M, K, N, TILE_K = 4, 10, 3, 4
TILES = [(0, 4), (4, 8), (8, 10)]
RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((M, K)).astype(F32), RNG.standard_normal((K, N)).astype(F32)
ROW, FULL = RNG.standard_normal(N).astype(F32), RNG.standard_normal((M, N)).astype(F32)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


REFERENCES = {
    "bias": (lambda x: x + ROW, ROW, {}),
    "relu": (lambda x: np.maximum(x, 0), None, {}),
    "gelu": (gelu, None, {}),
    "silu": (lambda x: x / (1 + np.exp(-x)), None, {}),
    "scale": (lambda x: x * 0.3, None, {"factor": 0.3}),
    "dequant": (lambda x: (x - 2) * ROW, ROW, {"zero_point": 2}),
    "residual": (lambda x: x + FULL, FULL, {}),
}


def gemm(a, b, steps, operands=(), out="f32", acc=None, tile=(2, TILE_K, 2)):
    names = {
        np.dtype(np.int8): "i8",
        np.dtype(np.float16): "f16",
        np.dtype(F32): "f32",
        np.dtype(np.int32): "i32",
    }
    arrays = [a, b, *operands]
    inputs = tuple(Operand(x.shape, names[x.dtype], handle=i) for i, x in enumerate(arrays))
    params = {"acc_dtype": acc, "tile": tile, "epilogue": steps}
    op = Op(1, "gemm", "composite_gemm", inputs, Operand((a.shape[0], b.shape[1]), out, address=0), params)
    return compute(op, arrays)


def step(name, scope, operand):
    _, value, fields = REFERENCES[name]
    return {
        "op": name,
        "scope": scope,
        "operand": None if value is None else operand,
        "factor": None,
        **fields,
    }


@pytest.mark.parametrize("scope", ["k_tile", "output_tile", "kernel"])
@pytest.mark.parametrize("name", REFERENCES)
def test_each_epilogue_in_each_scope(name, scope):
    assert set(REFERENCES) == set(EPILOGUES)
    reference, value, _ = REFERENCES[name]
    got = gemm(A, B, [step(name, scope, 2)], [] if value is None else [value])
    a, b = A.astype(float), B.astype(float)
    parts = [a[:, i:j] @ b[i:j] for i, j in TILES] if scope == "k_tile" else [a @ b]
    expected = sum(map(reference, parts))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power,
    "floordiv": np.floor_divide, "mod": np.mod, "truncdiv": np.floor_divide, "truncmod": np.mod,
    "maximum": np.maximum, "minimum": np.minimum,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip
UNARY = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "exp2": np.exp2, "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "erf": np.vectorize(math.erf),
    "floor": np.floor, "ceil": np.ceil, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "cos": np.cos,
    "sin": np.sin, "abs": np.abs, "neg": np.negative, "logical_not": np.logical_not,
    "expm1": np.expm1, "log1p": np.log1p, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan,
    "asin": lambda x: x * math.nan, "acos": lambda x: x * math.nan, "atan": np.arctan,
    "trunc": np.trunc, "rint": np.rint,
    "round": lambda x: np.floor(x + 0.5), "isnan": np.isnan, "isinf": np.isinf,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_math_by_name(name):
    assert set(UNARY) | set(BINARY) == set(BY_NAME)
    a, b = np.abs(A), np.abs(B)
    got = gemm(a, b, [{"op": name}])
    np.testing.assert_allclose(got, UNARY[name](a.astype(float) @ b), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("value", [1.5, ROW, FULL], ids=["number", "row", "full"])
@pytest.mark.parametrize("name", BINARY)
def test_math_by_name_with_a_value(name, value):
    a, b = np.abs(A), np.abs(B)
    number = isinstance(value, float)
    value = value if number else np.abs(value)
    steps = [{"op": name, "operand": None if number else 2, "factor": value if number else None}]
    got = gemm(a, b, steps, [] if number else [value])
    np.testing.assert_allclose(got, BINARY[name](a.astype(float) @ b, value), rtol=2e-5, atol=2e-5)


def test_integers_stay_exact_by_name():
    a, b = np.full((1, 1), 2**15, np.int32), np.full((1, 1), 2**15, np.int32)
    steps = [{"op": "add", "factor": 1}, {"op": "maximum", "operand": 2}]
    assert gemm(a, b, steps, [np.array([5], np.int32)], out="i32")[0, 0] == 2**30 + 1
    assert gemm(a, b, [{"op": "less", "factor": 3}], out="i32")[0, 0] == 0


def test_scales_of_groups_along_k():
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((3, 10)).astype(F32), rng.integers(-9, 9, (10, 2), dtype=np.int8)
    scales = rng.standard_normal((3, 2)).astype(F32)
    steps = [{"op": "dequant", "scope": "k_tile", "operand": 2, "group": 4}]
    weights = b * np.repeat(scales, 4, axis=0)[:10]
    for tile_k in (1, 2, 4):
        got = gemm(a, b, steps, [scales], acc="f32", tile=(2, tile_k, 2))
        np.testing.assert_allclose(got, a.astype(float) @ weights, rtol=1e-5, atol=1e-5)


def test_scopes_apply_from_the_inside_out_and_in_order_within():
    steps = [
        {"op": "scale", "scope": "kernel", "operand": None, "factor": 2.0},
        {"op": "bias", "scope": "output_tile", "operand": 2, "factor": None},
        {"op": "relu", "scope": "output_tile", "operand": None, "factor": None},
        {"op": "scale", "scope": "k_tile", "operand": None, "factor": 0.5},
    ]
    expected = np.maximum(A.astype(float) @ B * 0.5 + ROW, 0) * 2
    np.testing.assert_allclose(gemm(A, B, steps, [ROW]), expected, rtol=1e-5, atol=1e-6)


def test_output_tile_is_the_default_scope():
    explicit = gemm(A, B, [{"op": "bias", "scope": "output_tile", "operand": 2}], [ROW])
    np.testing.assert_array_equal(gemm(A, B, [{"op": "bias", "operand": 2}], [ROW]), explicit)


def test_the_accumulator_is_rounded_after_every_k_tile():
    a, b = np.ones((1, 2052), np.float16), np.ones((2052, 1), np.float16)
    # In f16 2048 + 1 is 2048: tiles of 1 stall there, one tile of 2052 does not.
    assert gemm(a, b, [], tile=(1, 1, 1), acc="f16")[0, 0] == 2048
    assert gemm(a, b, [], tile=(1, 2052, 1), acc="f16")[0, 0] == 2052
    assert gemm(a, b, [], tile=(1, 1, 1), acc="f32")[0, 0] == 2052


def test_tiles_default_to_the_hardware():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((3, 200)).astype(F32), rng.standard_normal((200, 2)).astype(F32)
    steps = [{"op": "relu", "scope": "k_tile"}]
    np.testing.assert_array_equal(gemm(a, b, steps, tile=None), gemm(a, b, steps, tile=DEFAULT_TILE))
    assert not np.array_equal(gemm(a, b, steps, tile=None), gemm(a, b, steps, tile=(32, 50, 32)))


def test_integer_product_with_dequant():
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((M, K), (K, N)))
    scale = np.array([0.5, 0.25, 2.0], F32)
    exact = a.astype(np.int64) @ b
    steps = [{"op": "dequant", "scope": "output_tile", "operand": 2, "zero_point": 7}]
    np.testing.assert_array_equal(gemm(a, b, steps, [scale]), (exact - 7) * scale)
    scalar = [{"op": "dequant", "scope": "k_tile", "operand": None, "factor": 0.5}]
    np.testing.assert_array_equal(gemm(a, b, scalar), exact * 0.5)


def test_integer_epilogues_stay_exact():
    a, b = np.full((1, 1), 2**15, np.int32), np.full((1, 1), 2**15, np.int32)
    bias = np.array([1], np.int32)
    steps = [{"op": "bias", "operand": 2}, {"op": "relu"}]
    assert gemm(a, b, steps, [bias], out="i32")[0, 0] == 2**30 + 1  # f32 would lose the 1


def test_result_is_rounded_once_at_the_end():
    a, b = np.full((1, 1), 300, np.float16), np.full((1, 1), 300, np.float16)
    # 90000 is infinite in f16, unless scaled while it is still f32.
    got = gemm(a, b, [{"op": "scale", "operand": None, "factor": 0.5}], out="f16")
    assert got.dtype == np.float16
    assert got[0, 0] == 45000


def test_math_composite_with_epilogues():
    x, residual = FULL, np.abs(FULL)
    inputs = (Operand((M, N), "f32", handle=0), Operand((M, N), "f32", handle=1))
    steps = [
        {"op": "scale", "scope": "kernel", "operand": None, "factor": 3.0},
        {"op": "residual", "scope": "output_tile", "operand": 1},
    ]
    params = {"scalars": {1: 2.0}, "epilogue": steps}
    op = Op(1, "math", "composite_mul", inputs, Operand((M, N), "f32", address=0), params)
    np.testing.assert_allclose(compute(op, [x, residual]), (x * 2 + residual) * 3, rtol=1e-6)


def test_gelu_is_close_to_its_definition():
    x = np.linspace(-6, 6, 1001).astype(F32).reshape(-1, 1)
    got = gemm(x, np.ones((1, 1), F32), [{"op": "gelu"}])[:, 0]
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x[:, 0].astype(float)]
    assert np.abs(got - exact).max() < 5e-4
