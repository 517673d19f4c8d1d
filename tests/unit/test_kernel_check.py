"""``kernbench_kernel(fn, *arrays).check(reference)``: machine, interpreter and numpy side by side."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.errors import UsageError, VerificationError
from kernbench.host import DPPolicy

X = np.arange(64, dtype=np.float32).reshape(8, 8)


def double(x, out, tl):
    tl.store(out.local, tl.load(x.local) * 2.0)


def two(x, a, b, tl):
    v = tl.load(x)
    tl.store(a, v + 1.0)
    tl.store(b, v > 3.0)


def too_early(a, b, out, tl):
    tl.composite("gemm", tl.ref(a), tl.ref(b), out_ptr=out)
    tl.load(out)


@pytest.fixture(scope="session")
def kernbench_topology():
    import kernbench as kb

    return kb.load_topology("minimal")


def test_what_is_right_passes_and_leads_on(kernbench_kernel):
    done = kernbench_kernel(double, X, out=np.zeros_like(X)).check(lambda x: 2 * x)
    assert done.latency_ns > 0
    assert done.query("busiest-engines").rows


def test_several_outputs(kernbench_kernel):
    out = [np.zeros_like(X), np.zeros(X.shape, np.int8)]
    done = kernbench_kernel(two, X, out=out)
    done.check(lambda x: (x + 1, x > 3))
    with pytest.raises(VerificationError, match=r"output 1 of the interpreter.*row 0, column 4"):
        done.check(lambda x: (x + 1, x > 4))
    with pytest.raises(UsageError, match="gives 1 arrays, the kernel has 2 outputs"):
        done.check(lambda x: x)


def test_on_several_pes_the_machine_is_compared_alone(kernbench_kernel):
    from tests.small_machines import small

    dp = DPPolicy("row_wise", "row_wise")
    done = kernbench_kernel(double, X, out=np.zeros_like(X), dp=dp, topology=small("va"))
    done.check(lambda x: 2 * x)
    with pytest.raises(VerificationError, match="output of the machine"):
        done.check(lambda x: 3 * x)


def test_a_race_fails_the_check(kernbench_kernel):
    a = np.ones((64, 64), np.float16)
    with pytest.raises(VerificationError, match="race on tensor"):
        kernbench_kernel(too_early, a, a, out=np.zeros_like(a)).check(lambda a, b: a @ b)
