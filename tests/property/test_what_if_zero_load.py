"""Nothing else under way: the estimate for a faster part is the time that a run on that machine takes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.what_if.retiming import what_if
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph
from tests.examples import examples

BASE: dict[str, Any] = {
    "schema_version": 1,
    "name": "small",
    "system": {"sips": 1, "ns_per_mm": 0.013},
    "sip": {"cube_mesh": {"w": 2, "h": 1}},
    "cube": {"ucie_conn": {"overhead_ns": 0.5}, "hbm": {"overhead_ns": 1.5}},
    "pe": {
        "pe_dma": {"overhead_ns": 0.75},
        "pe_tcm": {"overhead_ns": 0.25},
        "pe_mmu": {"tlb_overhead_ns": 3.0},
        "pe_baaw": {"lookup_ns": 3.0},
    },
}
MODELS: dict[str, dict[str, Any]] = {
    "va": BASE,
    "la": {**BASE, "system": {**BASE["system"], "address_model": "la"}},
    "cut-through": {
        **BASE,
        "sip": {**BASE["sip"], "io_chiplets": [{"name": "io0", "pcie_ep": {"cut_through": True}}]},
    },
}
SOURCES = ("sip0.cube0.pe0", "sip0.cube1.pe5", "host", "sip0.cube0.m_cpu")
TARGETS = ("sip0.cube0.hbm_ctrl.pe0", "sip0.cube1.hbm_ctrl.pe6", "sip0.cube1.sram", "sip0.cube0.pe3.pe_tcm")
ENDS = [(src, dst) for src in SOURCES for dst in TARGETS if ".pe" in src or "tcm" not in dst]
PLACES = (
    *("kind:router", "kind:router_mesh", "kind:pe_to_router", "kind:hbm_ctrl", "kind:router_to_hbm"),
    *("kind:pcie", "kind:pcie_ep", "kind:switch", "kind:ucie_port", "kind:ucie_mesh", "kind:ucie_conn"),
    *("kind:sram", "kind:pe_tcm", "kind:pe_dma", "kind:m_cpu", "sip0.cube0", "sip0.cube0.pe0", "tray"),
)


@cache
def machine(model: str, overrides: str) -> PropertyGraph:
    return compile_topology(parse(json.dumps({**MODELS[model], "overrides": json.loads(overrides)})))


def carried(model: str, flow: dict[str, Any], changes: list[tuple[str, float]]) -> kb.TrafficRun:
    overrides = [{"where": where, "speed": factor} for where, factor in changes]
    src, dst = flow["ends"]
    flow = {"src": src, "dst": dst, **{key: value for key, value in flow.items() if key != "ends"}}
    return kb.traffic([flow], machine(model, json.dumps(overrides)), store="memory:")


TCM = ("kind:pe_tcm", "kind:pe_internal", "kind:pe_tcm + kind:pe_internal")
PORTS = {"even": {}, "slow link": {"internal_gbs": 300.0}, "slow port": {"internal_gbs": 900.0}}


@cache
def computed(ports: str, changes: tuple[tuple[str, float], ...]) -> tuple[PropertyGraph, kb.Run]:
    """A GEMM of one PE, whose operands go through the TCM."""
    overrides = [{"where": where, "speed": factor} for where, factor in changes]
    pe = {**BASE["pe"], "links": PORTS[ports], "pe_tcm": {"overhead_ns": 0.25, "write_gbs": 400.0}}
    graph = compile_topology(parse(json.dumps({**BASE, "pe": pe, "overrides": overrides})))
    return graph, kb.run("gemm-single-pe", graph, store="memory:")


FLOWS = st.fixed_dictionaries(
    {
        "ends": st.sampled_from(ENDS),
        "op": st.sampled_from(["read", "write"]),
        "bytes": st.one_of(st.integers(1, 3000), st.sampled_from([256, 2048, 2049, 16384, 65536])),
        "offset": st.sampled_from([0, 1, 256, 1300]),
        "start_ns": st.sampled_from([0.0, 12.5]),
    }
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from([0.3, 0.5, 2.0, 3.0, 1e12])), min_size=1, max_size=3
)


@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(model=st.sampled_from(list(MODELS)), flow=FLOWS, changes=CHANGES)
@example(  # so free that it ends when it starts, as far as floats tell
    model="va",
    flow={"ends": ENDS[0], "op": "write", "bytes": 1, "offset": 0, "start_ns": 12.5},
    changes=[("sip0.cube0", 1e12), ("sip0.cube0", 1e12)],
)
def test_an_estimate_is_exact(model: str, flow: dict[str, Any], changes: list[tuple[str, float]]) -> None:
    before = carried(model, flow, [])
    estimate = what_if(before.critical_path("run"), machine(model, "[]"), changes)
    after = carried(model, flow, changes)
    assert estimate.before_ns == pytest.approx(before.sim_ns, abs=1e-9)
    assert estimate.ns == pytest.approx(after.sim_ns, abs=1e-9, rel=0)
    measured = after.critical_path("run").by_cause()
    for cause in measured | estimate.by_cause:
        assert estimate.by_cause.get(cause, 0.0) == pytest.approx(measured.get(cause, 0.0), abs=1e-9, rel=0)


@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(
    ports=st.sampled_from(list(PORTS)),
    changes=st.lists(
        st.tuples(st.sampled_from(TCM), st.sampled_from([1.25, 1.5, 2.0, 1e12])), min_size=1, max_size=2
    ),
)
@example(ports="even", changes=[("kind:pe_tcm", 1e12)])
def test_an_estimate_knows_what_limits_the_accesses_to_a_tcm(
    ports: str, changes: list[tuple[str, float]]
) -> None:
    """Port and link take turns at that: a faster one alone saves nothing where the other is as slow."""
    graph, before = computed(ports, ())
    after = computed(ports, tuple(changes))[1].critical_path(0)
    estimate = what_if(before.critical_path(0), graph, changes)
    assert estimate.ns == pytest.approx(after.ns, abs=1e-6, rel=0)
    assert estimate.by_cause == pytest.approx(after.by_cause(), abs=1e-6)
