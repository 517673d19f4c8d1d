"""Times inside a PE, counted by hand from the rules of the pipeline."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.components.pe_component import Token
from kernbench.engine.components.pe_scheduler import PeScheduler, Pipeline
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.engine.program.tile_plans import Matrix, PlannedEpilogue, tile_plans
from kernbench.errors import LaunchError
from kernbench.language import KernelCall
from kernbench.support.dtypes import dtype
from kernbench.values import DataPlane
from tests.compiled import compiled
from tests.exact.max_plus import MaxPlus

F16 = dtype("f16")
HALF = F16.itemsize
TILE_NS = 16.0
PORT_GBS = 512.0


class Bench:
    """One PE with two matrices in its own slice, and what its kernels did."""

    def __init__(self, **overrides: object) -> None:
        # Tiles are one piece each unless a test says otherwise: the closed forms are of whole transfers.
        packed = {"pe.pe_scheduler.tile_transfers": "packed"}
        graph = compiled("minimal", packed | {k.replace("__", "."): v for k, v in overrides.items()})
        self.data = DataPlane()
        self.machine = Machine(graph, [self.data])
        self.closed = MaxPlus(graph)
        hbm = self.machine.addresses.hbm
        self.a, self.b, self.out = (hbm(0, 0, 0, i << 20) for i in range(3))
        for address in (self.a, self.b):
            self._fill(address, 512 * 1024)

    def _fill(self, address: int, nbytes: int) -> None:
        regions = (Region(address, nbytes),)
        zeros = np.zeros(nbytes // HALF, np.float16)
        op = Op(
            self.machine.next_op_id(),
            "memory",
            "host_write",
            (),
            Operand(zeros.shape, "f16", regions=regions),
            {"data": zeros},
        )
        self.machine.wait(self.machine.host_write(0, regions, op))

    def run(self, kernel: Callable[..., None]) -> tuple[float, list[Op]]:
        """(ns from the start to the end of the kernel, the ops it caused in order of their ids)."""
        before = len(self.data.log)
        request = self.machine.launch(
            KernelCall(kernel, (self.a, self.b, self.out), data=self.data), [(0, 0, 0)]
        )
        self.machine.wait(request)
        ops = sorted((self.data.log[i] for i in range(before, len(self.data.log))), key=lambda op: op.id)
        return max(op.t_end for op in ops) - request.t_start, ops

    def read_ns(self, nbytes: int) -> float:
        return self.closed.read_ns(self._way(), nbytes)

    def write_ns(self, nbytes: int) -> float:
        return self.closed.write_ns(self._way(), nbytes)

    def _way(self) -> tuple[str, ...]:
        pe_dma = "sip0.cube0.pe0.pe_dma"
        router = next(e.target for e in self.machine.graph.out_edges(pe_dma, "LINK") if ".r" in e.target)
        return (pe_dma, router, "sip0.cube0.hbm_ctrl.pe0")


def near(ns: float) -> Any:
    return pytest.approx(ns, abs=1e-6, rel=0)


def test_a_dot_is_fetch_gemm_store() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x, y = tl.zeros((32, 64)), tl.zeros((64, 32))
        tl.dot(x, y)

    took, ops = Bench().run(kernel)
    fetch, store = (32 * 64 + 64 * 32) * HALF / PORT_GBS, 32 * 32 * HALF / PORT_GBS
    assert took == near(fetch + TILE_NS + store)
    assert [(op.kind, op.stage) for op in ops if op.kind != "view"] == [
        ("gemm", "GEMM"),
        ("tile", "FETCH"),
        ("tile", "STORE"),
    ]


@pytest.mark.parametrize(
    ("m", "k", "n", "tiles"), [(1, 1, 1, 1), (33, 64, 32, 2), (64, 128, 64, 8), (31, 65, 33, 4)]
)
def test_gemm_pays_for_whole_hardware_tiles(m: int, k: int, n: int, tiles: int) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((m, k)), tl.zeros((k, n)))

    _, ops = Bench().run(kernel)
    (gemm,) = (op for op in ops if op.stage == "GEMM")
    assert gemm.t_end - gemm.t_start == near(tiles * TILE_NS)


@pytest.mark.parametrize(("elements", "cycles"), [(1, 1), (128, 1), (129, 2), (1000, 8)])
@pytest.mark.parametrize(("name", "passes"), [("exp", 1), ("softmax", 5)])
def test_math_takes_a_cycle_for_each_128_elements_and_pass(
    elements: int, cycles: int, name: str, passes: int
) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        getattr(tl, name)(tl.zeros((elements,)))

    took, _ = Bench().run(kernel)
    assert took == near(2 * elements * HALF / PORT_GBS + cycles * passes)


def test_load_and_store_take_the_closed_form() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.store(out, tl.load(a, shape=(64, 128), dtype="f16"))

    bench = Bench()
    took, _ = bench.run(kernel)
    nbytes = 64 * 128 * HALF
    assert took == near(bench.read_ns(nbytes) + bench.write_ns(nbytes))


class Stream:
    """Reads of one size in a row: each starts when one of ``outstanding`` places is free, data in order."""

    def __init__(self, bench: Bench, nbytes: int, outstanding: int) -> None:
        self._latency, self._data = bench.read_ns(nbytes), nbytes / 256.0
        self._ends = [0.0] * outstanding

    def next(self) -> float:
        """When the next read is over."""
        freed, before = self._ends.pop(0), self._ends[-1] if self._ends else 0.0
        alone = freed + self._latency
        self._ends.append(max(alone, before + self._data) if before else alone)
        return self._ends[-1]


@pytest.mark.daily("1-1", "2-2", "5-4")
@pytest.mark.parametrize("outstanding", [1, 2, 4])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_composite_over_k_is_a_pipeline(steps: int, outstanding: int) -> None:
    """One output tile: reads in a row, fetch and GEMM beside them, one store and write at the end."""

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        k = 64 * steps
        tl.composite("gemm", tl.ref(a, (32, k), "f16"), tl.ref(b, (k, 32), "f16"), out)

    bench = Bench(pe__pe_dma__outstanding=outstanding)
    took, ops = bench.run(kernel)
    tile = 32 * 64 * HALF
    stream = Stream(bench, tile, outstanding)
    fetched = multiplied = 0.0
    for _ in range(steps):
        stream.next()
        read = stream.next()
        fetched = max(read, fetched) + 2 * tile / PORT_GBS
        multiplied = max(fetched, multiplied) + TILE_NS
    out_bytes = 32 * 32 * HALF
    assert took == near(multiplied + out_bytes / PORT_GBS + bench.write_ns(out_bytes))
    stages = [op.stage for op in ops if op.kind == "tile"]
    assert {s: stages.count(s) for s in dict.fromkeys(stages)} == {
        "DMA_READ": 2 * steps, "FETCH": steps, "GEMM": steps, "STORE": 1, "DMA_WRITE": 1,
    }  # fmt: skip


def test_pinned_operands_skip_their_reads() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x = tl.load(a, shape=(32, 128), dtype="f16")
        tl.composite("gemm", x, tl.ref(b, (128, 32), "f16"), out)

    _, ops = Bench().run(kernel)
    assert sum(op.stage == "DMA_READ" for op in ops) == 2


def test_epilogues_of_each_scope_run_as_often_as_they_say() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.composite(
            "gemm", tl.ref(a, (64, 128), "f16"), tl.ref(b, (128, 64), "f16"), out,
            epilogue=[
                {"op": "scale", "factor": 2.0, "scope": "k_tile"},
                {"op": "relu"},
                {"op": "silu", "scope": "kernel"},
            ],
        )  # fmt: skip

    _, ops = Bench().run(kernel)
    names = [op.name for op in ops if op.stage == "MATH"]
    assert (names.count("scale"), names.count("relu"), names.count("silu")) == (8, 4, 1)
    (silu,) = (op for op in ops if op.name == "silu")
    assert silu.t_end - silu.t_start == near(64 * 64 / 128)


def test_every_k_tile_fetches_the_scales_of_its_group() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        scales = tl.ref(a, (4, 64), "f16")
        tl.composite(
            "gemm", tl.ref(a, (32, 128), "f16"), tl.ref(b, (128, 64), "f16"), out, tile_shape=(32, 16, 32),
            epilogue=[{"op": "dequant", "scale": scales, "group": 32, "scope": "k_tile"}],
        )  # fmt: skip

    bench = Bench()
    _, ops = bench.run(kernel)
    assert [op.name for op in ops if op.stage == "MATH"].count("dequant") == 2 * 8
    # Of a 32 x 16, of b 16 x 32, and 32 scales.
    reads = Counter(op.nbytes for op in ops if op.stage == "DMA_READ")
    assert reads == {512 * HALF: 2 * 16, 32 * HALF: 16}
    plan = tile_plans(
        Matrix(32, 128, F16, None), Matrix(128, 64, F16, None), Matrix(32, 64, F16, None), (32, 16, 32),
        epilogue=[PlannedEpilogue("dequant", "k_tile", Matrix(4, 64, F16, 0), 32)],
    )  # fmt: skip
    reading = [stage.transfers for tile in plan for stage in tile.stages if stage.kind == "DMA_READ"]
    read = [(transfer.runs, transfer.nbytes) for (transfer,) in reading]
    assert read == [((((k // 32 * 64 + n) * HALF, 64),), 64) for n in (0, 32) for k in range(0, 128, 16)]


def test_gemm_and_math_share_one_slot() -> None:
    """A composite's tiles and the kernel's own math never work at once."""

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        pinned = tl.zeros((32, 512)), tl.zeros((512, 32))
        steps = [{"op": "scale", "factor": 2.0, "scope": "k_tile"}]
        done = tl.composite("gemm", *pinned, out, epilogue=steps)
        for _ in range(6):
            tl.softmax(tl.zeros((4096,)))
        tl.wait(done)

    _, ops = Bench().run(kernel)
    work = sorted((op.t_start, op.t_end) for op in ops if op.stage in ("GEMM", "MATH"))
    assert len(work) == 8 + 8 + 6
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(work))
    waited = [op for op in ops if op.stage in ("GEMM", "MATH") and op.t_start > op.t_ready]
    assert waited
    assert all(any(hazard == "slot" for _, hazard in op.after) for op in waited)


def test_every_caller_pays_the_tlb() -> None:
    def simple(a: int, b: int, out: int, tl: Any) -> None:
        tl.load(a, shape=(32, 64), dtype="f16")

    def composite(a: int, b: int, out: int, tl: Any) -> None:
        tl.composite("gemm", tl.ref(a, (32, 64), "f16"), tl.ref(b, (64, 32), "f16"), out)

    for outstanding, in_a_row in (
        (1, 3),
        (2, 2),
    ):  # the second read is translated while data of the first come
        free = Bench(pe__pe_dma__outstanding=outstanding)
        paid = Bench(pe__pe_dma__outstanding=outstanding, pe__pe_mmu__tlb_overhead_ns=7.0)
        assert paid.run(simple)[0] == near(free.run(simple)[0] + 7.0)
        assert paid.run(composite)[0] == near(free.run(composite)[0] + in_a_row * 7.0)


@pytest.mark.parametrize(("outstanding", "gbs"), [(1, 4096 / 29), (2, 256.0), (4, 256.0)])
def test_tiles_of_4_kb_stream_from_the_own_slice_with_two_outstanding(outstanding: int, gbs: float) -> None:
    bench = Bench(pe__pe_dma__outstanding=outstanding)
    transfers = [
        bench.machine.flow("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0", 4096 * i, 4096, is_write=False)
        for i in range(64)
    ]
    begun = bench.machine.clock.now
    bench.machine.wait(*transfers)
    latency = bench.read_ns(4096)
    assert bench.machine.clock.now - begun == near(latency + 63 * 4096 / gbs)


def test_no_operation_starts_before_the_end_of_what_it_depends_on() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        done = tl.composite(
            "gemm", tl.ref(a, (64, 256), "f16"), tl.ref(b, (256, 64), "f16"), out,
            epilogue=[{"op": "bias", "bias": tl.ref(a, (64,), "f16")}],
        )  # fmt: skip
        tl.exp(tl.zeros((4096,)))
        tl.wait(done)
        tl.load(out, shape=(64, 64), dtype="f16")

    for overrides in (
        {},
        {"pe__pe_dma__read_engines": 2},
        {"pe__pe_tcm__scheduler_reserved_bytes": "20 KiB"},
    ):
        _, ops = Bench(**overrides).run(kernel)
        of = {op.id: op for op in ops}
        hazards = dict.fromkeys((hazard for op in ops for _, hazard in op.after), 0)
        for op in ops:
            for on, hazard in op.after:
                if on not in of:
                    continue  # a write of the host, before the launch
                assert of[on].t_end <= op.t_start + 1e-9, (of[on], op, hazard)
                hazards[hazard] += 1
        assert {"stage", "engine"} <= set(hazards)


def test_dispatch_cycles_are_paid_by_each_command() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        for _ in range(3):
            tl.exp(tl.zeros((128,)))

    free, paid = Bench(), Bench(pe__pe_cpu__dispatch_cycles=5)
    assert paid.run(kernel)[0] == near(free.run(kernel)[0] + 3 * 5.0)


def test_tile_buffers_never_run_over_and_hold_back_the_feed() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.composite("gemm", tl.ref(a, (128, 256), "f16"), tl.ref(b, (256, 128), "f16"), out)

    wide, narrow = Bench(), Bench(pe__pe_tcm__scheduler_reserved_bytes="12 KiB")
    slower, _ = narrow.run(kernel)
    assert slower > wide.run(kernel)[0]
    tight = Bench(pe__pe_tcm__scheduler_reserved_bytes="8 KiB")
    with pytest.raises(
        LaunchError, match=r"a tile needs 10240 bytes of buffers, the scheduler's TCM has 8192"
    ):
        tight.run(kernel)


def _four_by_four(a: int, b: int, out: int, tl: Any) -> None:
    """Sixteen tiles that need 10 KiB of buffers each: two operands and the result."""
    tl.composite("gemm", tl.ref(a, (128, 64), "f16"), tl.ref(b, (64, 128), "f16"), out)


def test_tiles_that_fill_the_buffers_exactly_fit() -> None:
    exactly_two, nearly_three, one = (
        Bench(pe__pe_tcm__scheduler_reserved_bytes=f"{kib} KiB").run(_four_by_four)[0] for kib in (20, 28, 12)
    )
    assert exactly_two == near(nearly_three)
    assert exactly_two < one


UNDER_WAY: list[int] = []


class Counted(PeScheduler):
    """Notes how many tiles are under way whenever one is done."""

    def _tile_done(self, pipeline: Pipeline, token: Token) -> None:
        UNDER_WAY.append(pipeline.under_way)
        super()._tile_done(pipeline, token)


def test_no_more_tiles_are_under_way_than_the_buffers_hold() -> None:
    UNDER_WAY.clear()
    own = {"pe__pe_scheduler__impl": f"{__name__}:Counted"}
    Bench(pe__pe_tcm__scheduler_reserved_bytes="20 KiB", **own).run(_four_by_four)
    assert (len(UNDER_WAY), max(UNDER_WAY)) == (4 * 4, 2)


def test_tiles_are_cut_at_both_edges() -> None:
    matrix = Matrix(33, 65, F16, 0)
    tiles = {(row, col): matrix.tile(row, col, 32, 64).nbytes for row in (0, 32) for col in (0, 64)}
    assert tiles == {(0, 0): 32 * 64 * HALF, (0, 64): 32 * HALF, (32, 0): 64 * HALF, (32, 64): HALF}


@pytest.mark.daily("32", "96")
@pytest.mark.parametrize("width", [32, 64, 96, 256])
def test_a_tile_by_rows_is_read_and_written_as_a_block_of_the_matrix_is(width: int) -> None:
    """The first tile of 32 x 32 takes what a load of the same block takes, and a write what a store."""

    def reads(a: int, b: int, out: int, tl: Any) -> None:
        tl.wait(tl.composite("exp", tl.ref(a, (32, width), "f16"), out_ptr=out, tile_shape=(32, 32)))

    def writes(a: int, b: int, out: int, tl: Any) -> None:
        tl.wait(tl.composite("exp", tl.zeros((32, width)), out_ptr=out, tile_shape=(32, 32)))

    def block(a: int, b: int, out: int, tl: Any) -> None:
        tl.store(out, tl.load(a, (32, 32), "f16", strides=(width, 1)), strides=(width, 1))

    for way in ("packed", "rows"):
        bench = Bench(pe__pe_scheduler__tile_transfers=way, pe__pe_dma__outstanding=1)
        _, (load, store) = bench.run(block)
        for kernel, stage, alone in ((reads, "DMA_READ", load), (writes, "DMA_WRITE", store)):
            first = next(op for op in bench.run(kernel)[1] if op.stage == stage)
            same = first.t_end - first.t_start == near(alone.t_end - alone.t_start)
            assert same == (way == "rows" or width == 32), (way, stage)


@given(
    sizes=st.tuples(*[st.integers(1, 100)] * 3),
    tile=st.tuples(*[st.sampled_from([16, 32, 64])] * 3),
    placed=st.tuples(*[st.booleans()] * 3),
    scopes=st.lists(st.sampled_from(["k_tile", "output_tile", "kernel"]), max_size=3),
    rows=st.booleans(),
)
def test_the_largest_tile_is_among_the_outermost(sizes, tile, placed, scopes, rows) -> None:
    m, k, n = sizes
    address = [0 if one else None for one in placed]
    out = Matrix(m, n, F16, address[2])
    steps = [PlannedEpilogue("residual", scope, Matrix(m if rows else 1, n, F16, 0)) for scope in scopes]
    product = Matrix(m, k, F16, address[0]), Matrix(k, n, F16, address[1]), out, tile, "", steps
    applied = Matrix(m, n, F16, address[0]), None, out, tile[:2], "exp", steps
    for given_ in (product, applied):
        largest = max(tile.buffer_bytes for tile in tile_plans(*given_))
        assert max(tile.buffer_bytes for tile in tile_plans(*given_, outermost=True)) == largest


def test_a_step_after_one_over_the_whole_output_works_on_its_tile() -> None:
    steps = [PlannedEpilogue("relu", "kernel"), PlannedEpilogue("gelu", "output_tile")]
    source = Matrix(64, 32, F16, 0)
    *_, last = tile_plans(source, None, Matrix(64, 32, F16, 0), (32, 32), "exp", steps)
    elements = [(stage.name, stage.elements) for stage in last.stages if stage.kind == "MATH"]
    assert elements == [("exp", 1024), ("relu", 2048), ("gelu", 1024)]


def test_each_access_to_tcm_pays_its_overhead() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((32, 64)), tl.zeros((64, 32)))

    free, paid = Bench(), Bench(pe__pe_tcm__overhead_ns=3.0)
    assert paid.run(kernel)[0] == near(free.run(kernel)[0] + 2 * 3.0)  # one fetch, one store


@pytest.mark.parametrize(
    ("table", "name", "passes"),
    [
        ({"exp": 3}, "exp", 3),
        ({"exp": 3}, "softmax", 5),
        ({"softmax": 2}, "softmax", 2),
        ({"gelu": 4}, "tanh", 1),
    ],
)
def test_passes_are_those_of_the_topology(table: dict[str, int], name: str, passes: int) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        getattr(tl, name)(tl.zeros((1000,)))

    took, _ = Bench(pe__pe_math__passes=table).run(kernel)
    assert took == near(2 * 1000 * HALF / PORT_GBS + 8 * passes)


def _bias_gelu(a: int, b: int, out: int, tl: Any) -> None:
    steps = [{"op": "bias", "bias": tl.ref(a, (128,), "f16")}, {"op": "gelu"}]
    tl.composite("gemm", tl.ref(a, (64, 256), "f16"), tl.ref(b, (256, 128), "f16"), out, epilogue=steps)


def test_a_slower_part_can_make_a_run_on_a_serial_engine_faster() -> None:
    """An anomaly of first come, first served (Graham, 1969).

    The write of each output tile meets a read at the slice's channels. A longer overhead makes it come just
    after that read instead of just before it: then the write waits, and reads are the bottleneck.
    """

    def run(overhead: float, outstanding: int) -> tuple[float, int]:
        bench = Bench(pe__pe_math__overhead_ns=overhead, pe__pe_dma__outstanding=outstanding)
        took, ops = bench.run(_bias_gelu)
        tiles = [op for op in ops if op.stage == "DMA_READ" and op.nbytes == 4096]
        return took, sum(op.t_end - op.t_start > bench.read_ns(4096) + 1e-6 for op in tiles)

    (fast, held_up), (slow, free) = run(2.0, 1), run(5.0, 1)
    assert slow < fast
    assert (held_up, free) == (7, 0), "reads that a write holds up"
    times = [run(overhead, 2)[0] for overhead in (0.0, 2.0, 5.0)]
    assert times == sorted(times)
