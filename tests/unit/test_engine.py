"""A user's component does what it says, compiled or not; runs that end early end alike."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import kernbench
from kernbench.cli.main import main
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.node import path_over
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.errors import LimitError
from kernbench.hardware.routing import Traffic
from kernbench.support import compiled as package
from kernbench.support.time_limit import interruptible
from tests.compiled import compiled

PARTS = '''\
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.transit import Transit


class PerFlit(Transit):
    """Time for every flit."""

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
    """Serves in its own way."""

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


class Wrapping(Transit):
    """Wraps a method of its own before it is wired, and is made twice by whoever makes it twice."""

    def __init__(self, node, system):
        super().__init__(node, system)
        before = self.leave
        self.leave = lambda time, nbytes, busy_ns, wait_ns: before(time, nbytes, busy_ns, wait_ns)


class Raising(HbmSlice):
    """A process of its own raises its overhead."""

    def wired(self):
        super().wired()
        self.clock.process(self.raises())

    def raises(self):
        yield self.clock.timeout(20)
        self.entry_ns = 40.0


class Entering(HbmSlice):
    """Works its overhead out."""

    @property
    def entry_ns(self):
        return 1.0 + self.transactions % 3

    @entry_ns.setter
    def entry_ns(self, value):
        pass


class Ticking(Transit):
    """A process that goes on for ever."""

    def wired(self):
        self.clock.background(self.ticks())

    def ticks(self):
        while True:
            yield self.clock.timeout(5.0)


class Failing(PeDma):
    """Raises when it gets its fifth answer."""

    answers = 0

    def receive(self, packet):
        self.answers += 1
        if self.answers == 5:
            raise RuntimeError("the fifth")
        super().receive(packet)
'''


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


def made(watch: Watch | None = None, /, check: bool = False, **overrides: object) -> Machine:
    changes = {k.replace("__", "."): v for k, v in overrides.items()}
    graph = compiled("default", {"system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1} | changes)
    return Machine(graph, [watch] if watch else [], check=check)


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


CASES: dict[str, dict[str, object]] = {
    "plain": {},
    "one to one": {"cube__hbm__mapping": "one_to_one", "system__address_model": "la"},
    "penalty": {"cube__hbm__switch_penalty_ns": 3.5},
    "DMA": {"pe__pe_dma__overhead_ns": 1.5},
    **{
        name: {"cube__router__impl": f"engine_parts:{name}"}
        for name in ("PerFlit", "Leaving", "Timed", "Dynamic", "Changing", "Wrapping", "Ticking")
    },
    **{
        f"{name}, serial": {"cube__router__impl": f"engine_parts:{name}", "system__worker": "serial"}
        for name in ("PerFlit", "Timed", "Occupying", "Dynamic", "Instance")
    },
    **{name: {"cube__hbm__impl": f"engine_parts:{name}"} for name in ("Slow", "Raising", "Entering")},
}
AS_PLAIN = ("Leaving", "Changing", "Wrapping", "Ticking")
"""Those that change no time."""
LIMITS = [{"ns": 90.0}, {"events": 500}, {"events": 501}, {"events": 517}]


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


def failing() -> int:
    """Events until a component raises."""
    machine = made(pe__pe_dma__impl="engine_parts:Failing")
    with pytest.raises(RuntimeError, match="the fifth"):
        machine.wait(*traffic(machine))
    return int(machine.clock.events)


def reported() -> list[tuple[float, int]]:
    """What is reported while a long transfer is under way."""
    machine, seen = made(), list[tuple[float, int]]()
    machine.clock.on_progress = lambda now, events: seen.append((now, events))
    machine.wait(machine.flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe7", 0, 6 << 20, is_write=True))
    return seen


def all_of_it() -> dict[str, str]:
    """What happens in all cases."""
    found = {}
    for name, overrides in CASES.items():
        watch = Watch()
        found[name] = repr(outcome(made(watch, **overrides), watch))
    found |= {str(limit): repr(stopped(limit)) for limit in LIMITS}
    return found | {"failing": str(failing()), "reported": repr(reported())}


@cache
def interpreted() -> dict[str, str]:
    """The same from a process in which nothing is compiled."""
    script = (
        "import json, sys, tempfile, pathlib; from tests.unit import test_engine as t; "
        "folder = tempfile.mkdtemp(); sys.path.insert(0, folder); "
        "pathlib.Path(folder, 'engine_parts.py').write_text(t.PARTS); print(json.dumps(t.all_of_it()))"
    )
    environment = os.environ | {
        "KERNBENCH_PURE": "1",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_component_does_the_same_compiled_and_not(name: str) -> None:
    watch = Watch()
    assert repr(outcome(made(watch, **CASES[name]), watch)) == interpreted()[name]
    assert len(watch.seen) >= 60


@pytest.mark.daily("Dynamic", "PerFlit", "Timed, serial", "DMA", "one to one", "Raising", "penalty")
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("plain", *AS_PLAIN)])
def test_a_component_that_overrides_something_is_asked(name: str) -> None:
    watch, plain = Watch(), Watch()
    outcome(made(watch, **CASES[name]), watch)
    outcome(made(plain), plain)
    assert watch.seen != plain.seen


@pytest.mark.daily("Wrapping", "Leaving")
@pytest.mark.parametrize("name", AS_PLAIN)
def test_one_that_does_what_the_shipped_one_does_changes_nothing(name: str) -> None:
    watch, plain = Watch(), Watch()
    outcome(made(watch, **CASES[name]), watch)
    outcome(made(plain), plain)
    assert watch.seen == plain.seen


@pytest.mark.daily("plain", "one to one", "Raising")
@pytest.mark.parametrize("name", ["plain", "one to one", "PerFlit", "Timed", "Raising", "Wrapping"])
def test_checking_changes_nothing(name: str) -> None:
    watch, checked = Watch(), Watch()
    outcome(made(watch, **CASES[name]), watch)
    outcome(made(checked, check=True, **CASES[name]), checked)
    assert watch.seen == checked.seen


@pytest.mark.slow  # golden/test_engines asks every day whether both engines do the same
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_limits_end_a_run_alike(limit: dict[str, float]) -> None:
    assert repr(stopped(limit)) == interpreted()[str(limit)]


@pytest.mark.slow
def test_what_a_component_raises_ends_the_run() -> None:
    assert str(failing()) == interpreted()["failing"]


@pytest.mark.slow
def test_progress_is_reported_as_often() -> None:
    assert repr(reported()) == interpreted()["reported"] != "[]"


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


def test_ctrl_c_ends_a_run_in_which_no_python_is_called() -> None:
    machine = made()
    machine.flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe7", 0, 1 << 30, is_write=True)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt), interruptible(machine.clock.interrupt):
            machine.advance(Never())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < machine.clock.events < 1 << 22


def test_the_environment_leaves_aside_what_is_compiled() -> None:
    script = (
        "from kernbench.support.compiled import state; import kernbench.engine.core.fabric as f; "
        "print(f.__file__.rpartition('.')[2], state)"
    )
    environment = os.environ | {
        "KERNBENCH_PURE": "1",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "py not used, because KERNBENCH_PURE is set"


@pytest.mark.skipif(package.state != "used", reason="nothing is compiled")
def test_what_was_compiled_of_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "digest", lambda folder: "another")
    assert "its source has changed since it was compiled; 'make core'" in package._state()
    monkeypatch.setattr(package, "EXTENSION_SUFFIXES", [".none"])
    assert "its source has changed" in package._state()  # in a module that is new, too
    monkeypatch.undo()
    monkeypatch.setattr(package, "EXTENSION_SUFFIXES", [".none"])
    assert "could not be compiled" in package._state()
    monkeypatch.undo()
    monkeypatch.setattr(package, "STAMP", "kernbench/support/compiled/none.txt")
    assert "nothing says what it was compiled from" in package._state()


def test_without_what_is_compiled_every_module_is_its_source() -> None:
    """One that was compiled once, and is no longer listed, may still have a file beside it."""
    find = package._Interpreted().find_spec
    for name in ("kernbench.engine.core.clock", "kernbench.errors"):
        spec = find(name)
        assert spec is not None
        assert str(spec.origin).endswith(f"{name.rpartition('.')[2]}.py")
    assert [
        find(name) for name in ("kernbench.engine.core", "kernbench.support.compiled.shared", "numpy")
    ] == [None] * 3


RUN = ("run", "gemm-single-pe", "--topology", "minimal", "--store", "memory:")
OUT_OF_DATE = """
import importlib, sys
from kernbench.support import compiled
sys.modules["kernbench.support.compiled.digest"].digest = lambda root: sys.argv[1]
importlib.reload(compiled)
from kernbench.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.daily("another-0-argv0-1")
@pytest.mark.skipif(package.state != "used", reason="nothing is compiled")
@pytest.mark.parametrize(
    ("digest", "pure", "argv", "lines"),
    [
        ("another", "0", RUN, 1),
        ("another", "1", RUN, 0),
        ("", "0", RUN, 0),  # an installed wheel
        ("another", "0", ("list",), 0),
    ],
)
def test_commands_that_simulate_say_once_that_what_is_compiled_is_out_of_date(
    digest: str, pure: str, argv: tuple[str, ...], lines: int
) -> None:
    environment = os.environ | {"KERNBENCH_PURE": pure, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_DATE, digest, *argv],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout
    assert [line[:16] for line in done.stderr.splitlines()] == ["kernbench: note:"] * lines
    assert ("source has changed since it was compiled; 'make core'" in done.stderr) is (lines == 1)


@pytest.mark.parametrize("argv", [("validate",), ("probe",), ("sweep", "softmax"), ("tune", "softmax")])
def test_every_command_that_simulates_looks_whether_it_is(
    argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(package, "out_of_date", True)
    for name in ("probe", "sweep", "tune", "validation.validate"):
        monkeypatch.setattr(f"kernbench.{name}", stopped)
    main(argv)
    assert capsys.readouterr().err.count("the compiled engine is") == 1


def test_runs_in_python_say_once_that_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "out_of_date", True)
    with pytest.warns(RuntimeWarning, match="the compiled engine is") as said:
        kernbench.run("softmax", "minimal", trace=False)
    assert [warning.filename for warning in said] == [__file__]
    kernbench.run("softmax", "minimal", trace=False)


@pytest.mark.skipif(package.state != "used", reason="nothing is compiled")
def test_casts_are_checked() -> None:
    machine = made()
    for wrong in (None, object(), 1):
        with pytest.raises((TypeError, AttributeError)):
            machine.fabric.send(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="FabricNode"):
        path_over([object()], [])  # type: ignore[list-item]
    path = machine.path("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe0", Traffic.PE_DMA)
    packet = Packet(machine.begin("dma_write", path, 512, 0.0), path, 512, 256)
    with pytest.raises(ValueError, match="1 times for a packet of 2 flits"):
        machine.fabric.stream(packet, [0.0])
