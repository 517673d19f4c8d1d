"""Stands in for ``torch`` where PyTorch is not installed: in scripts that launch kernels.

``kernbench run script.py`` carries the file out as it is; ``import kernbench.torch`` is the same. Here is all
that a bench's ``torch`` has, and what programs around Triton kernels call besides. Tensors lie on the
machine; arithmetic of the host is numpy's, in f32, and takes no time. ``device=``, ``requires_grad=`` and
``generator=`` say nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.host import expectations
from kernbench.host.context import Context
from kernbench.host.current import context_of
from kernbench.host.factory import TensorFactory
from kernbench.host.placement import DPPolicy as DPPolicy
from kernbench.host.tensors import Tensor as Tensor
from kernbench.operations import OPERATIONS
from kernbench.support import dtypes

Array = np.ndarray[Any, Any]
_WITHOUT_EFFECT = ("device", "requires_grad", "generator", "pin_memory", "layout")
_random = np.random.default_rng(0)
_default: ContextVar[DPPolicy | None] = ContextVar("kernbench_placement", default=None)
__path__: list[str] = []  # so that ``import torch.x`` asks the finder of stand-ins
_INDUCTOR = ("ops", "_C", "_inductor", "_dynamo", "empty_strided")
_HOST = frozenset(
    ("abs", "add", "all", "allclose", "any", "exp", "log", "matmul", "max", "maximum", "mean", "min",
     "minimum", "mul", "sqrt", "sub", "sum", "tanh", "where")
)  # fmt: skip
"""Functions of numpy that also take tensors."""

TYPES = {
    **{name: kind for name, kind in vars(TensorFactory).items() if str(kind) in dtypes.SIZES},
    "float": "f32", "half": "f16", "long": "i64", "int": "i32", "short": "i16", "double": "f64", "bool": "i1",
    "float64": "f64", "int16": "i16", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
"""Types by their names in PyTorch."""


def manual_seed(seed: int) -> None:
    """Begin the random numbers of ``rand``, ``randn`` and ``randint`` again, with a seed."""
    global _random
    _random = np.random.default_rng(seed)


def device(name: str) -> str:
    """The name itself: ``"cuda"`` is where tensors are made."""
    return name


def set_default_device(device: DPPolicy | None) -> None:
    """How tensors are placed that are made without ``dp=``; None: on one PE, which runs all blocks."""
    _default.set(device)


def default_placement() -> DPPolicy | None:
    """What :func:`set_default_device` was told."""
    return _default.get()


def tensor(data: Any, dtype: str | None = None, **how: Any) -> Tensor:
    """A tensor of given numbers: floats are f32, integers i64, as in PyTorch."""
    values = np.asarray(data)
    if dtype is None and values.dtype == np.float64:
        dtype = "f32"
    return _context("tensor").from_numpy(values, dtype=dtype, **_placed(how))


def empty(*shape: Any, size: Any = (), dtype: str = "f32", **how: Any) -> Tensor:
    """A tensor of a shape whose memory holds nothing yet: to read it before it is written is an error."""
    return _context("empty").empty(_extents(shape, size), dtype=dtype, **_placed(how))


def _placed(how: dict[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in how.items() if key not in _WITHOUT_EFFECT}
    return {"dp": _default.get(), **own}


def _extents(shape: tuple[Any, ...], size: Any) -> tuple[int, ...]:
    given = shape[0] if shape and not isinstance(shape[0], int) else shape or size
    return tuple(int(n) for n in given)


def _filled(values: Callable[[tuple[int, ...]], Array]) -> Callable[..., Tensor]:
    """A function that makes a tensor of a shape, given as numbers or as one sequence."""

    def make(*shape: Any, size: Any = (), dtype: str = "f32", **how: Any) -> Tensor:
        return tensor(values(_extents(shape, size)), dtype, **how)

    return make


def _like(values: Callable[[tuple[int, ...]], Array] | None) -> Callable[..., Tensor]:
    """The same, of another tensor's shape, type and placement."""

    def make(input: Tensor, dtype: str | None = None, **_: Any) -> Tensor:
        made = input.like(dtype)
        return made if values is None else made.write(values(made.shape).astype(np.float32))

    return make


def _uniform(shape: tuple[int, ...]) -> Array:
    return _random.random(shape)


def _normal(shape: tuple[int, ...]) -> Array:
    return _random.standard_normal(shape)


zeros, ones, rand, randn = _filled(np.zeros), _filled(np.ones), _filled(_uniform), _filled(_normal)
empty_like, zeros_like, ones_like = _like(None), _like(np.zeros), _like(np.ones)
rand_like, randn_like = _like(_uniform), _like(_normal)


def randint(low: int, high: Any, size: Any = None, dtype: str = "i64", **how: Any) -> Tensor:
    """Random integers from ``low`` up to below ``high``."""
    if size is None:
        low, high, size = 0, low, high
    return tensor(_random.integers(low, high, size), dtype, **how)


def full(size: Any, fill_value: float, dtype: str = "f32", **how: Any) -> Tensor:
    """A tensor of ``fill_value``."""
    return tensor(np.full(size, fill_value), dtype, **how)


def softmax(input: Any, dim: int = -1, axis: int | None = None) -> Array:
    """Softmax of an array or a tensor, on the host."""
    found: Array = OPERATIONS["softmax"].function(_on_host(input), dim if axis is None else axis)
    return found


def assert_close(actual: Any, expected: Any, *, atol: float = 1e-5, rtol: float = 1e-5, **_: Any) -> None:
    """An ``AssertionError`` unless both agree; of a tensor it counts as a check of the run."""
    found, wanted = _on_host(actual), _on_host(expected)
    if isinstance(actual, Tensor):
        context = _context("testing")
        context.check(actual.name, actual, wanted, tolerance=max(atol, rtol))
        # Raised here it names the operation that wrote the first wrong value, and the run is kept.
        for result in expectations.verify(context.checks[-1], context.storage, context.storage.data):
            if result.error is not None:
                raise result.error
    np.testing.assert_allclose(found, wanted, atol=atol, rtol=rtol, verbose=False)


testing = SimpleNamespace(assert_close=assert_close)
cuda = SimpleNamespace(
    synchronize=lambda *_: _context("cuda").wait_all(),
    is_available=lambda: True,
    current_device=lambda: 0,
    device=nullcontext,
    set_device=lambda *_: None,
    _DeviceGuard=nullcontext,
)


def _on_host(value: Any) -> Array:
    """The numbers of a tensor or an array; short floats as f32."""
    array = np.asarray(value)
    return array if array.dtype.kind in "biu" else array.astype(np.float32)


def _context(name: str) -> Context:
    try:
        return context_of(None, name)
    except UsageError:
        raise UsageError(
            f"torch.{name}: no machine is running; run the file: kernbench run FILE.py"
        ) from None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _HOST:
        function = getattr(np, name)
        return lambda *args, **how: function(*(_on_host(one) if _many(one) else one for one in args), **how)
    if name in TYPES:
        return TYPES[name]
    if name in _INDUCTOR:
        # By name: what runs output files of Inductor is built on this module.
        return getattr(importlib.import_module("kernbench.inductor"), name)
    try:
        return getattr(_context(name), name)
    except AttributeError as unknown:
        raise AttributeError(f"{unknown}; the rest of torch needs PyTorch, which is not used here") from None


def _many(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)
