"""Where wrong elements are, in words."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.errors import VerificationError
from kernbench.values import compare
from kernbench.values.verification import where_wrong


@pytest.mark.parametrize(
    ("shape", "at", "words"),
    [
        ((8, 8), np.s_[:], "the whole tensor"),
        ((8, 8), np.s_[3], "row 3"),
        ((64, 8), np.s_[40:48], "rows 40-47"),
        ((64, 8), np.s_[:, 1::2], "every 2nd column from 1 to 7"),
        ((64, 8), np.s_[4:6, 2:5], "rows 4-5, columns 2-4"),
        ((64, 8), np.s_[[1, 2, 9]], "3 rows from 1 to 9"),
        ((16,), np.s_[12:], "elements 12-15"),
        ((2, 3, 4), np.s_[:, 1], "index of axis 1 1"),
        ((64, 64), np.s_[::13], "every 13th row from 0 to 52"),
    ],
)
def test_patterns(shape, at, words):
    wrong = np.zeros(shape, bool)
    wrong[at] = True
    assert where_wrong(wrong) == words


def test_a_box_that_is_not_filled_says_so():
    wrong = np.eye(4, dtype=bool)[:, :3]
    assert where_wrong(wrong) == "part of rows 0-2"


def test_a_mismatch_names_the_pattern_and_who_holds_it():
    expected = np.zeros((64, 8), np.float32)
    actual = expected.copy()
    actual[40:48] = 1
    with pytest.raises(
        VerificationError, match=r"64 of 512 elements differ \(rows 40-47 on sip0\.cube0\.pe5\)"
    ):
        compare("y", actual, expected, "f32", holder=lambda wrong: "sip0.cube0.pe5")
    compare("y", actual, expected, "f32", tolerance=1.0)
