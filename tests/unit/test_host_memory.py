"""Arrays that the host has no memory for: the error has their bytes and says what asked for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import AllocationError

HUGE = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1_000_000, 1_000_000), (0, 0))
"""Takes four bytes, and a copy of it 3.6 TiB."""


def copy(x: Any, tl: Any) -> None:
    tl.store(x, tl.load(x))


@pytest.mark.parametrize(("args", "out", "name"), [((HUGE,), None, "argument 'x'"), ((), HUGE, "out")])
def test_arguments_of_a_kernel(args: tuple[Any, ...], out: Any, name: str) -> None:
    with pytest.raises(
        AllocationError, match=rf"^{name}: the host has too little memory: 3\.64 TiB are needed, .* are free"
    ):
        kb.run_kernel(copy, *args, out=out)


def test_an_array_of_a_bench() -> None:
    def bench(torch: Any) -> None:
        torch.zeros((4, 4))
        HUGE.copy()

    with pytest.raises(
        AllocationError, match=r"^bench 'bench': the host has too little memory: 3\.64 TiB are needed, .*py"
    ):
        kb.run(bench, "minimal")
