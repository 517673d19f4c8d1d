"""A machine that is reset is a fresh one: after any run, however that ended, another one is the same.

What a run says is all that an archive would hold of it: each table of the trace and of the log, the use of
each resource, the times at which the host had its answers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.engine.core.trace import TraceRecorder, arrow
from kernbench.engine.machine.machine import Machine
from kernbench.errors import (
    DeadlockError,
    LaunchError,
    LimitError,
)
from kernbench.host import Context, DPPolicy
from kernbench.support.compiled import state
from kernbench.support.pgraph import PropertyGraph
from kernbench.values import DataPlane
from tests.compiled import compiled
from tests.examples import examples
from tests.golden.archives import BENCHES, SMALL, kept_digests
from tests.property.test_topology_keys import BASE
from tests.property.test_topology_keys import kernel as a_bit_of_everything
from tests.same_state import differences

DAILY = ("flash-attention", "ipcq-allreduce", "qkv-gemm")
"""Benches that are run every day, of all."""
MODELS = [
    *((model, "n_to_one", hbm) for model in ("va", "pa", "la") for hbm in ("channels", "dram", "cached")),
    ("la", "one_to_one", "channels"),
]
"""Address model, mapping of HBM, and what its channels are or are behind."""
CACHE = {"memory.cache.capacity": 8192, "memory.cache.gbs": 64.0, "memory.cache.coalesce": 3}
LINKS: list[dict[str, object]] = [
    {},
    {kind: {"arbiter": "round_robin"} for kind in ("router_mesh", "router_to_hbm", "ucie_to_router")},
    {kind: {"arbiter": "oldest_first"} for kind in ("router_mesh", "router_to_hbm", "ucie_to_router")},
    {"router_to_hbm": {"arbiter": "weighted_round_robin", "attributes": {"own_weight": 2}}},
    {"router_to_hbm": {"buffer_flits": 3, "vcs": 2}},
]
MACHINES = st.builds(
    lambda model, worker, links, slots, backpressure, ring, flit: {
        **BASE,
        "system.address_model": model[0],
        "cube.hbm.mapping": model[1],
        **(CACHE if model[2] == "cached" else {"cube.hbm.model": model[2]}),
        "system.worker": worker,
        "links": links,
        "pe.pe_scheduler.compute_slots": slots,
        "pe.pe_ipcq.backpressure": backpressure,
        "pe.pe_ipcq.buffer_kind": ring,
        "system.flit_bytes": flit,
    },
    st.sampled_from(MODELS),
    st.sampled_from(["serial", "pipelined"]),
    st.sampled_from(LINKS),
    st.sampled_from([1, 2]),
    st.sampled_from(["sleep", "poll"]),
    st.sampled_from(["tcm", "sram", "hbm"]),
    st.sampled_from([64, 256]),
)
ENDS = ("well", "a kernel raises", "deadlock", "limit", "interrupted", "left under way")
RUNS = st.tuples(st.sampled_from(ENDS), st.integers(1, 4), st.booleans())
"""How a run ends, how much it moves, and whether it is checked."""


def run_on(machine: Machine, instruments: tuple[Any, ...], how: str, size: int) -> dict[str, Any]:
    """What a run says that ends ``how``."""
    recorder, data = instruments
    torch = Context(machine, data, device="all")
    pes = int(machine.graph.properties["cubes_per_sip"]) * int(machine.graph.properties["pes_per_cube"])
    every, times = DPPolicy("row_wise", "row_wise"), []
    said = ""

    def raising(*args: Any, tl: Any) -> None:
        if tl.program_id(0) == 1:
            tl.load(args[0].local)
            raise ValueError("as it should")
        a_bit_of_everything(*args, tl=tl)

    def stuck(*args: Any, tl: Any) -> None:
        tl.store(args[4].local, tl.load(args[0].local))
        tl.recv("pe_W", shape=(8,), dtype="f16")

    def program() -> None:
        x, out = (torch.from_numpy(np.ones((32 * pes, 64), np.float16), dp=every) for _ in range(2))
        y = torch.from_numpy(np.ones((64, 64), np.float16), dp=DPPolicy("replicate", "replicate"))
        local = torch.zeros((32 * pes, 8), dtype="f16", dp=every, memory="tcm")
        shared = torch.zeros((32 * pes, 8), dtype="f16", dp=every, memory="sram")
        torch.wait_all()
        times.append(torch.now)
        torch.install_ipcq(["intracube_pe_ring", "inter_sip"])
        kernel = {"a kernel raises": raising, "deadlock": stuck}.get(how, a_bit_of_everything)
        if how == "limit":
            machine.clock.max_ns = torch.now + 150.0 * size
        if how == "interrupted":
            machine.clock.call_at(torch.now + 170.0 * size, machine.clock.interrupt)
        flow = [
            machine.flow(
                f"sip0.cube0.pe{pe}", "sip1.cube1.hbm_ctrl.pe1", 64 * pe, 3000 * size, is_write=write
            )
            for pe in range(2)
            for write in (True, False)
        ]
        launch = torch.launch("it", kernel, x, y, local, shared, out)
        if how == "left under way":
            machine.wait(flow[0])
            return
        launch.wait()
        machine.wait(*flow)
        times.extend(one.t_done for one in flow)
        x.numpy()
        machine.drain()

    try:
        program()
    except EXPECTED[how] as error:
        said = f"{type(error).__name__}: {error}"
    torch.abandon()
    machine.close()
    tables = recorder.tables(machine.resources, machine.clock.now, partial=how != "well") | data.log.tables()
    columns = {
        f"{table}.{name}": arrow(values) for table, found in tables.items() for name, values in found.items()
    }
    of_resources = [(r.resource, r.bytes, r.busy_ns, r.wait_ns, r.max_queue) for r in machine.resources]
    return columns | {"times": times, "events": machine.clock.events, "said": said, "use": of_resources}


EXPECTED: dict[str, Any] = {
    "well": (), "left under way": (), "a kernel raises": LaunchError, "deadlock": DeadlockError,
    "limit": LimitError, "interrupted": KeyboardInterrupt,
}  # fmt: skip


def instruments() -> tuple[DataPlane, TraceRecorder]:
    return DataPlane(verify=False), TraceRecorder()


def fresh(graph: PropertyGraph, how: str, size: int, check: bool) -> dict[str, Any]:
    data, recorder = instruments()
    return run_on(Machine(graph, [data, recorder], check=check), (recorder, data), how, size)


@examples(120, suppress_health_check=[HealthCheck.too_slow])
@given(overrides=MACHINES, first=RUNS, second=RUNS)
def test_a_run_on_a_machine_that_was_used(overrides: Any, first: Any, second: Any) -> None:
    graph = compiled(None, overrides)
    machine = Machine(graph, check=first[2])
    for how, size, check in (first, second, second):
        machine.reset()
        data, recorder = instruments()
        machine.start_run([data, recorder], check=check)
        again = run_on(machine, (recorder, data), how, size)
    expected = fresh(graph, *second)
    assert again.keys() == expected.keys()
    for name in expected:
        assert again[name] == expected[name], name


@pytest.mark.skipif(state == "used", reason="attributes of compiled classes cannot be listed; see below")
@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(overrides=MACHINES, run=RUNS)
def test_every_attribute_is_as_it_was(overrides: Any, run: Any) -> None:
    graph = compiled(None, overrides)
    how, size, check = run
    data, recorder = instruments()
    used = Machine(graph, [data, recorder], check=check)
    run_on(used, (recorder, data), how, size)
    untouched = Machine(graph, check=False)
    before = list(differences(used, untouched))
    assert len(before) > 100  # it looks at what a run changes
    used.reset()
    used.start_run(check=False)
    assert list(differences(used, untouched)) == []


@pytest.mark.slow
@pytest.mark.skipif(state != "used", reason="it runs by itself")
def test_attributes_in_plain_python() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k",
         "every_attribute", __file__],
        cwd=Path(__file__).parents[2], env=os.environ | {"KERNBENCH_PURE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.daily("ipcq-allreduce")
@pytest.mark.parametrize(
    "bench", [pytest.param(one, marks=[] if one in DAILY else [pytest.mark.slow]) for one in BENCHES]
)
def test_a_bench_again(bench: str, tmp_path: Path) -> None:
    kb.run(bench, "default", topo=SMALL, store=tmp_path / "first", check=False)
    kb.run(bench, "default", topo=SMALL, store=tmp_path / "again", check=False)
    alone = kb.load_topology("default", SMALL)
    kb.run(bench, alone, store=tmp_path / "alone", check=False)
    first, again, fresh_ = (kept_digests(tmp_path / name / "runs") for name in ("first", "again", "alone"))
    assert first == again
    del first["run"], fresh_["run"]  # a graph of one's own has no topology's file
    assert first == fresh_
