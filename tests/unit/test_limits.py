"""Runs that do not end: limits, kernels that spin, Ctrl-C; each says where the kernels stand."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import LaunchError, LimitError
from kernbench.language import Pointer


def endless(x: Pointer, tl: Any) -> None:
    while True:
        tl.load(x.local)  # here it stands


LINE = endless.__code__.co_firstlineno + 2


def spins(x: Pointer, tl: Any) -> None:
    while True:
        tl.zeros((4,))


def bench_of(kernel: Any) -> Any:
    def run(torch: Any) -> None:
        torch.launch("endless", kernel, torch.from_numpy(np.zeros(64, np.float32), name="x"))

    return run


@pytest.mark.parametrize(
    ("limit", "words"),
    [({"max_ns": 5000.0}, "limit of 5000 ns"), ({"max_events": 3000}, "limit of 3000 events")],
)
def test_a_limit_ends_a_run_and_says_where_kernels_stand(limit: dict[str, Any], words: str) -> None:
    with pytest.raises(LimitError, match=words) as caught:
        kb.run(bench_of(endless), "minimal", trace=False, **limit)
    assert f"kernel 'endless' on sip0.cube0.pe0: in tl.load at test_limits.py:{LINE}" in str(caught.value)


def test_a_run_within_its_limits_is_as_without() -> None:
    free = kb.run("gemm-single-pe", "minimal", trace=False)
    bound = kb.run("gemm-single-pe", "minimal", trace=False, max_ns=free.sim_ns, max_events=10**9)
    assert bound.sim_ns == free.sim_ns


def test_a_limit_before_the_launch() -> None:
    with pytest.raises(LimitError, match="limit of 1 ns"):
        kb.run("gemm-single-pe", "minimal", trace=False, max_ns=1.0)


def test_a_kernel_that_spins_without_time_passing_is_named() -> None:
    with pytest.raises(
        LaunchError, match=r"kernel 'endless' failed on sip0\.cube0\.pe0 .*it spins: \d+ operations"
    ):
        kb.run(bench_of(spins), "minimal", trace=False)


def test_ctrl_c_says_where_kernels_stand() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

    def bench(torch: Any) -> None:
        timer.start()  # not before: the machine takes its time to be made
        bench_of(endless)(torch)

    with pytest.raises(KeyboardInterrupt, match=r"kernel 'endless' on sip0\.cube0\.pe0"):
        kb.run(bench, "minimal", trace=False)
    timer.join()
