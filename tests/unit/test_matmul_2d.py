"""matmul-2d: the product is right, multicast pays, and what does not fit the grid is refused."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.errors import KernBenchError


def latency(topology: str = "default", bench: str = "matmul-2d", **params: object) -> float:
    return kb.run(bench, topology, params=params, store="memory:", trace=False).latency_ns


def tuned(depth: int, down: int = 1, ahead: int = 1) -> dict[str, object]:
    return {f"matmul_2d.{key}": value for key, value in
            {"depth": depth, "down": down, "across": 1, "ahead": ahead}.items()}  # fmt: skip


@pytest.mark.daily(but=("n150-params3", "default-params0"))
@pytest.mark.parametrize(
    ("topology", "params"),
    [
        ("default", {"cast": "unicast"}),
        ("default", {"memory": "hbm", "dtype": "f32", **tuned(64, 2, 2)}),
        ("minimal", {"m": 32, "k": 64, "n": 32}),
        ("n150", {"m": 64, "k": 256, "n": 64, "precision": "hifi2"}),
    ],
)
def test_it_multiplies(topology: str, params: dict[str, object]) -> None:
    done = kb.run("matmul-2d", topology, True, params=params, store="memory:")
    assert done.verdict == "yes"


@pytest.mark.slow
def test_multicast_beats_messages_and_operands_that_stay_apart() -> None:
    """On the default machine also gemm-multi-pe, of which each PE has its own copy of a."""
    size = {"m": 512, "k": 512, "n": 512}
    near = {**size, "slot_bytes": 65536, **tuned(128, ahead=2)}
    ours = latency(**near)
    assert ours < latency(**near, cast="unicast")
    assert ours < min(latency(bench="gemm-multi-pe", **size, block=rows) for rows in (32, 64, 128))


@pytest.mark.slow
def test_on_a_mesh_of_64_cores_messages_take_twice_as_long() -> None:
    size = {"m": 512, "k": 512, "n": 512, "slots": 1, "dtype": "bf16", "precision": "hifi4", **tuned(64)}
    assert latency("n150", **size) * 2 < latency("n150", **size, cast="unicast")


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"m": 63}, "m=63 is not a multiple of 2, as 2 x 4 PEs need"),
        ({"k": 130}, "k=130 is not a multiple of 4, as 2 x 4 PEs need"),
        (tuned(128), "k=256 is not a multiple of 512, as blocks need"),
        ({"slot_bytes": 1 << 20}, "4 rings of 2 slots of 1048576 bytes"),
    ],
)
def test_what_does_not_fit_is_refused(params: dict[str, object], told: str) -> None:
    with pytest.raises(KernBenchError, match=told):
        latency(**params)
