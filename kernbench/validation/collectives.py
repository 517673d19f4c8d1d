"""All-reduce over packages, beside closed forms, another simulator and a machine that was measured.

The machines are ``configs/validation/machines``. Time is from the start of the kernels, or where launches
cost time from their submission, to the end of the last one.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from kernbench.api import load_topology
from kernbench.machine.machine import Machine
from kernbench.pgraph import PropertyGraph
from kernbench.replay import DataPlane
from kernbench.runtime import Context
from kernbench.validation.table_file import Case, folder

NS_PER_MM = 0.01
"""Flight time of wires, the default of topology files."""
MOST_FLITS = 64
"""Flits of a piece at most: enough for one to take little of its time."""
MOST_PIECES = 64
"""Pieces of a chunk at most: of more bytes, so many stand for each one, on a link as many times slower."""


def npus_ns(case: Case) -> float:
    """Time of an all-reduce of ``bytes`` over ``ranks`` packages, ns; ``algorithm`` says how."""
    ranks, piece = int(case["ranks"]), int(case["piece"])
    scale = _scale(case, piece)
    flits = min(piece, int(case["bytes"]) // ranks // scale) // MOST_FLITS
    graph = load_topology(
        str(folder() / "machines" / "npus.yaml"),
        {
            "system.sips": ranks,
            "system.switch.link_gbs": float(case["link_bytes_per_ns"]) / scale,
            "system.switch.wire_mm": float(case["link_latency_ns"]) / 2 / NS_PER_MM,
            "system.flit_bytes": 1 << max(8, flits.bit_length() - 1),
            "pe.pe_ipcq.slot_bytes": piece,
            **case.get("topo", {}),
        },
    )
    return _all_reduce_ns(graph, str(case["algorithm"]), bool(case["by_steps"]), int(case["bytes"]) // scale)


def a100_us(case: Case) -> float:
    """Time of an all-reduce on four A100s, us, with the protocol that is quicker for so many bytes."""
    small = int(case["bytes"]) <= int(case["low_latency_to"])
    protocol = case["low_latency" if small else "simple"]
    scale = _scale(case, int(protocol["slot_bytes"]))
    graph = load_topology(
        str(folder() / "machines" / "a100-x4.yaml"),
        {f"pe.pe_ipcq.{key}": value for key, value in protocol.items()}
        | {"system.switch.link_gbs": float(case["link_gbs"]) / scale},
    )
    elements = int(case["bytes"]) // scale
    return _all_reduce_ns(graph, "ring", True, elements, submitted=True) / 1000.0


def _scale(case: Case, piece: int) -> int:
    """Bytes for which one stands."""
    chunk = int(case["bytes"]) / int(case.get("ranks", 4))
    pieces = ceil(chunk / piece)
    return 1 << max(0, (ceil(pieces / MOST_PIECES) - 1).bit_length())


def _all_reduce_ns(
    graph: PropertyGraph, algorithm: str, by_steps: bool, nbytes: int, *, submitted: bool = False
) -> float:
    torch = Context(Machine(graph, [], check=False), DataPlane(verify=False), device="all")
    config: dict[str, Any] = {"collectives": {"all_reduce": algorithm}}
    if by_steps:
        config["algorithms"] = {algorithm: {"by_steps": True}}
    torch.distributed.init_process_group("ahbm", config=config)

    def rank(number: int) -> None:
        torch.ahbm.set_device(number)
        torch.distributed.all_reduce(torch.empty(max(1, nbytes // 2), dtype="f16"))

    torch.multiprocessing.spawn(rank, nprocs=torch.distributed.get_world_size())
    records = [launch.record for launch in torch.launches]
    begun = max(record.t_submit if submitted else record.t_start for record in records)
    return max(r.t_start + t.exec_ns for r in records for t in r.pe_times.values()) - begun
