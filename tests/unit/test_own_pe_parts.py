"""Parts of a PE of a user's classes: each method that they override is called; observers of what PEs do."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.components.pe_compute import PeGemm, PeMath
from kernbench.engine.components.pe_cpu import PeCpu
from kernbench.engine.components.pe_fetch_store import PeFetchStore
from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.pe_scheduler import PeScheduler
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.core.clock import Clock
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.ledger import Ledger
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.commands import Command, PeContext, Wait
from kernbench.engine.program.operations import Op
from kernbench.values.dataplane import DataPlane
from tests.compiled import compiled
from tests.unit.test_components_faults import PE, Script, stream

CALLS: Counter[str] = Counter()
OVERRIDDEN = {
    "pe_tcm": (PeTcm, ("access", "arrive", "leave")),
    "pe_fetch_store": (PeFetchStore, ("accept", "pass_on", "finish", "stage_op", "count_use", "arrive")),
    "pe_math": (PeMath, ("accept", "duration_ns", "forward", "finish", "leave")),
    "pe_gemm": (PeGemm, ("accept", "stage_op", "duration_ns", "pass_on")),
    "pe_cpu": (PeCpu, ("forward", "finish", "receive")),
    "pe_ipcq": (PeIpcq, ("submit_send", "submit_receive", "occupy", "check_peers")),
    "pe_scheduler": (PeScheduler, ("submit", "check_runs", "forward", "leave")),
}


def overriding(cls: type[Any], method: str) -> type[Any]:
    """A subclass whose ``method`` counts its calls and is otherwise that of ``cls``."""
    above: Callable[..., Any] = getattr(cls, method)

    def counted(self: Any, *args: Any, **named: Any) -> Any:
        CALLS[f"{cls.__name__}.{method}"] += 1
        return above(self, *args, **named)

    return type(f"Own{cls.__name__}{method}", (cls,), {method: counted})


for _cls, _methods in OVERRIDDEN.values():
    for _method in _methods:
        vars(sys.modules[__name__])[f"Own{_cls.__name__}{_method}"] = overriding(_cls, _method)


def outcome(impl: dict[str, str]) -> tuple[float, Any]:
    """End of a run of attention, or of queues, its operations, transactions, and use of resources."""
    if "pe.pe_ipcq.impl" in impl:
        topo = {"system.sips": 1} | impl
        run = kb.run("ipcq-allreduce", params={"elements": 256}, topo=topo, store="memory:")
    else:
        run = kb.run("flash-attention", "minimal", params={"d_head": 16}, topo=impl, store="memory:")
    names = ("Op", "DependsOn", "Awaited", "Transaction", "Hop", "WaitedFor", "Use", "Launch")
    return run.sim_ns, {name: run.tables[name].to_pylist() for name in names}


@cache
def of_shipped(part: str) -> tuple[float, Any]:
    return outcome({"pe.pe_ipcq.impl": "builtin.pe_ipcq"} if part == "pe_ipcq" else {})


@pytest.mark.daily("pe_tcm-access", "pe_scheduler-*", "pe_gemm-accept", "pe_cpu-receive")
@pytest.mark.parametrize(
    ("part", "method"), [(part, method) for part, (_, methods) in OVERRIDDEN.items() for method in methods]
)
def test_a_users_method_is_called_and_changes_nothing_else(part: str, method: str) -> None:
    cls = OVERRIDDEN[part][0]
    CALLS.clear()
    shipped = of_shipped(part)
    assert not CALLS
    assert outcome({f"pe.{part}.impl": f"{__name__}:Own{cls.__name__}{method}"}) == shipped
    assert CALLS[f"{cls.__name__}.{method}"] > 0


def test_a_data_plane_that_overrides_op_done_sees_stages_of_tiles() -> None:
    class Counting(DataPlane):
        def op_done(self, op: Op) -> None:
            super().op_done(op)

    class Stages(Instrument):
        def op_done(self, op: Op) -> None:
            pass

    plane, own, plain = Counting(), Stages(), DataPlane()
    ledger = Ledger(Clock())
    ledger.inform([plane, own, plain])
    assert ledger.when_staged == (plane.op_done, own.op_done, plain.stage_done)


def test_an_error_of_an_observer_ends_the_run() -> None:
    class Failing(Instrument):
        def op_done(self, op: Op) -> None:
            if op.stage == "STORE":
                raise RuntimeError(f"seen {op.id}")

    machine = Machine(compiled("minimal"), [Failing()], check=False)
    source, target = (machine.addresses.hbm(0, 0, 0, place) for place in (0, 1 << 16))

    def commands(pe: PeContext) -> list[Command]:
        composite = stream(pe, source, target)
        return [composite, Wait([composite.completion])]

    with pytest.raises(RuntimeError, match="seen"):
        machine.wait(machine.launch(Script(commands), [PE]))
