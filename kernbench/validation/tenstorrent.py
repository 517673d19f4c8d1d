"""Products of matrices on a mesh of cores, by the kernel of ``matmul-2d``.

As in tt-metal's benchmark a core of each row has a block of the first matrix, or reads it, and the first core
of each column reads one of the second; both go along by multicast. The product stays in the cores.
"""

from __future__ import annotations

from typing import Any

from kernbench.api.topologies import load_topology
from kernbench.engine.machine.machine import Machine
from kernbench.host import Context, DPPolicy
from kernbench.host.placement import grid_of
from kernbench.host.process import paced_collector
from kernbench.support import dtypes
from kernbench.validation.table_file import Case
from kernbench.values import DataPlane
from kernbench.workloads.benches.matmul_2d import matmul_2d, neighbours

CORES = {"n150": 64, "p150": 130}
_PE = "blocks.chip.parts.pe."
ROOM = {_PE + "pe_tcm.size_bytes": "64 MiB", _PE + "pe_tcm.scratch_bytes": "8 MiB"}
"""Here each sender has a ring of its own; on the chip all of a row share one, and 1.5 MB are enough."""


def turns(case: Case) -> float:
    """Turns of the loops of all cores together: some ms of CPU each."""
    blocks = int(case["k"]) // int(case["depth"]) * int(case["down"]) * int(case["across"])
    return blocks * CORES[str(case["chip"])]


def us(case: Case) -> float:
    """Microseconds of the kernel.

    ``depth`` of a block along k, ``down`` and ``across`` blocks of the output a core, ``cycles`` between
    groups of output tiles, ``protocol_ns`` of a message. ``cast: unicast`` sends a message to each in place
    of multicasts, and ``changes`` are more keys of the machine.
    """
    m, k, n, depth, down, across = (int(case[key]) for key in ("m", "k", "n", "depth", "down", "across"))
    changes: dict[str, Any] = {
        **ROOM,
        _PE + "pe_gemm.subblock.cycles": float(case["cycles"]),
        _PE + "pe_ipcq.protocol_ns": float(case["protocol_ns"]),
        **case.get("changes", {}),
    }
    torch = Context(
        Machine(load_topology(str(case["chip"]), changes), [], check=False), DataPlane(verify=False)
    )
    rows, columns = grid = grid_of(torch.pes_per_cube)
    dtype, near, steps = str(case["dtype"]), case["in0"] == "L1", k // depth
    height, width = m // rows // down, n // columns // across
    with paced_collector(torch.scheduler.machine.clock):
        if near:
            tiles = DPPolicy(pe="tiled_row_major")
            a = torch.empty((m, k), dtype=dtype, dp=tiles, memory="tcm")
        else:
            a = torch.empty((rows * down * steps, height * depth), dtype=dtype)
        b = torch.empty((columns * across * steps, depth * width), dtype=dtype)
        slot = max(dtypes.nbytes(size, dtype) for size in ((height, depth), (depth, width)))
        with torch.install_ipcq(neighbours(rows, columns), slots=1, slot_bytes=slot):
            everywhere = torch.empty((rows * columns, 1), dp=DPPolicy(pe="row_wise"))
            many = case.get("cast") != "unicast"
            how = grid, (m, k, n), (near, False), str(case["fidelity"]), many, False, depth, down, across, 1
            launch = torch.launch("mm", matmul_2d, a, b, everywhere, *how)
            launch.wait()
    return launch.record.pe_ns / 1000.0
