"""The effect of a loss where each channel of a slice has a router, and so a route, of its own."""

from __future__ import annotations

import pytest

from kernbench.hardware.routing import Router, Traffic
from kernbench.hardware.routing.fault_impact import FaultImpact, entrances, single_points
from tests import names
from tests.compiled import compiled

LA = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}
SMALL = {"system.sips": 1, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1, "cube.pes.count": 2,
         "cube.pes.corners": ["NW"], "cube.hbm.pseudo_channels": 8}  # fmt: skip
GRAPH = compiled(None, SMALL | LA)
ROUTER = Router(GRAPH)
PE, SLICE = "sip0.cube0.pe0.pe_dma", names.hbm(0, 0, 1)
CHANNELS = [names.channel_router(0, 0, 1, channel) for channel in range(4)]


def test_requests_enter_a_slice_by_every_channel() -> None:
    assert entrances(GRAPH, SLICE) == tuple(CHANNELS)
    assert entrances(GRAPH, "sip0.cube0.sram") == entrances(GRAPH, PE) == ("",)
    plain = compiled(None, SMALL)
    assert entrances(plain, SLICE) == ("",)


@pytest.mark.parametrize("lost", CHANNELS)
def test_a_lost_channel_router_cuts_its_channel_off(lost: str) -> None:
    found = FaultImpact(GRAPH, ROUTER, lost).reroute(PE, SLICE, Traffic.PE_DMA)
    assert found is not None
    assert (found.before.nodes[-2], found.after) == (lost, None)
    assert FaultImpact(GRAPH, ROUTER, lost).reroute(PE, names.hbm(0, 0, 0), Traffic.PE_DMA) is None


def test_a_lost_mesh_link_makes_every_channels_way_longer() -> None:
    before = ROUTER.route(PE, SLICE, Traffic.PE_DMA, CHANNELS[0])
    mesh = next(link.id for link in before.links if link.properties["kind"] == "router_mesh")
    loss = FaultImpact(GRAPH, ROUTER, mesh)
    found = loss.reroute(PE, SLICE, Traffic.PE_DMA)
    assert found is not None
    assert found.after is not None
    assert found.after.weight > found.before.weight == before.weight
    assert loss.gone.isdisjoint(link.id for link in found.after.links)


def test_every_channels_router_is_a_single_point() -> None:
    points = single_points(GRAPH, PE, SLICE, Traffic.PE_DMA)
    here, there = "sip0.cube0.r0c0", "sip0.cube0.r0c1"
    assert points[:3] == [names.link(PE, here), here, there]
    assert sorted(points[3:]) == sorted(
        [
            *CHANNELS,
            *(names.link(there, router) for router in CHANNELS),
            *(names.link(router, SLICE) for router in CHANNELS),
        ]
    )
    for point in points:
        loss = FaultImpact(GRAPH, ROUTER, point).reroute(PE, SLICE, Traffic.PE_DMA)
        assert loss is not None
        assert loss.after is None


def test_between_two_slices_no_channel_router_is_a_single_point() -> None:
    points = single_points(GRAPH, PE, "sip0.cube0", Traffic.PE_DMA)
    assert not set(points) & {*CHANNELS, SLICE}


def test_a_slice_with_parts_is_still_one_component() -> None:
    points = single_points(GRAPH, "sip0.cube0.pe0.pe_cpu", SLICE, Traffic.COMMAND)
    assert points[-1] == names.link(CHANNELS[-1], SLICE)
