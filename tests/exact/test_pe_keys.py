"""Keys of a PE that are off by default: each takes the time that is counted here by hand."""

from __future__ import annotations

from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import LaunchError
from kernbench.topology.pe_spec import OFF
from tests.exact.test_pe_pipeline import HALF, PORT_GBS, TILE_NS, Bench


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
