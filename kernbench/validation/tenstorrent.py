"""Products of matrices on a mesh of cores, whose blocks are multicast along rows and columns.

The kernel is tt-metal's 2D matmul: for each step along k a core of each row has a block of the first matrix,
the first core of each column one of the second, and each core of the row, or column, gets it by one message.
"""

from __future__ import annotations

from typing import Any

from kernbench.api.topologies import load_topology
from kernbench.engine.machine.machine import Machine
from kernbench.host import Context, DPPolicy
from kernbench.host.process import paced_collector
from kernbench.validation.table_file import Case, folder
from kernbench.values import DataPlane

SIDE = 8
"""Cores of a row, and of a column."""
STAGES = 3
"""Stages of the loop along k: its buffers hold two blocks, in use or on their way."""


def matmul(
    a: Any, b: Any, out: Any, steps: int, block: tuple[int, int, int], near: bool, precision: str, tl: Any
) -> None:
    """``block``: (m, k, n) of a step. ``near``: the first matrix lies in the cores, a share of k in each."""
    y, x = divmod(tl.program_id(0), SIDE)
    m, k, n = block
    own = tl.zeros((m, k), "bf16") if near else None
    for step in tl.range(0, steps, 1, num_stages=STAGES):
        source = step * SIDE // steps if near else 0
        left = right = None
        if x == source:
            left = own if near else tl.load(a + 2 * m * k * (y * steps + step), (m, k), "bf16")
            tl.multicast([f"row{(x + i) % SIDE}" for i in range(1, SIDE)], left)
        if y == 0:
            right = tl.load(b + 2 * k * n * (x * steps + step), (k, n), "bf16")
            tl.multicast([f"column{i}" for i in range(1, SIDE)], right)
        left = tl.recv(f"row{source}", (m, k), "bf16") if left is None else left
        right = tl.recv("column0", (k, n), "bf16") if right is None else right
        tl.dot(left, right, precision=precision)


def us(case: Case) -> float:
    """Microseconds of the kernel; ``cycles`` between groups of output tiles, ``depth`` of a block along k."""
    m, k, n = (int(case[key]) for key in "mkn")
    steps, near = k // int(case["depth"]), case["in0"] == "L1"
    block = m // SIDE, int(case["depth"]), n // SIDE
    subblock = {"blocks.chip.parts.pe.pe_gemm.subblock": {"tiles": 8, "cycles": float(case["cycles"])}}
    graph = load_topology(str(folder() / "machines" / "n150.yaml"), subblock)
    torch = Context(Machine(graph, [], check=False), DataPlane(verify=False))
    with paced_collector(torch.scheduler.machine.clock):
        a = torch.empty((SIDE, 8) if near else (SIDE * steps, block[0] * block[1]), dtype="bf16")
        b = torch.empty((SIDE * steps, block[1] * block[2]), dtype="bf16")
        out = torch.empty((SIDE * SIDE, 64), dtype="bf16", dp=DPPolicy(pe="row_wise"))
        slot = 2 * block[1] * max(block[0], block[2])
        with torch.install_ipcq(["mesh_rows", "mesh_columns"], slot_bytes=slot):
            launch = torch.launch("mm", matmul, a, b, out, steps, block, near, str(case["fidelity"]))
            launch.wait()
    return launch.record.pe_ns / 1000.0
