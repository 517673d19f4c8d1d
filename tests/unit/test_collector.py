"""Machines that are no longer used do not pile up, although the collector hardly looks at what is old."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from kernbench import collector
from kernbench.benches import resolve
from kernbench.machine.machine import Machine
from kernbench.runtime import run_bench
from tests.compiled import compiled
from tests.queue_runs import PAIR


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
