"""What ranks cost: setting up is linear in their number, a message is the same whatever their number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.program.operations import Op
from kernbench.host import DPPolicy
from kernbench.values import races
from tests.ranked_machines import context, machine

RANKS = (4, 8, 16)
SET_UP = ("map", "queue_setup", "host_write", "launch", "launch_done")


class Seen(Instrument):
    """Counts transactions by kind and operations by kind and name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def transaction_done(self, transaction: Transaction) -> None:
        self.counts[transaction.kind] += 1

    def op_done(self, op: Op) -> None:
        self.counts[f"{op.kind}/{op.name}"] += 1


def reduced(ranks: int) -> Counter[str]:
    """A flat ring over ``ranks``: what it sends and carries out, and what is worked out to route it."""
    torch = context(machine(ranks), verify=False, check=False)
    system, seen = torch._driver.machine, Seen()
    system.instruments += (seen,)
    torch.distributed.init_process_group("ahbm", config={"collectives": {"all_reduce": "ring"}})

    def rank(number: int) -> None:
        torch.ahbm.set_device(number)
        x = torch.from_numpy(
            np.ones((1, ranks), np.float16), dp=DPPolicy("row_wise", num_pes=1), name=f"x{number}"
        )
        torch.distributed.all_reduce(x)

    torch.multiprocessing.spawn(rank, nprocs=ranks)
    system.drain()
    seen.counts["routes"] = len(system.paths)
    tables = system.router._tables
    seen.counts["tables"] = len(tables)
    within = [table.nbytes for (_, within_cube), table in tables.items() if within_cube]
    seen.counts["bytes of tables of a cube"] = sum(within)
    return seen.counts


@pytest.mark.slow
def test_setting_ranks_up_is_linear() -> None:
    counts = {ranks: reduced(ranks) for ranks in RANKS}
    assert {ranks: sum(counts[ranks][kind] for kind in SET_UP) for ranks in RANKS} == {
        ranks: 13 * ranks for ranks in RANKS
    }
    assert {ranks: counts[ranks]["routes"] for ranks in RANKS} == {ranks: 10 * ranks for ranks in RANKS}
    assert {ranks: counts[ranks]["tables"] for ranks in RANKS} == {ranks: 4 * ranks + 1 for ranks in RANKS}
    assert len({counts[ranks]["bytes of tables of a cube"] / ranks for ranks in RANKS}) == 1


@pytest.mark.slow
def test_a_message_is_the_same_with_more_ranks() -> None:
    for ranks in RANKS:
        counts, messages = reduced(ranks), 2 * (ranks - 1) * ranks
        each = {
            "ipcq_token": 1,
            "ipcq_credit": 1,
            "queue/ipcq_copy": 3,
            "queue/ipcq_send": 1,
            "queue/ipcq_recv": 1,
        }
        assert {kind: counts[kind] for kind in each} == {kind: n * messages for kind, n in each.items()}
        # Half of the messages are added to what is there, and each rank's result is stored chunk by chunk.
        assert counts["math/add"] == counts["tile/fetch"] == counts["tile/store"] == messages // 2
        assert counts["memory/dma_read"] == counts["memory/dma_write"] == ranks * ranks


def test_a_message_adds_no_clock_of_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No one asks who comes first where no bytes are shared: no vector clock is worked out."""
    worked_out = 0
    whole = races.VectorClock._all

    def counted(self: races.VectorClock) -> dict[races.ThreadKey, int]:
        nonlocal worked_out
        worked_out += 1
        return whole(self)

    monkeypatch.setattr(races.VectorClock, "_all", counted)
    reduced(8)
    assert worked_out == 0
