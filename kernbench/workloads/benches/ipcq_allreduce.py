"""All-reduce over the PEs of a cube, written with ``tl.send`` and ``tl.recv``: queues seen from a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED, Bounded, activations
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def all_reduce(x: Pointer, tl: Any) -> None:
    """Every PE passes what it hears to the next one of the ring, N - 1 times, and adds it to its own row."""
    own = tl.load(x.local)
    total = own.to("f32")
    for _ in range(tl.num_programs(0) - 1):
        tl.send("pe_E", own)
        own = tl.recv("pe_W")
        total = total + own.to("f32")
    tl.store(x.local, total)


@bench(
    name="ipcq-allreduce",
    description="The PEs of one cube add up their rows, passing them round a ring of queues.",
    params=[
        Param("elements", int, 512, "elements of a PE's row", minimum=1),
        Param("buffer_kind", str, "", "memory of the queues' slots; the topology's when empty",
              choices=("", "tcm", "sram", "hbm")),
        DTYPE,
        SEED,
    ],
)  # fmt: skip
def run(torch: Context) -> None:
    """One row for each PE of cube 0; all rows end as their sum."""
    p = torch.params
    pes = torch.pes_per_cube
    rows = activations(np.random.default_rng(p.seed), (pes, p.elements), p.dtype)
    x = torch.from_numpy(rows, dp=DPPolicy("replicate", "row_wise", num_cubes=1, num_pes=pes), name="x")
    ring = [(sip, 0, pe) for sip in x.sips for pe in range(pes)]
    torch.install_ipcq("intracube_pe_ring", among=ring, buffer_kind=p.buffer_kind or None)
    torch.launch("all-reduce", all_reduce, x)

    def expected() -> Bounded:
        return Bounded(rows).sum(0).moved(lambda total: np.broadcast_to(total, rows.shape))

    torch.check("sum", x, expected)
