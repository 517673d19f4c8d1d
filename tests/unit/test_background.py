"""Processes that tick for ever: the run ends, deadlocks behind them are reported, limits hold to the end."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.components.base import Component
from kernbench.engine.components.sram import Sram
from kernbench.engine.core import clock as clock_module
from kernbench.engine.core.clock import Clock
from kernbench.errors import DeadlockError, LimitError
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import Node

PE = (0, 0, 0)
ENDED: list[float] = []


class Refresh(Sram):
    """Ticks every 100 ns, in the background."""

    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.clock.background(self._tick())

    def _tick(self) -> Generator[Any, Any, None]:
        while True:
            yield self.clock.timeout(100.0) | self.clock.timeout(200.0)


class Unmarked(Sram):
    """Ticks as well, and does not say that it will never end."""

    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.clock.process(Refresh._tick(self))  # type: ignore[arg-type]


class Lost(Unmarked):
    """Begins a transaction that nobody answers."""

    def wired(self) -> None:
        path = self.system.path(self.resource, "sip0.cube0.hbm_ctrl.pe0", Traffic.COMMAND)
        self.system.begin("lost", path, 0, 0.0)


class Late(Sram):
    """A process, of the foreground, that has something to do long after all else."""

    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.clock.background(Refresh._tick(self))  # type: ignore[arg-type]
        self.clock.process(self._work())

    def _work(self) -> Generator[Any, Any, None]:
        yield self.clock.timeout(1e6)
        ENDED.append(self.clock.now)


def own(cls: type[Component]) -> dict[str, Any]:
    two = {"cube.pes.count": 2, "cube.pes.corners": ["NW", "SE"]}
    return {"cube.sram.impl": f"{__name__}:{cls.__name__}"} | two


def waits_for_ever(torch: Any) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.recv("E", shape=(8,), dtype="f16")

    torch.install_ipcq({PE: {"E": (0, 0, 1)}, (0, 0, 1): {"W": PE}})
    torch.launch("waits", kernel, torch.zeros((8, 8))).wait()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "PATIENCE", 500)


@pytest.mark.parametrize("check", [False, True])
def test_a_run_with_a_process_in_the_background_ends_as_without(check: bool) -> None:
    plain = kb.run("gemm-single-pe", "minimal", topo=own(Sram), store="memory:", check=check)
    ticks = kb.run("gemm-single-pe", "minimal", topo=own(Refresh), store="memory:", check=check)
    assert ticks.tables["Transaction"].equals(plain.tables["Transaction"])
    assert ticks.sim_ns == plain.sim_ns


@pytest.mark.parametrize("check", [False, True])
def test_a_deadlock_behind_it_is_reported(check: bool) -> None:
    with pytest.raises(DeadlockError, match=r"(?s)^deadlock at .*pe0\.pe_ipcq"):
        kb.run(waits_for_ever, "minimal", topo=own(Refresh), store="memory:", check=check)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("check", [False, True])
def test_one_that_is_not_marked_ends_too(check: bool) -> None:
    with pytest.raises(DeadlockError, match=r"pe0\.pe_ipcq"):
        kb.run(waits_for_ever, "minimal", topo=own(Unmarked), store="memory:", check=check)
    kb.run("gemm-single-pe", "minimal", topo=own(Unmarked), store="memory:", check=check)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    ("limit", "said"), [({"max_ns": 5e4}, "50000 ns"), ({"max_events": 9000}, "9000 events")]
)
def test_limits_hold_at_the_end_of_a_run(limit: dict[str, Any], said: str, check: bool) -> None:
    with pytest.raises(LimitError, match=rf"stopped at the limit of {said}.*; transaction 0 \(lost"):
        kb.run("gemm-single-pe", "minimal", topo=own(Lost), store="memory:", check=check, **limit)


@pytest.mark.parametrize("limit", [{"max_ns": 5e4}, {"max_events": 9000}])
def test_a_checked_run_that_is_answered_ends_well_at_its_limit(limit: dict[str, Any]) -> None:
    kb.run("gemm-single-pe", "minimal", topo=own(Unmarked), store="memory:", check=True, **limit)


def test_what_is_left_is_told_from_ticks() -> None:
    clock = Clock()
    assert clock.idle()
    ticker = Refresh._tick(type("Owner", (), {"clock": clock})())  # type: ignore[arg-type]
    process = clock.background(ticker)
    assert clock.idle()
    clock.call_at(50.0, lambda: None)
    assert not clock.idle()
    clock.step()
    clock.step()
    assert clock.idle()
    clock.process(waiting(clock))
    assert not clock.idle()

    class Goal:
        done = False

    assert clock.advance(Goal()) is False
    assert clock.now == 1050.0
    assert clock.idle()
    process.interrupt()
    assert clock.idle()


def waiting(clock: Clock) -> Generator[Any, Any, None]:
    yield clock.timeout(1000.0) & clock.timeout(10.0)


def test_a_process_of_the_foreground_is_waited_for_at_the_end_of_a_checked_run() -> None:
    run = kb.run("gemm-single-pe", "minimal", topo=own(Late), store="memory:", check=True)
    assert ENDED == [1e6]
    assert run.sim_ns < 1e6
