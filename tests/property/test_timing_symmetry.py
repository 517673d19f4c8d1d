"""A package turned by 180 degrees: cubes, PEs and slices change places, and no time changes.

The default layout looks the same from both ends: cube 0 and the last one, the PE at NW and the one at SE,
row 0 and row 5 stand for each other. SRAM and M_CPU do not lie in the middle, so they are left out.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.machine.machine import Machine
from kernbench.hardware.routing import Traffic
from tests import names
from tests.exact.reference.cases import Bench, Case, Flow, bench
from tests.examples import examples
from tests.names import OPPOSITE

LAST_CONNECTION, LAST_CELL, LAST_PE = 3, 5, 3
PLACES = ("two cubes", "four cubes")


def turned(name: str, cubes: int) -> str:
    """The component that takes the place of ``name``."""
    at = names.parse(name)
    cube = cubes - 1 - at.cube
    if at.kind == "router":
        return names.router(at.sip, cube, LAST_CELL - at.row, LAST_CELL - at.col)
    if at.kind == "hbm_ctrl":
        return names.hbm(at.sip, cube, LAST_PE - at.pe)
    if at.kind == "ucie_port":
        return names.ucie_port(at.sip, cube, OPPOSITE[at.side])
    if at.kind == "ucie_conn":
        return names.ucie_conn(at.sip, cube, OPPOSITE[at.side], LAST_CONNECTION - at.index)
    return names.pe_part(at.sip, cube, LAST_PE - at.pe, at.kind)


def turned_case(machine: Bench, case: Case) -> Case:
    """Each transfer with source and target turned: PEs are numbered cube by cube."""
    last = len(machine.pes) - 1
    return [
        Flow(
            last - f.source % (last + 1), f.memory, last - f.target % (last + 1),
            f.offset, f.nbytes, f.writing, f.start,
        )
        for f in case
    ]  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_routes_turn_with_the_package(name: str) -> None:
    machine = bench(name)
    cubes = len(machine.cubes)
    for source in machine.pes:
        for target in machine.pes:
            for end in (names.hbm(*target), names.pe_part(*target, "pe_tcm")):
                start = names.pe_part(*source, "pe_dma")
                way = machine.router.route(start, end, Traffic.PE_DMA).nodes
                other = machine.router.route(turned(start, cubes), turned(end, cubes), Traffic.PE_DMA).nodes
                assert tuple(turned(place, cubes) for place in way) == other


def assert_symmetric(machine: Bench, case: Case, check: bool | None = None) -> None:
    _, here = machine.measured(case, check)
    _, there = machine.measured(turned_case(machine, case), check)
    cubes = len(machine.cubes)
    for transaction, other in zip(here, there, strict=True):
        assert turned(transaction.dst, cubes) == other.dst
        assert other.t_done == pytest.approx(transaction.t_done, abs=1e-9, rel=0), transaction.id


CASES = st.lists(
    st.builds(
        Flow,
        source=st.integers(0, 15),
        memory=st.sampled_from(["hbm", "hbm", "tcm"]),
        target=st.integers(0, 15),
        offset=st.integers(0, 400).map(lambda n: 5 * n),
        nbytes=st.integers(1, 5000),
        writing=st.booleans(),
        start=st.integers(0, 20).map(lambda n: n / 2),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("name", PLACES)
@examples(30)
@given(case=CASES)
def test_turned_traffic_takes_the_same_time(name: str, case: Case) -> None:
    assert_symmetric(bench(name), case)


@examples(10)
@given(nbytes=st.integers(1, 9000), writing=st.booleans(), distance=st.integers(0, 3))
def test_all_cubes_fare_alike_with_local_traffic(nbytes: int, writing: bool, distance: int) -> None:
    """Every PE of every cube to the slice ``distance`` further on, all at once."""
    machine = bench("four cubes")
    pes = len(machine.pes) // len(machine.cubes)
    case = [
        Flow(n, "hbm", n - n % pes + (n + distance) % pes, 0, nbytes, writing, 0.0)
        for n in range(len(machine.pes))
    ]
    done = [t.t_done for t in machine.measured(case, None)[1]]
    for n, time in enumerate(done):
        assert time == pytest.approx(done[n % pes], abs=1e-9, rel=0)


def test_a_lopsided_machine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Machine._wire

    def lopsided(self: Machine, *args: object) -> None:
        wire(self, *args)  # type: ignore[arg-type]
        self.links["sip0.cube0.r0c0", "sip0.cube0.r0c1"].delay_ns += 0.001

    case = [Flow(0, "hbm", 1, 0, 1000, True, 0.0)]
    assert_symmetric(bench("four cubes"), case)
    monkeypatch.setattr(Machine, "_wire", lopsided)
    with pytest.raises(AssertionError):
        assert_symmetric(Bench("four cubes"), case)
