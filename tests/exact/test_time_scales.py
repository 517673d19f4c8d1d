"""A machine with every time doubled and every rate halved takes twice as long, to the last bit.

Every delay comes from a part that the topology describes, so none may stay when all of them double. A
factor of two loses no bits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given

from kernbench.api.topologies import check_routes
from kernbench.engine.machine.machine import Machine
from kernbench.engine.run_options import RunOptions
from kernbench.errors import KernBenchError
from kernbench.hardware.topology import TopologySpec, compile_topology, load, validate
from kernbench.hardware.topology.dram import table
from kernbench.host import session
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.benches import resolve
from tests.exact.test_every_option import FLOWS, OPTIONS, SMALL
from tests.examples import examples

TIMES = ("_ns", "ns_per_mm", "tck_ps")
RATES = ("gbs", "ghz")
BENCHES: dict[str, dict[str, object]] = {
    "ccl-allreduce": {"elements": 3000},
    "flash-attention": {},
    "matmul-composite": {},
    "pe2pe": {"nbytes": 6144},
}


def slowed(keys: Any) -> Any:
    """``keys`` of a topology with every time doubled and every rate halved."""
    if isinstance(keys, list):
        return [slowed(item) for item in keys]
    if not isinstance(keys, dict):
        return keys
    return {key: slowed_value(key, value) for key, value in keys.items()}


def slowed_value(key: str, value: Any) -> Any:
    if key == "timing" and isinstance(value, str):
        return {"like": value, "tck_ps": 2 * table(value).tck_ps}
    if not isinstance(value, int | float) or isinstance(value, bool):
        return slowed(value)
    if key.endswith(TIMES):
        return 2 * value
    return value / 2 if key.endswith(RATES) else value


def both(file: str | None, options: Mapping[str, object]) -> tuple[PropertyGraph, PropertyGraph]:
    """The machine, and the same one slowed; those whose routes can deadlock are another test's."""
    spec = load(file, options)
    keys = json.loads(spec.model_dump_json())
    slow = TopologySpec.model_validate(slowed(keys))
    validate(slow)
    machines = compile_topology(spec), compile_topology(slow)
    try:
        check_routes(machines[0])
    except KernBenchError:
        assume(False)
    return machines


def times_of_flows(graph: PropertyGraph, flows: list[Any], factor: float) -> list[float]:
    machine = Machine(graph, [])
    sent = [
        machine.flow(source, memory, address, nbytes, is_write=write, start_ns=start * factor)
        for source, memory, address, nbytes, write, start in flows
    ]
    machine.wait(*sent)
    return [time for one in sent for time in (one.t_submit, one.t_done)]


def times_of_bench(graph: PropertyGraph, name: str) -> list[float]:
    bench = resolve(name)
    outcome = session.run_bench(graph, bench, bench.resolve_params(BENCHES[name]), RunOptions())
    outcome.raise_for_error()
    return [
        outcome.sim_ns,
        *(time for launch in outcome.launches for time in (launch.t_start, launch.t_done)),
    ]


@examples(80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(OPTIONS, FLOWS)
def test_transfers_take_twice_as_long(options: dict[str, object], flows: list[Any]) -> None:
    machine, slow = both(None, {**SMALL, **options})
    assert times_of_flows(slow, flows, 2.0) == [2 * time for time in times_of_flows(machine, flows, 1.0)]


@pytest.mark.daily("ccl-allreduce")
@pytest.mark.parametrize("bench", BENCHES)
@examples(16, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(options=OPTIONS)
def test_benches_take_twice_as_long(bench: str, options: dict[str, object]) -> None:
    machine, slow = both(None, {**SMALL, **options})
    assert times_of_bench(slow, bench) == [2 * time for time in times_of_bench(machine, bench)]


def test_a_delay_that_no_part_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Machine._wire

    def late(self: Machine, *args: object) -> None:
        wire(self, *args)  # type: ignore[arg-type]
        for link in self.links.values():
            link.delay_ns += 0.125

    monkeypatch.setattr(Machine, "_wire", late)
    machine, slow = both("minimal", {})
    flow = [("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0", 0, 64, False, 0)]
    assert times_of_flows(slow, flow, 2.0) != [2 * time for time in times_of_flows(machine, flow, 1.0)]
