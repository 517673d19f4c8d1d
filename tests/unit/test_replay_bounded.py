"""References with error bounds: wide enough for every right result, too narrow for wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import VerificationError
from kernbench.host.tensors import Tensor
from kernbench.support import dtypes
from kernbench.support.bounded import Bounded
from kernbench.values import compare
from kernbench.values.verification import difference

FLOATS = ("f16", "bf16", "f32")


def numbers(rng, shape, dtype, mean):
    return (rng.standard_normal(shape) + mean).astype(dtypes.dtype(dtype).numpy)


def added(terms, dtype, order):
    """Sum of the rows of ``terms``, each partial sum rounded to ``dtype``: in line, or in pairs."""
    kind = dtypes.dtype(dtype).numpy
    terms = [row.astype(np.float32) for row in terms]
    while len(terms) > 1:
        if order == "pairs":
            pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
            terms = [np.sum(pair, axis=0).astype(kind).astype(np.float32) for pair in pairs]
        else:
            terms = [(terms[0] + terms[1]).astype(kind).astype(np.float32), *terms[2:]]
    return terms[0]


@pytest.mark.parametrize("mean", [0.0, 1.0])
@pytest.mark.parametrize("order", ["line", "pairs"])
@pytest.mark.parametrize("n", [2, 3, 8, 70, 500])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_in_any_order_are_within_the_bound_and_not_far_inside(dtype, n, order, mean):
    rng = np.random.default_rng(n)
    terms = numbers(rng, (n, 400), dtype, mean)
    bounded = Bounded(terms).sum(0, dtype).rounded(dtype)
    off = np.abs(added(terms, dtype, order) - bounded.value)
    assert (off <= bounded.error).all()
    if order == "line" and mean == 0:
        # A bound that were n times too wide would find nothing.
        assert np.median(bounded.error) <= 25 * np.sqrt(np.mean(off**2))


@pytest.mark.parametrize("k", [1, 5, 64, 1500])
@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_matrices(dtype, k):
    rng = np.random.default_rng(k)
    a, b = numbers(rng, (20, k), dtype, 0.0), numbers(rng, (k, 20), dtype, 0.0)
    wide = [x.astype(np.float32) for x in (a, b)]
    in_line = np.zeros((20, 20), np.float32)
    for i in range(k):
        in_line += np.outer(wide[0][:, i], wide[1][i])
    expected = Bounded(a) @ b
    kind = dtypes.dtype(dtype).numpy
    for actual in (in_line.astype(kind), (wide[0] @ wide[1]).astype(kind)):
        assert difference(actual, expected, dtype) is None
    actual[3, 4] += kind.type(4 * 2.0 ** -{"f16": 10, "bf16": 7, "f32": 17}[dtype] * k**0.5)
    found = difference(actual, expected, dtype)
    assert found is not None
    assert (found.index, found.count) == ((3, 4), 1)


def test_errors_of_the_terms_are_carried_through_layers():
    rng = np.random.default_rng(0)
    x, w1, w2 = (numbers(rng, shape, "f16", 0.0) for shape in ((8, 64), (64, 128), (128, 32)))
    hidden = (x.astype(np.float32) @ w1.astype(np.float32)).astype(np.float16)
    actual = (hidden.astype(np.float32) @ w2.astype(np.float32)).astype(np.float16)
    once = Bounded(x) @ w1 @ w2
    assert difference(actual, once, "f16") is not None, "the hidden layer is not in f16"
    assert difference(actual, (Bounded(x) @ w1).rounded("f16") @ w2, "f16") is None


def test_integers_are_exact_and_what_overflows_is_infinite():
    a = np.full((1, 2001), 127, np.int8)  # a sum that f32 cannot hold
    assert difference([[127 * 127 * 2001]], Bounded(a) @ a.T, "i32") is None
    assert difference([[127 * 127 * 2001 + 1]], Bounded(a) @ a.T, "i32") is not None
    big = np.full((1, 2), 60000, np.float16)
    assert difference([[np.inf]], Bounded(big) @ big.T, "f16") is None
    assert difference([[65504.0]], Bounded(big) @ big.T, "f16") is not None


def test_a_mismatch_says_how_far_rounding_may_lead():
    with pytest.raises(VerificationError, match=r"rounding may have moved the first by 0\.00061$"):
        compare("y", np.ones(3, np.float16), Bounded([1.0, 1.25, 1.0]), "f16")
    with pytest.raises(VerificationError, match=r"tolerance 0\.1 \("):
        compare("y", np.ones(3, np.float16), Bounded([1.0, 1.25, 1.0]), "f16", tolerance=0.1)


@pytest.fixture
def four(tmp_path):
    file = tmp_path / "four.yaml"
    file.write_text("name: four\nsystem: {sips: 4}\nsip: {cube_mesh: {w: 2, h: 2}}\n", encoding="utf-8")
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_tp_mlp_on_four_packages(four, seed):
    run = kb.run("tp-mlp", four, verify=True, trace=False, seed=seed, store="memory:")
    assert run.verified is True


def test_tp_mlp_with_one_wrong_number(four, monkeypatch):
    planted = []

    def check(context, name, tensor, expected, **options):
        if name == "output of rank 2":
            values = tensor.numpy()
            values[0, 77] += values.dtype.type(-0.02)
            tensor.copy_(values)
            planted.append(Tensor)
        original(context, name, tensor, expected, **options)

    from kernbench.host import Context

    original = Context.check
    monkeypatch.setattr(Context, "check", check)
    said = r"'output of rank 2' \(f16\) differs first at index \(0, 77\): .*; 1 of 512 elements differ"
    with pytest.raises(VerificationError, match=said):
        kb.run("tp-mlp", four, verify=True, trace=False, store="memory:")
    assert planted
