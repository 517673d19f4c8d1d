"""A probe of any machine holds: simulation and closed form agree, whatever the figures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.errors import ConfigError
from tests.examples import examples


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Any]:
    """Overrides of the default topology: a small machine with figures of its own."""

    def one(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    pes = one(1, 2, 3, 4)
    corners = draw(st.permutations(["NW", "NE", "SW", "SE"]))[: one(1, 2, 3, 4)]
    model, mapping = one(("va", "n_to_one"), ("pa", "n_to_one"), ("la", "n_to_one"), ("la", "one_to_one"))
    io = {
        "name": "io0",
        "side": one("N", "S", "E", "W"),
        "pcie_ep": {"cut_through": one(True, False), "overhead_ns": one(0.0, 11.0)},
        "io_ucie": {"n_connections": one(1, 4), "connection_gbs": one(64.0, 300.0)},
    }
    ns_per_mm = one(0.0, 0.013)
    # A path of 0 ns is refused: routers take time where wires don't, memories where routers don't.
    router_ns = one(1.5, 7.0, *([0.0] if ns_per_mm else []))
    return {
        "system.sips": one(1, 2),
        "system.ns_per_mm": ns_per_mm,
        "system.flit_bytes": one(64, 256, 1024),
        "system.address_model": model,
        "system.switch.link_gbs": one(64.0, 512.0),
        "sip.cube_mesh": {"w": one(1, 2), "h": one(1, 2)},
        "sip.io_chiplets": [io],
        "cube.pes": {"count": pes, "corners": list(corners)},
        "cube.router.overhead_ns": router_ns,
        "cube.router.link_gbs": one(64.0, 200.0, 1000.0),
        "cube.hbm.mapping": mapping,
        "cube.hbm.pseudo_channels": pes * one(1, 2, 16),
        "cube.hbm.channel_gbs": one(16.0, 48.0),
        "cube.hbm.efficiency": one(0.9, 1.0),
        "cube.hbm.overhead_ns": one(3.0, *([0.0] if router_ns else [])),
        "cube.hbm.capacity_bytes": pes << 24,
        "cube.hbm.switch_penalty_ns": one(0.0, 4.0),
        "cube.ucie.overhead_ns": one(0.0, 8.0),
        "cube.ucie.n_connections": one(1, 3),
        "cube.ucie.connection_gbs": one(64.0, 96.0, 500.0),
        "pe.pe_dma.overhead_ns": one(0.0, 1.0),
        "pe.links.internal_gbs": one(48.0, 512.0),
        "pe.pe_mmu.tlb_overhead_ns": one(0.0, 2.5),
        "pe.pe_baaw.lookup_ns": one(0.0, 1.25),
        "routing.connection": one("nearest", "first"),
    }


def check(overrides: dict[str, Any]) -> None:
    try:
        machine = kb.load_topology("default", overrides)
    except ConfigError as error:
        assume("takes 0 ns" not in str(error))  # two PEs at a router without overhead
        raise
    report = kb.probe(machine, sizes=(1, 64, 1000, 30_000))
    assert report.ok, [finding.line for finding in report.violations]


@examples(8, suppress_health_check=[HealthCheck.too_slow])
@given(machines())
def test_a_probe_holds_on_any_machine(overrides: dict[str, Any]) -> None:
    check(overrides)


@pytest.mark.slow
@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(machines())
def test_a_probe_holds_on_many_machines(overrides: dict[str, Any]) -> None:
    check(overrides)
