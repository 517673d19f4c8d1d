"""Every shipped algorithm against numpy, interpreted without hardware."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.hardware.topology.neighbours import MachineShape, pairs
from kernbench.host.collectives.algorithm import Algorithm, Call, find
from kernbench.host.collectives.meshes import Mesh, line
from kernbench.host.collectives.steps import Limits
from kernbench.host.placement import DPPolicy, place
from kernbench.language import Pointer, interpret
from tests.examples import examples

LIMITS = Limits(piece=64, window=4, held=256)
NUMPY = {
    "sum": lambda x: x.sum(0),
    "max": lambda x: x.max(0),
    "min": lambda x: x.min(0),
    "prod": lambda x: x.prod(0),
    "avg": lambda x: x.mean(0),
}


OVER_RANKS = ["ring", "recursive_doubling", "halving_doubling", "tree"]


def algorithm(name: str, collective: str) -> Algorithm:
    return next(one for one in find(name) if one.collective == collective)


def run(
    used: Algorithm,
    arrays: list[list[np.ndarray]],
    *,
    op: str = "",
    root: int = 0,
    limits: Limits = LIMITS,
    shape: MachineShape | None = None,
    over: str = "ranks",
    grid: tuple[int, int] = (1, 1),
    options: dict[str, Any] | None = None,
) -> list[list[np.ndarray]]:
    """``arrays[rank]``: that rank's tensors in the kernel's order, each (cubes, PEs, n); what they become."""
    ranks, (cubes, pes) = len(arrays), grid
    shape = shape or MachineShape(ranks, (cubes, 1), pes)
    lanes = tuple((cube, pe) for cube in range(cubes) for pe in range(pes))
    kinds = {"cubes": DPPolicy("row_wise", "replicate"), "pes": DPPolicy("row_wise", "row_wise")}
    tensor = SimpleNamespace(
        name="x",
        shards=place(kinds[over], (cubes * pes, 4), "f32", sip=0, cubes=cubes, pes=pes)
        if over in kinds
        else (),
    )
    sips = tuple(range(ranks))
    first = Call(used.collective, (tensor,), op, 0, root, sips, over, lanes, shape, limits, "", options or {})
    calls = [replace(first, rank=rank, options=dict(first.options)) for rank in range(ranks)]
    assert used.refusal(first) is None
    tables = [used.neighbours(call) for call in calls]
    if used.collective != "send":
        assert all(table == tables[0] for table in tables)
    pairs(tables[0])
    # Tensors that a rank lacks (the list of a root) are there for the others too, and must stay as they are.
    count = max(map(len, arrays))
    full = [[*mine, *(np.full_like(mine[0], 77) for _ in range(count - len(mine)))] for mine in arrays]
    stacked = [np.ascontiguousarray(np.stack([mine[i] for mine in full])) for i in range(count)]

    def kernel(*tensors: Any, tl: Any) -> None:
        rank, cube, pe = tl.program_id(2), tl.program_id(1), tl.program_id(0)
        local = []
        for i in range(len(arrays[rank])):
            sizes = stacked[i].shape[3:]
            index = (rank * cubes + cube) * pes + pe
            at = int(tensors[i]) + index * math.prod(sizes) * stacked[i].itemsize
            local.append(Pointer(at, f"t{i}", sizes, tensors[i].dtype, at, sizes))
        used.kernel(*used.arguments(calls[rank]), *local, tl=tl)

    interpret(
        kernel,
        *stacked,
        grid=(pes, cubes, ranks),
        queues=tables[0],
        slots=limits.window,
        slot_bytes=limits.piece,
    )
    return [[stacked[i][rank] for i in range(len(arrays[rank]))] for rank in range(ranks)]


def random(ranks: int, n: int, dtype: Any = np.float32, grid: tuple[int, int] = (1, 1)) -> list[np.ndarray]:
    rng = np.random.default_rng(ranks * 1000 + n)
    return [rng.integers(-8, 9, (*grid, n)).astype(dtype) for _ in range(ranks)]


SIZES = [(1, 5), (2, 203), (3, 1), (6, 5), (16, 50)]
OPS = [*(("sum", *size) for size in SIZES), *((op, 6, 50) for op in NUMPY)]


@pytest.mark.parametrize("name", [*OVER_RANKS, "lrab_hierarchical_allreduce"])
@pytest.mark.parametrize(("op", "ranks", "n"), OPS)
def test_all_reduce(name: str, op: str, ranks: int, n: int) -> None:
    x = random(ranks, n)
    results = run(algorithm(name, "all_reduce"), [[one] for one in x], op=op)
    expected = NUMPY[op](np.stack(x))
    for (result,) in results:
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=4e-6)
        np.testing.assert_array_equal(result, results[0][0])


@examples(60)
@given(
    name=st.sampled_from(OVER_RANKS),
    ranks=st.integers(1, 17),
    n=st.integers(1, 150),
    piece=st.integers(1, 48),
    window=st.integers(1, 5),
    held=st.integers(1, 100),
)
def test_all_reduce_for_any_sizes(name: str, ranks: int, n: int, piece: int, window: int, held: int) -> None:
    x = random(ranks, n, np.int32)
    # A piece has at least one element, so a slot must hold one.
    limits = Limits(max(4, piece), window, held)
    results = run(algorithm(name, "all_reduce"), [[one] for one in x], op="sum", limits=limits)
    for (result,) in results:
        np.testing.assert_array_equal(result, np.stack(x).sum(0))


MEANS = [("ring", "all_reduce", {}), ("ring", "all_reduce", {"by_steps": True}),
         ("recursive_doubling", "all_reduce", {}), ("halving_doubling", "all_reduce", {}),
         ("tree", "all_reduce", {}), ("lrab_hierarchical_allreduce", "all_reduce", {}),
         ("ring", "reduce_scatter", {}), ("chain", "reduce", {}), ("tree", "reduce", {})]  # fmt: skip


@pytest.mark.parametrize(("name", "collective", "options"), MEANS)
@pytest.mark.parametrize("ranks", [1, 2, 5, 6])
def test_means_are_scaled_first_and_those_of_integers_last(
    name: str, collective: str, options: dict[str, Any], ranks: int
) -> None:
    """Six times 40000 is infinite in f16, and their mean is not; the thirds of 1 and 2 are 1 together."""
    used = algorithm(name, collective)
    blank = [np.zeros((1, 1, 8), np.float16)] if collective == "reduce_scatter" else []
    parts = ranks if blank else 1
    large = [[*blank, *[np.full((1, 1, 8), 40000, np.float16)] * parts] for _ in range(ranks)]
    np.testing.assert_allclose(run(used, large, op="avg", options=options)[0][0], 40000, rtol=4e-3)
    whole = [[one.astype(np.int32) * 0 - 1 - rank for one in mine] for rank, mine in enumerate(large)]
    expected = -(sum(range(1, ranks + 1)) // ranks)
    np.testing.assert_array_equal(run(used, whole, op="avg", options=options)[0][0], expected)


@pytest.mark.parametrize("op", ["max", "min"])
def test_a_number_wins_over_nan(op: str) -> None:
    x = random(3, 8)
    x[1][..., ::2] = np.nan
    results = run(algorithm("ring", "all_reduce"), [[one] for one in x], op=op)
    expected = {"max": np.nanmax, "min": np.nanmin}[op](np.stack(x), axis=0)
    for (result,) in results:
        np.testing.assert_array_equal(result, expected)


GRIDS = [("ring_1d", 6, (1, 1)), ("torus_2d", 6, (3, 2)), ("torus_2d", 6, (2, 3)), ("torus_2d", 16, (4, 4)),
         ("torus_2d", 3, (3, 1)), ("torus_2d", 9, (3, 3)), ("mesh_2d_no_wrap", 6, (3, 2)),
         ("mesh_2d_no_wrap", 6, (2, 3)), ("mesh_2d_no_wrap", 16, (4, 4)), ("mesh_2d_no_wrap", 5, (1, 5)),
         ("mesh_2d_no_wrap", 1, (1, 1)), ("torus_2d", 2, (2, 1))]  # fmt: skip


@pytest.mark.daily("mesh3-*-6-*", "mesh3-*-1-*", "mesh3-*-2-*", "mesh1-avg-ring_1d-*")
@pytest.mark.parametrize(("pattern", "ranks", "sip_grid"), GRIDS)
@pytest.mark.parametrize(("mesh", "op"), [((4, 4), "sum"), ((3, 2), "avg"), ((1, 5), "max"), ((2, 1), "sum")])
def test_the_sum_over_cubes(pattern: str, ranks: int, sip_grid: Any, mesh: tuple[int, int], op: str) -> None:
    cubes = mesh[0] * mesh[1]
    shape = MachineShape(ranks, mesh, 1, pattern, sip_grid)
    x = random(ranks, 40, grid=(cubes, 1))
    results = run(
        algorithm("lrab_hierarchical_allreduce", "all_reduce"),
        [[one] for one in x], op=op, over="cubes", grid=(cubes, 1), shape=shape,
    )  # fmt: skip
    expected = NUMPY[op](np.stack(x).reshape(ranks * cubes, 40))
    for (result,) in results:
        np.testing.assert_allclose(result, np.broadcast_to(expected, result.shape), rtol=1e-6, atol=4e-6)


@pytest.mark.daily("3-mesh2-ring_1d-*")
@pytest.mark.parametrize(("pattern", "ranks", "sip_grid"), GRIDS[:3] + GRIDS[6:8])
@pytest.mark.parametrize(("pes", "mesh"), [(1, (2, 2)), (2, (3, 1)), (3, (2, 2)), (8, (2, 1))])
def test_the_sum_over_all_pes(
    pattern: str, ranks: int, sip_grid: Any, pes: int, mesh: tuple[int, int]
) -> None:
    cubes = mesh[0] * mesh[1]
    shape = MachineShape(ranks, mesh, pes, pattern, sip_grid)
    x = random(ranks, 20, np.int32, grid=(cubes, pes))
    three_level = algorithm("three_level", "all_reduce")
    called = {"over": "pes", "grid": (cubes, pes), "shape": shape}
    expected = np.stack(x).reshape(-1, 20).sum(0)
    for (result,) in run(three_level, [[one] for one in x], op="sum", **called):
        np.testing.assert_array_equal(result, np.broadcast_to(expected, result.shape))
    large = [np.full_like(one, 40000, np.float16) for one in x]
    for (result,) in run(three_level, [[one] for one in large], op="avg", **called):
        np.testing.assert_allclose(result, 40000, rtol=4e-2)


@pytest.mark.parametrize(("ranks", "n"), [(1, 7), (2, 203), (3, 1), (6, 64), (9, 40)])
class TestOthers:
    @pytest.mark.parametrize("name", ["ring", "bruck"])
    def test_all_gather(self, ranks: int, n: int, name: str) -> None:
        x = random(ranks, n)
        outputs = [[one, *(np.zeros_like(one) for _ in range(ranks))] for one in x]
        for _, *gathered in run(algorithm(name, "all_gather"), outputs):
            np.testing.assert_array_equal(gathered, x)

    @pytest.mark.parametrize("name", ["ring", "bruck"])
    def test_all_gather_into_one_tensor(self, ranks: int, n: int, name: str) -> None:
        x = random(ranks, n)
        outputs = [[one, np.zeros((1, 1, ranks * n), np.float32)] for one in x]
        for _, whole in run(algorithm(name, "all_gather"), outputs):
            np.testing.assert_array_equal(whole[0, 0], np.concatenate([one[0, 0] for one in x]))

    @pytest.mark.parametrize("op", NUMPY)
    def test_reduce_scatter(self, ranks: int, n: int, op: str) -> None:
        x = [random(ranks, n) for _ in range(ranks)]
        for rank in range(ranks):
            x[rank] = [one + rank for one in x[rank]]
        tensors = [[np.zeros_like(mine[0]), *mine] for mine in x]
        for rank, (result, *_) in enumerate(run(algorithm("ring", "reduce_scatter"), tensors, op=op)):
            expected = NUMPY[op](np.stack([mine[rank] for mine in x]))
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=4e-6)

    @pytest.mark.parametrize("name", ["chain", "tree"])
    @pytest.mark.parametrize("root", [0, -1])
    def test_broadcast(self, ranks: int, n: int, root: int, name: str) -> None:
        x = random(ranks, n)
        for (result,) in run(algorithm(name, "broadcast"), [[one] for one in x], root=root % ranks):
            np.testing.assert_array_equal(result, x[root])

    @pytest.mark.parametrize(("op", "root"), [("sum", 0), *((op, -1) for op in NUMPY)])
    @pytest.mark.parametrize("name", ["chain", "tree"])
    def test_reduce(self, ranks: int, n: int, root: int, op: str, name: str) -> None:
        x = random(ranks, n)
        results = run(algorithm(name, "reduce"), [[one] for one in x], root=root % ranks, op=op)
        np.testing.assert_allclose(results[root][0], NUMPY[op](np.stack(x)), rtol=1e-6, atol=4e-6)
        for rank in range(ranks):
            if rank != root % ranks:
                np.testing.assert_array_equal(results[rank][0], x[rank])

    @pytest.mark.parametrize("root", [0, -1])
    def test_gather(self, ranks: int, n: int, root: int) -> None:
        x = random(ranks, n)
        tensors = [[one] for one in x]
        tensors[root] += [np.zeros_like(x[0]) for _ in range(ranks)]
        results = run(algorithm("chain", "gather"), tensors, root=root % ranks)
        np.testing.assert_array_equal(results[root][1:], x)
        for rank, mine in enumerate(results):
            np.testing.assert_array_equal(mine[0], x[rank])

    @pytest.mark.parametrize("root", [0, -1])
    def test_scatter(self, ranks: int, n: int, root: int) -> None:
        x = random(ranks, n)
        tensors = [[np.zeros_like(one)] for one in x]
        tensors[root] += x
        for rank, (result, *_) in enumerate(run(algorithm("chain", "scatter"), tensors, root=root % ranks)):
            np.testing.assert_array_equal(result, x[rank])

    def test_all_to_all(self, ranks: int, n: int) -> None:
        x = [[one + 100 * rank for one in random(ranks, n)] for rank in range(ranks)]
        tensors = [[*(np.zeros_like(one) for one in mine), *mine] for mine in x]
        for rank, mine in enumerate(run(algorithm("pairs", "all_to_all"), tensors)):
            np.testing.assert_array_equal(mine[:ranks], [theirs[rank] for theirs in x])


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 6, 16])
def test_barrier(ranks: int) -> None:
    run(algorithm("pairs", "barrier"), [[np.zeros((1, 1, 1), np.int8)] for _ in range(ranks)])


@pytest.mark.parametrize("mesh", [(4, 4), (1, 1), (3, 2), (2, 3), (1, 6), (6, 1), (5, 4)])
def test_the_root_is_in_the_centre_and_no_cube_is_farther_than_half_the_mesh(mesh: tuple[int, int]) -> None:
    w, h = mesh
    centred = Mesh.centred(w, h)
    assert centred.root == (h // 2) * w + w // 2
    step = {"N": -w, "S": w, "E": 1, "W": -1}
    hops = []
    for number in range(w * h):
        at, count = number, 0
        while (parent := centred.tree(at).parent) is not None:
            after = at + step[parent]
            assert {"N": "S", "S": "N", "E": "W", "W": "E"}[parent] in centred.tree(after).children
            at, count = after, count + 1
        assert at == centred.root
        hops.append(count)
    assert max(hops) == w // 2 + h // 2
    assert sum(len(centred.tree(n).children) for n in range(w * h)) == w * h - 1


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8])
def test_the_arms_of_a_ring_are_equal(size: int) -> None:
    depth = []
    for number in range(size):
        at, count = number, 0
        while (parent := line(at, size, "E", "W").parent) is not None:
            at, count = (at + (1 if parent == "E" else -1)) % size, count + 1
        depth.append(count)
    assert max(depth) == size // 2
    assert sum(len(line(n, size, "E", "W").children) for n in range(size)) == size - 1
