"""``torch.distributed`` against numpy, on simulated machines of many shapes, with the invariants on."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernbench.host import DPPolicy
from tests.ranked_machines import machine, run_ranks

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32}
OPS = ("sum", "max", "min", "prod", "avg")
ONE = (1, 1)


def values(rank: int, shape: Any, dtype: str, op: str = "sum") -> np.ndarray:
    """Small integers: sums and products of them are exact in every type."""
    rng = np.random.default_rng(rank)
    low, high = (1, 3) if op == "prod" else (-8, 9)
    drawn = rng.integers(low, high, shape)
    if op == "prod" and rank > 5:  # 2 ** 6 at most, whatever the number of ranks
        drawn = np.ones(shape)
    return drawn.astype(TYPES[dtype])


def reduced(op: str, parts: list[np.ndarray]) -> np.ndarray:
    """The reference, computed in f64 (or i64) and rounded once."""
    wide = np.stack(parts).astype(np.int64 if parts[0].dtype == np.int32 else np.float64)
    if op == "avg":
        total = wide.sum(0)
        mean = np.trunc(total / len(parts)) if parts[0].dtype == np.int32 else total / len(parts)
        return mean.astype(parts[0].dtype)
    function = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[op]
    return function(wide, axis=0).astype(parts[0].dtype)


@pytest.mark.daily(
    "*-f32-sum",
    "ring-f16-*",
    "lrab_hierarchical_allreduce-bf16-*",
    "recursive_doubling-i32-*",
)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("algorithm", ["ring", "recursive_doubling", "lrab_hierarchical_allreduce"])
def test_ops_and_types(op: str, dtype: str, algorithm: str) -> None:
    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (3, 5), dtype, op), dtype=dtype)
        assert torch.distributed.all_reduce(x, op=op) is None
        return x.numpy()

    results, _ = run_ranks(machine(3), program, config={"collectives": {"all_reduce": algorithm}})
    expected = reduced(op, [values(rank, (3, 5), dtype, op) for rank in range(3)])
    inexact = op == "avg" and dtype != "i32"  # each rank's part of the mean is rounded
    tolerance = {"f16": 4e-3, "bf16": 4e-2}.get(dtype, 1e-6) if inexact else 0
    for result in results:
        wide = np.asarray(result, np.float64), np.asarray(expected, np.float64)
        np.testing.assert_allclose(*wide, rtol=0, atol=8 * tolerance)


MACHINES = [
    (1, "ring_1d", None), (2, "ring_1d", None), (3, "ring_1d", None), (6, "ring_1d", None),
    (6, "torus_2d", (3, 2)), (6, "torus_2d", (2, 3)), (16, "torus_2d", (4, 4)),
    (3, "torus_2d", (3, 1)), (2, "torus_2d", (1, 2)), (6, "mesh_2d_no_wrap", (3, 2)),
    (6, "mesh_2d_no_wrap", (2, 3)), (16, "mesh_2d_no_wrap", (4, 4)), (5, "mesh_2d_no_wrap", (5, 1)),
    *(pytest.param(sips, "ring_1d", None, marks=pytest.mark.slow) for sips in (16, 20)),
]  # fmt: skip


@pytest.mark.daily(
    "6-ring_1d-None",
    "6-torus_2d-grid4",
    "5-mesh_2d_no_wrap-grid12",
    "1-ring_1d-None",
    "3-torus_2d-grid7",
)
@pytest.mark.parametrize(("sips", "pattern", "grid"), MACHINES)
def test_shapes_of_machines(sips: int, pattern: str, grid: Any) -> None:
    n = 37

    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (n,), "f32"))
        torch.distributed.all_reduce(x)
        return x.numpy()

    results, _ = run_ranks(machine(sips, pattern, grid), program)
    expected = reduced("sum", [values(rank, (n,), "f32") for rank in range(sips)])
    for result in results:
        np.testing.assert_array_equal(result, expected)


POLICIES = [
    None,
    DPPolicy("row_wise", "row_wise"),
    DPPolicy("column_wise", "row_wise"),
    DPPolicy("replicate", "column_wise"),
    DPPolicy("tiled_row_major", "replicate"),
    DPPolicy("replicate", "replicate", num_cubes=1),
]


PLACED = [(p, "va") for p in POLICIES] + [(p, "pa") for p in POLICIES[:3]] + [(POLICIES[1], "la")]


@pytest.mark.daily("*column_wise*row_wise*-pa", "*tiled_row_major*", "None-va")
@pytest.mark.parametrize(("policy", "model"), PLACED, ids=str)
def test_any_placement_within_a_sip_gives_the_same_result(policy: Any, model: str) -> None:
    graph = machine(2, cubes=(2, 2), pes=2, **{"system.address_model": model})

    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (8, 8), "f32"), dp=policy)
        torch.distributed.all_reduce(x)
        torch.check("sum", x, lambda: values(0, (8, 8), "f32") + values(1, (8, 8), "f32"))
        return x.numpy(), x

    results, torch = run_ranks(graph, program)
    for result, tensor in results:
        np.testing.assert_array_equal(result, values(0, (8, 8), "f32") + values(1, (8, 8), "f32"))
        # Every copy within the SIP as well.
        for shard in tensor.shards:
            if shard.shape == (8, 8):
                part = torch.storage.peek_box([shard], shard.index, "f32", "x")
                np.testing.assert_array_equal(part, result)


CUBES = [
    ((2, 2), 1, "ring_1d", None, "sum"),
    ((3, 1), 3, "ring_1d", None, "avg"),
    ((1, 3), 4, "torus_2d", (2, 2), "max"),
    ((3, 3), 2, "ring_1d", None, "sum"),
    ((2, 1), 6, "mesh_2d_no_wrap", (3, 2), "sum"),
]


@pytest.mark.daily("cubes1-*", "cubes4-*")
@pytest.mark.parametrize(("cubes", "sips", "pattern", "grid", "op"), CUBES)
def test_group_cubes(cubes: tuple[int, int], sips: int, pattern: str, grid: Any, op: str) -> None:
    rows = cubes[0] * cubes[1]

    def program(rank: int, torch: Any) -> Any:
        dist = torch.distributed
        x = torch.from_numpy(values(rank, (rows, 10), "f32"), dp=DPPolicy("row_wise", num_pes=1))
        dist.all_reduce(x, op, group=dist.group.CUBES)
        return x.numpy()

    results, torch = run_ranks(machine(sips, pattern, grid, cubes), program)
    every = np.concatenate([values(rank, (rows, 10), "f32") for rank in range(sips)])
    expected = reduced(op, list(every))
    for result in results:
        np.testing.assert_allclose(result, np.broadcast_to(expected, (rows, 10)), rtol=0, atol=2e-6)
    assert {handle.name for handle in torch.launches} == {"all_reduce/lrab_hierarchical_allreduce"}


def test_group_pes() -> None:
    def program(rank: int, torch: Any) -> Any:
        dist = torch.distributed
        x = torch.from_numpy(values(rank, (16, 6), "i32"), dp=DPPolicy("row_wise", "row_wise"))
        dist.all_reduce(x, group=dist.group.PES)
        return x.numpy()

    results, torch = run_ranks(machine(2, cubes=(2, 2), pes=4), program)
    expected = sum(values(rank, (16, 6), "i32").sum(0) for rank in range(2))
    for result in results:
        np.testing.assert_array_equal(result, np.broadcast_to(expected, (16, 6)))
    assert {handle.name for handle in torch.launches} == {"all_reduce/three_level"}


COLUMNS = DPPolicy("column_wise", "replicate")


@pytest.mark.daily(but=("3-None",))
@pytest.mark.parametrize(
    ("sips", "policy"),
    [(1, None), (2, COLUMNS), (3, None), pytest.param(6, None, marks=pytest.mark.slow)],
    ids=str,
)
def test_every_collective(sips: int, policy: Any) -> None:
    root = sips - 1
    shape = (2, 6)

    def program(rank: int, torch: Any) -> None:
        dist = torch.distributed

        def make(seed: int) -> Any:
            return torch.from_numpy(values(seed, shape, "f32"), dp=policy)

        def blank(*sizes: int) -> Any:
            return torch.zeros(sizes or shape, dtype="f32", dp=policy)

        mine = values(rank, shape, "f32")
        world = [values(r, shape, "f32") for r in range(sips)]

        outputs = [blank() for _ in range(sips)]
        dist.all_gather(outputs, make(rank))
        np.testing.assert_array_equal([x.numpy() for x in outputs], world)

        whole = blank(2 * sips, 6)
        dist.all_gather_into_tensor(whole, make(rank))
        np.testing.assert_array_equal(whole.numpy(), np.concatenate(world))

        output = blank()
        dist.reduce_scatter(output, [make(10 * rank + r) for r in range(sips)], op="max")
        expected = reduced("max", [values(10 * r + rank, shape, "f32") for r in range(sips)])
        np.testing.assert_array_equal(output.numpy(), expected)

        output = blank()
        everything = np.concatenate([values(10 * rank + r, shape, "f32") for r in range(sips)])
        dist.reduce_scatter_tensor(output, torch.from_numpy(everything, dp=policy), op=dist.ReduceOp.SUM)
        expected = reduced("sum", [values(10 * r + rank, shape, "f32") for r in range(sips)])
        np.testing.assert_array_equal(output.numpy(), expected)

        x = make(rank)
        dist.broadcast(x, src=root)
        np.testing.assert_array_equal(x.numpy(), world[root])

        x = make(rank)
        dist.reduce(x, dst=root, op="prod")
        expected = reduced("prod", world) if rank == root else mine
        np.testing.assert_array_equal(x.numpy(), expected)

        outputs = [blank() for _ in range(sips)]
        dist.gather(make(rank), outputs if rank == root else None, dst=root)
        expected = world if rank == root else [np.zeros(shape)] * sips
        np.testing.assert_array_equal([x.numpy() for x in outputs], expected)

        x = blank()
        dist.scatter(x, [make(r + 1) for r in range(sips)] if rank == root else None, src=root)
        np.testing.assert_array_equal(x.numpy(), values(rank + 1, shape, "f32"))

        outputs = [blank() for _ in range(sips)]
        dist.all_to_all(outputs, [make(10 * rank + r) for r in range(sips)])
        expected = [values(10 * r + rank, shape, "f32") for r in range(sips)]
        np.testing.assert_array_equal([x.numpy() for x in outputs], expected)

        dist.barrier()
        if sips > 1:
            x, to, back = blank(), (rank + 1) % sips, (rank - 1) % sips
            sent = dist.isend(make(rank), to)
            received = dist.irecv(x, back)
            assert sent.wait()
            assert received.wait()
            assert received.is_completed()
            np.testing.assert_array_equal(x.numpy(), world[back])

    run_ranks(machine(sips, cubes=(2, 1), pes=1), program)


def test_groups_of_some_ranks_at_once() -> None:
    def program(rank: int, torch: Any) -> Any:
        dist = torch.distributed
        halves = [dist.new_group([0, 2]), dist.new_group([1, 3])]
        mine = halves[rank % 2]
        assert (dist.get_rank(mine), dist.get_world_size(mine)) == (rank // 2, 2)
        assert (dist.get_rank(halves[1 - rank % 2]), dist.get_world_size(halves[1 - rank % 2])) == (-1, -1)
        x = torch.from_numpy(values(rank, (20,), "f32"))
        dist.all_reduce(x, group=mine)
        dist.broadcast(x, src=rank % 2, group=mine)
        everyone = torch.from_numpy(values(rank, (20,), "f32"))
        dist.all_reduce(everyone)
        return x.numpy(), everyone.numpy()

    results, _ = run_ranks(machine(4), program)
    for rank, (half, everyone) in enumerate(results):
        expected = values(rank, (20,), "f32") + values((rank + 2) % 4, (20,), "f32")
        np.testing.assert_array_equal(half, expected)
        np.testing.assert_array_equal(everyone, reduced("sum", [values(r, (20,), "f32") for r in range(4)]))


def test_all_to_all_of_different_sizes() -> None:
    def program(rank: int, torch: Any) -> None:
        inputs = [torch.full((1 + rank + 2 * other,), 10 * rank + other, dtype="f32") for other in range(3)]
        outputs = [torch.zeros(1 + other + 2 * rank, dtype="f32") for other in range(3)]
        torch.distributed.all_to_all(outputs, inputs)
        for other, output in enumerate(outputs):
            np.testing.assert_array_equal(output.numpy(), np.full(1 + other + 2 * rank, 10 * other + rank))

    run_ranks(machine(3), program)


def test_an_asynchronous_collective_returns_at_once() -> None:
    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (4000,), "f32"))
        torch.distributed.all_reduce(x, op="max")  # sets the queues up
        x.write(values(rank, (4000,), "f32"))
        x.settle_writes()
        begun = torch.now
        work = torch.distributed.all_reduce(x, async_op=True)
        assert torch.now == begun
        assert not work.is_completed()
        torch.zeros(4).numpy(), work.wait()
        assert work.is_completed()
        assert torch.now > begun + 500
        return x.numpy()

    results, _ = run_ranks(machine(2), program)
    for result in results:
        np.testing.assert_array_equal(result, values(0, (4000,), "f32") + values(1, (4000,), "f32"))


def test_a_large_tensor_is_cut_so_that_it_fits_the_scratch() -> None:
    graph = machine(2, **{"pe.pe_tcm.scratch_bytes": 64 * 1024})

    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (60_001,), "f32"))
        torch.distributed.all_reduce(x)
        return x.numpy()

    results, _ = run_ranks(graph, program, config={"collectives": {"all_reduce": "ring"}})
    for result in results:
        np.testing.assert_array_equal(result, values(0, (60_001,), "f32") + values(1, (60_001,), "f32"))


@pytest.mark.parametrize("kind", ["tcm", "sram", "hbm"])
def test_queues_in_every_memory(kind: str) -> None:
    def program(rank: int, torch: Any) -> Any:
        x = torch.from_numpy(values(rank, (3000,), "f32"))
        torch.distributed.all_reduce(x)
        return x.numpy()

    config = {"defaults": {"buffer_kind": kind, "slots": 2, "slot_bytes": 1024}}
    results, _ = run_ranks(machine(3), program, config=config)
    for result in results:
        np.testing.assert_array_equal(result, reduced("sum", [values(r, (3000,), "f32") for r in range(3)]))
