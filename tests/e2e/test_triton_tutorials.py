"""Five kernels of Triton's tutorials become faster by following advice, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.result import Run
from tests.triton_tutorials import TUTORIALS, Step, Tutorial

pytestmark = pytest.mark.slow


def measured(tutorial: Tutorial, step: Step) -> Run:
    """A run of one version, whose result is right."""
    expected = tutorial.expected(*tutorial.inputs).astype(np.float16)
    given = [array.copy() for array in (*tutorial.inputs, *tutorial.scratch)]
    done = kb.run_kernel(step.kernel, *given, out=np.zeros_like(expected), topology="minimal")
    assert np.allclose(done.output, expected, rtol=1e-2, atol=1e-3)
    return done.run


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=[tutorial.name for tutorial in TUTORIALS])
def test_advice_makes_a_kernel_1_3_times_as_fast(tutorial: Tutorial) -> None:
    first = before = measured(tutorial, tutorial.steps[0])
    for step in tutorial.steps[1:]:
        advice = {one["rule"]: one["saves_ns"] for one in reversed(before.advice())}
        assert f"advice/{step.rule}" in advice, (step.kernel.__name__, advice)
        after = measured(tutorial, step)
        assert after.latency_ns < before.latency_ns
        before = after
    assert first.latency_ns >= 1.3 * before.latency_ns
    left = [one["advice"] for one in before.advice() if one["share"] > 0.05]
    assert left == []
