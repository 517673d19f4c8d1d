"""Launches: one common start over cubes and SIPs, also under load and with PEs that are still busy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernbench.engine.core.trace import TraceRecorder
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program import tile_plans
from kernbench.engine.program.commands import Command, Cycles, Load, Math, PeContext
from kernbench.engine.program.operations import Op, Region
from kernbench.errors import DeadlockError, LaunchError
from kernbench.hardware.routing import Traffic
from tests import names
from tests.compiled import compiled


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
    return Machine(compiled(topology), instruments)


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
    "topology", ["minimal", *(pytest.param(t, marks=pytest.mark.slow) for t in ("six-sip-torus", "default"))]
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
        DeadlockError,
        match=r"(?s)launch 0 of 'script' on 1 PEs cannot finish\n"
        r"  to end it: 'sip0\.cube0\.m_cpu' has to pass on.*"
        r"transaction 1 \(launch.*io_cpu waits",
    ):
        m.wait(m.launch(Script(), [(0, 0, 0)]))


def _first(m: Machine, pes: int) -> list[tuple[int, int, int]]:
    return everywhere(m)[:pes]


@pytest.mark.daily("1", "64")
@pytest.mark.parametrize("pes", [1, 7, 32, 64, 256])
def test_on_an_idle_machine_the_start_is_exactly_the_stamp(pes: int) -> None:
    recorder = TraceRecorder()
    m = machine("default", recorder)
    launch = m.launch(Script(), _first(m, pes))
    m.wait(launch)
    arrivals = launch_arrivals(recorder, m)
    assert len(arrivals) == pes
    assert launch.t_start == max(arrivals.values())
    assert launch.late_ns == 0.0


def test_a_launch_that_traffic_holds_up_says_by_how_much_it_is_late() -> None:
    m = machine("default")
    targets = [(0, 0, e) for e in range(8)]
    idle = m.launch(Script(), targets)
    m.wait(idle)
    begun = m.clock.now
    # Map messages with many entries are under way to the same cube.
    maps = [m.map(0, [(0, 0)], [((k * 200 + i) << 22, 0, 4096) for i in range(200)]) for k in range(2)]
    late = m.launch(Script(), targets)
    m.wait(late, *maps)
    assert late.late_ns > 0.0
    assert late.t_start - begun > idle.t_start


def test_a_launch_that_waits_for_a_busy_pe_is_late_by_that() -> None:
    m = machine("default")
    busy = m.launch(Script(lambda pe: [Cycles(5000.0)]), [(0, 0, 0)])
    second = m.launch(Script(), [(0, 0, 0), (0, 1, 0)])
    m.wait(busy, second)
    assert second.t_start == busy.t_start + 5000.0
    assert second.late_ns == pytest.approx(5000.0 - (second.t_submit - busy.t_submit), abs=20.0)


class Broken(Script):
    """The PE of number 0 fails after 100 cycles; the others compute for 1000."""

    def start(self, pe: PeContext) -> Thread:
        if pe.pe:
            return super().start(pe)

        class Failing(Thread):
            def resume(self) -> Command | None:
                if not self.commands:
                    raise ValueError("by design")
                return super().resume()

        return Failing([Cycles(100.0)])


@pytest.mark.parametrize(("fail_fast", "ns"), [(True, 100.0), (False, 1000.0)])
def test_the_failure_policy_says_whether_the_others_run_on(fail_fast: bool, ns: float) -> None:
    m = machine("default")
    kernel = Broken(lambda pe: [Cycles(1000.0)])
    request = m.launch(kernel, [(0, 0, 0), (0, 0, 1), (0, 3, 2)], fail_fast=fail_fast)
    with pytest.raises(LaunchError, match="by design") as failed:
        m.wait(request)
    assert (failed.value.kernel, failed.value.pe, failed.value.launch) == ("script", "sip0.cube0.pe0", 0)
    assert failed.value.time_ns == request.t_start + 100.0
    assert isinstance(failed.value.cause, ValueError)
    took = [times.exec_ns for _, times in sorted(request.pe_times.items())]
    assert took == pytest.approx([100.0, ns, ns], abs=1e-9, rel=0)
    after = m.launch(Script(lambda pe: [Cycles(10.0)]), [(0, 0, 0), (0, 0, 1)])
    m.wait(after)
    assert after.pe_times[0, 0, 1].exec_ns == pytest.approx(10.0, abs=1e-9, rel=0)
    m.settle()


def test_the_times_of_a_pe_are_execution_dma_compute_and_waiting() -> None:
    m = machine("minimal")

    def commands(pe: PeContext) -> list[Command]:
        op = Op(pe.next_op_id(), "memory", "dma_read")
        other = Op(pe.next_op_id(), "math", "exp")
        address = m.addresses.hbm(0, 0, 0, 0)
        return [Load(op, ((address, 4096),)), Math(other, tile_plans.math("exp", 1280, 0, 0)), Cycles(7.0)]

    request = m.launch(Script(commands), [(0, 0, 0)])
    m.wait(request)
    times = request.pe_times[0, 0, 0]
    found = (times.compute_ns, times.dma_ns, times.wait_ns, times.exec_ns)
    assert found == pytest.approx((10.0, 29.0, 7.0, 46.0), abs=1e-9, rel=0)
    assert times.exec_ns < request.t_done - request.t_start


TWO_CHIPLETS = {
    "system.sips": 2,
    "cube.pes.count": 4,
    "sip.io_chiplets": [{"name": "io0"}, {"name": "io1", "side": "S"}],
}


def test_a_sip_with_several_io_chiplets_uses_the_nearest_for_each_cube() -> None:
    recorder = TraceRecorder()
    m = Machine(compiled("default", TWO_CHIPLETS), [recorder])
    script = Script()
    launch = m.launch(script, everywhere(m))
    mapping = m.map(1, [(c, 0) for c in range(16)], [(1 << 22, 0, 4096)])
    m.wait(launch, mapping)
    assert set(script.began.values()) == {launch.t_start}
    assert m.launch(Script(), [(0, 0, 0)]).late_ns == 0.0
    table = recorder.tables(m.resources, m.clock.now)["Transaction"]
    sent = {
        (kind, src, dst)
        for kind, src, dst in zip(
            table["kind"].to_pylist(), table["src"].to_pylist(), table["dst"].to_pylist(), strict=True
        )
        if dst.endswith(".m_cpu")
    }
    for kind, sips in (("launch", (0, 1)), ("map", (1,))):
        for sip in sips:
            for cube in range(16):
                nearest = "io0" if cube < 8 else "io1"
                assert (kind, f"sip{sip}.{nearest}.io_cpu", names.m_cpu(sip, cube)) in sent
