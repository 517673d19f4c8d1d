"""Keys of a PE that are off by default: each takes the time that is counted here by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import ConfigError, LaunchError
from kernbench.hardware.topology import parse
from kernbench.hardware.topology.pe_spec import OFF
from kernbench.host import DPPolicy
from kernbench.operations import REDUCTIONS
from kernbench.support.dtypes import DTYPES
from tests.exact.test_pe_pipeline import HALF, PORT_GBS, TILE_NS, Bench
from tests.examples import examples


def near(ns: float) -> Any:
    return pytest.approx(ns, abs=1e-9, rel=0)


def test_keys_that_are_off_are_no_part_of_a_machine() -> None:
    graph = kb.load_topology("minimal", {})
    for part, keys in OFF.items():
        node = graph.node("sip0.cube0.pe0" + (f".{part}" if part else ""))
        for key in keys:
            assert not any(name.startswith(key) for name in node.properties)
            assert f'"{key}":' not in str(graph.properties["spec"])


# -- operands: registers -------------------------------------------------------------------------------------


REGISTERS = {"pe__operands": "registers"}


def test_operands_of_math_in_registers_do_not_pass_the_tcm() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.exp(tl.exp(tl.zeros((1000,))))

    took, ops = Bench(**REGISTERS).run(kernel)
    assert took == near(2 * 8.0)
    assert [(op.stage, op.t_end - op.t_start, op.transactions) for op in ops if op.kind == "tile"] == [
        ("FETCH", 0.0, []), ("STORE", 0.0, []), ("FETCH", 0.0, []), ("STORE", 0.0, [])
    ]  # fmt: skip
    assert Bench().run(kernel)[0] == near(2 * (8.0 + 2 * 1000 * HALF / PORT_GBS))


def test_operands_of_products_pass_the_tcm_and_their_sums_do_not() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((32, 64)), tl.zeros((64, 32)))

    took, _ = Bench(**REGISTERS).run(kernel)
    assert took == near((32 * 64 + 64 * 32) * HALF / PORT_GBS + TILE_NS)


def test_tiles_of_a_composite_store_from_registers() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.wait(tl.composite("exp", tl.ref(a, (32, 32), "f16"), out_ptr=out))

    def of_tcm(**keys: object) -> tuple[float, float]:
        bench = Bench(**keys)
        took, ops = bench.run(kernel)
        return took - bench.read_ns(2048), sum(op.t_end - op.t_start for op in ops if op.kind == "tile" and
                                               op.stage in ("FETCH", "STORE"))  # fmt: skip

    (usual, moving), (took, none) = of_tcm(), of_tcm(**REGISTERS)
    assert (moving, none) == (near(2 * 2048 / PORT_GBS), 0.0)
    assert took == near(usual - moving)


def test_results_in_registers_still_take_scratch() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        kept = [tl.exp(tl.zeros((1000,))) for _ in range(4)]
        assert kept

    with pytest.raises(LaunchError, match="scratch is full"):
        Bench(**REGISTERS, pe__pe_tcm__scratch_bytes=4096).run(kernel)


# -- pe_math.cycles and pe_math.reduce -----------------------------------------------------------------------

CYCLES = st.tuples(st.integers(0, 60), st.integers(1, 200))


def taken(latency: int, rate: int, elements: int, passes: int = 1) -> float:
    """ns at 2 GHz, by halves of a cycle."""
    return passes * (latency + elements / rate) / 2


@examples(20)
@given(CYCLES, CYCLES, st.integers(1, 3000))
def test_an_operation_takes_its_latency_and_its_elements(exp: Any, other: Any, elements: int) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x = tl.zeros((elements,))
        tl.exp(x)
        tl.sqrt(x)
        tl.softmax(x)

    math = {"clock_ghz": 2.0, "cycles": {"exp": list(exp), "*": list(other)}, "passes": {"sqrt": 3}}
    took, ops = Bench(**REGISTERS, pe__pe_math=math).run(kernel)
    wanted = [taken(*exp, elements), taken(*other, elements, 3), taken(*other, elements, 5)]
    assert [op.t_end - op.t_start for op in ops if op.kind == "math"] == [near(ns) for ns in wanted]
    assert took == near(sum(wanted))


@pytest.mark.parametrize(("dtype", "lanes"), [("i8", 1), ("i32", 1), ("u32", 1), ("i64", 2), ("u64", 2)])
def test_integers_of_64_bits_take_two_lanes_of_32(dtype: str, lanes: int) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.zeros((1024,), dtype) + 1

    math = {"clock_ghz": 1.0, "lanes": 128, "latency_cycles": 7.0}
    assert Bench(**REGISTERS, pe__pe_math=math).run(kernel)[0] == near(8 * lanes + 7)


def test_operations_that_no_table_names_take_the_lanes() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.sqrt(tl.zeros((1000,)))

    math = {"latency_cycles": 7.0, "cycles": {"exp": [5, 16]}}
    assert Bench(**REGISTERS, pe__pe_math=math).run(kernel)[0] == near(8 + 7)


@examples(12)
@given(CYCLES, st.integers(2, 6), st.integers(1, 3000))
def test_a_latency_does_not_hold_the_slot(pair: Any, count: int, elements: int) -> None:
    """Commands that wait for nothing: one begins when the slot of the one before is free."""

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x = tl.zeros((elements,))
        made = [tl.exp(x) for _ in range(count)]
        assert made

    latency, rate = pair
    keys = {"pe__pe_cpu__run_ahead": True, "pe__pe_math__cycles": {"*": [latency, rate]}}
    took, ops = Bench(**REGISTERS, **keys).run(kernel)
    each = elements / rate
    assert took == near(count * each + latency)
    starts = [op.t_start for op in ops if op.kind == "math"]
    assert [at - starts[0] for at in starts] == [near(n * each) for n in range(count)]
    assert all(op.t_end - op.t_start == near(each + latency) for op in ops if op.kind == "math")


@pytest.mark.daily(
    "sum-shape0-1-within",
    "max-shape1-1-within",
    "min-shape2-1-across",
    "argmin-shape3-1-across",
    "sum-shape4-0-across",
    "max-shape5-None-across",
    "argmax-shape6-1-across",
    "min-shape7-0-across",
)
@pytest.mark.parametrize(
    ("shape", "axis", "way"),
    [((16, 64), 1, "within"), ((16, 128), 1, "within"), ((16, 129), 1, "across"), ((4, 1024), 1, "across"),
     ((16, 64), 0, "across"), ((16, 64), None, "across"), ((1, 64), 1, "across"), ((64,), 0, "across")],
)  # fmt: skip
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_stay_within_rows_or_go_across(shape: Any, axis: Any, way: str, name: str) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        getattr(tl, name)(tl.zeros(shape, "f32"), axis=axis)

    if name.startswith("arg") and axis is None:
        return
    pairs = {"across": (301, 38), "within": (50, 20)}
    math = {"reduce": {key: list(pair) for key, pair in pairs.items()}, "cycles": {"*": [2.5, 128]}}
    (latency, rate), elements = pairs[way], int(np.prod(shape))
    assert Bench(**REGISTERS, pe__pe_math=math).run(kernel)[0] == near(latency + elements / rate)
    alone = {"reduce": {way: list(pairs[way])}}
    assert Bench(**REGISTERS, pe__pe_math=alone).run(kernel)[0] == near(latency + elements / rate)
    other = {"reduce": {key: pair for key, pair in math["reduce"].items() if key != way}}
    assert Bench(**REGISTERS, pe__pe_math=other).run(kernel)[0] == near(-(-elements // 128))


def test_the_path_goes_back_over_what_held_the_slot_and_not_over_its_latency() -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        y = tl.load(x, (1024,), "f32")
        made = [tl.exp(y) for _ in range(4)]
        tl.store(out, made[3])

    keys = {"pe.operands": "registers", "pe.pe_cpu.run_ahead": True, "pe.pe_math.cycles": {"exp": [40, 16]}}
    x = np.zeros(1024, np.float32)
    done = kb.run_kernel(
        kernel, x, out=np.zeros(1024, np.float32), topology=kb.load_topology("minimal", keys)
    )
    causes = {row[0]: row[1] for row in done.run.query("critical-path/by-cause").rows}
    assert causes["compute"] == near(4 * 64 + 40)
    assert not {"dependency", "unexplained"} & causes.keys()


def test_energy_is_that_of_the_elements_whatever_they_take() -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        tl.wait(tl.composite("exp", tl.ref(x, (64, 64), "f16"), out_ptr=out, epilogue=[{"op": "gelu"}]))

    def math_pj(**math: object) -> float:
        x = np.zeros((64, 64), np.float16)
        machine = kb.load_topology("minimal", {f"pe.pe_math.{key}": value for key, value in math.items()})
        done = kb.run_kernel(kernel, x, out=x.copy(), topology=machine)
        ((_, _, _, _, pj, _),) = done.run.query("energy/by-part", kind="pe_math").rows
        return float(pj)

    assert math_pj(cycles={"exp": [46, 18], "*": [2.5, 100]}) == math_pj() > 0


@pytest.mark.parametrize(
    ("dtype", "like", "times"),
    [
        ("u8", "i8", 1),
        ("i16", "i32", 1),
        ("u16", "i32", 1),
        ("u32", "i32", 1),
        ("i64", "i32", 2),
        ("u64", "i32", 2),
    ],
)
def test_integers_without_a_figure_cost_what_like_ones_do(dtype: str, like: str, times: int) -> None:
    def math_pj(dtype: str) -> float:
        def kernel(x: Any, out: Any, tl: Any) -> None:
            block = tl.load(x, (64, 64), dtype)
            tl.store(out, block + block)

        x = np.zeros((64, 64), DTYPES[dtype].numpy)
        done = kb.run_kernel(kernel, x, out=x.copy(), topology="minimal")
        ((_, _, _, _, pj, _),) = done.run.query("energy/by-part", kind="pe_math").rows
        return float(pj)

    assert math_pj(dtype) == times * math_pj(like) > 0


# -- pe_gemm: fixed cycles and small blocks ------------------------------------------------------------------


@examples(20)
@given(st.integers(1, 130), st.integers(1, 130), st.integers(1, 130), st.integers(0, 40), st.integers(0, 70))
def test_a_product_takes_fixed_cycles_and_small_ones_their_own(
    m: int, k: int, n: int, fixed: int, least: int
) -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((m, k)), tl.zeros((k, n)))

    gemm = {
        "clock_ghz": 2.0,
        "tile": {"m": 64, "k": 16, "n": 8},
        "macs_per_cycle": 1886.0,
        "fixed_cycles": fixed,
    }
    if least:
        gemm["smallest"] = {"m": least, "fixed": 33, "macs": 289}
    _, ops = Bench(**REGISTERS, pe__pe_gemm=gemm).run(kernel)
    (product,) = (op for op in ops if op.stage == "GEMM")
    tiles = -(-m // 64) * -(-k // 16) * -(-n // 8)
    cycles = 33 + m * k * n / 289 if m < least else fixed + tiles * 64 * 16 * 8 / 1886
    assert product.t_end - product.t_start == near(cycles / 2)


# -- pe_dma.issue --------------------------------------------------------------------------------------------


def loads(keys: dict[str, object], count: int, nbytes: int) -> tuple[float, list[Any]]:
    """Loads of a kernel that runs ahead, side by side, and then an exponential of its own data."""

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x = tl.zeros((1000,))
        kept = [tl.load(a + n * nbytes, (nbytes // 2,), "f16") for n in tl.range(count, num_stages=99)]
        assert tl.exp(x) is not None, kept

    usual = {"pe__pe_cpu__run_ahead": True, "pe__pe_dma__outstanding": 64, "pe__pe_cpu__clock_ghz": 2.0}
    bench = Bench(**REGISTERS, **usual, **keys)
    _, ops = bench.run(kernel)
    return bench.read_ns(nbytes), [op for op in ops if op.kind in ("memory", "math")]


@examples(20)
@given(st.integers(0, 3000), st.integers(0, 8), st.integers(1, 5))
def test_loads_are_issued_one_after_the_other(each: int, rate: int, count: int) -> None:
    keys = {"pe__pe_dma__issue": {"load_cycles": each, "bytes_per_cycle": rate}}
    alone, ops = loads(keys, count, 512)
    cost = [(each + (512 / rate if rate else 0)) / 2] * count
    first = ops[0].t_start
    for n, op in enumerate(ops[:-1]):
        assert op.t_start - first == near(sum(cost[:n]))
        assert op.t_end >= op.t_start + max(alone, cost[n]) - 1e-9
    assert ops[-1].t_start == first, "MATH is not held up"
    if count == 1:
        assert ops[0].t_end - first == near(max(alone, cost[0]))


def test_issue_may_hold_the_slot_of_math() -> None:
    cost = {"load_cycles": 100, "bytes_per_cycle": 8, "slot": "pe_math"}
    _, ops = loads({"pe__pe_dma__issue": cost}, 3, 512)
    assert ops[-1].t_start - ops[0].t_start == near(3 * (100 + 512 / 8) / 2)


def test_every_load_of_a_kernel_that_waits_is_issued() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.load(a, (256,), "f16")
        tl.load(b, (256,), "f16")
        tl.store(out, tl.zeros((256,)))

    bench = Bench(pe__pe_dma__issue={"load_cycles": 5000.0})
    took, _ = bench.run(kernel)
    assert took == near(2 * 5000 + bench.write_ns(512))


def test_the_path_goes_over_the_issue_of_loads() -> None:
    """The last load is issued after nine others and nine exponentials, and is what the store waits for."""

    def kernel(x: Any, out: Any, tl: Any) -> None:
        a, kept = tl.zeros((1000,)), []
        for n in range(10):
            kept.append(tl.load(x + n * 512, (256,), "f16"))
            tl.exp(a)
        tl.store(out, kept[-1])

    keys = {"pe.operands": "registers", "pe.pe_cpu.run_ahead": True, "pe.pe_dma.outstanding": 64}
    issue = {"load_cycles": 10.0, "bytes_per_cycle": 2.0, "slot": "pe_math"}
    machine = kb.load_topology("minimal", {**keys, "pe.pe_dma.issue": issue})
    x = np.ones(2560, np.float16)
    done = kb.run_kernel(kernel, x, out=x[:256].copy(), topology=machine)
    causes = {row[0]: row[1] for row in done.run.query("critical-path/by-cause").rows}
    assert not {"dependency", "unexplained"} & causes.keys()
    places = {row[0]: row[2] for row in done.run.query("critical-path/by-location").rows}
    assert causes["compute"] == near(9 * 8)
    assert places["sip0.cube0.pe0.pe_dma"] >= 10 * (10 + 256) - 9 * 8 - 266


# -- pe_dma.rearrange ----------------------------------------------------------------------------------------


def product(a: int, b: int, out: int, tl: Any) -> None:
    tl.store(out, tl.dot(tl.zeros((32, 64)), tl.zeros((64, 32))))


def no_product(a: int, b: int, out: int, tl: Any) -> None:
    tl.store(out, tl.exp(tl.zeros((32, 32))))


@examples(20)
@given(st.integers(0, 3000), st.integers(0, 8), st.sampled_from(["", "pe_math"]))
def test_stores_of_a_pe_that_has_multiplied_are_rearranged(cycles: int, rate: int, slot: str) -> None:
    keys: dict[str, object] = {"pe__pe_dma__rearrange": {"cycles": cycles, "bytes_per_cycle": rate}}
    keys["pe__pe_cpu__clock_ghz"] = 2.0
    if slot:
        keys["pe__pe_dma__issue"] = {"bytes_per_cycle": 1.0, "slot": slot}
    bench = Bench(**keys)
    without = Bench(pe__pe_cpu__clock_ghz=2.0)
    cost = (cycles + (32 * 32 * HALF / rate if rate else 0)) / 2
    assert bench.run(no_product)[0] == near(without.run(no_product)[0])
    assert bench.run(product)[0] == near(without.run(product)[0] + cost)
    assert bench.run(no_product)[0] == near(without.run(no_product)[0]), "a launch begins anew"


def test_the_path_goes_over_what_is_rearranged() -> None:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.dot(tl.load(x), tl.load(x)))

    machine = kb.load_topology("minimal", {"pe.pe_dma.rearrange": {"cycles": 5000.0, "bytes_per_cycle": 0.0}})
    x = np.ones((32, 32), np.float16)
    done = kb.run_kernel(kernel, x, out=x.copy(), topology=machine)
    causes = {row[0]: row[1] for row in done.run.query("critical-path/by-cause").rows}
    places = {row[0]: row[2] for row in done.run.query("critical-path/by-location").rows}
    assert "dependency" not in causes
    assert causes.get("unexplained", 0.0) < 1e-9
    assert places["sip0.cube0.pe0.pe_dma"] >= 5000


# -- pe_gemm.staging_bytes_per_cycle -------------------------------------------------------------------------


@examples(20)
@given(st.integers(1, 200), st.integers(1, 5), st.sampled_from([1, 2, 3]), st.booleans())
def test_operands_of_a_loop_of_one_stage_pass_through_registers(
    rate: int, turns: int, stages: int, both: bool
) -> None:
    """What a turn loads for its product takes that much longer, once; of two stages and more nothing does."""

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        kept = tl.load(a, shape=(32, 64))
        for _ in tl.range(turns, num_stages=stages):
            x, y = tl.load(a, shape=(32, 64)), tl.load(b, shape=(32, 64))
            tl.dot(x if both else kept, tl.trans(y))
            tl.exp(tl.load(a, shape=(32, 64)))

    ahead: dict[str, object] = {"pe__pe_cpu__run_ahead": True, "pe__pe_gemm__clock_ghz": 2.0}
    cost = turns * (1 + both) * 32 * 64 * HALF / rate / 2 if stages == 1 else 0
    slower = Bench(**ahead, pe__pe_gemm__staging_bytes_per_cycle=rate)
    assert slower.run(kernel)[0] == near(Bench(**ahead).run(kernel)[0] + cost)


# -- pe.clock ------------------------------------------------------------------------------------------------


def test_the_clock_of_a_pe_is_that_of_its_parts() -> None:
    graph = kb.load_topology("minimal", {"pe.clock": {"ghz": 1.98}})
    for part in ("pe_cpu", "pe_gemm", "pe_math"):
        assert graph.node(f"sip0.cube0.pe0.{part}").properties["clock_ghz"] == 1.98


@pytest.mark.daily("True-4", "False-9")
@pytest.mark.parametrize("blocks", [1, 3, 4, 9])
@pytest.mark.parametrize("placed", [False, True])
def test_products_of_a_launch_on_all_pes_slow_the_clock(blocks: int, placed: bool) -> None:
    @triton.jit
    def kernel(x, out):  # type: ignore[no-untyped-def]
        at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
        a = tl.load(x + at)
        before = tl.exp(a)
        tl.store(out + at, tl.exp(tl.dot(a, a)) + before)

    x = np.zeros((32, 32), np.float16)
    keys = {"cube.pes": {"count": 4, "corners": ["NW"]}, "pe.operands": "registers"}
    keys |= {} if placed else {"memory.interleave": "package"}
    machine = kb.load_topology("minimal", {**keys, "pe.clock": {"ghz": 2.0, "loaded_ghz": 1.25}})
    shared = DPPolicy(pe="row_wise") if placed else None
    done = kb.run_kernel(kernel[(blocks,)], x, out=x.copy(), topology=machine, dp=shared)
    ops = done.run.ops
    took: dict[str, set[float]] = {}
    for name, kind, start, end in zip(ops["name"], ops["kind"], ops["t_start"], ops["t_end"], strict=True):
        if kind in ("gemm", "math"):
            took.setdefault(name, set()).add(round(end - start, 9))
    usual, loaded = 1 / 2.0, 1 / 1.25
    on_all = blocks >= 4
    assert took["dot"] == {16 * (loaded if on_all else usual)}
    assert took["add"] == {8 * (loaded if on_all else usual)}
    # Before a block's product the clock is slow on PEs that have had a block.
    assert took["exp"] == ({8 * usual, 8 * loaded} if on_all else {8 * usual})


PAIR = "expected [latency in cycles, elements a cycle above 0]"
REFUSED = {
    "pe_math: {cycles: {exq: [1, 2]}}": "pe_math.cycles: names the operation 'exq', did you mean 'exp'?",
    "pe_math: {cycles: {exp: [1, 0]}}": f"pe_math.cycles: has 'exp' set to [1, 0], {PAIR}",
    "pe_math: {reduce: {within: 5}}": f"pe_math.reduce.within: is 5, {PAIR}",
    "pe_math: {latency_cycles: 3, cycles: {'*': [1, 2]}}": (
        "pe_math.latency_cycles: is 3 beside cycles of '*', expected one of the two"
    ),
    "pe_math: {passes: {exp: 3}, cycles: {exp: [1, 2]}}": (
        "pe_math.cycles: names 'exp', as passes does, expected it in one of the two"
    ),
    "pe_math: {reduce: {across: [1, 2]}, cycles: {sum: [1, 2]}}": (
        "pe_math.cycles: names the reduction 'sum' beside reduce, expected one of the two"
    ),
    "pe_gemm: {macs_per_cycle: {f16: 4096}}": (
        "pe_gemm.macs_per_cycle: names f16, expected '*' as well: of all other types"
    ),
    "pe_gemm: {macs_per_cycle: {'*': 1, fp8: 4096}}": "pe_gemm.macs_per_cycle: names the type 'fp8'",
    "pe_gemm: {macs_per_cycle: {'*': 0}}": (
        "pe_gemm.macs_per_cycle: has '*' set to 0, expected a number above 0"
    ),
    "pe_gemm: {phases: {lofi: 0}}": "pe_gemm.phases: has 'lofi' set to 0, expected an integer from 1 to 1000",
    "pe_gemm: {phases: {a b: 1}}": "pe_gemm.phases: has the precision 'a b', expected a name such as hifi2",
    "pe_gemm: {subblock: {cycles: 3}}": ("pe_gemm.subblock: has cycles 3 without tiles, expected both"),
    "pe_gemm: {subblock: {tiles: 8}}": (
        "pe_gemm.subblock.tiles: is set without cycles or operand_bytes_per_cycle, expected one of these"
    ),
    "pe_gemm: {dataflow: os, phases: {lofi: 1}}": (
        "pe_gemm.phases: is set with dataflow os, expected it left out: a block takes its folds"
    ),
    "pe_gemm: {smallest: {m: 64}}": (
        "pe_gemm.smallest: has m 64 and macs 0, expected both above 0, or nothing"
    ),
    "pe_gemm: {smallest: {macs: 64}}": (
        "pe_gemm.smallest: has m 0 and macs 64, expected both above 0, or nothing"
    ),
    "pe_gemm: {smallest: {m: 64, macs: 5e3}}": (
        "pe_gemm.smallest.macs: is 5000, expected at most macs_per_cycle = 4096"
    ),
    f"pe_math: {{cycles: {{exp: [1, {10**400}]}}}}": f"pe_math.cycles.exp.1: is 1{'0' * 56}",
    "pe_gemm: {dataflow: os, fixed_cycles: 3}": (
        "pe_gemm.fixed_cycles: is set with dataflow os, expected it left out: a block takes its folds"
    ),
    "clock: {ghz: 1.5, loaded_ghz: 1.6}": "clock.loaded_ghz: is 1.6, expected at most ghz = 1.5",
    "clock: {loaded_ghz: 1.6}": "clock.loaded_ghz: is 1.6, expected at most ghz = 0",
    "clock: {ghz: 1.5}, pe_math: {clock_ghz: 1.4}": (
        "pe_math.clock_ghz: is 1.4 beside pe.clock.ghz = 1.5, expected one of the two"
    ),
    "pe_dma: {issue: {slot: pe_math}}": (
        "pe_dma.issue.slot: is set without load_cycles or bytes_per_cycle, expected one of these beside it"
    ),
    "operands: register": "operands: is the text 'register', expected 'tcm' or 'registers'",
}


@pytest.mark.parametrize("keys", REFUSED)
def test_what_does_not_fit_is_refused_with_its_line(keys: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(f"name: t\npe: {{{keys}}}\n", "f.yaml")
    assert str(caught.value).startswith(f"f.yaml:2: pe.{REFUSED[keys]}")
    assert REFUSED[keys] or PAIR in str(caught.value)


def test_a_pe_of_a_block_takes_the_same_keys() -> None:
    """Each block ``pe`` has its own, beside another with those of the default machine."""
    own = {
        "pe_gemm": {
            "smallest": {"m": 64, "macs": 289.0},
            "fixed_cycles": 6.0,
            "macs_per_cycle": {"*": 512, "i8": 1024},
            "phases": {"low": 1, "high": 4},
            "clock_ghz": 1.5,
        },
        "pe_math": {"cycles": {"exp": [46, 18]}, "reduce": {"within": [50, 20]}, "clock_ghz": 2.0},
        "pe_dma": {"issue": {"load_cycles": 92.0, "slot": "pe_math"}},
    }

    def made(keys: dict[str, object]) -> kb.Topology:
        pes = kb.Topology("pes")
        pes.part("own", block="pe", **keys)
        pes.part("usual", block="pe")
        pes.connect(pair=["own.pe_dma", "usual.pe_dma"], wire={"gbs": 1, "delay_ns": 1})
        return pes

    graph = made(own).compile()
    math = graph.node("own.pe_math").properties
    assert (math["cycles"], math["reduce_within"], math["clock_ghz"]) == ("exp=46.0:18.0", "50.0:20.0", 2.0)
    gemm = graph.node("own.pe_gemm").properties
    assert (gemm["smallest_macs"], gemm["macs_per_cycle"], gemm["rates"]) == (289.0, 512.0, "i8=1024.0")
    assert (gemm["phases"], gemm["clock_ghz"]) == ("high=4 low=1", 1.5)
    assert graph.node("own.pe_dma").properties["issue_slot"] == "pe_math"
    assert "rates" not in graph.node("usual.pe_gemm").properties
    with pytest.raises(ConfigError, match="has m 64 and macs 0, expected both above 0"):
        made({"pe_gemm": {"smallest": {"m": 64}}}).compile()
