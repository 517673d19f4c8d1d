"""Invariants, and right results, on machines with every option of the model in generated combinations.

Invariant mode checks bytes, order, capacity, work, times, waits and credits as the machine runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from kernbench.api.topologies import check_routes
from kernbench.engine.machine.machine import Machine
from kernbench.engine.run_options import RunOptions
from kernbench.errors import KernBenchError
from kernbench.hardware.topology.dram import ADDRESS_MAPS
from kernbench.host import BenchOutcome, session
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.benches import resolve
from tests.compiled import compiled
from tests.examples import examples

SMALL: dict[str, object] = {
    "system.sips": 2,
    "sip.cube_mesh": {"w": 2, "h": 1},
    "cube.pes": {"count": 2, "corners": ["NW", "SE"]},
    "cube.hbm.pseudo_channels": 8,
}
ARBITERS = ("fifo", "round_robin", "oldest_first", "priority")
BUFFERED = ("router_mesh", "pe_to_router", "router_to_hbm", "router_to_sram", "ucie_mesh", "ucie_to_router")
TIMES = st.sampled_from([0.0, 0.75, 5.0])


def links() -> st.SearchStrategy[dict[str, dict[str, object]]]:
    """Arbiters, and buffers with or without virtual channels, of some kinds of links."""
    arbiter = st.fixed_dictionaries({}, optional={"arbiter": st.sampled_from(ARBITERS)})
    more = {"vcs": st.integers(1, 4), "credit_ns": TIMES, "allocation_ns": TIMES}
    buffers = st.fixed_dictionaries({"buffer_flits": st.integers(1, 8)}, optional=more)
    both = st.builds(lambda a, b: a | b, arbiter, buffers)
    return st.dictionaries(st.sampled_from(BUFFERED), st.one_of(arbiter, both), max_size=len(BUFFERED))


def memory() -> st.SearchStrategy[dict[str, object]]:
    """Pseudo-channels as servers, mapped either way, or as DRAM."""
    channels = st.fixed_dictionaries(
        {"cube.hbm.switch_penalty_ns": TIMES},
        optional={"cube.hbm.efficiency": st.sampled_from([0.5, 0.9])},
    )
    one_to_one = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}
    table = st.fixed_dictionaries(
        {
            "timing": st.sampled_from(["hbm3_6400", "hbm2_2000"]),
            "address_map": st.sampled_from(sorted(ADDRESS_MAPS)),
            "page": st.sampled_from(["open", "closed"]),
            "refresh": st.sampled_from(["all_bank", "per_bank", "none"]),
            "read_window": st.integers(1, 64),
            "write_window": st.integers(1, 64),
        }
    )
    dram = table.map(lambda keys: {"cube.hbm.model": "dram", "cube.hbm.dram": keys})
    return st.one_of(channels, channels.map(lambda keys: keys | one_to_one), dram)


def compute() -> st.SearchStrategy[dict[str, object]]:
    """How arrays are used, what a launch and a protocol cost, how many slots queues have."""
    way = st.sampled_from(["tile", "os", "ws", "is"])
    return st.fixed_dictionaries(
        {
            "pe.pe_gemm.dataflow": way,
            "pe.pe_gemm.rows": st.sampled_from([8, 16]),
            "pe.pe_gemm.cols": st.sampled_from([8, 16]),
            "pe.pe_math.latency_cycles": st.integers(0, 20),
            "pe.pe_scheduler.compute_slots": st.integers(1, 2),
            "pe.pe_scheduler.tile_transfers": st.sampled_from(["packed", "rows"]),
            "system.host.launch_ns": TIMES,
            "pe.pe_ipcq.protocol_ns": TIMES,
            "pe.pe_ipcq.slots": st.integers(1, 8),
            "pe.pe_dma.outstanding": st.integers(1, 8),
        },
        optional={
            "pe.operands": st.just("registers"),
            "pe.clock": st.just({"ghz": 1.0, "loaded_ghz": 0.75}),
            "pe.pe_cpu.run_ahead": st.just(True),
            "pe.pe_math.cycles": st.just({"exp": [46, 18], "add": [2.5, 128]}),
            "pe.pe_math.reduce": st.just({"across": [301, 38], "within": [50, 20]}),
            "pe.pe_dma.issue": st.fixed_dictionaries(
                {"load_cycles": st.just(92.0)}, optional={"slot": st.just("pe_math")}
            ),
        },
    )


def transit() -> st.SearchStrategy[dict[str, object]]:
    """Workers of routers and ports, their times, and those of memories."""
    worker = st.sampled_from(["pipelined", "serial"])
    parts = ("cube.router", "cube.ucie")
    return st.fixed_dictionaries(
        {
            "system.worker": worker,
            "cube.hbm.access_ns": TIMES,
            "cube.sram.access_ns": TIMES,
            "pe.pe_tcm.access_ns": TIMES,
            **{f"{part}.issue_ns": TIMES for part in parts},
        },
        optional={f"{part}.worker": worker for part in parts},
    )


OPTIONS = st.builds(
    lambda one, *others: one | dict(pair for other in others for pair in other.items()),
    transit(), memory(), compute(), links().map(lambda said: {"links": said}),
)  # fmt: skip
PLACES = [f"sip{s}.cube{c}.{part}" for s in range(2) for c in range(2) for part in (
    "hbm_ctrl.pe0", "hbm_ctrl.pe1", "sram")]  # fmt: skip
PES = [f"sip{s}.cube{c}.pe{p}" for s in range(2) for c in range(2) for p in range(2)]
FLOWS = st.lists(
    st.tuples(
        st.sampled_from(PES), st.sampled_from(PLACES), st.integers(0, 1 << 16), st.integers(1, 4000),
        st.booleans(), st.integers(0, 300),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


def machine_of(options: dict[str, object]) -> PropertyGraph:
    """The compiled machine; those whose routes can deadlock are another test's."""
    graph = compiled(None, {**SMALL, **options})
    try:
        check_routes(graph)
    except KernBenchError:
        assume(False)
    return graph


@pytest.mark.slow
@examples(200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(OPTIONS, FLOWS)
def test_transfers_keep_every_invariant(options: dict[str, object], flows: list[Any]) -> None:
    machine = Machine(machine_of(options), [], check=True)
    sent = [
        machine.flow(source, memory, address, nbytes, is_write=write, start_ns=float(start))
        for source, memory, address, nbytes, write, start in flows
    ]
    machine.wait(*sent)
    assert all(one.t_done >= one.t_submit for one in sent)


def run_bench(graph: PropertyGraph, bench: Any, params: Mapping[str, object], **options: Any) -> BenchOutcome:
    return session.run_bench(graph, bench, params, RunOptions(**options))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bench", "params"),
    [
        ("gemm-single-pe", {"m": 96, "k": 64, "n": 64}),
        ("matmul-composite", {}),
        ("pe2pe", {"nbytes": 6144}),
        ("ccl-allreduce", {"elements": 3000}),
    ],
)
@examples(24, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(OPTIONS)
def test_benches_keep_every_invariant_and_are_right(
    bench: str, params: dict[str, object], options: dict[str, object]
) -> None:
    one = resolve(bench)
    outcome = run_bench(machine_of(options), one, one.resolve_params(params), verify=True, check=True)
    outcome.raise_for_error()
    assert outcome.verified == "yes"


@pytest.mark.checked
def test_a_full_buffer_names_nobody_who_has_left_the_link() -> None:
    """Its own flits are before a link that is free: nobody holds them up, least of all who used it last."""
    options: dict[str, object] = {
        "system.address_model": "la",
        "cube.hbm.mapping": "one_to_one",
        "cube.hbm.access_ns": 0.0,
        "cube.router.issue_ns": 0.0,
        "cube.ucie.issue_ns": 0.0,
        "pe.pe_ipcq.slots": 1,
        "pe.pe_dma.outstanding": 1,
        "links": {"router_mesh": {"buffer_flits": 4}},
    }
    one = resolve("pe2pe")
    run_bench(machine_of(options), one, one.resolve_params({"nbytes": 6144}), check=True).raise_for_error()
