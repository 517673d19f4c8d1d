"""``triton.testing``: times are simulated, so that one run of a function says them all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from kernbench.triton.runtime import context


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 0,
    rep: float = 0,
    grad_to_none: object = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Simulated time of ``fn``, which launches kernels, in ms.

    It runs once, alone: a second time would take as long. ``quantiles`` gives the time for each of them;
    ``warmup``, ``rep``, ``grad_to_none`` and ``return_mode`` are without effect.
    """
    machine = context("triton.testing.do_bench")
    machine.wait_all()
    begun = machine.now
    fn()
    machine.wait_all()
    ms = (machine.now - begun) * 1e-6
    if return_mode == "all":
        return [ms]
    return ms if quantiles is None else [ms for _ in quantiles]


do_bench_cudagraph = do_bench


def assert_close(x: Any, y: Any, atol: float = 1e-2, rtol: float = 0.0, err_msg: str = "") -> None:
    """An ``AssertionError`` unless two tensors or arrays agree; results need ``--verify-data``."""
    a, b = (np.asarray(one).astype(np.float32) for one in (x, y))
    np.testing.assert_allclose(a, b, atol=atol, rtol=rtol, err_msg=err_msg)


class Benchmark:
    """A plot of times over sizes, as Triton's ``perf_report`` takes it."""

    def __init__(self, *_: Any, **__: Any) -> None: ...


def perf_report(benchmarks: object) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that times kernels over sizes: its ``run`` only says what to do instead."""

    def run(*_: Any, **__: Any) -> None:
        print("perf_report: left out; 'kernbench sweep FILE.py n=1024,4096' does it", file=sys.stderr)

    return lambda function: SimpleNamespace(run=run, fn=function)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"triton.testing.{name} is not here; 'kernbench sweep' measures over parameters")
