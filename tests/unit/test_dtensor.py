"""Declared placements: every change of placement keeps the tensor, and sends what it must."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from kernbench.errors import UsageError
from kernbench.host import tensor_parallel as tp
from kernbench.host.spawn import SpawnException
from kernbench.host.tensor_parallel import Partial, Replicate, Shard, distribute_tensor
from tests.ranked_machines import machine, run_ranks

VALUES = np.arange(48, dtype=np.float32).reshape(8, 6)
COLLECTIVE = {
    (Shard, Replicate): {"all_gather"},
    (Replicate, Shard): set(),
    (Shard, Shard): {"all_to_all"},
    (Partial, Replicate): {"all_reduce"},
    (Partial, Shard): {"reduce_scatter"},
}


def part(values: np.ndarray, placement: Any, rank: int, size: int) -> np.ndarray:
    return np.split(values, size, placement.dim)[rank] if isinstance(placement, Shard) else values


@pytest.mark.daily("None-*")
@pytest.mark.parametrize("before", [Shard(0), Shard(-1), Replicate(), Partial(), Partial("max")], ids=str)
@pytest.mark.parametrize("after", [Shard(0), Shard(1), Replicate()], ids=str)
@pytest.mark.parametrize("dp", [None, tp.REPLICATED], ids=str)
def test_every_change_on_a_line_of_ranks(before: Any, after: Any, dp: Any) -> None:
    def program(rank: int, torch: Any) -> None:
        mesh = tp.init_device_mesh(torch, (2,))
        if isinstance(before, Partial):
            # Contributions whose sum (or maximum) is the tensor.
            local = VALUES - 10 if before.reduce_op == "max" and rank else VALUES * (1 - rank)
            given = torch.from_numpy(local if before.reduce_op == "sum" or rank else VALUES, dp=dp)
            tensor = tp.DTensor.from_local(given, mesh, [before], dp=dp)
        else:
            tensor = distribute_tensor(VALUES, mesh, [before], dp=dp)
            np.testing.assert_array_equal(tensor.to_local().numpy(), part(VALUES, before, rank, 2))
        assert (tensor.shape, tensor.dtype) == ((8, 6), "f32")
        changed = tensor.redistribute([after])
        assert changed.placements == (after,)
        np.testing.assert_array_equal(changed.to_local().numpy(), part(VALUES, after, rank, 2))
        np.testing.assert_array_equal(changed.full_tensor().numpy(), VALUES)

    _, torch = run_ranks(machine(2, cubes=(2, 1)), program)
    sent = {handle.name.partition("/")[0] for handle in torch.launches} - {"redistribute"}
    same = (Shard(before.dim % 2) if isinstance(before, Shard) else before) == after
    expected = set() if same else COLLECTIVE[type(before), type(after)]
    assert sent == expected | ({"all_gather"} if isinstance(after, Shard) else set())


S0, S1, R = Shard(0), Shard(1), Replicate()
CROSSED = [((S0, S1), (S1, S0)), ((R, S0), (S0, S1)), ((R, S1), (S1, S0)), ((S0, R), (R, S0))]
"""Changes in which one dimension of the mesh takes what another one gives up."""
PAIRS = [
    pair
    for pair in product(product([S0, S1, R], repeat=2), repeat=2)
    if all(a == R or a != b for a, b in pair) and pair[0] != pair[1] and pair not in CROSSED
]


@pytest.mark.daily("(Shard(dim=0), Shard(dim=1))-*")
@pytest.mark.parametrize(("before", "after"), [*CROSSED, *PAIRS[::4]], ids=str)
def test_a_grid_of_ranks(before: Any, after: Any) -> None:
    def program(rank: int, torch: Any) -> None:
        mesh = tp.init_device_mesh(torch, (2, 2), mesh_dim_names=("data", "model"))
        assert (mesh.get_local_rank("data"), mesh.get_local_rank("model")) == (rank // 2, rank % 2)
        changed = distribute_tensor(VALUES, mesh, before).redistribute(after)
        expected = part(part(VALUES, after[0], rank // 2, 2), after[1], rank % 2, 2)
        np.testing.assert_array_equal(changed.to_local().numpy(), expected)

    run_ranks(machine(4), program)


def test_vectors_and_part_of_the_ranks() -> None:
    def program(rank: int, torch: Any) -> None:
        mesh = tp.DeviceMesh(torch, [0, 2])
        if rank != 1:
            tensor = distribute_tensor(np.arange(10.0), mesh, [Shard(0)], dtype="f32")
            np.testing.assert_array_equal(tensor.to_local().numpy(), np.split(np.arange(10), 2)[rank // 2])
            np.testing.assert_array_equal(tensor.full_tensor().numpy(), np.arange(10))
        else:
            with pytest.raises(UsageError, match=r"rank 1 is not in the mesh of ranks \[0, 2\]"):
                mesh.get_group()

    run_ranks(machine(3), program)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda t: tp.init_device_mesh(t, (3,)), r"shape \(3,\) does not hold 2 ranks"),
        (lambda t: tp.DeviceMesh(t, [0, 0]), "different ranks"),
        (lambda t: tp.DeviceMesh(t, 3), "below the world size of 2"),
        (lambda t: tp.DeviceMesh(t, 2, mesh_dim_names=("a", "b")), "1 different mesh_dim_names"),
        (lambda t: tp.DeviceMesh(t, 2, mesh_dim_names=("a",)).get_group("b"), "no dimension 'b'"),
        (lambda t: tp.DeviceMesh(t, 2).get_group(1), "no dimension 1"),
        (lambda t: Partial("median"), "Partial.'median'"),
        (lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, 2), []), "0 placements for a mesh of 1"),
        (lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, 2), [Shard(2)]), "of a tensor of 2 dimensions"),
        (lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, 2), [Partial()]), "Partial comes of computing"),
        (
            lambda t: distribute_tensor(VALUES[:7], tp.DeviceMesh(t, 2), [Shard(0)]),
            "size 7 does not divide over 2",
        ),
        (lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, 2), ["x"]), "is not a placement"),
        (
            lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, 2), [Shard(0)]).redistribute([Partial()]),
            "cannot become",
        ),
        (
            lambda t: distribute_tensor(VALUES, tp.DeviceMesh(t, [[0], [1]]), [Shard(0), Shard(-2)]),
            "dimension 0 is split over two dimensions of the mesh",
        ),
    ],
)
def test_wrong_use(use: Any, message: str) -> None:
    with pytest.raises(SpawnException, match=message):
        run_ranks(machine(2), lambda rank, torch: use(torch))
