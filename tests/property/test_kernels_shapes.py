"""Kernels and semantics on generated shapes and values."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kernbench.engine.program.operations import Op, Operand
from kernbench.language import interpret
from kernbench.language.scratch import Cycles, Scratch
from kernbench.support.dtypes import DTYPES, INDICES
from kernbench.values.semantics import compute, stacked_dot
from tests.examples import examples

SIZES = st.integers(1, 40)
FLOATS = st.sampled_from(["f16", "bf16", "f32"])
ALL = st.sampled_from(sorted({*DTYPES} - {"i1", *INDICES}))


def values(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    if DTYPES[dtype].is_float:
        return rng.standard_normal(shape).astype(DTYPES[dtype].numpy)
    return rng.integers(-100, 100, shape).astype(DTYPES[dtype].numpy)


@examples(60)
@given(m=SIZES, k=SIZES, n=SIZES, tile_k=st.integers(1, 50), dtype=ALL, seed=st.integers(0, 99))
def test_products_of_any_shape(m, k, n, tile_k, dtype, seed):
    def kernel(a, b, plain, tiled, tl):
        done = tl.composite("gemm", a, b, tiled, tile_shape=(8, tile_k, 8))
        tl.store(plain, tl.dot(tl.load(a), tl.load(b)))
        tl.wait(done)

    a, b = values(seed, (m, k), dtype), values(seed + 1, (k, n), dtype)
    kind = DTYPES[dtype] if DTYPES[dtype].is_float else DTYPES["i32"]
    out = interpret(kernel, a, b, out=(np.zeros((m, n), kind.numpy), np.zeros((m, n), kind.numpy)))
    exact = a.astype(float) @ b.astype(float)
    for got in out:
        np.testing.assert_allclose(got.astype(float), exact, rtol=kind.tolerance, atol=20 * kind.tolerance)


@examples(60)
@given(
    count=st.integers(1, 6),
    m=SIZES,
    k=SIZES,
    n=SIZES,
    dtype=ALL,
    flip=st.lists(st.booleans(), min_size=12, max_size=12),
    seed=st.integers(0, 99),
)
def test_a_stack_of_products_is_each_of_them_bit_for_bit(count, m, k, n, dtype, flip, seed):
    ops, inputs = [], []
    for i in range(count):
        a, b = values(seed + i, (m, k), dtype), values(seed - i + 500, (k, n), dtype)
        # The same numbers in another memory layout, as a transposed handle has.
        a = np.asfortranarray(a) if flip[2 * i] else a
        b = np.asfortranarray(b) if flip[2 * i + 1] else b
        operands = (Operand((m, k), dtype, handle=0), Operand((k, n), dtype, handle=1))
        ops.append(Op(i, "gemm", "dot", operands, Operand((m, n), "f32", handle=2)))
        inputs.append([a, b])
    for op, pair, value in zip(ops, inputs, stacked_dot(ops, inputs), strict=True):
        assert value.tobytes() == compute(op, pair).tobytes()
        assert compute(op, [np.ascontiguousarray(x) for x in pair]).tobytes() == value.tobytes()


@st.composite
def broadcastable(draw):
    """Two shapes that broadcast, of up to three dimensions."""
    result = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    shapes = []
    for _ in range(2):
        shape = [1 if draw(st.booleans()) and draw(st.booleans()) else size for size in result]
        shapes.append(tuple(shape[draw(st.integers(0, len(shape) - 1)) :]))
    return shapes


@examples(80)
@given(
    shapes=broadcastable(),
    dtype=FLOATS,
    name=st.sampled_from(["add", "sub", "mul", "maximum", "minimum"]),
    seed=st.integers(0, 99),
)
def test_elementwise_broadcasting(shapes, dtype, name, seed):
    def kernel(x, y, out, tl):
        result = getattr(tl, name)(tl.load(x), tl.load(y))
        assert result.shape == out.shape
        tl.store(out, result)

    x, y = values(seed, shapes[0], dtype), values(seed + 1, shapes[1], dtype)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}.get(name) or getattr(np, name)
    expected = function(x.astype(np.float32), y.astype(np.float32)).astype(DTYPES[dtype].numpy)
    out = interpret(kernel, x, y, out=np.zeros(expected.shape, expected.dtype))
    assert out.tobytes() == expected.tobytes()


def promoted(a, b):
    """The type of a result of these two types: a float beats an integer, unlike floats meet in f32."""
    floats = {name for name in (a, b) if DTYPES[name].is_float}
    if floats:
        return floats.pop() if len(floats) == 1 else "f32"
    return "i32" if "i32" in (a, b) else max(a, b)


@examples(150)
@given(
    shapes=broadcastable(),
    types=st.tuples(ALL, ALL),
    name=st.sampled_from(["add", "sub", "mul", "div", "maximum", "minimum"]),
    number=st.sampled_from([None, 3, -2, 0.75]),
    swap=st.booleans(),
    seed=st.integers(0, 99),
)
def test_types_that_differ(shapes, types, name, number, swap, seed):
    """Two tensors, or a tensor and a number on either side: result type, value, and wrapping of integers."""
    assume(types[0] != "u8" or number != -2)  # which is an error: it is not a value of the type
    x, y = values(seed, shapes[0], types[0]), values(seed + 1, shapes[1], types[1])
    found = []

    def kernel(x, y, tl):
        pair = (tl.load(x), tl.load(y) if number is None else number)
        result = getattr(tl, name)(*(pair[::-1] if swap else pair))
        found.append((result.dtype, result.data.copy()))

    interpret(kernel, x, y)
    (dtype, got), other = found[0], y if number is None else number
    expected_type = promoted(types[0], types[1] if number is None else types[0])
    if number is not None and isinstance(number, float) and not DTYPES[types[0]].is_float:
        expected_type = "f32"
    if name == "div" and not DTYPES[expected_type].is_float:
        expected_type = "f32"
    assert dtype == expected_type
    wide = np.float32 if DTYPES[dtype].is_float else np.int64
    pair = (x.astype(wide), np.asarray(other).astype(wide))
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}.get(name)
    with np.errstate(all="ignore"):
        exact = (function or getattr(np, name))(*(pair[::-1] if swap else pair)).astype(DTYPES[dtype].numpy)
    assert got.tobytes() == exact.tobytes()


@examples(100)
@given(
    m=SIZES,
    k=SIZES,
    n=SIZES,
    tile=st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50)),
    dtype=st.sampled_from(["f32", "i8"]),
    out=st.sampled_from(["f32", "i32"]),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["bias", "relu", "gelu", "silu", "scale", "dequant", "row", "residual"]),
            st.sampled_from(["k_tile", "output_tile", "kernel"]),
        ),
        max_size=4,
    ),
    seed=st.integers(0, 99),
)
def test_epilogues_of_any_shape_in_any_scope(m, k, n, tile, dtype, out, steps, seed):
    """Partial products of K tiles, their steps, the sum, its steps, those of the whole: by numpy in f64."""
    a, b, bias, residual = (
        (values(seed + i, shape, dtype) // (1 if dtype == "f32" else 20)).astype(DTYPES[dtype].numpy)
        for i, shape in enumerate([(m, k), (k, n), (n,), (m, n)])
    )
    row = values(seed + 4, (n,), "f32") * np.float32(0.1)
    fields = {
        "bias": {"op": "bias", "bias": "bias"},
        "scale": {"op": "scale", "factor": 0.125},
        "dequant": {"op": "dequant", "scale": 0.25, "zero_point": 2},
        "row": {"op": "dequant", "scale": "row"},
        "residual": {"op": "residual", "residual": "residual"},
    }
    meaning = {
        "bias": lambda x: x + bias,
        "relu": lambda x: np.maximum(x, 0),
        "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        "silu": lambda x: x / (1 + np.exp(-x)),
        "scale": lambda x: x * 0.125,
        "dequant": lambda x: (x - 2) * 0.25,
        "row": lambda x: x * row,
        "residual": lambda x: x + residual,
    }

    def kernel(a, b, bias, residual, row, to, tl):
        given_ = {"bias": tl.load(bias), "residual": tl.ref(residual), "row": row}
        epilogue = [
            {key: given_.get(value, value) if key != "op" else value for key, value in fields[op].items()}
            | {"scope": scope}
            if op in fields
            else {"op": op, "scope": scope}
            for op, scope in steps
        ]
        tl.composite("gemm", a, tl.load(b), to, epilogue=epilogue, tile_shape=tile)

    to = np.zeros((m, n), DTYPES[out].numpy)
    interpret(kernel, a, b, bias, residual, row, out=to)

    def apply(scope, x):
        with np.errstate(over="ignore"):
            for op, wanted in steps:
                x = meaning[op](x) if wanted == scope else x
        return x

    wide_a, wide_b = a.astype(float), b.astype(float)
    cuts = range(0, k, tile[1])
    total = sum(apply("k_tile", wide_a[:, c : c + tile[1]] @ wide_b[c : c + tile[1]]) for c in cuts)
    expected = apply("kernel", apply("output_tile", total))
    slack = 1e-4 * (1 + np.abs(expected)) * (1 + len(cuts)) + (1 if out == "i32" else 0)
    assert (np.abs(to - expected) <= slack).all()


@examples(60)
@given(
    shape=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    data=st.data(),
    dtype=ALL,
    name=st.sampled_from(["sum", "max", "min", "softmax"]),
)
def test_along_any_axis(shape, data, dtype, name):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))

    def kernel(x, out, tl):
        tl.store(out, getattr(tl, name)(tl.load(x), axis=axis))

    x = values(data.draw(st.integers(0, 99)), shape, dtype)
    wide = x.astype(np.float64)
    if name == "softmax":
        exponents = np.exp(wide - wide.max(axis=axis, keepdims=True))
        expected = exponents / exponents.sum(axis=axis, keepdims=True)
    else:
        expected = getattr(np, name)(wide, axis=axis, keepdims=True)
    kind = DTYPES[dtype]
    out = interpret(kernel, x, out=np.zeros(expected.shape, np.float32))
    tolerance = max(kind.tolerance, 1e-5)
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance * 10)


@examples(100)
@given(st.lists(st.one_of(st.integers(1, 200), st.tuples(st.integers(0, 50))), max_size=60))
def test_scratch_blocks_are_aligned_disjoint_and_all_come_back(steps):
    scratch = Scratch(0x40, 1 << 16, Cycles())
    live = []
    for step in steps:
        if isinstance(step, tuple):
            if live:
                del live[step[0] % len(live)]
            continue
        live.append((scratch.take(step), step))
        spans = sorted((block.address, block.address + size) for block, size in live)
        assert all(start % 16 == 0 for start, _ in spans)
        assert all(end <= following for (_, end), (following, _) in itertools.pairwise(spans))
    live.clear()
    assert scratch.free_bytes == 1 << 16
