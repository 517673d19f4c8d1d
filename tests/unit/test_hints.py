"""Parts of messages: values in few characters, attributes that are not there, keys as the user wrote them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError
from kernbench.support.hints import shown

X = np.arange(4096, dtype=np.float32).reshape(64, 64)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (X, "an array float32[64, 64] (0, 1, 2, ...)"),
        (np.array([1.5, 2]), "an array float64[2] (1.5, 2)"),
        (np.float32(2), "np.float32(2.0)"),
        ("text", "'text'"),
        ([1] * 100, "[" + "1, " * 25 + " ..."),
    ],
)
def test_values_are_short(value: object, text: str) -> None:
    assert shown(value) == text
    assert len(shown(value)) <= 80


def failing(kernel: Callable[..., Any], **more: Any) -> str:
    with pytest.raises(KernBenchError) as caught:
        kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal", **more)
    return str(caught.value)


def stores_an_array(x: Any, out: Any, tl: Any) -> None:
    tl.store(out, X)


def adds_an_array(x: Any, out: Any, tl: Any) -> None:
    tl.store(out, tl.load(x) + X)


def test_no_array_is_dumped() -> None:
    for kernel in (stores_an_array, adds_an_array):
        message = failing(kernel)
        assert "an array float32[64, 64] (0, 1, 2, ...) is not a tensor handle" in message
        assert "[[" not in message


def test_a_key_that_the_kernel_does_not_have() -> None:
    def block(x: Any, out: Any, BLOCK: int, tl: Any) -> None:
        """Takes a block size."""

    assert "unexpected keyword argument 'BLCK'; did you mean 'BLOCK'?" in failing(block, BLCK=4)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda x, tl: tl.load(x).astype("f16"), r"a handle has no 'astype': use x\.to"),
        (lambda x, tl: tl.load(x).shap, "a handle has no 'shap'; did you mean 'shape'"),
        (lambda x, tl: x.shap, "a tensor argument has no 'shap'; did you mean 'shape'"),
        (lambda x, tl: x.nothing_like_it, "expected one of dtype, local, local_shape, name"),
        (lambda x, tl: tl.softmx(x), "tl has no 'softmx'; did you mean 'softmax'"),
    ],
)
def test_attributes_in_kernels(use: Callable[..., Any], words: str) -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        use(x, tl)

    with pytest.raises(KernBenchError, match=words):
        kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal")


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda torch: torch.zero(4), "torch has no 'zero'; did you mean 'zeros'"),
        (lambda torch: torch.zeros(4).view(3), r"view\(3,\) has 3 elements, expected 4"),
        (lambda torch: torch.zeros(4).shpe, "a tensor has no 'shpe'; did you mean 'shape'"),
        (lambda torch: torch.distributed.all_reduc(1), "no 'all_reduc'; did you mean 'all_reduce'"),
        (lambda torch: torch.check("x", X, X), r"an array float32\[64, 64\] .* is not a tensor"),
    ],
)
def test_attributes_on_the_host(use: Callable[..., Any], words: str) -> None:
    def bench(torch: Any) -> None:
        use(torch)

    with pytest.raises(KernBenchError, match=words):
        kb.run(bench, "minimal", store="memory:")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("autotun", "did you mean 'autotune'"),
        ("jit", "import kernbench.triton"),
        ("Config", "kernbench.triton"),
    ],
)
def test_attributes_of_the_package(name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(kb, name)
    assert not hasattr(kb, "__nothing__")
