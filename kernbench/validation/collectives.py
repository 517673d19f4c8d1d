"""All-reduce over packages, beside closed forms, another simulator and a machine that was measured.

The machines are ``configs/validation/machines``. A long vector is measured on links that are 2, 4, 8 ...
times slower, with as many times fewer bytes: it takes the same time, in pieces that many times larger.
Time is from the start of the kernels, or where launches cost time from their submission, to the end of the
last one.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from kernbench.api.topologies import load_topology
from kernbench.engine.machine.machine import Machine
from kernbench.host import Context
from kernbench.host.process import paced_collector
from kernbench.support.pgraph import PropertyGraph
from kernbench.validation.table_file import Case, folder
from kernbench.values import DataPlane

NS_PER_MM = 0.01
"""Flight time of wires, the default of topology files."""
FLITS = (16, 64)
"""Flits of a chunk: as few of these as keep the time of one below the latency of the link, or the most."""


def npus_ns(case: Case) -> float:
    """Time of an all-reduce of ``bytes`` over ``ranks`` packages, ns; ``algorithm`` says how.

    ``slots`` of a ring: the machine's own where the case has none.
    """
    ranks, link = int(case["ranks"]), float(case["link_bytes_per_ns"])
    piece, nbytes = int(case["piece"]), int(case["bytes"])
    scale = _scale(nbytes / ranks / piece, case)
    latency = float(case["link_latency_ns"])
    flit = min(piece, _flit_bytes(nbytes / scale / ranks, latency * link / scale))
    # The link is two wires, and what a flit takes to be on the second one is part of its latency.
    wire = max(0.0, latency - flit / (link / scale)) / 2
    overrides = {
        "system.sips": ranks,
        "system.flit_bytes": flit,
        "system.switch.link_gbs": link / scale,
        "system.switch.wire_mm": wire / NS_PER_MM,
        "pe.pe_ipcq.slot_bytes": piece,
        **({"pe.pe_ipcq.slots": int(case["slots"])} if "slots" in case else {}),
    }
    graph = load_topology(str(folder() / "machines" / "npus.yaml"), overrides)
    return _all_reduce_ns(graph, str(case["algorithm"]), bool(case["by_steps"]), nbytes // scale)


def a100_us(case: Case) -> float:
    """Time of an all-reduce of ``bytes`` on four A100s, us, by NCCL's protocol for that size."""
    nbytes, ranks = int(case["bytes"]), 4
    protocol = case["low_latency" if nbytes <= int(case["low_latency_to"]) else "simple"]
    scale = _scale(nbytes / ranks / int(protocol["slot_bytes"]), case)
    overrides = {
        "system.flit_bytes": _flit_bytes(nbytes / scale / ranks, 0.0),
        "system.switch.link_gbs": float(case["link_gbs"]) / scale,
        **{f"pe.pe_ipcq.{key}": value for key, value in protocol.items()},
    }
    graph = load_topology(str(folder() / "machines" / "a100-x4.yaml"), overrides)
    return _all_reduce_ns(graph, "ring", True, nbytes // scale, submitted=True) / 1000.0


def _scale(pieces: float, case: Case) -> int:
    """How many bytes one stands for, so that a chunk has no more ``pieces`` than the case says."""
    return 1 << max(0, ceil(log2(pieces / int(case["pieces"]))))


def _flit_bytes(chunk: float, in_flight: float) -> int:
    """Bytes of a flit: a power of two such that a chunk has as many flits as :data:`FLITS` says."""
    fewest, most = FLITS
    flits = min(most, max(fewest, chunk / in_flight)) if in_flight else most
    return 1 << max(8, int(log2(max(1.0, chunk / flits))))


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

    with paced_collector(torch.scheduler.machine.clock):
        torch.multiprocessing.spawn(rank, nprocs=torch.distributed.get_world_size())
    records = [launch.record for launch in torch.launches]
    begun = max(record.t_submit if submitted else record.t_start for record in records)
    return max(r.t_start + t.exec_ns for r in records for t in r.pe_times.values()) - begun
