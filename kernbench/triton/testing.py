"""``triton.testing``: times are simulated, so that one run of a function says them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
