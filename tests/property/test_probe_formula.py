"""The probe's closed form against the recursion over flits of ``tests/exact``: two ways to one number.

Neither uses the engine. The closed form looks at a few flits only, the recursion at every one.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.hardware.routing import Router, Traffic
from kernbench.support.pgraph import PropertyGraph
from tests.compiled import compiled
from tests.exact.max_plus import MaxPlus
from tests.examples import examples

OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")
ODD = {
    "system.flit_bytes": 64,
    "system.switch.link_gbs": 333.0,
    "cube.router.link_gbs": 100.0,
    "cube.hbm.pseudo_channels": 16,
    "cube.hbm.overhead_ns": 3.3,
    "cube.ucie.connection_gbs": 300.0,
    "cube.ucie_conn.overhead_ns": 7.7,
}
ONE_CHANNEL = {"cube.hbm.pseudo_channels": 1, "cube.hbm.overhead_ns": 5.0, "pe.pe_dma.overhead_ns": 1.5}
MACHINES = {
    "default": ("default", {}),
    "oblong": (OBLONG, {}),
    "odd": ("default", ODD),
    "one channel": ("minimal", ONE_CHANNEL),
    "slow TCM": ("default", {"pe.links.internal_gbs": 64.0}),
}
SIZES = st.sampled_from((1, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1 << 20)) | st.integers(1, 70_000)


class Bed:
    def __init__(self, name: str) -> None:
        file, overrides = MACHINES[name]
        self.graph: PropertyGraph = compiled(file, overrides)
        self.router = Router(self.graph)
        self.formula = ZeroLoadModel(self.graph)
        self.recursion = MaxPlus(self.graph)
        kinds = [(str(n.properties["kind"]), n.id) for n in self.graph.nodes()]
        self.slices = [name for kind, name in kinds if kind == "hbm_ctrl"]
        self.askers = ["host.cpu"] * 8 + [name for kind, name in kinds if kind == "pe_dma"]


bed = cache(Bed)


@pytest.mark.daily("oblong", "one channel")
@pytest.mark.parametrize("name", MACHINES)
@examples(60)
@given(data=st.data(), nbytes=SIZES)
def test_closed_form_is_the_recursion(name: str, data: st.DataObject, nbytes: int) -> None:
    machine = bed(name)
    src, dst = data.draw(st.sampled_from(machine.askers)), data.draw(st.sampled_from(machine.slices))
    traffic = Traffic.HOST_MEMORY if src == "host.cpu" else Traffic.PE_DMA
    route = machine.router.route(src, dst, traffic)
    write, read = machine.formula.write(route, nbytes), machine.formula.read(route, nbytes)
    # The recursion adds thousands of numbers up, which rounds more than the closed form does.
    assert write.ns == pytest.approx(machine.recursion.write_ns(route.nodes, nbytes), abs=1e-9, rel=1e-12)
    assert read.ns == pytest.approx(machine.recursion.read_ns(route.nodes, nbytes), abs=1e-9, rel=1e-12)
    for prediction in (write, read):
        shares = prediction.breakdown().values()
        assert sum(shares) == pytest.approx(prediction.ns, abs=1e-9, rel=1e-12)
        assert min(shares) >= -1e-9
        assert all(hop.t_in <= hop.t_out + 1e-9 for hop in prediction.hops)
        assert prediction.hops[-1].t_out == pytest.approx(prediction.ns)


def test_16_kb_to_the_own_slice_by_hand() -> None:
    """64 flits of 1 ns, the first of them 2 ns in a router, one more at the second link, a burst of 8 ns.

    The last flit waits at the second link for those before it; the acknowledgement spends 2 ns in the router.
    """
    machine = bed("default")
    route = machine.router.route("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe0", Traffic.PE_DMA)
    breakdown = machine.formula.write(route, 16 * 1024).breakdown()
    millimetres = 2 * sum(float(link.properties["distance_mm"]) for link in route.links)
    assert breakdown == pytest.approx(
        {"host": 0, "component": 2, "link": 67 + 0.01 * millimetres, "memory": 0, "hbm": 8}
    )
