"""The chain that makes a run's time: it closes, every step abuts the next, nothing in it is unexplained."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.critical_path import CAUSES, CriticalPath, critical_path
from kernbench.benches import list_all

LONG = [("gpt3-qkv", "default")]
OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")


@cache
def machine(topology: str) -> Any:
    return kb.load_topology(topology)


def check(run: kb.Run) -> CriticalPath:
    path = run.critical_path()
    ends = [
        (run.sim_ns, path),
        *((launch["latency_ns"], run.critical_path(n)) for n, launch in enumerate(run.launches)),
    ]
    for total, found in ends:
        assert all(step.ns > 0 for step in found.steps)
        assert all(a.t_end == b.t_start for a, b in itertools.pairwise(found.steps))
        if found.steps:
            assert (found.steps[0].t_start, found.steps[-1].t_end) == (found.t_start, found.t_end)
        assert sum(step.ns for step in found.steps) == pytest.approx(total, abs=1e-6)
        for sums in (found.by_cause(), found.by_place()):
            assert sum(sums.values()) == pytest.approx(total, abs=1e-6)
        assert set(found.by_cause()) <= set(CAUSES)
        assert [step for step in found.steps if step.cause == "unexplained" and step.ns > 1e-6] == []
    return path


BENCHES = [
    pytest.param(spec.name, topology, marks=[pytest.mark.slow] if (spec.name, topology) in LONG else [])
    for topology in ("minimal", "default")
    for spec in list_all()
]


@pytest.mark.parametrize(("bench", "topology"), BENCHES)
def test_benches_close(bench: str, topology: str) -> None:
    check(kb.run(bench, machine(topology), store="memory:"))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("load"), st.integers(0, 3)),
        st.tuples(st.just("store"), st.integers(0, 3)),
        st.tuples(st.just("dot"), st.just(0)),
        st.tuples(st.just("add"), st.just(0)),
        st.tuples(st.just("composite"), st.integers(0, 1)),
        st.tuples(st.just("wait"), st.just(0)),
        st.tuples(st.just("cycles"), st.integers(1, 3000)),
    ),
    max_size=10,
)


def kernel_of(steps: list[tuple[str, int]]) -> Any:
    def kernel(a: Any, b: Any, out: Any, tl: Any) -> None:
        value = tl.load(a)
        other = tl.load(b)
        open_: list[Any] = []
        for step, n in steps:
            if step == "load":
                value = tl.load(a)
            elif step == "store":
                tl.store(out, value)
            elif step == "dot":
                value = tl.dot(value, other)
            elif step == "add":
                value = value + other
            elif step == "composite":
                open_.append(tl.composite("gemm", a, b, out, tile_shape=((16, 16, 16), (64, 64, 64))[n]))
            elif step == "wait" and open_:
                tl.wait(open_.pop(0))
            elif step == "cycles":
                tl.cycles(n)
        for handle in open_:
            tl.wait(handle)

    return kernel


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    topology=st.sampled_from(["minimal", OBLONG]),
    programs=st.lists(st.tuples(STEPS, st.booleans()), min_size=1, max_size=3),
)
def test_any_kernels_close(topology: str, programs: list[tuple[list[tuple[str, int]], bool]]) -> None:
    def bench(torch: Any) -> None:
        data = np.ones((64, 64), dtype=np.float16)
        a, b, out = torch.from_numpy(data), torch.from_numpy(data), torch.zeros(64, 64, dtype="f16")
        for steps, waits in programs:
            handle = torch.launch("k", kernel_of(steps), a, b, out)
            if waits:
                handle.wait()

    check(kb.run(bench, machine(topology), store="memory:"))


def test_a_kernels_own_cycles_are_not_blamed_on_work_beside_them() -> None:
    """A composite that ends meanwhile did not make the kernel's time; one that is waited for did."""

    def bench(cycles: int) -> Any:
        def run(torch: Any) -> None:
            data = np.ones((64, 64), dtype=np.float16)
            a, b, out = torch.from_numpy(data), torch.from_numpy(data), torch.zeros(64, 64, dtype="f16")
            torch.launch("k", kernel_of([("composite", 1), ("cycles", cycles)]), a, b, out)

        return run

    long, short = (kb.run(bench(n), machine("minimal"), store="memory:") for n in (100_000, 1))
    assert "compute" not in long.critical_path(0).by_cause()
    assert long.critical_path(0).by_cause()["component"] >= 100_000 * 0.5
    assert short.critical_path(0).by_cause()["compute"] > 0


def test_a_run_without_transactions_has_no_chain() -> None:
    run = kb.run("gemm-single-pe", machine("minimal"), store="memory:")
    empty = {name: table.slice(0, 0) for name, table in run.tables.items()}
    with pytest.raises(ValueError, match="no transactions"):
        critical_path(empty, [], 0.0)
