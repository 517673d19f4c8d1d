"""One virtual range per tensor: kernels read and write other PEs' shards at base + offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED, activations
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def double_and_move(x: Pointer, y: Pointer, shard_bytes: int, tl: Any) -> None:
    """PE i of n doubles the shard of PE i + 1 and writes it to where PE n - 1 - i keeps its part of y."""
    pes = tl.num_programs(0) * tl.num_programs(1)
    me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    shape = tl.local_shape(x)
    block = tl.load(x + (me + 1) % pes * shard_bytes, shape=shape, dtype=x.dtype)
    tl.store(y + (pes - 1 - me) * shard_bytes, block * 2.0, dtype=y.dtype)


@bench(
    name="va-offset-verify",
    description="PEs read and write each other's shards through one virtual or logical range.",
    params=[
        Param("rows", int, 4, "rows of the shard of each PE", minimum=1),
        Param("columns", int, 64, "columns", minimum=1),
        Param("cubes", int, 0, "cubes that take part, 0 for all", minimum=0),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Rows are split over the cubes and PEs of a SIP, so that offsets in the range are those of the array."""
    p = torch.params
    if torch.address_model == "pa":
        raise UsageError(
            f"bench 'va-offset-verify' needs address_model va or la, the topology has {torch.address_model}; "
            "physical shards are not one range, so base + offset means nothing there"
        )
    cubes = p.cubes or torch.cubes_per_sip
    pes = cubes * torch.pes_per_cube
    x = activations(np.random.default_rng(p.seed), (pes * p.rows, p.columns), p.dtype)
    dp = DPPolicy(cube="row_wise", pe="row_wise", num_cubes=cubes, even=True)
    y = torch.empty(*x.shape, dtype=p.dtype, dp=dp, name="y")
    torch.launch("move", double_and_move, torch.from_numpy(x, dp=dp, name="x"), y, x.nbytes // pes)

    def expected() -> np.ndarray[Any, Any]:
        shards = x.astype(np.float32).reshape(pes, p.rows, p.columns)
        moved = np.empty_like(shards)
        for me in range(pes):
            moved[pes - 1 - me] = 2 * shards[(me + 1) % pes]
        return moved.reshape(x.shape)

    torch.check("y", y, expected)
