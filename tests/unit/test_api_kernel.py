"""``kb.run_kernel``: one kernel on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError, LaunchError
from kernbench.language import interpret


@pytest.fixture(scope="module")
def kernbench_topology() -> Any:
    return kb.load_topology("minimal")


def scaled_sum(x: Any, y: Any, out: Any, alpha: float, tl: Any) -> None:
    tl.store(out, tl.load(x) * alpha + tl.load(y))


def test_outputs_are_what_the_interpreter_gives(kernbench_kernel: Any) -> None:
    def kernel(x: Any, w: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.exp(tl.dot(tl.load(x), tl.load(w)) * 0.125))

    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((16, 16)).astype(np.float16) for _ in range(2))
    result = kernbench_kernel(kernel, x, w, out=np.zeros((16, 16), np.float16))
    expected = interpret(kernel, x, w, out=np.zeros((16, 16), np.float16))
    np.testing.assert_array_equal(result.output, expected)
    assert result.latency_ns > 0


def test_arguments_are_left_alone_and_come_back_in_order(kernbench_kernel: Any) -> None:
    def swap(x: Any, y: Any, tl: Any) -> None:
        a, b = tl.load(x), tl.load(y)
        tl.store(x, b)
        tl.store(y, a)

    x, y = np.zeros((4, 64), np.float32), np.ones((4, 64), np.float32)
    result = kernbench_kernel(swap, x, y)
    assert (x.sum(), y.sum()) == (0, 256)
    assert [array.sum() for array in result.arrays] == [256, 0]
    assert result.outputs == result.arrays
    with pytest.raises(ValueError, match="unpack"):
        _ = result.output


def test_constants_go_by_name_and_are_recorded(kernbench_kernel: Any) -> None:
    def kernel(x: Any, out: Any, *, alpha: float, tl: Any) -> None:
        tl.store(out, tl.load(x) * alpha)

    x = np.ones((4, 64), np.float32)
    result = kernbench_kernel(kernel, x, out=np.zeros_like(x), alpha=3.0)
    np.testing.assert_array_equal(result.output, 3 * x)
    assert result.run.bench == "kernel"
    assert result.run.params == {"alpha": 3.0, "args": ["float32[4, 64]", "float32[4, 64]"]}
    ((reads,),) = result.run.cypher(
        "MATCH (t:Transaction) WHERE t.kind = 'dma_read' RETURN count(*) AS n"
    ).rows
    assert reads == 1
    assert result.query("busiest-engines").rows


def test_placed_over_pes_the_kernel_runs_on_each(kernbench_kernel: Any) -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        tl.store(out.local, tl.load(x.local) + float(tl.program_id(0)))

    x = np.zeros((8, 64), np.float32)
    rows = kb.DPPolicy(pe="row_wise", num_cubes=1)
    result = kernbench_kernel(kernel, x, out=np.zeros_like(x), dp=rows, topology="default")
    np.testing.assert_array_equal(result.output[:, 0], np.arange(8))


def test_each_test_has_a_store_of_its_own(
    kernbench_store: Any, kernbench_kernel: Any, kernbench_run: Any
) -> None:
    assert kernbench_store.runs() == []
    x = np.ones((4, 64), np.float32)
    kernel = kernbench_kernel(scaled_sum, x, x, np.zeros_like(x), 2.0)
    run = kernbench_run("gemm-single-pe", m=32)
    assert [info["id"] for info in kernbench_store.runs()] == [kernel.run.id, run.id]
    assert run.verified is True
    assert run.topology == "minimal"
    np.testing.assert_array_equal(kernel.arrays[-1], 3 * x)


def test_a_kernel_that_raises_says_where(kernbench_kernel: Any) -> None:
    def kernel(x: Any, tl: Any) -> None:
        raise IndexError("out of luck")

    with pytest.raises(LaunchError, match=r"'kernel'.*sip0\.cube0\.pe0.*IndexError: out of luck"):
        kernbench_kernel(kernel, np.ones((4, 64), np.float32))


@pytest.mark.slow
def test_the_plugin_is_there_without_being_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        import numpy as np

        def test_nothing_heavy_was_imported():
            assert "kernbench.pytest_plugin" in sys.modules
            assert "kernbench.api.running" not in sys.modules
            assert "ladybug" not in sys.modules

        def copy(x, out, tl):
            tl.store(out, tl.load(x))

        def test_copy(kernbench_kernel):
            x = np.arange(256, dtype=np.float32).reshape(4, 64)
            result = kernbench_kernel(copy, x, out=np.zeros_like(x), topology="minimal")
            assert (result.output == x).all()
            assert result.latency_ns > 0

        def test_bench(kernbench_run, kernbench_store):
            run = kernbench_run("gemm-single-pe", topology="minimal")
            assert kernbench_store.resolve("last") == run.id
            assert run.query("busiest-links").rows
        """
    )
    pytester.runpytest_subprocess("-q", "-W", "error").assert_outcomes(passed=3)


def test_an_integer_divided_by_zero_is_named_at_its_line(kernbench_kernel: Any) -> None:
    def known(x: Any, out: Any, tl: Any) -> None:
        tl.store(out, 1 // tl.load(x))

    def computed(x: Any, out: Any, tl: Any) -> None:
        tl.wait(tl.composite("mod", x, 0, out_ptr=out))

    x = np.zeros((1, 4), np.int32)
    with pytest.raises(LaunchError, match=r"tl.floordiv: .* divided by 0; .*\(test_api_kernel.py:\d+\)"):
        kernbench_kernel(known, x, out=np.zeros_like(x))
    with pytest.raises(KernBenchError, match=r"composite_mod .*test_api_kernel.py:\d+ has no value: .* by 0"):
        kernbench_kernel(computed, x, out=np.zeros_like(x))
