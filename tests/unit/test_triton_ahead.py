"""Kernels of Triton run ahead: loads are in flight while dots run, within scratch, and waits have causes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError


@triton.jit
def product(a, b, c, K, B: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in tl.range(0, K, B, num_stages=STAGES):
        x = tl.load(a + at[:, None] * K + k + at[None, :])
        acc = tl.dot(x, tl.load(b + (k + at[:, None]) * B + at[None, :]), acc)
    tl.store(c + at[:, None] * B + at[None, :], acc)


def run(stages: int, **options: Any) -> kb.KernelRun:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((32, 256)), random.standard_normal((256, 32))
    a, b = a.astype(np.float16), b.astype(np.float16)
    out = np.zeros((32, 32), np.float32)
    done = kb.run_kernel(product[(1,)], a, b, out=out, K=256, B=32, STAGES=stages, **options)
    np.testing.assert_allclose(done.output, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
    return done


def during(done: kb.KernelRun) -> int:
    """How many loads were in flight while a dot ran."""
    ops = done.run.ops
    spans = list(zip(ops["kind"], ops["name"], ops["t_start"], ops["t_end"], strict=True))
    dots = [(start, end) for _, name, start, end in spans if name == "dot_acc"]
    loads = [(start, end) for kind, name, start, end in spans if (kind, name) == ("memory", "dma_read")]
    assert (len(dots), len(loads)) == (8, 16)
    return sum(any(a < end and begin < b for begin, end in dots) for a, b in loads)


def test_loads_are_in_flight_while_a_dot_runs_and_not_with_one_stage() -> None:
    assert during(run(1)) == 0
    assert during(run(3)) >= 6


@pytest.mark.slow
def test_scratch_is_never_exceeded_and_a_kernel_waits_for_room() -> None:
    def on(scratch: int) -> kb.KernelRun:
        return run(4, topology=kb.load_topology("default", {"pe.pe_tcm.scratch_bytes": scratch}))

    assert on(16 << 10).latency_ns >= run(4).latency_ns
    with pytest.raises(KernBenchError, match="scratch is full"):
        on(4 << 10)


def test_the_critical_path_goes_through_what_a_command_waited_for() -> None:
    found = run(3).query("critical-path/by-line", limit=20)
    lines = {row[0]: row[2] for row in found.rows}
    of_kernel = {line: share for line, share in lines.items() if line.startswith("test_triton_ahead.py:")}
    assert sum(of_kernel.values()) > 0.85
    assert max(lines, key=lambda line: lines[line]) in of_kernel


def test_a_failure_in_a_kernel_that_runs_ahead_ends_the_run() -> None:
    @triton.jit
    def late(x, out):
        at = tl.arange(0, 16)
        value = tl.load(x + at)
        for i in range(4):
            tl.store(out + at, value + i)
            tl.device_assert(i < 2, f"turn {i}")

    x = np.zeros(16, np.float32)
    with pytest.raises(KernBenchError, match="turn 2"):
        kb.run_kernel(late[(1,)], x, out=x.copy())


def test_what_was_loaded_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    @triton.jit
    def kernel(x, out):
        tl.device_print("x", tl.load(x + tl.arange(0, 3)), tl.arange(0, 2))
        tl.store(out, 0.0)

    kb.run_kernel(
        kernel[(1,)], np.arange(3, dtype=np.float32), out=np.zeros(1, np.float32), topology="minimal"
    )
    assert capfd.readouterr().err.endswith(" ns] x [0. 1. 2.] [0 1]\n")


def test_each_operation_is_verified_and_products_count_their_flops() -> None:
    random = np.random.default_rng(2)
    a, b = random.standard_normal((32, 64)), random.standard_normal((64, 32))
    a, b = a.astype(np.float16), b.astype(np.float16)

    def bench(torch: Any) -> None:
        out = torch.zeros(32, 32, dtype="f32")
        product[(1,)](torch.from_numpy(a), torch.from_numpy(b), out, 64, B=32, STAGES=2)
        torch.check("product", out, a.astype(np.float32) @ b.astype(np.float32), tolerance=1e-2)

    done = kb.run(bench, verify="ops", store="memory:")
    assert done.verdict == "yes"
    ops = done.ops
    assert ops["flops"][ops["name"] == "dot_acc"].tolist() == [2 * 32**3] * 2


def test_a_kernel_is_interpreted_without_a_machine_and_checked() -> None:
    random = np.random.default_rng(3)
    a, b = random.standard_normal((32, 64)), random.standard_normal((64, 32))
    a, b = a.astype(np.float16), b.astype(np.float16)
    out = np.zeros((32, 32), np.float32)
    done = kb.run_kernel(product[(1,)], a, b, out=out, K=64, B=32, STAGES=3)
    done.check(lambda a, b: a.astype(np.float32) @ b.astype(np.float32), tolerance=1e-2)


@triton.jit
def looped(
    a, b, c, COUNT, STEP, B: tl.constexpr, STAGES: tl.constexpr, LOADS: tl.constexpr, DOTS: tl.constexpr
):
    """Products of blocks whose rows are ``STEP`` apart: loads, dots, or both."""
    r, k = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    x, y, acc = tl.load(a + r * B + k), tl.load(b + r * B + k), tl.zeros((B, B), tl.float32)
    for i in tl.range(0, COUNT, num_stages=STAGES):
        if LOADS:
            x, y = tl.load(a + i * B * B + r * STEP + k), tl.load(b + i * B * B + r * B + k)
        if DOTS:
            acc = tl.dot(x, y, acc)
    tl.store(c + r * B + k, acc)


def turn(step: int, stages: int, loads: bool = True, dots: bool = True) -> float:
    """Time of one turn of the loop, ns."""

    def took(count: int) -> float:
        a, b = np.ones(1 << 18, np.float16), np.ones(1 << 18, np.float16)
        out, sizes = np.zeros((64, 64), np.float32), {"COUNT": count, "STEP": step, "B": 64}
        given = {**sizes, "STAGES": stages, "LOADS": loads, "DOTS": dots}
        return kb.run_kernel(looped[(1,)], a, b, out=out, topology="minimal", **given).latency_ns

    return (took(24) - took(8)) / 16


@pytest.mark.daily("64-dots")
@pytest.mark.parametrize(("step", "bound"), [(64, "dots"), (2048, "loads")])
def test_time_falls_to_the_roof(step: int, bound: str) -> None:
    loads, dots = turn(step, 4, dots=False), turn(step, 4, loads=False)
    roof = max(loads, dots)
    assert (dots > loads) == (bound == "dots")
    times = [turn(step, stages) for stages in (1, 2, 3, 4)]
    assert times[0] == times[1] > times[2] >= times[3]
    assert roof <= times[3] <= 1.02 * roof, (times, loads, dots)
    assert times[0] > 0.95 * (loads + dots)
