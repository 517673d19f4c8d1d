"""``torch.distributed.all_reduce`` over all SIPs, as in a PyTorch script: spawn, set_device, all_reduce."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host import DPPolicy
from kernbench.support import dtypes
from kernbench.workloads.benches._inputs import DTYPE, SEED
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context


def _rows(rank: int, cubes: int, elements: int, dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """A row of small whole numbers for each cube: their sums are exact in every type."""
    rng = np.random.default_rng((seed, rank))
    numbers = np.arange(-2, 3).astype(dtypes.dtype(dtype).numpy)
    return numbers.take(rng.integers(0, 5, (cubes, elements)))  # quicker than to convert each


@bench(
    name="ccl-allreduce",
    description="Every SIP is a rank: all_reduce of a row for each cube, over cubes and ranks or over ranks.",
    params=[
        Param("elements", int, 64, "elements of a cube's row", minimum=1),
        Param("group", str, "cubes", "whose rows are added up: of cubes and ranks, or of ranks alone",
              choices=("cubes", "ranks")),
        Param("algorithm", str, "", "algorithm of kernbench/host/collectives; that of ccl.yaml when empty"),
        Param("root", int, -1, "root cube of the hierarchical algorithm; its centre when -1", minimum=-1),
        Param("buffer_kind", str, "", "memory of the queues' slots; the topology's when empty",
              choices=("", "tcm", "sram", "hbm")),
        DTYPE,
        SEED,
    ],
)  # fmt: skip
def run(torch: Context) -> None:
    """A rank on every SIP; every row ends as the sum of all rows, or of those of its cube over the ranks."""
    p, dist = torch.params, torch.distributed
    config: dict[str, Any] = {}
    if p.algorithm:
        config["collectives"] = {"all_reduce": p.algorithm}
    if p.root >= 0:
        config["algorithms"] = {"lrab_hierarchical_allreduce": {"root": p.root}}
    if p.buffer_kind:
        config["defaults"] = {"buffer_kind": p.buffer_kind}
    dist.init_process_group("ahbm", config=config)
    ranks, cubes = dist.get_world_size(), torch.cubes_per_sip
    rows = [_rows(rank, cubes, p.elements, p.dtype, p.seed) for rank in range(ranks)]

    @cache  # one for all ranks
    def expected() -> np.ndarray[Any, Any]:
        over_ranks = np.zeros(rows[0].shape, np.float32)
        for row in rows:
            over_ranks += row
        return np.broadcast_to(over_ranks.sum(0), over_ranks.shape) if p.group == "cubes" else over_ranks

    def worker(rank: int) -> None:
        torch.ahbm.set_device(torch.ahbm.sip_of(rank))  # the default, as rank = SIP
        x = torch.from_numpy(rows[rank], dp=DPPolicy("row_wise", num_pes=1, even=True), name=f"x{rank}")
        dist.all_reduce(x, group=dist.group.CUBES if p.group == "cubes" else None)
        torch.check(f"sum on rank {rank}", x, expected)

    torch.multiprocessing.spawn(worker, nprocs=ranks)
