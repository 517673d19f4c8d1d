"""Tolerances, special values, and what a mismatch says."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from kernbench.engine.program.operations import Op
from kernbench.errors import VerificationError
from kernbench.values.verification import compare, describe, difference

WRITER = Op(17, "gemm", "dot", component="sip0.cube0.pe0.pe_gemm", t_end=1234.5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("f32", 1e-5), ("f16", 1e-3), ("bf16", 1e-2)])
@pytest.mark.parametrize("expected", [0.0, 1.0, -100.0])
def test_floats_may_differ_by_tolerance_absolute_plus_relative(dtype, tolerance, expected):
    allowed = tolerance * (1 + abs(expected))
    for sign in (1, -1):
        assert difference([expected + sign * 0.99 * allowed], [expected], dtype) is None
        assert difference([expected + sign * 1.01 * allowed], [expected], dtype) is not None


@pytest.mark.parametrize("dtype", ["i8", "i32"])
def test_integers_must_be_equal(dtype):
    assert difference([2**20], [2**20], dtype) is None
    assert difference([2**20], [2**20 + 1], dtype) is not None


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("actual", "expected", "equal"),
    [
        (NAN, NAN, True),
        (INF, INF, True),
        (-INF, -INF, True),
        (INF, -INF, False),
        (NAN, 0.0, False),
        (0.0, NAN, False),
        (INF, 1.0, False),
        (1.0, INF, False),
        (1.0, -INF, False),
        (NAN, INF, False),
    ],
)
def test_nan_and_infinities_equal_only_themselves(actual, expected, equal):
    found = difference([1.0, actual], [1.0, expected], "f32")
    assert (found is None) == equal
    if found is not None:
        assert (found.index, found.count, found.max_abs, found.max_rel) == ((1,), 1, INF, INF)


def test_a_difference_tells_where_and_how_much():
    expected = np.array([[1, 2, 4], [8, 0, 16]], np.float32)
    actual = expected.copy()
    actual[0, 2] = 5
    actual[1, 1] = -0.5
    found = difference(actual, expected, "f32")
    assert (found.index, found.actual, found.expected) == ((0, 2), 5.0, 4.0)
    assert (found.count, found.size, found.max_abs, found.max_rel) == (2, 6, 1.0, INF)
    actual[1, 1] = 0
    assert difference(actual, expected, "f32").max_rel == 0.25


def test_errors_within_tolerance_do_not_count_as_largest():
    found = difference([1e-6, 3.0], [0.0, 2.0], "f32")
    assert (found.count, found.max_abs, found.max_rel) == (1, 1.0, 0.5)


def test_the_message_has_everything_one_needs():
    expected = np.array([[1, 2], [4, 8]], np.float16)
    actual = np.array([[1, 2], [4.5, 6]], np.float16)
    asked = []

    def writer(index):
        asked.append(index)
        return WRITER

    with pytest.raises(VerificationError) as caught:
        compare("y", actual, expected, "f16", writer)
    assert str(caught.value) == (
        "tensor 'y' (f16) differs first at index (1, 0): got 4.5, expected 4; "
        "2 of 4 elements differ (row 1), "
        "largest absolute error 2, largest relative error 0.25, tolerance 0.001 "
        "(give tolerance= or a kernbench.Bounded where rounding may do that); "
        "last written by gemm/dot (op 17) on sip0.cube0.pe0.pe_gemm at 1234.5 ns; "
        "'kernbench query lineage op=17' shows where its value comes from"
    )
    assert asked == [(1, 0)]


def test_without_a_known_writer_the_message_is_silent_about_it():
    with pytest.raises(VerificationError, match=r"integers must be equal$"):
        compare("n", [1], [2], "i32", lambda index: None)


def test_shapes_must_be_the_same_though_they_would_broadcast():
    with pytest.raises(VerificationError, match=r"'y' has shape \(1, 2\), its reference \(2, 2\)"):
        compare("y", np.ones((1, 2)), np.ones((2, 2)), "f32")


def test_equal_and_empty_and_scalar_arrays_pass():
    compare("y", np.arange(4, dtype=np.int32), np.arange(4), "i32")
    compare("y", np.zeros((0, 3)), np.zeros((0, 3)), "f32")
    compare("y", ml_dtypes.bfloat16(1.5), 1.5, "bf16")
    assert difference(1.0, 2.0, "f32").index == ()


def test_an_operation_without_a_place_is_still_described():
    assert describe(Op(3, "memory", "host_write")) == "memory/host_write (op 3)"
