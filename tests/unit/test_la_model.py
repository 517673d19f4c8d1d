"""The ``la`` model as a whole: what is compiled, installed over the fabric, and freed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kernbench.engine.components.pe_translator import PeBaaw
from kernbench.engine.machine.machine import Machine
from kernbench.errors import AddressError, ConfigError, LaunchError, RoutingError
from kernbench.hardware.kinds import COMMON, COMPONENT_KINDS
from kernbench.hardware.routing import Router, Traffic
from kernbench.hardware.topology import compile_topology, load
from kernbench.host import DPPolicy
from kernbench.host.context import Context
from kernbench.support.pgraph import PropertyGraph
from kernbench.values import DataPlane
from tests import names
from tests.compiled import compiled

SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "cube.pes.count": 2,
         "cube.pes.corners": ["NW"], "cube.hbm.pseudo_channels": 16}  # fmt: skip
LA = {"system.address_model": "la"}
GRAPHS = {
    "va": compiled(None, SMALL),
    "la": compiled(None, SMALL | LA),
    "one_to_one": compiled(None, SMALL | LA | {"cube.hbm.mapping": "one_to_one"}),
}
ALL = DPPolicy("row_wise", "row_wise")


def kinds(graph: PropertyGraph) -> Counter[str]:
    return Counter(str(n.properties["kind"]) for n in graph.nodes())


def make(model: str) -> Context:
    data = DataPlane(verify=True)
    return Context(Machine(GRAPHS[model], [data], check=True), data, device="all")


def copy_kernel(src, dst, tl):  # type: ignore[no-untyped-def]
    tl.store(dst.local, tl.load(src.local))


# -- what is compiled -------------------------------------------------------------------------------


def test_the_baaw_stands_in_the_mmus_place() -> None:
    assert kinds(GRAPHS["la"]) - kinds(GRAPHS["va"]) == {"pe_baaw": 8}
    assert kinds(GRAPHS["va"]) - kinds(GRAPHS["la"]) == {"pe_mmu": 8}
    wires = {
        model: {
            (e.source.replace("baaw", "mmu"), e.target.replace("baaw", "mmu"), *e.properties.values())
            for e in GRAPHS[model].edges("LINK")
        }
        for model in ("va", "la")
    }
    assert wires["va"] == wires["la"]


def test_one_to_one_adds_a_router_for_each_channel() -> None:
    graph, before = GRAPHS["one_to_one"], GRAPHS["la"]
    assert kinds(graph) - kinds(before) == {"channel_router": 64}
    routers = list(graph.nodes("ChannelRouter"))
    for node in routers:
        assert tuple(node.properties) == COMMON + COMPONENT_KINDS["channel_router"].properties
        parsed = names.parse(node.id)
        assert (parsed.kind, parsed.sip, parsed.cube) == ("channel_router", *_place(node.properties))
        assert (parsed.pe, parsed.index) == (node.properties["slice"], node.properties["channel"])
    at = graph.edge("sip0.cube1.r0c0->sip0.cube1.pe0.ch_r5").properties
    assert (at["kind"], at["bw_gbs"], at["distance_mm"]) == ("router_to_channel", 256.0, 0.0)
    at = graph.edge("sip0.cube1.pe0.ch_r5->sip0.cube1.hbm_ctrl.pe0").properties
    assert (at["kind"], at["bw_gbs"], at["distance_mm"]) == ("channel_to_hbm", 256.0, 0.0)
    assert "router_to_hbm" not in {e.properties["kind"] for e in graph.edges("LINK")}


def _place(properties: dict[str, object]) -> tuple[object, object]:
    return properties["sip"], properties["cube"]


def test_efficiency_scales_the_channels_rate_once() -> None:
    graph = compile_topology(
        load("minimal", LA | {"cube.hbm.mapping": "one_to_one", "cube.hbm.efficiency": 0.5})
    )
    assert graph.node("sip0.cube0.hbm_ctrl.pe0").properties["channel_gbs"] == 16.0
    assert graph.edge("sip0.cube0.pe0.ch_r0->sip0.cube0.hbm_ctrl.pe0").properties["bw_gbs"] == 128.0


@pytest.mark.parametrize("model", ["va", "pa"])
def test_one_to_one_needs_la(model: str) -> None:
    with pytest.raises(ConfigError, match=f"cube.hbm.mapping: is one_to_one with address_model {model}, exp"):
        load("minimal", {"system.address_model": model, "cube.hbm.mapping": "one_to_one"})


def test_every_key_is_part_of_a_topologys_content() -> None:
    spec = load("minimal")
    assert '"mapping":"n_to_one"' in spec.canonical()
    changed = load("minimal", {"pe.pe_baaw.lookup_ns": 2.0})
    assert changed.canonical() != spec.canonical()
    assert compile_topology(changed).properties["id"] != compile_topology(spec).properties["id"]
    ids = {str(GRAPHS[model].properties["id"]) for model in GRAPHS}
    assert len(ids) == 3


# -- routes -----------------------------------------------------------------------------------------


def test_routes_enter_a_slice_by_the_router_that_is_asked_for() -> None:
    router = Router(GRAPHS["one_to_one"])
    src, dst = "sip0.cube0.pe1.pe_dma", "sip0.cube0.hbm_ctrl.pe0"
    for channel in range(8):
        via = names.channel_router(0, 0, 0, channel)
        assert router.route(src, dst, Traffic.PE_DMA, via).nodes[-2:] == (via, dst)
    assert router.route(src, dst, Traffic.PE_DMA).nodes[-2] == "sip0.cube0.pe0.ch_r0"
    back = router.route(dst, "sip0.cube1.sram", Traffic.MCPU_DMA)
    assert back.nodes[:2] == (dst, "sip0.cube0.pe0.ch_r0")
    with pytest.raises(RoutingError, match=r"by way of 'sip0\.cube0\.pe1\.ch_r0' for PE_DMA"):
        router.route(src, dst, Traffic.PE_DMA, names.channel_router(0, 0, 1, 0))


# -- segments over the fabric -----------------------------------------------------------------------


def tables(torch: Context) -> list[PeBaaw]:
    machine = torch.storage.driver.machine
    return [c for c in machine.components.values() if isinstance(c, PeBaaw)]


@pytest.mark.parametrize("model", ["la", "one_to_one"])
def test_segments_are_installed_and_removed_over_the_fabric(model: str) -> None:
    torch, reference = make(model), make("va")
    x, y = (t.empty(64, dtype="f32", dp=ALL) for t in (torch, reference))
    assert all(not table.table.segments for table in tables(torch)), "nothing is there at once"
    torch.wait_all()
    reference.wait_all()
    assert torch.now == reference.now > 0
    assert x.va == y.va
    for table in tables(torch):
        assert [start for start, _, _ in table.table.segments] == [x.va + 64 * i for i in range(4)]
        for (start, end, pa), shard in zip(table.table.segments, x.copy_of(table.location[0]), strict=True):
            assert (pa, end - start) == (shard.pa, shard.nbytes)
    begun = torch.now
    x.free()
    assert torch.now > begun
    assert all(not table.table.segments for table in tables(torch))


@pytest.mark.parametrize("model", ["la", "one_to_one"])
def test_values_and_reuse(model: str) -> None:
    torch = make(model)
    x = torch.from_numpy(np.arange(4096, dtype=np.float32), dp=ALL)
    out = torch.empty(4096, dtype="f32", dp=ALL)
    torch.launch("copy", copy_kernel, x, out)
    np.testing.assert_array_equal(out.numpy(), np.arange(4096))
    place = x.va
    del x
    y = torch.from_numpy(np.arange(4096, 8192, dtype=np.float32), dp=ALL)
    torch.launch("copy", copy_kernel, y, out)
    assert y.va == place
    np.testing.assert_array_equal(out.numpy(), np.arange(4096, 8192))


@pytest.mark.parametrize("model", ["la", "one_to_one"])
def test_an_access_outside_its_tensor_fails_the_launch(model: str) -> None:
    torch = make(model)
    x = torch.zeros(64, dtype="f32", dp=ALL)

    def stray(x, tl):  # type: ignore[no-untyped-def]
        tl.load(int(x) + (1 << 30), shape=(4,), dtype="f32")

    with pytest.raises((LaunchError, AddressError), match="is in no segment"):
        torch.launch("stray", stray, x).wait()


def test_a_look_up_costs_every_caller_its_time() -> None:
    def took(lookup_ns: float) -> float:
        graph = compiled("minimal", LA | {"pe.pe_baaw.lookup_ns": lookup_ns})
        machine = Machine(graph, check=True)
        transfer = machine.flow("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0", 0, 4096, is_write=False)
        machine.wait(transfer)
        return transfer.ns

    assert took(3.0) - took(0.0) == pytest.approx(3.0, abs=1e-9)
