"""Kernels of `kernbench.tl` that go on while the PE works: off unless the topology says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError

AHEAD = {"pe.pe_cpu.run_ahead": True}
A = np.random.default_rng(1).standard_normal((32, 256)).astype(np.float16)
B = np.random.default_rng(2).standard_normal((256, 32)).astype(np.float16)


def product(a: Any, b: Any, out: Any, stages: int, tl: Any) -> None:
    total = tl.zeros((32, 32), "f32")
    for k in tl.range(0, 256, 32, num_stages=stages):
        x = tl.load(a + 2 * k, (32, 32), strides=(256, 1))
        total = total + tl.dot(x, tl.load(b + 64 * k, (32, 32)))
    tl.store(out, total)


def blocking(a: Any, b: Any, out: Any, stages: int, tl: Any) -> None:
    total = tl.zeros((32, 32), "f32")
    for k in range(0, 256, 32):
        x = tl.load(a + 2 * k, (32, 32), strides=(256, 1))
        total = total + tl.dot(x, tl.load(b + 64 * k, (32, 32)))
    tl.store(out, total)


def run(kernel: Any, stages: int = 1, keys: dict[str, Any] | None = None) -> kb.KernelRun:
    topology = kb.load_topology("minimal", keys or {})
    done = kb.run_kernel(kernel, A, B, out=np.zeros((32, 32), np.float32), stages=stages, topology=topology)
    np.testing.assert_allclose(done.output, A.astype(np.float32) @ B.astype(np.float32), atol=0.05)
    return done


def test_it_is_off_unless_the_topology_says_so() -> None:
    usual = run(blocking)
    assert run(product, 3).latency_ns == usual.latency_ns
    assert run(blocking, keys={"pe.pe_cpu.run_ahead": False}).latency_ns == usual.latency_ns
    assert "run_ahead" not in kb.load_topology("minimal", {}).node("sip0.cube0.pe0.pe_cpu").properties


def test_time_falls_with_the_stages_and_numbers_stay() -> None:
    usual = run(product)
    ahead = [run(product, stages, AHEAD) for stages in (1, 2, 3, 4)]
    assert all(one.output.tobytes() == usual.output.tobytes() for one in ahead)
    times = [one.latency_ns for one in ahead]
    assert usual.latency_ns >= times[0] > times[1] > times[2] >= times[3]
    assert run(product, 3, AHEAD).latency_ns == times[2]


def test_loads_wait_for_a_buffer_of_their_loop_and_not_outside_of_one() -> None:
    def during(done: kb.KernelRun) -> int:
        ops = done.run.ops
        spans = list(zip(ops["name"], ops["t_start"], ops["t_end"], strict=True))
        dots = [(start, end) for name, start, end in spans if name == "dot"]
        loads = [(start, end) for name, start, end in spans if name == "dma_read"]
        return sum(any(a < end and begin < b for begin, end in dots) for a, b in loads)

    assert during(run(product)) == during(run(product, 1, AHEAD)) == 0
    assert during(run(product, 3, AHEAD)) >= 6
    assert run(blocking, keys=AHEAD).latency_ns <= run(product, 4, AHEAD).latency_ns


def test_a_kernel_may_look_at_what_it_loads_store_add_and_load_again() -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        first = tl.load(x + 4, (1,), "i32")
        for i in tl.range(0, int(first), num_stages=3):
            tl.store(out, tl.load(out, (4,), "i32") + i)
            tl.atomic_add(out, tl.load(x, (4,), "i32"))
        if tl.load(x, (4,), "i32")[3] == 3:
            tl.store(out, tl.load(out, (4,), "i32") * 2)

    x = np.array([1, 4, 2, 3], np.int32)
    done = kb.run_kernel(kernel, x, out=np.zeros(4, np.int32), topology=kb.load_topology("minimal", AHEAD))
    assert done.output.tolist() == (2 * (4 * x + 6)).tolist()


def test_composites_come_after_what_was_asked_before() -> None:
    def kernel(a: Any, b: Any, out: Any, tl: Any) -> None:
        tl.store(b, tl.load(a, (32, 32)) * 2.0)
        tl.wait(tl.composite("gemm", tl.ref(a), tl.ref(b), out))
        tl.store(out, tl.load(out, (32, 32)) + 1.0)

    a = A[:, :32].copy()
    done = kb.run_kernel(
        kernel, a, np.zeros_like(a), out=np.zeros((32, 32), np.float16),
        topology=kb.load_topology("minimal", AHEAD),
    )  # fmt: skip
    wide = a.astype(np.float32)
    np.testing.assert_allclose(done.output, wide @ (2 * wide) + 1, atol=0.2)


@pytest.mark.parametrize("stages", [-1, "2", 1.5])
def test_a_wrong_number_of_stages_is_an_error_of_the_call(stages: Any) -> None:
    for keys in ({}, AHEAD):
        with pytest.raises(KernBenchError, match="num_stages"):
            run(product, stages, keys)


@pytest.mark.parametrize("keys", [{}, AHEAD])
def test_an_address_without_memory_is_an_error_of_the_call(keys: dict[str, Any]) -> None:
    def kernel(a: Any, out: Any, tl: Any) -> None:
        tl.load(1 << 50, (4,), "f32")

    with pytest.raises(KernBenchError, match=r"at [0-9.]+ ns.*tl\.load.*0x4000000000000"):
        kb.run_kernel(kernel, A, out=A, topology=kb.load_topology("minimal", keys))


def test_the_critical_path_goes_through_a_view_to_what_makes_its_operand() -> None:
    def columns(x: Any, out: Any, view: bool, tl: Any) -> None:
        total = tl.sum(tl.load(x), axis=0)
        tl.store(out, tl.reshape(tl.reshape(total, (16, 16)), (1, 256)) if view else total)

    def path(view: bool) -> list[tuple[str, float]]:
        machine = kb.load_topology("minimal", AHEAD)
        done = kb.run_kernel(columns, A, out=np.zeros((1, 256), np.float16), view=view, topology=machine)
        steps = done.run.query("critical-path/steps").dicts()
        return [(step["location"], pytest.approx(step["ns"])) for step in steps]

    assert path(view=True) == path(view=False)
