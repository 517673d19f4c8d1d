"""A lone transfer never gets faster by more bytes, and never slower by more bandwidth."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.core.node import Link
from kernbench.engine.core.transaction import Packet, Path, Transaction
from tests.compiled import compiled
from tests.conftest import patches_the_engine
from tests.exact.reference.cases import TOPOLOGIES, Bench, Flow, bench
from tests.examples import examples

FLOWS = st.builds(
    Flow,
    source=st.integers(-4, 23),
    memory=st.sampled_from(["hbm", "hbm", "sram"]),
    target=st.integers(0, 23),
    offset=st.integers(0, 700).map(lambda n: 5 * n),  # none crosses into the next slice
    nbytes=st.integers(1, 8000),
    writing=st.booleans(),
    start=st.just(0.0),
)
NAMES = ("minimal", "oblong", "four cubes", "two SIPs", "penalties")


def took_ns(machine: Bench, flow: Flow, check: bool | None = None) -> float:
    """Time of one transfer with nothing in its way."""
    (transaction,) = machine.measured([flow], check)[1]
    return transaction.t_done - transaction.t_submit


def assert_no_faster(machine: Bench, flow: Flow, more: int, check: bool | None = None) -> None:
    larger = Flow(flow.source, flow.memory, flow.target, flow.offset, flow.nbytes + more, flow.writing, 0.0)
    assert took_ns(machine, larger, check) >= took_ns(machine, flow, check)


@pytest.mark.daily(but=("oblong",))
@pytest.mark.parametrize("name", NAMES)
@examples(15)
@given(flow=FLOWS, more=st.one_of(st.integers(1, 300), st.integers(1, 9000)))
def test_more_bytes_take_no_less_time(name: str, flow: Flow, more: int) -> None:
    assert_no_faster(bench(name), flow, more)


BANDWIDTHS = {
    "system.switch.link_gbs": 128.0,
    "system.host.link_gbs": 128.0,
    "cube.router.link_gbs": 256.0,
    "cube.sram.link_gbs": 128.0,
    "cube.m_cpu.link_gbs": 256.0,
    "cube.hbm.channel_gbs": 32.0,
    "cube.ucie.connection_gbs": 128.0,
    "cube.ucie.seam_gbs": 512.0,
    "pe.links.dma_gbs": 256.0,
    "pe.links.internal_gbs": 512.0,
    "pe.pe_tcm.read_gbs": 512.0,
    "pe.pe_tcm.write_gbs": 512.0,
}
"""Keys of a topology that mean bandwidth, and what the default machine has."""


@cache
def faster(key: str, factor: float) -> Bench:
    """The machine of four cubes with one kind of bandwidth changed."""
    file, overrides = TOPOLOGIES["four cubes"]
    made = Bench("four cubes")
    made.graph = compiled(file, {**overrides, key: BANDWIDTHS[key] * factor})
    return made


def assert_no_slower(key: str, small: float, large: float, flow: Flow, check: bool | None = None) -> None:
    assert took_ns(faster(key, large), flow, check) <= took_ns(faster(key, small), flow, check)


@pytest.mark.daily(
    "pe.pe_tcm.write_gbs",
    "cube.hbm.channel_gbs",
    "system.host.link_gbs",
    "cube.ucie.connection_gbs",
)
@pytest.mark.parametrize("key", BANDWIDTHS)
@examples(6)
@given(
    flow=FLOWS
    | FLOWS.map(lambda f: Flow(abs(f.source), "tcm", f.target, f.offset, f.nbytes, f.writing, 0.0)),
    factors=st.sampled_from([(0.5, 1.0), (1.0, 1.01), (1.0, 2.0), (0.25, 3.0)]),
)
def test_more_bandwidth_takes_no_more_time(key: str, flow: Flow, factors: tuple[float, float]) -> None:
    assert_no_slower(key, *factors, flow)


PROBES = {
    "system.host.link_gbs": Flow(-1, "hbm", 0, 0, 4000, True, 0.0),
    "system.switch.link_gbs": Flow(-1, "hbm", 0, 0, 4000, True, 0.0),
    "cube.sram.link_gbs": Flow(0, "sram", 0, 0, 4000, True, 0.0),
    "cube.m_cpu.link_gbs": Flow(-2, "hbm", 0, 0, 4000, True, 0.0),
    "pe.links.internal_gbs": Flow(0, "tcm", 0, 0, 4000, True, 0.0),
    "pe.pe_tcm.read_gbs": Flow(0, "tcm", 0, 0, 4000, False, 0.0),
    "pe.pe_tcm.write_gbs": Flow(0, "tcm", 0, 0, 4000, True, 0.0),
}


@pytest.mark.daily("cube.router.link_gbs", "cube.hbm.channel_gbs", "cube.ucie.*", "pe.pe_tcm.write_gbs")
@pytest.mark.parametrize("key", BANDWIDTHS)
def test_every_bandwidth_matters_to_somebody(key: str) -> None:
    """Else the property above would hold of figures that nothing reads."""
    flow = PROBES.get(key, Flow(0, "hbm", 5, 0, 4000, True, 0.0))
    assert took_ns(faster(key, 0.25), flow) > took_ns(faster(key, 1.0), flow)


@patches_the_engine
def test_a_message_cut_short_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Packet.__init__

    def cut(self: Packet, transaction: Transaction, path: Path, nbytes: int, flit_bytes: int) -> None:
        made(self, transaction, path, nbytes % 2048, flit_bytes)

    flow = Flow(0, "hbm", 5, 0, 2000, True, 0.0)
    assert_no_faster(bench("four cubes"), flow, 100)
    monkeypatch.setattr(Packet, "__init__", cut)
    with pytest.raises(AssertionError):
        assert_no_faster(bench("four cubes"), flow, 100, check=False)


@patches_the_engine
def test_a_link_that_slows_down_with_bandwidth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Link.__init__

    def inverse(self: Link, *args: Any) -> None:
        made(self, *args)
        self.flit_ns = self.bw_gbs / 256.0

    flow = Flow(0, "hbm", 5, 0, 4000, True, 0.0)
    assert_no_slower("cube.router.link_gbs", 1.0, 2.0, flow)
    monkeypatch.setattr(Link, "__init__", inverse)
    monkeypatch.setitem(globals(), "faster", faster.__wrapped__)  # machines that are wired after it
    with pytest.raises(AssertionError):
        assert_no_slower("cube.router.link_gbs", 1.0, 2.0, flow, check=False)
