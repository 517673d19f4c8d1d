"""Launches: one common start over cubes and SIPs, also under load and with PEs that are still busy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernbench.components.machine import Machine
from kernbench.errors import DeadlockError, LaunchError
from kernbench.pe.commands import Command, Cycles, PeContext
from kernbench.routing import Traffic
from kernbench.sim.ops import Region
from kernbench.sim.trace import TraceRecorder
from kernbench.topology import compile_topology, load, names


class Script:
    """A kernel that runs ``commands(pe)`` and notes when it began."""

    name = "script"

    def __init__(self, commands: Callable[[PeContext], list[Command]] = lambda pe: []) -> None:
        self.commands = commands
        self.began: dict[str, float] = {}
        self.programs: dict[str, tuple[int, int, int]] = {}

    def start(self, pe: PeContext) -> Thread:
        self.began[pe.name] = pe.now()
        self.programs[pe.name] = pe.program_id
        return Thread(self.commands(pe))


class Thread:
    def __init__(self, commands: list[Command]) -> None:
        self.commands = commands

    def resume(self) -> Command | None:
        return self.commands.pop(0) if self.commands else None

    def close(self) -> None:
        self.commands.clear()

    def describe(self) -> str:
        return "kernel 'script'"


def machine(topology: str, *instruments: TraceRecorder) -> Machine:
    return Machine(compile_topology(load(topology)), instruments)


def everywhere(m: Machine) -> list[tuple[int, int, int]]:
    p = m.graph.properties
    return [
        (s, c, e)
        for s in range(int(p["sips"]))
        for c in range(int(p["cubes_per_sip"]))
        for e in range(int(p["pes_per_cube"]))
    ]


def launch_arrivals(recorder: TraceRecorder, m: Machine) -> dict[str, float]:
    table = recorder.tables(m.resources, m.clock.now)["Transaction"]
    return {
        dst.rpartition(".")[0]: float(done)
        for kind, dst, done in zip(
            table["kind"].to_pylist(), table["dst"].to_pylist(), table["t_done"], strict=True
        )
        if kind == "launch" and dst.endswith(".pe_cpu")
    }


@pytest.mark.parametrize(
    "topology", ["minimal", pytest.param("six-sip-torus", marks=pytest.mark.slow), "default"]
)
def test_all_pes_start_at_one_instant_and_none_is_told_after_it(topology: str) -> None:
    recorder = TraceRecorder()
    m = machine(topology, recorder)
    script = Script()
    request = m.launch(script, everywhere(m))
    m.wait(request)
    assert len(script.began) == len(everywhere(m))
    assert set(script.began.values()) == {request.t_start}
    arrivals = launch_arrivals(recorder, m)
    assert set(arrivals) == set(script.began)
    assert max(arrivals.values()) <= request.t_start
    assert request.t_submit < request.t_start <= request.t_done


def test_the_start_is_never_before_the_two_leg_formula() -> None:
    """One PE: nothing queues, so the start is the formula's, counted here from the routes."""
    m = machine("default")
    request = m.launch(Script(), [(0, 9, 5)])
    m.wait(request)
    total = 0.0
    paid: set[str] = set()
    for a, b in (
        (names.HOST_CPU, "sip0.io0.io_cpu"),
        ("sip0.io0.io_cpu", names.m_cpu(0, 9)),
        (names.m_cpu(0, 9), names.pe_part(0, 9, 5, "pe_cpu")),
    ):
        route = m.router.route(a, b, Traffic.COMMAND)
        total += sum(float(link.properties["distance_mm"]) for link in route.links) * 0.01
        for i, name in enumerate(route.nodes):
            if i or name not in paid:
                total += float(m.graph.node(name).properties["overhead_ns"])
        paid.add(b)
    assert request.t_start == pytest.approx(total, abs=1e-9, rel=0)


def test_one_start_under_load_and_with_busy_pes() -> None:
    recorder = TraceRecorder()
    m = machine("default", recorder)
    targets = [(s, c, e) for s in range(2) for c in (0, 5, 15) for e in range(8)]
    busy = m.launch(Script(lambda pe: [Cycles(500.0 * (pe.pe + 1))]), targets[:8])
    load_ = [
        m.host_write(s, [Region(m.addresses.hbm(s, c, 0, 0), 16384)]) for s in range(2) for c in (0, 4, 12)
    ]
    script = Script()
    second = m.launch(script, targets)
    m.wait(busy, second, *load_)
    assert set(script.began.values()) == {second.t_start}
    assert second.t_start >= busy.t_start + 500.0 * 8
    assert max(launch_arrivals(recorder, m).values()) <= second.t_start


def test_program_ids_count_the_pes_of_the_launch() -> None:
    m = machine("default")
    script = Script()
    m.wait(m.launch(script, [(1, 3, 2), (1, 3, 6), (0, 3, 2), (0, 3, 6)]))
    assert script.programs == {
        "sip0.cube3.pe2": (0, 0, 0),
        "sip0.cube3.pe6": (1, 0, 0),
        "sip1.cube3.pe2": (0, 0, 1),
        "sip1.cube3.pe6": (1, 0, 1),
    }


def test_a_kernel_that_raises_fails_its_launch_with_pe_and_time() -> None:
    m = machine("minimal")

    def commands(pe: PeContext) -> list[Command]:
        raise ZeroDivisionError("no scale")

    class Failing(Thread):
        def resume(self) -> Command | None:
            raise ZeroDivisionError("no scale")

    class Call(Script):
        def start(self, pe: PeContext) -> Thread:
            return Failing([Cycles(1.0)])

    with pytest.raises(
        LaunchError, match=r"kernel 'script' failed on sip0\.cube0\.pe0 at [\d.]+ ns \(launch-0\)"
    ):
        m.wait(m.launch(Call(), [(0, 0, 0)]))


def test_a_lost_message_is_reported_as_a_deadlock_with_who_waits_for_what() -> None:
    m = machine("minimal")
    lost = m.component(names.m_cpu(0, 0))
    lost.receive = lambda packet: None  # type: ignore[method-assign]
    with pytest.raises(
        DeadlockError, match=r"launch 0 of 'script' on 1 PEs.*transaction 1 \(launch.*io_cpu waits"
    ):
        m.wait(m.launch(Script(), [(0, 0, 0)]))
