"""Parallel layers give the numbers of one device, on every rank and for any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.errors import CollectiveError, UsageError
from kernbench.host import DPPolicy
from kernbench.host import tensor_parallel as tp
from kernbench.host.spawn import SpawnException
from tests.ranked_machines import machine, run_ranks

RNG = np.random.default_rng(1)


def whole(*shape: int) -> np.ndarray:
    """Small whole numbers: products and sums of them are exact."""
    return RNG.integers(-3, 4, shape).astype(np.float32)


SMALL: dict[str, Any] = {"cubes": (2, 1), "pes": 2}


def layers(size: int, batch: int, graph: Any, *, gather: bool = False, ranks: int | None = None) -> list[Any]:
    x, w1, b1 = whole(batch, 12), whole(12, 24), whole(24)
    w2, b2 = whole(24, 20), whole(20)
    hidden = x @ w1 + b1

    def program(rank: int, torch: Any) -> Any:
        tp.initialize_model_parallel(size, torch=torch)
        first = tp.ColumnParallelLinear(12, 24, gather_output=gather, dtype="f32", torch=torch)
        second = tp.RowParallelLinear(24, 20, input_is_parallel=not gather, dtype="f32", torch=torch)
        assert (first.weight.shape, second.weight.shape) == ((12, 24 // size), (24 // size, 20))
        first.load(w1, b1)
        second.load(w2, b2)
        h = first(torch.from_numpy(x, dp=tp.REPLICATED))
        part = 24 // size * tp.get_tensor_model_parallel_rank(torch=torch)
        expected = hidden if gather else hidden[:, part : part + 24 // size]
        np.testing.assert_array_equal(h.numpy(), expected)
        return second(h).numpy()

    results, _ = run_ranks(graph, program)
    for result in results:
        np.testing.assert_array_equal(result, hidden @ w2 + b2)
    return results


@pytest.mark.daily("True-2-*", "False-1-1", "False-4-3")
@pytest.mark.parametrize(("size", "batch"), [(1, 1), (2, 1), (4, 1), (1, 5), (2, 5), (4, 3)])
@pytest.mark.parametrize("gather", [False, True])
def test_two_layers_are_those_of_one_device(size: int, batch: int, gather: bool) -> None:
    layers(size, batch, machine(size, **SMALL), gather=gather)


def test_groups_of_ranks_are_replicas() -> None:
    assert len(layers(2, 2, machine(4, **SMALL))) == 4


def test_features_that_do_not_divide_over_cubes_are_replicated() -> None:
    layers(2, 3, machine(2, cubes=(5, 1), pes=2))


@pytest.mark.parametrize(("size", "ids"), [(1, [0, 3, 11, 3]), (2, [0, 5, 6, 11]), (3, [4, 3, 8, 7, 0])])
def test_embedding(size: int, ids: list[int]) -> None:
    table = whole(12, 6)

    def program(rank: int, torch: Any) -> Any:
        tp.initialize_model_parallel(size, torch=torch)
        embedding = tp.VocabParallelEmbedding(12, 6, dtype="f32", torch=torch)
        embedding.load(table)
        return embedding(torch.from_numpy(np.array(ids, np.int32), dp=tp.REPLICATED)).numpy()

    for result in run_ranks(machine(size, **SMALL), program)[0]:
        np.testing.assert_array_equal(result, table[ids])


@pytest.mark.parametrize("batch", [1, 3])
def test_regions(batch: int) -> None:
    x = whole(batch, 8)

    def program(rank: int, torch: Any) -> None:
        tp.initialize_model_parallel(2, torch=torch)
        t = torch.from_numpy(x, dp=tp.REPLICATED)
        assert tp.copy_to_region(t, torch=torch) is t
        part = tp.scatter_to_region(t, torch=torch)
        np.testing.assert_array_equal(part.numpy(), x[:, 4 * rank : 4 * rank + 4])
        np.testing.assert_array_equal(tp.gather_from_region(part, torch=torch).numpy(), x)
        assert tp.reduce_from_region(t, torch=torch) is t
        np.testing.assert_array_equal(t.numpy(), 2 * x)

    run_ranks(machine(2, **SMALL), program)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda t: tp.initialize_model_parallel(3, torch=t),
            "cannot be divided into groups of so many",
        ),
        (lambda t: tp.ColumnParallelLinear(4, 7, torch=t), "out_features is 7, which 2 ranks cannot share"),
        (lambda t: tp.RowParallelLinear(7, 4, torch=t), "in_features is 7, which 2 ranks cannot share"),
        (lambda t: tp.VocabParallelEmbedding(7, 4, torch=t), "num_embeddings is 7"),
        (lambda t: tp.ColumnParallelLinear(4, 8, torch=t)(t.zeros(1, 5)), r"takes f16 \(batch, 4\)"),
        (
            lambda t: tp.ColumnParallelLinear(4, 8, torch=t)(t.zeros(1, 4)),
            r"1 of 2 cubes.*tp.REPLICATED",
        ),
        (
            lambda t: tp.ColumnParallelLinear(4, 8, torch=t)(t.zeros(2, 4, dp=DPPolicy("row_wise"))),
            "rows of its input .* are split",
        ),
        (
            lambda t: tp.ColumnParallelLinear(4, 8, torch=t).load(np.zeros((4, 4))),
            r"the whole of \(4, 8\)",
        ),
        (
            lambda t: tp.ColumnParallelLinear(4, 8, bias=False, torch=t).load(np.zeros((4, 8)), np.zeros(8)),
            "the layer has no bias",
        ),
        (
            lambda t: tp.VocabParallelEmbedding(8, 4, torch=t)(
                t.from_numpy(np.array([8], np.int32), dp=tp.REPLICATED)
            ),
            r"ids\[0\] is 8; the table has 8 rows",
        ),
        (lambda t: tp.scatter_to_region(t.zeros(2, 3, dp=tp.REPLICATED), torch=t), "cannot share 3 columns"),
    ],
)
def test_wrong_use(use: Any, message: str) -> None:
    def program(rank: int, torch: Any) -> None:
        tp.initialize_model_parallel(2, torch=torch)
        use(torch)

    with pytest.raises(SpawnException, match=message) as raised:
        run_ranks(machine(2, **SMALL), program)
    assert isinstance(next(iter(raised.value.errors.values())), UsageError | RuntimeError)


def test_in_a_rank_the_context_is_known_and_megatron_names_are() -> None:
    w1, w2, x = whole(12, 24), whole(24, 8), whole(3, 12)

    def program(rank: int, torch: Any) -> Any:
        tp.initialize_model_parallel(2)
        assert tp.get_tensor_model_parallel_world_size() == 2
        assert tp.get_tensor_model_parallel_rank() == rank % 2
        first = tp.ColumnParallelLinear(12, 24, bias=False, dtype="f32")
        second = tp.RowParallelLinear(24, 8, bias=False, dtype="f32")
        first.load(w1)
        second.load(w2)
        given = tp.copy_to_tensor_model_parallel_region(torch.from_numpy(x, dp=tp.REPLICATED))
        hidden = tp.gather_from_tensor_model_parallel_region(first(given))
        return second(tp.scatter_to_tensor_model_parallel_region(hidden)).numpy()

    for result in run_ranks(machine(4, **SMALL), program)[0]:
        np.testing.assert_array_equal(result, x @ w1 @ w2)
    assert tp.reduce_from_tensor_model_parallel_region is tp.reduce_from_region


def test_outside_of_a_rank_the_context_is_asked_for() -> None:
    with pytest.raises(UsageError, match="initialize_model_parallel: outside of a rank pass torch="):
        tp.initialize_model_parallel(1)
    run_ranks(machine(2, **SMALL), lambda rank, torch: tp.initialize_model_parallel(2))
    with pytest.raises(UsageError, match="parallel layers: outside of a rank pass torch="):
        tp.get_tensor_model_parallel_group()


def test_before_it_is_initialized() -> None:
    def program(rank: int, torch: Any) -> None:
        with pytest.raises(CollectiveError, match=r"call initialize_model_parallel\(size\)"):
            tp.ColumnParallelLinear(4, 8, torch=torch)

    run_ranks(machine(2), program)
