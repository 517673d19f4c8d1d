"""Reads and writes at one channel of DRAM, as simulators of it are driven: as fast as the channel takes them.

The machine is the smallest one, its memory one channel of two pseudo-channels, its links and engines so wide
that nothing else holds a request up. Requests come as fast as the channel could serve them at most, in order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from kernbench.engine.components.registry import problems
from kernbench.engine.core.clock import Clock
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.hardware.topology import compile_topology, load
from kernbench.hardware.topology.dram import shipped
from kernbench.validation.table_file import Case

BURST = 32
REQUESTS, MIXED_REQUESTS = 20_000, 50_000
WINDOWS = {"read_window": 128, "write_window": 64}
SPAN = 1 << 30
"""Bytes of memory that random places and streams lie in."""
ALIGNED = 1 << 17
"""Streams begin at multiples of this."""
ENGINES, OUTSTANDING = 64, 1024
_SLICE = "sip0.cube0.hbm_ctrl.pe0"
_PE = "sip0.cube0.pe0"
_WIDE = 1e6
"""GB/s of links that hold nothing up."""


def machine(refresh: str, *instruments: Instrument) -> Machine:
    """A PE beside one channel of DRAM, and nothing between them that takes time."""
    spec = load(
        "minimal",
        {
            "system": {"flit_bytes": BURST, "ns_per_mm": 0.0, "sips": 1},
            "cube.router": {"overhead_ns": 0.0, "link_gbs": _WIDE},
            "cube.hbm.pseudo_channels": 2,
            "cube.hbm.model": "dram",
            "cube.hbm.dram": {"timing": "hbm3_6400", "refresh": refresh, **WINDOWS},
            "pe.links": {"dma_gbs": _WIDE, "command_gbs": _WIDE, "internal_gbs": _WIDE},
            "pe.pe_dma": {"read_engines": ENGINES, "write_engines": ENGINES, "outstanding": OUTSTANDING},
        },
        problems,
    )
    return Machine(compile_topology(spec), instruments, check=False)


def share(case: Case) -> float:
    """Share of the peak of both data buses, %."""
    made = machine("all_bank" if case["refresh"] else "none")
    peak_gbs = 2 * shipped("hbm3_6400").gbs
    gap_ns = BURST / peak_gbs
    asked = enumerate(requests(str(case["pattern"]), int(case["read_pct"])))
    sent = [
        made.flow(_PE, _SLICE, address, BURST, is_write=write, start_ns=i * gap_ns)
        for i, (address, write) in asked
    ]
    made.wait(*sent)
    return 100.0 * len(sent) * gap_ns / made.clock.now


def requests(pattern: str, read_pct: int, seed: int = 1) -> Iterator[tuple[int, bool]]:
    """Addresses of the requests of a pattern, and whether each is a write."""
    rng = random.Random(seed)
    number = REQUESTS if read_pct == 100 else MIXED_REQUESTS
    stride = int(pattern.removeprefix("stride")) if pattern.startswith("stride") else BURST
    streams = int(pattern.removeprefix("streams")) if pattern.startswith("streams") else 1
    bases = [rng.randrange(SPAN // ALIGNED) * ALIGNED if streams > 1 else 0 for _ in range(streams)]
    for i in range(number):
        write = rng.randrange(100) >= read_pct
        if pattern == "random":
            yield rng.randrange(SPAN // BURST) * BURST, write
        else:
            yield bases[i % streams] + i // streams * stride, write


def idle(case: Case) -> float:
    """Mean time of a read at the memory, each after the one before it, ns."""
    watch = _AtMemory()
    made = machine("none", watch)
    rng = random.Random(1)
    for _ in range(int(case["reads"])):
        made.wait(made.flow(_PE, _SLICE, rng.randrange(SPAN // BURST) * BURST, BURST, is_write=False))
    return watch.ns / int(case["reads"])


class _AtMemory(Instrument):
    """Adds up the time that transactions spend at the memory."""

    def __init__(self) -> None:
        self.ns = 0.0
        self._memory = -1

    def started(self, resources: Sequence[Server], clock: Clock) -> None:
        self._memory = [resource.resource for resource in resources].index(_SLICE)

    def transaction_done(self, transaction: Transaction) -> None:
        self.ns += sum(hop.t_out - hop.t_in for hop in transaction.rows if hop.resource == self._memory)
