"""Operators of DTensor: values of numpy, placements of PyTorch, nothing sent that was not asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.host import tensor_parallel as tp
from kernbench.host.tensor_parallel import Partial, Replicate, Shard, distribute_tensor
from tests.ranked_machines import machine, run_ranks

A = np.arange(48, dtype=np.float32).reshape(8, 6)
B = (np.arange(24, dtype=np.float32).reshape(6, 4) - 7) / 2
V = np.arange(6, dtype=np.float32) * 10
S0, S1, R, P = Shard(0), Shard(1), Replicate(), Partial()


def results(operate: Any, shape: tuple[int, ...] = (2,), **options: Any) -> Any:
    """Placements and whole value of what ``operate(mesh)`` gives, the same on all ranks."""

    def program(rank: int, torch: Any) -> Any:
        found = operate(tp.init_device_mesh(torch, shape))
        return found.placements, found.full_tensor().numpy()

    found, _ = run_ranks(machine(int(np.prod(shape)), **options), program)
    for placements, values in found:
        assert placements == found[0][0]
        np.testing.assert_array_equal(values, found[0][1])
    return found[0]


@pytest.mark.parametrize(
    ("left", "right", "result"), [(R, R, R), (S0, R, S0), (R, S1, S1), (S1, S0, P)], ids=str
)
def test_matmul(left: Any, right: Any, result: Any) -> None:
    placements, values = results(
        lambda mesh: distribute_tensor(A, mesh, [left]) @ distribute_tensor(B, mesh, [right])
    )
    assert placements == (result,)
    np.testing.assert_array_equal(values, A @ B)


def test_matmul_on_a_grid_and_split_within_each_sip() -> None:
    def operate(mesh: Any) -> Any:
        rows, copies = DPPolicy("replicate", "row_wise", num_cubes=1), DPPolicy(num_cubes=1)
        return distribute_tensor(A, mesh, [S0, S1], dp=rows) @ distribute_tensor(B, mesh, [R, S0], dp=copies)

    placements, values = results(operate, (2, 2), pes=2)
    assert placements == (S0, P)
    np.testing.assert_array_equal(values, A @ B)


@pytest.mark.parametrize(
    ("left", "right", "result"), [(R, R, R), (S0, S0, S0), (S1, S1, S1), (R, S0, S0), (S1, R, S1)], ids=str
)
@pytest.mark.parametrize("sign", ["+", "*"])
def test_elementwise(sign: str, left: Any, right: Any, result: Any) -> None:
    def operate(mesh: Any) -> Any:
        a, b = distribute_tensor(A, mesh, [left]), distribute_tensor(A[::-1], mesh, [right])
        return a + b if sign == "+" else a * b

    placements, values = results(operate)
    assert placements == (result,)
    np.testing.assert_array_equal(values, A + A[::-1] if sign == "+" else A * A[::-1])


@pytest.mark.parametrize(
    ("left", "right", "result"), [(R, R, R), (S0, R, S0), (S1, S0, S1), (S1, R, S1)], ids=str
)
def test_a_vector_is_added_to_every_row(left: Any, right: Any, result: Any) -> None:
    placements, values = results(
        lambda mesh: distribute_tensor(A, mesh, [left]) + distribute_tensor(V, mesh, [right])
    )
    assert placements == (result,)
    np.testing.assert_array_equal(values, A + V)


def test_numbers_and_contributions() -> None:
    placements, values = results(lambda mesh: 2 * distribute_tensor(A, mesh, [S0]) + 1)
    assert placements == (S0,)
    np.testing.assert_array_equal(values, 2 * A + 1)

    def layer(mesh: Any) -> Any:
        x, w = distribute_tensor(A, mesh, [S1]), distribute_tensor(B, mesh, [S0])
        return x @ w + x @ w

    placements, values = results(layer)
    assert placements == (P,)
    np.testing.assert_array_equal(values, 2 * (A @ B))


@pytest.mark.parametrize(
    ("operate", "message"),
    [
        (lambda a, b, p, m: a @ b, "is not a product of what each rank has; redistribute one"),
        (lambda a, b, p, m: a @ a, "do not fit"),
        (lambda a, b, p, m: p + a, "cannot be done by each rank"),
        (lambda a, b, p, m: p * p, "cannot be done by each rank"),
        (lambda a, b, p, m: p * 2, "redistribute it first"),
        (lambda a, b, p, m: a + distribute_tensor(A, m, [S1]), "cannot be done by each rank"),
        (lambda a, b, p, m: a + b, "use equal ones, or a vector"),
        (lambda a, b, p, m: a + A, "is not a DTensor"),
        (lambda a, b, p, m: a + distribute_tensor(A, m, [S0], dtype="f16"), "f32 and f16; use one dtype"),
        (lambda a, b, p, m: a + distribute_tensor(A, m, [S0], dp=DPPolicy(num_pes=1)), "lie on other PEs"),
    ],
)
def test_what_ranks_cannot_do_by_themselves_is_refused(operate: Any, message: str) -> None:
    def program(rank: int, torch: Any) -> None:
        mesh = tp.init_device_mesh(torch, (2,))
        a, b = distribute_tensor(A, mesh, [S0]), distribute_tensor(B, mesh, [S0])
        partial = tp.DTensor.from_local(torch.from_numpy(A), mesh, [P])
        with pytest.raises(UsageError, match=message):
            operate(a, b, partial, mesh)

    run_ranks(machine(2, cubes=(2, 1)), program)


def test_an_operator_is_one_launch_of_each_rank_and_sends_nothing() -> None:
    def alone(rank: int, torch: Any) -> None:
        mesh = tp.init_device_mesh(torch, (2,))
        product = distribute_tensor(A, mesh, [S1]) @ distribute_tensor(B, mesh, [S0])
        assert (product + product).placements == (P,)

    _, torch = run_ranks(machine(2), alone)
    assert sorted(handle.name for handle in torch.launches) == ["add"] * 2 + ["matmul"] * 2
