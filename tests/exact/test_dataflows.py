"""Times of products on systolic arrays, against arrays that are stepped cell by cell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.program.dataflows import MatrixEngine
from kernbench.errors import ConfigError
from kernbench.hardware.topology import compile_topology, parse
from tests.exact.test_pe_pipeline import Bench, near
from tests.examples import examples

SIDES = {"os": ("m", "n", "k"), "ws": ("k", "n", "m"), "is": ("k", "m", "n")}
"""What lies along rows and columns, and what streams."""
SIZES = st.integers(1, 70)
ARRAY = st.integers(1, 12)


def stepped(dataflow: str, rows: int, cols: int, m: int, k: int, n: int) -> int:
    """The cycles up to the last work of all: every cell passes on what came a cycle ago."""
    sizes = {"m": m, "k": k, "n": n}
    down, across, streams = (sizes[side] for side in SIDES[dataflow])
    cycle = 0
    for _ in range(0, down, rows):
        for _ in range(0, across, cols):
            if dataflow != "os":
                cycle += rows  # the operand that stays moves in, a row a cycle
            reached = {(0, 0): cycle}
            for row in range(rows):
                for col in range(cols):
                    before = [reached[at] for at in ((row - 1, col), (row, col - 1)) if at in reached]
                    reached[row, col] = max(before, default=cycle - 1) + 1
            cycle = reached[rows - 1, cols - 1] + streams
    return cycle


@pytest.mark.parametrize(("side", "os", "others"), [(1, 1, 2), (2, 4, 6), (4, 10, 14)])
def test_a_product_as_large_as_its_array_takes_the_cycles_counted_by_hand(
    side: int, os: int, others: int
) -> None:
    """The first operands reach the last cell after 2 (side - 1) cycles and keep it for ``side``."""
    for dataflow, cycles in (("os", os), ("ws", others), ("is", others)):
        assert (
            MatrixEngine(dataflow, side, side, (side, side, side), 1.0).cycles((side, side, side)) == cycles
        )


@given(st.sampled_from(sorted(SIDES)), ARRAY, ARRAY, SIZES, SIZES, SIZES)
def test_a_product_takes_the_cycles_of_an_array_stepped_cell_by_cell(
    dataflow: str, rows: int, cols: int, m: int, k: int, n: int
) -> None:
    engine = MatrixEngine(dataflow, rows, cols, (rows, 1, cols), 1.0)
    assert engine.cycles((m, k, n)) == stepped(dataflow, rows, cols, m, k, n)


def on_array(dataflow: str, rows: int, cols: int, tile: dict[str, int]) -> Bench:
    return Bench(
        pe__pe_gemm={"dataflow": dataflow, "rows": rows, "cols": cols, "tile": tile, "clock_ghz": 0.5}
    )


def composite_ns(bench: Bench, m: int, k: int, n: int) -> float:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x, y = tl.ref(a, shape=(m, k), dtype="f16"), tl.ref(b, shape=(k, n), dtype="f16")
        tl.wait(tl.composite("gemm", x, y, out_ptr=out))

    _, ops = bench.run(kernel)
    return sum(op.t_end - op.t_start for op in ops if op.stage == "GEMM")


@examples(24)
@given(st.sampled_from(sorted(SIDES)), st.integers(4, 9), st.integers(4, 9), SIZES, SIZES, SIZES)
def test_a_dot_and_a_composite_keep_the_engine_as_long(
    dataflow: str, rows: int, cols: int, m: int, k: int, n: int
) -> None:
    """Tiles are single folds, and all of the dimension that streams; outputs that stay may be cut along K."""
    along = SIDES[dataflow]
    tile = {along[0]: rows, along[1]: cols, along[2]: 16 if dataflow == "os" else 70}
    bench = on_array(dataflow, rows, cols, tile)
    expected = 2 * stepped(dataflow, rows, cols, m, k, n)

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((m, k)), tl.zeros((k, n)))

    _, ops = bench.run(kernel)
    (dot,) = (op for op in ops if op.stage == "GEMM")
    assert dot.t_end - dot.t_start == near(expected)
    assert composite_ns(bench, m, k, n) == near(expected)


def test_weights_that_change_with_every_tile_are_filled_in_each_time() -> None:
    """Two blocks of 8 rows of the same weights: K goes before M, so they are loaded twice."""
    bench = on_array("ws", 4, 4, {"m": 8, "k": 4, "n": 4})
    assert composite_ns(bench, 16, 4, 4) == near(2 * (2 * (2 * 4 + 4 + 8 - 2)))


def test_outputs_of_several_folds_leave_the_array_with_every_block_of_k() -> None:
    bench = on_array("os", 4, 4, {"m": 8, "k": 16, "n": 4})
    assert composite_ns(bench, 8, 32, 4) == near(2 * (2 * 2 * (4 + 4 + 16 - 2)))


@pytest.mark.parametrize(
    ("dataflow", "key", "along"),
    [("os", "m", "rows"), ("os", "n", "cols"), ("ws", "k", "rows"), ("is", "m", "cols")],
)
def test_a_tile_that_is_not_made_of_whole_folds_is_refused(dataflow: str, key: str, along: str) -> None:
    text = f"name: t\npe:\n  pe_gemm:\n    dataflow: {dataflow}\n    tile: {{{key}: 48}}\n"
    with pytest.raises(ConfigError) as caught:
        parse(text, "f.yaml")
    assert str(caught.value) == (
        f"f.yaml:5: pe.pe_gemm.tile.{key}: is 48, expected a multiple of {along} = 32 (dataflow {dataflow})"
    )


def test_the_array_says_how_many_multiplications_a_cycle_has() -> None:
    text = "name: t\npe: {pe_gemm: {dataflow: os, rows: 16, cols: 8, macs_per_cycle: 5.0}}\n"
    graph = compile_topology(parse(text))
    assert graph.node("sip0.cube0.pe0.pe_gemm").properties["macs_per_cycle"] == 128.0


def test_math_pays_its_latency_once_a_pass() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.exp(tl.zeros((256,)))
        tl.softmax(tl.zeros((256,)))

    _, ops = Bench(pe__pe_math__latency_cycles=7.0).run(kernel)
    assert [op.t_end - op.t_start for op in ops if op.kind == "math"] == [near(2 + 7), near(5 * (2 + 7))]


@pytest.mark.parametrize(("slots", "beside"), [(1, False), (2, True)])
def test_gemm_and_math_take_turns_or_work_side_by_side(slots: int, beside: bool) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x = tl.zeros((128, 128))
        product = tl.composite("gemm", x, x, out_ptr=out)
        others = tl.composite("exp", x, out_ptr=out + (1 << 18))
        tl.wait(product)
        tl.wait(others)

    _, ops = Bench(pe__pe_scheduler__compute_slots=slots).run(kernel)
    by_stage = {s: [(o.t_start, o.t_end) for o in ops if o.stage == s] for s in ("GEMM", "MATH")}
    overlap = any(a < d and c < b for a, b in by_stage["GEMM"] for c, d in by_stage["MATH"])
    assert overlap == beside
