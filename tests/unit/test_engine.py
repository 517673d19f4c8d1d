"""Which engine a machine gets; both behave alike where they end early, fail or meet a user's component."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernbench import compiled as package
from kernbench.components.hbm import HbmSlice
from kernbench.errors import LimitError, UsageError
from kernbench.machine.machine import Machine
from kernbench.routing import Traffic
from kernbench.runtime.process import interruptible
from kernbench.sim import engine
from kernbench.sim.flit_fabric import FlitFabric
from kernbench.sim.instrument import Instrument
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet, Transaction
from tests.compiled import compiled

pytestmark = pytest.mark.skipif(package.core is None, reason="there is no compiled core to choose")

PARTS = '''\
from kernbench.components.hbm import HbmSlice
from kernbench.components.pe_dma import PeDma
from kernbench.components.transit import Transit


class PerFlit(Transit):
    """Time for every flit: asked by either engine."""

    def service_ns(self, packet, flit):
        return 0.5 + 0.25 * (flit % 3) if packet.pays else 0.1


class Slow(HbmSlice):
    """Commits late."""

    def commit(self, packet, flit, time):
        done, server = super().commit(packet, flit, time)
        return done + 3.0, server


class Leaving(Transit):
    """Counts what leaves."""

    gone = 0

    def leave(self, time, nbytes, busy_ns, wait_ns):
        Leaving.gone += 1
        super().leave(time, nbytes, busy_ns, wait_ns)


class Timed(Transit):
    """A SimPy process of its own, and an overhead that changes as time goes on."""

    def wired(self):
        self.clock.process(self.changes())

    def changes(self):
        for _ in range(40):
            yield self.clock.timeout(7)
            self.overhead_ns += 0.5


class Occupying(Transit):
    """Serves in its own way: the compiled engine would not ask."""

    def occupy(self, time, duration, owner):
        return super().occupy(time, duration + 1.0, owner)


class Dynamic(Transit):
    """An overhead that is worked out."""

    @property
    def overhead_ns(self):
        return 2.0 + self.transactions

    @overhead_ns.setter
    def overhead_ns(self, value):
        pass


class Changing(Transit):
    """A role that is worked out."""

    @property
    def role(self):
        return 0


class Instance(Transit):
    """Replaces a method of the object alone."""

    def wired(self):
        before = self.occupy
        self.occupy = lambda time, duration, owner: before(time, duration + 1.0, owner)


class Failing(PeDma):
    """Raises when it gets its fifth answer."""

    answers = 0

    def receive(self, packet):
        self.answers += 1
        if self.answers == 5:
            raise RuntimeError("the fifth")
        super().receive(packet)
'''
ROUTER, HBM = "cube.router.impl", "cube.hbm.impl"


class Watch(Instrument):
    """All that is known of each transaction."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def transaction_done(self, transaction: Transaction) -> None:
        t = transaction
        self.seen.append((t.id, t.kind, t.t_submit, t.t_done, t.wait_ns, t.hops, t.waits))


@pytest.fixture(autouse=True)
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "engine_parts.py").write_text(PARTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("engine_parts", None)


def made(watch: Watch | None = None, **overrides: object) -> Machine:
    changes = {k.replace("__", "."): v for k, v in overrides.items()}
    graph = compiled("default", {"system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1} | changes)
    return Machine(graph, [watch] if watch else [], check=False)


def traffic(machine: Machine) -> list[Any]:
    """Reads and writes that meet each other."""
    return [
        machine.flow(
            f"sip0.cube{i % 2}.pe{i % 8}", f"sip0.cube{i // 3 % 2}.hbm_ctrl.pe{i * 5 % 8}", 4096 * i,
            700 * (1 + i % 4), is_write=i % 3 == 0, start_ns=float(i // 4),
        )
        for i in range(60)
    ]  # fmt: skip


def outcome(machine: Machine, watch: Watch) -> Any:
    machine.wait(*traffic(machine))
    machine.drain()
    use = [
        (r.resource, r.bytes, r.busy_ns, r.wait_ns, r.transactions, r.max_queue) for r in machine.resources
    ]
    return watch.seen, use, machine.clock.events, machine.clock.now, machine.fabric.flit_crossings


def on_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "fits", lambda classes: False)


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"cube__hbm__mapping": "one_to_one", "system__address_model": "la"},
        {"cube__hbm__switch_penalty_ns": 3.5},
        {"pe__pe_dma__overhead_ns": 1.5},
        {"cube__router__impl": "engine_parts:PerFlit"},
        {"cube__router__impl": "engine_parts:Leaving"},
        {"cube__router__impl": "engine_parts:Timed"},
        {"cube__hbm__impl": "engine_parts:Slow"},
    ],
    ids=lambda overrides: "-".join(str(value) for value in overrides.values()) or "plain",
)
def test_both_engines_do_the_same(overrides: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    watch, other = Watch(), Watch()
    machine = made(watch, **overrides)
    assert machine.compiled
    mine = outcome(machine, watch)
    on_python(monkeypatch)
    python = made(other, **overrides)
    assert not python.compiled
    assert isinstance(python.fabric, FlitFabric)
    assert repr(mine) == repr(outcome(python, other))
    assert len(watch.seen) == 60 * (8 if "la" in overrides.values() else 1) or len(watch.seen) > 60


@pytest.mark.parametrize("name", ["Occupying", "Dynamic", "Changing", "Instance"])
def test_a_component_that_the_core_would_not_ask_gets_the_python_engine(name: str) -> None:
    watch = Watch()
    machine = made(watch, cube__router__impl=f"engine_parts:{name}")
    assert not machine.compiled
    assert len(outcome(machine, watch)[0]) >= 60


def test_a_checked_machine_gets_the_python_engine() -> None:
    assert not Machine(compiled("minimal"), check=True).compiled


def test_planted_faults_get_the_python_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls, name in ((Server, "occupy"), (FlitFabric, "_arrive"), (Transaction, "record_waits")):
        with monkeypatch.context() as patch:
            patch.setattr(cls, name, getattr(cls, name))
            assert made().compiled is (cls is FlitFabric)  # which has that very method
            patch.setattr(cls, name, lambda *args: None)
            assert not made().compiled
    assert made().compiled


def test_a_planted_fault_of_a_memory_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = outcome(made(watch := Watch()), watch)
    fetch = HbmSlice.fetch
    monkeypatch.setattr(
        HbmSlice, "fetch", lambda self, packet, flit, time: fetch(self, packet, flit, time + 5.0)
    )
    late = made(watch := Watch())
    assert late.compiled
    assert outcome(late, watch)[0] != usual[0]


def test_a_method_replaced_too_late_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made()
    flows = traffic(machine)
    monkeypatch.setattr(Server, "occupy", lambda *args: 0.0)
    with pytest.raises(UsageError, match="replaced since the machine was made"):
        machine.wait(*flows)


def stopped(limit: dict[str, float]) -> Any:
    """Where a limit ends a run, what its report says, and how it goes on."""
    watch = Watch()
    machine = made(watch)
    machine.clock.max_ns = limit.get("ns", machine.clock.max_ns)
    machine.clock.max_events = limit.get("events", machine.clock.max_events)
    flows = traffic(machine)
    with pytest.raises(LimitError) as caught:
        machine.wait(*flows)
    ended = (str(caught.value), machine.clock.now, machine.clock.events, list(watch.seen))
    machine.clock.max_ns = machine.clock.max_events = float("inf")
    machine.wait(*flows)
    machine.drain()
    return ended, watch.seen, machine.clock.events


@pytest.mark.parametrize("limit", [{"ns": 90.0}, {"events": 500}, {"events": 501}, {"events": 517}], ids=str)
def test_limits_end_a_run_alike(limit: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    mine = stopped(limit)
    on_python(monkeypatch)
    assert repr(mine) == repr(stopped(limit))


def test_what_a_component_raises_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def events() -> int:
        machine = made(pe__pe_dma__impl="engine_parts:Failing")
        with pytest.raises(RuntimeError, match="the fifth"):
            machine.wait(*traffic(machine))
        return machine.clock.events

    mine = events()
    on_python(monkeypatch)
    assert mine == events()


def test_a_machine_that_stopped_in_the_middle_is_collected() -> None:
    machine = made()
    machine.clock.max_events = 900
    with pytest.raises(LimitError):
        machine.wait(*traffic(machine))
    assert len(machine.clock.entries) > 3
    seen = weakref.ref(machine)
    del machine
    gc.collect()
    assert seen() is None


class Never:
    done = False


@pytest.mark.usefixtures("at_a_terminal")
def test_ctrl_c_ends_a_run_in_which_no_python_is_called() -> None:
    machine = made()
    machine.flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe7", 0, 1 << 30, is_write=True)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt), interruptible(machine.clock):
            machine.advance(Never())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < machine.clock.events < 1 << 22


def test_progress_is_reported_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    def reported() -> list[tuple[float, int]]:
        machine, seen = made(), list[tuple[float, int]]()
        machine.clock.on_progress = lambda now, events: seen.append((now, events))
        machine.wait(machine.flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe7", 0, 6 << 20, is_write=True))
        return seen

    mine = reported()
    on_python(monkeypatch)
    assert mine == reported()
    assert mine


def test_the_environment_leaves_the_core_aside() -> None:
    script = "from kernbench.compiled import core, state; print(core, state)"
    environment = os.environ | {
        "KERNBENCH_PURE": "1",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "None not used, because KERNBENCH_PURE is set"


def test_a_core_of_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "digest", lambda folder: "another")
    core, state = package._load()
    assert core is None
    assert "its source has changed since it was compiled; 'make core'" in state
    monkeypatch.setattr(package, "import_module", lambda name: __import__("no_such_module_of_ours"))
    core, state = package._load()
    assert core is None
    assert "no C compiler" in state


def test_casts_are_checked() -> None:
    assert package.core is not None
    machine = made()
    for wrong in (None, object(), 1):
        with pytest.raises(TypeError):
            machine.fabric.send(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no component"):
        package.core.Path([object()], [])
    path = machine.path("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe0", Traffic.PE_DMA)
    packet = Packet(machine.begin("dma_write", path, 512, 0.0), path, 512, 256)
    with pytest.raises(ValueError, match="1 times for a packet of 2 flits"):
        machine.fabric.stream(packet, [0.0])
