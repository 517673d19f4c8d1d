"""Machines that are no longer used do not pile up, although the collector hardly looks at what is old."""

from __future__ import annotations

import gc
import weakref

import pytest

from kernbench import collector
from kernbench.machine.machine import Machine
from tests.compiled import compiled


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
