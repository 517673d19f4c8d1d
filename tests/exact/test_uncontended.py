"""Uncontended PE-DMA transfers equal the max-plus recursion to 1e-9 ns: every PE, every HBM slice.

Each transfer runs through the whole PE: command, scheduler, DMA engine, fabric, slice and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Operand
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.compiled import compiled
from tests.exact.max_plus import MaxPlus

SIZES = (1, 2, 255, 256, 257, 511, 512, 1000, 2048, 2049, 4096, 10_000, 16_384, 65_536)
MEGABYTE = 1 << 20
OBLONG = str(Path(__file__).with_name("oblong.yaml"))


class Bed:
    """A machine and its closed form; runs one transfer at a time, long after the last."""

    def __init__(self, topology: str, overrides: dict[str, object] | None = None) -> None:
        self.graph: PropertyGraph = compiled(topology, overrides or {})
        self.machine = Machine(self.graph, traced=False, check=False)
        self.reference = MaxPlus(self.graph)
        properties = self.graph.properties
        self.pes = [
            (s, c, p)
            for s in range(int(properties["sips"]))
            for c in range(int(properties["cubes_per_sip"]))
            for p in range(int(properties["pes_per_cube"]))
        ]
        self.slices = [n.id for n in self.graph.nodes() if n.properties["kind"] == "hbm_ctrl"]

    def measure(
        self, pe: tuple[int, int, int], slice_name: str, nbytes: int, kind: str, offset: int = 0
    ) -> float:
        machine = self.machine
        p = self.graph.node(slice_name).properties
        address = machine.addresses.hbm(int(p["sip"]), int(p["cube"]), int(p["slice"]), offset)
        operand = Operand((nbytes,), "i8", address=address)
        value = Operand((nbytes,), "i8", handle=0)
        writing = kind == "dma_write"
        op = Op(
            machine.next_op_id(),
            "memory",
            kind,
            (value if writing else operand,),
            operand if writing else value,
        )
        goal = Goal()
        dma = machine.component(names.pe_part(*pe, "pe_dma"))
        assert isinstance(dma, PeDma)
        begun = machine.clock.now
        machine.clock.call_at(begun, dma.submit, Job(op, kind, ((address, nbytes),), goal.reach))
        assert machine.clock.advance(goal)
        assert not machine.clock.entries, "something is still going on after an answered transfer"
        return float(op.t_end - op.t_start)

    def expect(
        self, pe: tuple[int, int, int], slice_name: str, nbytes: int, kind: str, offset: int = 0
    ) -> float:
        route = self.machine.router.route(names.pe_part(*pe, "pe_dma"), slice_name, Traffic.PE_DMA)
        p = self.graph.node(slice_name).properties
        address = self.machine.addresses.resolve(
            self.machine.addresses.hbm(int(p["sip"]), int(p["cube"]), int(p["slice"]), offset)
        ).offset
        closed: Callable[..., float] = (
            self.reference.write_ns if kind == "dma_write" else self.reference.read_ns
        )
        return closed(route.nodes, nbytes, address)

    def check(
        self, pe: tuple[int, int, int], slice_name: str, nbytes: int, kind: str, offset: int = 0
    ) -> None:
        # A late clock has few digits left behind the point, and rounding adds up over flits: start afresh.
        if self.machine.clock.now * (nbytes / 256 + 1) > 2e6 or self.machine.clock.now > 1e5:
            self.machine.reset()
            self.machine.start_run(traced=False, check=False)
        took = self.measure(pe, slice_name, nbytes, kind, offset)
        expected = self.expect(pe, slice_name, nbytes, kind, offset)
        assert took == pytest.approx(expected, abs=1e-9, rel=0), (pe, slice_name, nbytes, kind)


class Goal:
    done = False

    def reach(self) -> None:
        self.done = True


@pytest.fixture(scope="module")
def default_bed() -> Bed:
    return Bed("default")


def test_16_kb_to_the_own_slice_takes_77_ns_and_the_wires(default_bed: Bed) -> None:
    bed = default_bed
    took = bed.measure((0, 0, 0), "sip0.cube0.hbm_ctrl.pe0", 16 * 1024, "dma_write")
    route = bed.machine.router.route("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe0", Traffic.PE_DMA)
    millimetres = 2 * sum(float(link.properties["distance_mm"]) for link in route.links)
    assert took == pytest.approx(77.0 + millimetres * 0.01, abs=1e-9, rel=0)


def spread(bed: Bed, step: int) -> Iterator[tuple[tuple[int, int, int], str, int, str]]:
    """Every ``step``-th pair, each with its own size and direction, so that all sizes meet all distances."""
    count = 0
    for pe in bed.pes:
        for slice_name in bed.slices:
            count += 1
            if count % step == 0:
                turn = count // step
                yield (
                    pe,
                    slice_name,
                    SIZES[turn % len(SIZES)],
                    ("dma_read", "dma_write")[turn // len(SIZES) % 2],
                )


@pytest.mark.daily("minimal-*")
@pytest.mark.parametrize(
    ("topology", "step"),
    [
        ("minimal", 1),
        (OBLONG, 11),
        pytest.param("six-sip-torus", 4999, marks=pytest.mark.slow),
        ("default", 499),
    ],
)
def test_pairs_of_pe_and_slice(topology: str, step: int) -> None:
    bed = Bed(topology)
    for pe, slice_name, nbytes, kind in spread(bed, step):
        bed.check(pe, slice_name, nbytes, kind)


@pytest.mark.daily("64.0-dma_read", "16.0-dma_write")
@pytest.mark.parametrize("kind", ["dma_read", "dma_write"])
@pytest.mark.parametrize("gbs", [16.0, 64.0, 255.0])
def test_a_slow_tcm_feeds_flit_by_flit(kind: str, gbs: float) -> None:
    bed = Bed("default", {"pe.links.internal_gbs": gbs})
    for slice_name in ("sip0.cube0.hbm_ctrl.pe0", "sip0.cube0.hbm_ctrl.pe7", "sip1.cube6.hbm_ctrl.pe3"):
        for nbytes in (1, 256, 257, 4096, 10_000):
            bed.check((0, 0, 0), slice_name, nbytes, kind, 256 * 5 + 3)


@pytest.mark.daily("0-*", "1-*", "255-*", "256-*")
@pytest.mark.parametrize("kind", ["dma_read", "dma_write"])
@pytest.mark.parametrize("offset", [0, 1, 255, 256, 256 * 5 + 3])
def test_sizes_near_and_far(default_bed: Bed, kind: str, offset: int) -> None:
    for slice_name in ("sip0.cube0.hbm_ctrl.pe0", "sip0.cube0.hbm_ctrl.pe7", "sip0.cube15.hbm_ctrl.pe5",
                       "sip1.cube6.hbm_ctrl.pe3"):  # fmt: skip
        for nbytes in SIZES:
            default_bed.check((0, 0, 0), slice_name, nbytes, kind, offset)


@pytest.mark.daily("dma_read")
@pytest.mark.parametrize("kind", ["dma_read", "dma_write"])
def test_a_megabyte(default_bed: Bed, kind: str) -> None:
    for slice_name in ("sip0.cube0.hbm_ctrl.pe0", "sip0.cube5.hbm_ctrl.pe2", "sip1.cube15.hbm_ctrl.pe7"):
        default_bed.check((0, 0, 0), slice_name, MEGABYTE, kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "step"),
    [("minimal", 1), (OBLONG, 1), ("default", 7)],
    ids=["minimal", "oblong", "default"],
)
@pytest.mark.parametrize("kind", ["dma_read", "dma_write"])
def test_every_pair_every_direction(topology: str, step: int, kind: str) -> None:
    """Every PE with every slice; on the default machine with a slice or two of every cube, in turn others."""
    bed = Bed(topology)
    sizes = (1, 256, 257, 2049, 4096)
    pairs = [(pe, slice_name) for pe in bed.pes for slice_name in bed.slices]
    chosen = pairs[::step]
    assert len({(pe, slice_name.split(".hbm_ctrl")[0]) for pe, slice_name in chosen}) == len(bed.pes) * len(
        {slice_name.split(".hbm_ctrl")[0] for slice_name in bed.slices}
    ), "a PE meets no slice of some cube"
    for turn, (pe, slice_name) in enumerate(chosen):
        bed.check(pe, slice_name, sizes[turn % len(sizes)], kind)


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["minimal", OBLONG, "default"], ids=["minimal", "oblong", "default"])
def test_every_size_on_a_spread_of_pairs(topology: str) -> None:
    bed = Bed(topology)
    pairs = [(pe, slice_name) for pe in bed.pes for slice_name in bed.slices]
    for turn, (pe, slice_name) in enumerate(pairs[:: max(1, len(pairs) // 40)]):
        for nbytes in (*SIZES, MEGABYTE) if turn % 5 == 0 else SIZES:
            for kind in ("dma_read", "dma_write"):
                bed.check(pe, slice_name, nbytes, kind)
