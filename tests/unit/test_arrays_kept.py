"""What the host gives is taken as it is then: who changes an array later changes nothing that was kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb

X = np.arange(16, dtype=np.float32).reshape(4, 4)


def adds(x: Any, out: Any, tl: Any) -> None:
    tl.store(out, tl.load(x) + 1.0)


def expected_as(kind: str) -> tuple[Any, Any]:
    """A reference of ``X``, and the array or list that it was made of."""
    array = X.copy()
    if kind == "list":
        rows = array.tolist()
        return rows, rows
    if kind == "bounded":
        bounded = kb.Bounded(array)
        return bounded, bounded.value
    return array, array


@pytest.mark.parametrize("kind", ["array", "list", "bounded"])
def test_a_reference_is_what_it_was_at_the_check(kind: str) -> None:
    def bench(torch: Any) -> None:
        out = torch.empty(4, 4, dtype="f32", name="out")
        torch.launch("adds", adds, torch.from_numpy(X), out)
        reference, given = expected_as(kind)
        torch.check("out", out, reference)
        for row in given:
            row[:] = [value + 1 for value in row]

    with pytest.raises(kb.RunVerificationError, match="'out'"):
        kb.run(bench, "minimal", True, store="memory:")


def test_a_bound_is_what_it_was() -> None:
    error = np.zeros((4, 4))
    bounded = kb.Bounded(X, error)
    error += 100.0
    assert not bounded.error.any()


def test_what_was_written_is_what_it_was() -> None:
    def bench(torch: Any) -> None:
        given = X.copy()
        x, out = torch.from_numpy(given), torch.empty(4, 4, dtype="f32")
        given[:] = 100.0
        part = np.ones(4, np.float32)
        x[0] = part
        part[:] = 100.0
        torch.launch("adds", adds, x, out)
        wanted = X + 1
        wanted[0] = 2.0
        torch.check("out", out, wanted)

    assert kb.run(bench, "minimal", True, store="memory:").verified


def test_a_reference_that_is_not_numbers_is_refused_at_the_check() -> None:
    def bench(torch: Any) -> None:
        torch.check("out", torch.zeros(4, 4), [["a"] * 4] * 4)

    with pytest.raises(kb.KernBenchError, match="check 'out': values of dtype <U1 are not real numbers"):
        kb.run(bench, "minimal", True, store="memory:")
