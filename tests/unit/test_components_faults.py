"""An error in a kernel or at a launch names its cause, and the machine stays usable."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.commands import Command, Composite, Cycles, Load, PeContext, Store, Wait
from kernbench.engine.program.operations import Op, Operand
from kernbench.errors import LaunchError, UsageError
from kernbench.language.thread import KernelCall
from tests.compiled import compiled

PE = (0, 0, 0)


class Script:
    """A kernel that runs ``commands(pe)``."""

    name = "script"

    def __init__(self, commands: Callable[[PeContext], list[Command]]) -> None:
        self.commands = commands

    def start(self, pe: PeContext) -> Thread:
        return Thread(self.commands(pe))


class Thread:
    def __init__(self, commands: list[Command]) -> None:
        self.commands = commands
        self.closed = False

    def resume(self) -> Command | None:
        return self.commands.pop(0) if self.commands else None

    def close(self) -> None:
        self.closed = True

    def describe(self) -> str:
        return "kernel 'script'"

    def nearest_tensor(self, address: int) -> str:
        return ""


class Ops(Instrument):
    """Names of the operations in order of their ends."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def op_done(self, op: Op) -> None:
        self.names.append(op.name)


def read(pe: PeContext, address: int, nbytes: int = 512) -> Load:
    operand = Operand((nbytes,), "i8", address=address)
    return Load(Op(pe.next_op_id(), "memory", "dma_read", (operand,)), ((address, nbytes),))


def write(pe: PeContext, address: int, nbytes: int = 512) -> Store:
    operand = Operand((nbytes,), "i8", address=address)
    return Store(Op(pe.next_op_id(), "memory", "dma_write", (), operand), ((address, nbytes),))


def stream(pe: PeContext, source: int, target: int) -> Composite:
    a, out = Operand((64, 64), "f16", address=source), Operand((64, 64), "f16", address=target)
    op = Op(pe.next_op_id(), "math", "composite_exp", (a,), out, {})
    return Composite(op)


LATE: list[dict[str, object]] = [
    {},
    {"pe.pe_mmu.tlb_overhead_ns": 4.0},
    {"pe.pe_scheduler.overhead_ns": 3.0},
    {"pe.pe_cpu.dispatch_cycles": 5.0},
]
"""Machines that carry out a command at once, and some time after it was issued."""
NOWHERE = (1 << 50) + (1 << 49)


@pytest.fixture(params=LATE, ids=["at once", "tlb", "scheduler", "dispatch"])
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine(compiled("minimal", request.param), check=True)


def run(machine: Machine, commands: Callable[[PeContext], list[Command]]) -> None:
    machine.wait(machine.launch(Script(commands), [PE]))


@pytest.mark.parametrize("command", [read, write])
def test_a_transfer_to_nowhere_fails_its_launch_and_no_other(
    machine: Machine, command: Callable[[PeContext, int], Command]
) -> None:
    good = machine.addresses.hbm(0, 0, 0, 0)
    for turn in range(2):
        with pytest.raises(LaunchError, match=rf"launch-{2 * turn}\): .*is not in this topology"):
            run(machine, lambda pe: [command(pe, NOWHERE)])
        run(machine, lambda pe: [read(pe, good), write(pe, good)])
    machine.settle()


def test_a_transfer_to_nowhere_behind_another_fails_its_launch(machine: Machine) -> None:
    """The engine is busy with a tile when the kernel asks for what does not exist."""
    good = machine.addresses.hbm(0, 0, 0, 0)

    def commands(pe: PeContext) -> list[Command]:
        return [stream(pe, good, good + (1 << 20)), read(pe, NOWHERE)]

    with pytest.raises(LaunchError, match=r"launch-0.*is not in this topology"):
        run(machine, commands)
    machine.settle()
    run(machine, lambda pe: [read(pe, good), write(pe, good)])


def test_a_composite_to_nowhere_fails_its_launch(machine: Machine) -> None:
    good = machine.addresses.hbm(0, 0, 0, 0)
    for source, target in ((NOWHERE, good), (good, NOWHERE)):
        with pytest.raises(LaunchError, match="is not in this topology"):
            run(machine, lambda pe, a=source, b=target: [stream(pe, a, b)])  # type: ignore[misc]
    run(machine, lambda pe: [read(pe, good)])
    machine.settle()


def test_registers_are_no_memory(machine: Machine) -> None:
    """A physical address may lead to a component that cannot be read."""
    registers = next(
        window.base for window in machine.addresses._windows if window.component == "sip0.cube0.pe0.pe_math"
    )
    with pytest.raises(LaunchError, match=r"sip0\.cube0\.pe0\.pe_math.* is not a memory"):
        run(machine, lambda pe: [read(pe, registers, 16)])
    run(machine, lambda pe: [read(pe, machine.addresses.hbm(0, 0, 0, 0))])
    machine.settle()


def test_a_kernel_that_fails_among_composites_leaves_a_machine_that_works(machine: Machine) -> None:
    good = machine.addresses.hbm(0, 0, 0, 0)

    def failing(pe: PeContext) -> list[Command]:
        first, second = stream(pe, good, good + (1 << 20)), stream(pe, good, good + (1 << 21))
        return [first, second, Wait([first.completion]), read(pe, NOWHERE)]

    with pytest.raises(LaunchError, match="is not in this topology"):
        run(machine, failing)

    def working(pe: PeContext) -> list[Command]:
        only = stream(pe, good, good + (1 << 20))
        return [Cycles(3), only, Wait([only.completion])]

    run(machine, working)
    machine.settle()


def test_a_launch_names_each_of_its_pes_once() -> None:
    machine = Machine(compiled("minimal"))
    with pytest.raises(UsageError, match=r"names PE \(0, 0, 0\) twice"):
        machine.launch(Script(lambda _: []), [PE, PE])
    with pytest.raises(UsageError, match=r"has no such PE as \(0, 3, 0\)"):
        machine.launch(Script(lambda _: []), [PE, (0, 3, 0)])
    machine.wait(machine.launch(Script(lambda _: []), [PE]))


def test_the_failing_call_is_named_with_its_line(machine: Machine) -> None:
    def loads_from_nowhere(tl):  # type: ignore[no-untyped-def]
        tl.load(NOWHERE, shape=(64,))

    with pytest.raises(
        LaunchError,
        match=r"^kernel 'loads_from_nowhere' failed on sip0\.cube0\.pe0 at [\d.]+ ns \(launch-0\): "
        r"in tl\.load at test_components_faults\.py:\d+: physical address \S+: sip_id 12 is not in this "
        r"topology$",
    ):
        machine.wait(machine.launch(KernelCall(loads_from_nowhere), [PE]))


def test_a_kernel_that_cannot_start_fails_its_launch(machine: Machine) -> None:
    class Call(Script):
        def start(self, pe: PeContext) -> Thread:
            raise ValueError("no room")

    with pytest.raises(LaunchError, match=r"failed on sip0\.cube0\.pe0 .*ValueError: no room"):
        machine.wait(machine.launch(Call(lambda _: []), [PE]))
    run(machine, lambda pe: [read(pe, machine.addresses.hbm(0, 0, 0, 0))])
