"""Block floating point and packed integers: sizes are those of whole blocks; values are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.engine.program.dataflows import MatrixEngine
from kernbench.errors import KernBenchError, UsageError
from kernbench.support import dtypes
from tests.queue_runs import Rig

ONE = {"system.sips": 1, "sip.cube_mesh": {"w": 1, "h": 1}, "cube.pes.count": 1}


def test_a_tile_of_32_has_the_bytes_of_its_elements_and_exponents() -> None:
    assert [dtypes.nbytes((32, 32), name) for name in ("bfp8", "bfp4", "i4")] == [1088, 576, 512]
    with pytest.raises(
        UsageError, match=r"bfp8 of shape \(32, 24\): the last extent must be a multiple of 16"
    ):
        dtypes.nbytes((32, 24), "bfp8")


def test_operands_are_loaded_at_their_bytes() -> None:
    engine = MatrixEngine("tile", 32, 32, (32, 32, 32), 1e9, operand_rate=64.0)
    cycles = [engine.cycles((32, 32, 32), dtype=name) for name in ("bf16", "bfp8", "bfp4")]
    assert cycles == [2 * bytes_ / 64 for bytes_ in (2048, 1088, 576)]


@pytest.mark.parametrize(("dtype", "nbytes"), [("bfp8", 1088), ("bfp4", 576), ("i4", 512), ("i8", 1024)])
def test_loads_and_products_of_a_kernel(dtype: str, nbytes: int) -> None:
    rig = Rig(ONE, verify=False)
    x = rig.torch.empty((64, 32), dtype=dtype)
    seen: list[Any] = []

    def body(base: Any, tl: Any) -> None:
        a, b = (tl.load(base + at, (32, 32), dtype) for at in (0, nbytes))
        total = tl.dot(a, b, out_dtype="i32" if dtype in ("i4", "i8") else "f32")
        part = tl.load(base, (2, 16), dtype, strides=(32, 1))
        seen.extend((a.nbytes, part.nbytes, tl.dot(a, b, acc=total).dtype))

    rig.run([body], x)
    assert x.nbytes == 2 * nbytes
    assert [op.nbytes for op in rig.seen.named("dma_read")] == [nbytes, nbytes, nbytes // 32]
    assert seen == [nbytes, nbytes // 32, "i32" if dtype in ("i4", "i8") else "f32"]
    rig.close()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda tl, x: tl.load(x, (32, 32), "bfp8") + 1.0, "only tl.dot takes bfp8"),
        (lambda tl, x: tl.load(x, (16, 16), "bfp8", strides=(40, 1)), "rows of whole 16 elements"),
        (lambda tl, x: tl.load(x, (1, 32), "bfp8", mask=tl.zeros((1, 32), "i1")), "take no mask"),
        (lambda tl, x: tl.load(int(x), (32, 8), "bfp8"), "must be a multiple of 16"),
    ],
)
def test_what_is_not_modelled_is_refused(call: Any, told: str) -> None:
    rig = Rig(ONE, verify=False)
    x = rig.torch.empty((32, 32), dtype="bfp8")
    with pytest.raises(KernBenchError, match=told):
        rig.run([lambda base, tl: call(tl, base)], x)
    rig.close()


def test_values_are_refused_by_name() -> None:
    rig = Rig(ONE)
    with pytest.raises(UsageError, match="bfp4 has sizes and times here, but no values"):
        rig.torch.from_numpy(np.ones((16, 16), np.float32), dtype="bfp4")
    rig.close()
