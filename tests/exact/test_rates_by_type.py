"""What a product takes by type and precision, and by how fast its operands come: counted here by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kernbench.errors import LaunchError
from tests.exact.test_pe_keys import REGISTERS, near
from tests.exact.test_pe_pipeline import Bench

RATES: dict[str, Any] = {
    "tile": {"m": 32, "k": 32, "n": 32},
    "macs_per_cycle": {"*": 2048, "f8e4m3": 4096, "i8": 8192},
    "phases": {"lofi": 1, "hifi2": 2, "hifi4": 4},
}


def gemm_ns(keys: dict[str, Any], m: int, k: int, n: int, dtype: str, precision: str | None) -> float:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        tl.dot(tl.zeros((m, k), dtype), tl.zeros((k, n), dtype), precision=precision)

    _, ops = Bench(**REGISTERS, pe__pe_gemm=keys).run(kernel)
    (product,) = (op for op in ops if op.stage == "GEMM")
    return product.t_end - product.t_start


@pytest.mark.daily("f32-16", "i8-4")
@pytest.mark.parametrize(("dtype", "cycles"), [("f16", 16), ("f32", 16), ("f8e4m3", 8), ("i8", 4)])
def test_a_type_has_its_rate_and_a_precision_its_phases(dtype: str, cycles: int) -> None:
    for precision, phases in (None, 1), ("lofi", 1), ("hifi2", 2), ("hifi4", 4):
        assert gemm_ns(RATES, 64, 96, 33, dtype, precision) == near(2 * 3 * 2 * cycles * phases)


def test_small_blocks_of_a_faster_type_are_faster_as_well() -> None:
    small = {**RATES, "smallest": {"m": 16, "fixed": 10, "macs": 256}}
    assert gemm_ns(small, 8, 64, 64, "f16", None) == near(10 + 8 * 64 * 64 / 256)
    assert gemm_ns(small, 8, 64, 64, "f8e4m3", "hifi2") == near(10 + 2 * 8 * 64 * 64 / 512)


@pytest.mark.daily("7-1-*", "1-16-*")
@pytest.mark.parametrize(
    ("m", "n", "tiles", "height", "width"),
    [(2, 4, 8, 2, 4), (4, 2, 8, 4, 2), (4, 4, 8, 4, 2), (1, 16, 8, 1, 8), (7, 1, 8, 7, 1), (5, 5, 8, 5, 1)],
)
def test_tiles_of_the_shorter_side_of_a_subblock_are_loaded_once(
    m: int, n: int, tiles: int, height: int, width: int
) -> None:
    """In a step along K a group keeps the tiles of its shorter side; each product loads one of the other."""
    keys = {**RATES, "operand_bytes_per_cycle": 64, "subblock": {"tiles": tiles, "cycles": 200}}
    k, products, groups = 3, m * n * 3, m * n // (height * width)
    loaded = groups * k * (height * width + min(height, width))  # tiles of operands
    for precision, cycles in (None, 16), ("hifi4", 64):
        expected = max(products * cycles, loaded * 2048 / 64) + groups * 200
        assert gemm_ns(keys, 32 * m, 32 * k, 32 * n, "f16", precision) == near(expected)


def test_without_subblocks_each_product_loads_both_operands() -> None:
    keys = {**RATES, "operand_bytes_per_cycle": 64}
    assert gemm_ns(keys, 64, 32, 96, "f16", None) == near(2 * 3 * 2 * 2048 / 64)


def test_composites_have_the_rate_of_their_type() -> None:
    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        x, y = tl.zeros((64, 64), "f8e4m3"), tl.zeros((64, 64), "f8e4m3")
        tl.wait(tl.composite(op="gemm", a=x, b=y, out_ptr=out))

    _, ops = Bench(**REGISTERS, pe__pe_gemm=RATES).run(kernel)
    assert [op.t_end - op.t_start for op in ops if op.stage == "GEMM"] == [near(8)] * 8


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "precision 'hifi3' is not in the machine's pe_gemm.phases; leave it out: it has one for all"),
        (RATES, "precision 'hifi3' is not in the machine's pe_gemm.phases; did you mean 'hifi"),
    ],
)
def test_a_precision_that_the_machine_lacks_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(LaunchError) as caught:
        gemm_ns(keys, 32, 32, 32, "f16", "hifi3")
    assert said in str(caught.value)
