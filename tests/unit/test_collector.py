"""Machines that are no longer used do not pile up, although the collector hardly looks at what is old."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from typing import Any

import pytest

from kernbench.engine.components.dma import Job
from kernbench.engine.machine.machine import Machine
from kernbench.host import run_bench
from kernbench.support import collector
from kernbench.workloads.benches import resolve
from tests.compiled import compiled
from tests.queue_runs import PAIR
from tests.small_contexts import ALL, copy_kernel, make

PASSING = {
    *("Op", "Operand", "Job", "Requests", "Token", "Transaction"),
    *("Composite", "Pipeline", "Completion", "KernelThread", "KernelGreenlet", "Language", "Scratch"),
    *("Send", "Sending", "Receive", "Receiving", "QueueToken", "QueueCredit"),
}
"""Classes of what a run makes over and over."""


def test_machines_that_are_no_longer_used_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_MANY", 5000)
    graph = compiled("minimal", {})
    made = []
    for _ in range(20):
        machine = Machine(graph, traced=False, check=False)
        made.append(weakref.ref(machine))
    alive = [one() is not None for one in made]
    assert alive[-1]
    assert not any(alive[:10])


@pytest.mark.slow
def test_a_machine_goes_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although kernels of its PEs, which it leads to, have tensors, which lead back to it."""
    made: list[weakref.ref[Machine]] = []
    init = Machine.__init__

    def noted(self: Machine, *given: Any, **named: Any) -> None:
        made.append(weakref.ref(self))
        init(self, *given, **named)

    monkeypatch.setattr(Machine, "__init__", noted)
    bench = resolve("pe2pe")
    params = bench.resolve_params({"path": "in-cube", "nbytes": 128})
    run_bench(compiled(None, PAIR), bench, params).raise_for_error()
    gc.unfreeze()  # what a run has set aside stays so where tests have
    gc.collect()
    assert [one() for one in made] == [None]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("matmul-composite", {"m": 64, "k": 128, "n": 64}),
        ("ccl-allreduce", {}),
        pytest.param("llama-decoder", {}, marks=pytest.mark.slow),
    ],
)
def test_what_a_run_has_finished_with_is_gone_without_a_collection(name: str, given: dict[str, int]) -> None:
    """In reference cycles it would fill memory until one, which was a seventh of a prefill's time."""
    bench = resolve(name)
    enabled, debug = gc.isenabled(), gc.get_debug()
    gc.collect()
    gc.disable()
    try:
        run = run_bench(compiled(None, {}), bench, bench.resolve_params(given))
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found = Counter(kind for one in gc.garbage if (kind := type(one).__qualname__) in PASSING)
    finally:
        gc.set_debug(debug)
        gc.garbage.clear()
        if enabled:
            gc.enable()
    run.raise_for_error()
    assert not found


def test_who_remembers_a_transaction_does_not_keep_what_asked_for_it() -> None:
    """Servers know who used them last; the job of each would keep its operation, operands and regions."""

    def jobs() -> int:
        return sum(isinstance(one, Job) for one in gc.get_objects())

    torch, before = make(verify=False), jobs()
    src, dst = (torch.zeros(8, 8, dp=ALL) for _ in range(2))
    torch.launch("copy", copy_kernel, src, dst)
    assert dst.numpy().shape == (8, 8)
    assert jobs() <= before


def test_within_a_pause_nothing_is_collected_and_the_setting_stays() -> None:
    was = gc.isenabled()
    try:
        for setting in (gc.enable, gc.disable):
            setting()
            before = gc.isenabled()
            with collector.paused():
                assert not gc.isenabled()
                with collector.paused():
                    assert not gc.isenabled()
                assert not gc.isenabled()
            assert gc.isenabled() == before
    finally:
        (gc.enable if was else gc.disable)()
