"""Arguments of Triton's: hints change nothing, others are errors that say what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError

ONES = np.ones((16, 16), np.float16)


def run(body: Callable[[Any, Any, Any], object]) -> kb.KernelRun:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        body(tl, x, out)

    return kb.run_kernel(kernel, ONES, out=np.zeros_like(ONES), topology="minimal")


def test_hints_of_triton_change_neither_values_nor_times() -> None:
    def plain(tl: Any, x: Any, out: Any) -> None:
        block = tl.load(x)
        tl.store(out, tl.dot(block, block))

    def hinted(tl: Any, x: Any, out: Any) -> None:
        block = tl.load(x, cache_modifier=".ca", eviction_policy="evict_last")
        made = tl.dot(block, block, allow_tf32=False, input_precision="tf32x3", max_num_imprecise_acc=None)
        tl.store(out, made, cache_modifier=".wb", eviction_policy="")

    a, b = run(plain), run(hinted)
    assert a.latency_ns == b.latency_ns
    assert np.array_equal(a.outputs[0], b.outputs[0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda tl, x, _: tl.dot(tl.load(x), tl.load(x), acc=1),
            r"tl\.dot: argument 'acc': .*tl\.load gives one",
        ),
        (lambda tl, x, _: tl.dot(tl.load(x), tl.load(x), tl.load(x)), r"tl\.dot: .*tl\.dot\(a, b, acc=acc\)"),
        (
            lambda tl, x, _: tl.max(tl.load(x), return_indices=True),
            r"tl\.max: .*use tl\.argmax or tl\.argmin",
        ),
        (lambda tl, x, _: tl.cast(tl.load(x), "i32", bitcast=True), r"tl\.cast: .*cast with dtype alone"),
        (
            lambda tl, x, _: tl.load(x, eviction=1),
            r"tl\.load: argument 'eviction': there is no such .*volatile",
        ),
        (
            lambda tl, x, _: tl.zeros((4,), cache_modifier=""),
            r"tl\.zeros: .*there are no caches: leave it out",
        ),
        (lambda tl, x, _: tl.load(x, tl.load(x)), r"tl\.load: argument 'shape': .*mask="),
    ],
)
def test_other_arguments_are_errors_that_say_what_to_do(body: Any, message: str) -> None:
    with pytest.raises(KernBenchError, match=rf"{message}.*test_triton_arguments\.py:\d+"):
        run(body)


def test_all_arguments_of_a_star_reach_the_kernel() -> None:
    @triton.jit
    def kernel(out, *tensors, N: tl.constexpr):
        at = tl.arange(0, N)
        total = tl.zeros((N,), tl.float32)
        for place in tl.static_range(len(tensors)):
            total += tl.load(tensors[place] + at)
        tl.store(out + at, total)

    given = [np.full(4, 10.0**n, np.float32) for n in range(3)]
    done = kb.run_kernel(kernel[(1,)], np.zeros(4, np.float32), *given, topology="minimal", N=4)
    assert done.arrays[0].tolist() == [111.0] * 4
