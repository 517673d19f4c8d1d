"""Kernels that ran on a GPU run here as they are: right numbers, on any number of PEs, at any depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.kernel import KernelRun
from kernbench.host import DPPolicy
from tests import triton_cases as cases

SHARED = {
    1: DPPolicy(num_cubes=1, num_pes=1),
    8: DPPolicy(pe="row_wise", num_cubes=1),
    128: DPPolicy(cube="row_wise", pe="row_wise"),
}
"""How arrays are shared by so many PEs."""


def run(case: cases.Case, pes: int = 1, **options: Any) -> KernelRun:
    flat = [array.reshape(-1) for array in (*case.args, case.out)]
    done = kb.run_kernel(
        case.kernel[case.grid], *flat[:-1], out=flat[-1], dp=SHARED[pes], **options, **case.constants
    )
    assert done.run.verdict != "race", done.run.problem
    return done


def right(case: cases.Case, done: KernelRun) -> np.ndarray[Any, Any]:
    got, expected = done.output.astype(np.float32), np.asarray(case.expected, np.float32).reshape(-1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=case.tolerance * np.abs(expected).max())
    return done.output


@pytest.mark.daily("matmul_blocks", "softmax_rows", "sm_dot")
@pytest.mark.parametrize("name", cases.CASES)
def test_a_kernel_is_right_on_one_pe_and_gives_the_same_numbers_on_eight(name: str) -> None:
    case = cases.CASES[name]()
    one = right(case, run(case))
    assert (run(case, 8).output == one).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.CASES)
def test_a_kernel_gives_the_same_numbers_on_128_pes(name: str) -> None:
    case = cases.CASES[name]()
    assert (run(case, 128).output == run(case).output).all()


@pytest.mark.slow
@pytest.mark.parametrize("pes", [1, 8])
@pytest.mark.parametrize("name", [name for name, make in cases.CASES.items() if "STAGES" in make().constants])
def test_no_depth_of_pipeline_and_no_number_of_residents_changes_a_number(name: str, pes: int) -> None:
    case = cases.CASES[name]()
    expected = right(case, run(case))
    for stages in (1, 2, 3, 4):
        case.constants["STAGES"] = stages
        for residents in (1, 2, 4):
            assert (run(case, pes, residents=residents).output == expected).all(), (stages, residents)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 32, 32), (37, 64, 96), (33, 96, 32), (128, 32, 160)])
def test_products_of_ragged_sizes(size: tuple[int, int, int]) -> None:
    case = cases.matmul_blocks(3, size)
    right(case, run(case, residents=2))


@pytest.mark.daily("matmul_blocks-2", "softmax_rows-4")
@pytest.mark.parametrize("residents", [2, 4])
@pytest.mark.parametrize("name", ["matmul_blocks", "softmax_rows", "attend causal"])
def test_residents_change_no_number(name: str, residents: int) -> None:
    case = cases.CASES[name]()
    alone, together = run(case), run(case, residents=residents)
    assert (together.output == alone.output).all()
    assert together.latency_ns < alone.latency_ns


@pytest.mark.daily("softmax_rows")
@pytest.mark.parametrize("name", ["matmul_blocks", "softmax_rows", "attend causal"])
def test_blocks_go_round_the_pes_before_any_has_two(name: str) -> None:
    times = {run(cases.CASES[name](), 8, residents=residents).latency_ns for residents in (1, 4)}
    assert len(times) == 1, "there are fewer blocks than PEs"


@pytest.mark.daily("matmul_blocks", "attend causal", "softmax_rows", "sm_rows sum")
@pytest.mark.parametrize("name", cases.CASES)
def test_warps_change_no_number(name: str) -> None:
    machine = kb.load_topology("minimal", {"pe.warps": 32, "pe.operands": "registers"})
    case = cases.CASES[name]()
    assert (run(case, topology=machine).output == run(case).output).all()


def test_stages_change_no_number_and_time_falls() -> None:
    case = cases.matmul_blocks(1, (64, 64, 256))
    runs = []
    for stages in (1, 2, 3, 4):
        case.constants["STAGES"] = stages
        runs.append(run(case))
    right(case, runs[0])
    assert all((one.output == runs[0].output).all() for one in runs)
    times = [one.latency_ns for one in runs]
    assert times[0] >= times[1] > times[2] >= times[3]


def test_the_same_launch_takes_the_same_time_twice() -> None:
    case = cases.attend(True)
    assert run(case, 8, residents=2).latency_ns == run(case, 8, residents=2).latency_ns
