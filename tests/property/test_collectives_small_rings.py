"""Collectives on the machine with queues of few and small slots: nothing stands still, sums are numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.ranked_machines import machine, run_ranks

ALL_REDUCE = ["ring", "recursive_doubling", "halving_doubling", "tree"]


@examples(32)
@given(
    names=st.tuples(st.sampled_from(ALL_REDUCE), st.sampled_from(["ring", "bruck"])),
    ranks=st.integers(2, 6),
    n=st.integers(1, 80),
    slots=st.integers(1, 5),
    slot_bytes=st.sampled_from([4, 16, 64, 4096]),
    by_steps=st.booleans(),
)
def test_sums_and_gathers_are_numpys(
    names: tuple[str, str], ranks: int, n: int, slots: int, slot_bytes: int, by_steps: bool
) -> None:
    x = np.random.default_rng(n).integers(-9, 9, (ranks, n), np.int32)

    def program(rank: int, torch: Any) -> Any:
        mine = torch.from_numpy(x[rank], name=f"x{rank}")
        every = torch.zeros(ranks * n, dtype="i32", name=f"all{rank}")
        torch.distributed.all_gather_into_tensor(every, mine)
        torch.distributed.all_reduce(mine)
        return mine.numpy(), every.numpy()

    config = {
        "collectives": {"all_reduce": names[0], "all_gather": names[1]},
        "defaults": {"slots": slots, "slot_bytes": slot_bytes},
        "algorithms": {"ring": {"slots": slots, "slot_bytes": slot_bytes, "by_steps": by_steps}},
    }
    results, torch = run_ranks(machine(ranks), program, config=config)
    for total, every in results:
        np.testing.assert_array_equal(total, x.sum(0))
        np.testing.assert_array_equal(every, x.reshape(-1))
    assert {launch.name for launch in torch.launches} == {
        f"all_gather/{names[1]}",
        f"all_reduce/{names[0]}",
    }
