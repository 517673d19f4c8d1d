"""What each mechanism is worth on rows of silicon: ``python -m tools.ablation docs/reference/ablation.md``.

Rows of ``kernbench validate --short`` of up to so many turns of loops are measured as shipped, then with one
mechanism at a time switched off by keys of the machine or options of the kernel: some 15 minutes of CPU.
``tenstorrent`` or ``h100`` before the page does one chip, and keeps the table of the other.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kernbench.api.topologies import load_topology
from kernbench.validation import h100, tenstorrent
from kernbench.validation.sampling import sampled, turns
from kernbench.validation.table_file import Case, read

_CHIP = "blocks.chip.parts.pe."
_GPU = "blocks.gpu.parts."
_MEMORY = _GPU + "hbm."
_PE = _GPU + "pe."
AS_SHIPPED = "as shipped"
SWITCHES: dict[str, dict[str, Case]] = {
    "tenstorrent": {
        AS_SHIPPED: {},
        "multicast: a message to each core instead": {"cast": "unicast"},
        "operands near: the first matrix is read from DRAM": {"in0": "DRAM"},
        "passes by fidelity: one for all": {
            "changes": {_CHIP + "pe_gemm.phases": {"lofi": 1, "hifi2": 1, "hifi4": 1}}
        },
        "sizes of types: bf16 for all": {"dtype": "bf16"},
        "rate of the unpacker": {"changes": {_CHIP + "pe_gemm.operand_bytes_per_cycle": 1e6}},
        "pause between groups of output tiles (fitted)": {"cycles": 0},
        "handshake of a message (fitted)": {"protocol_ns": 0},
    },
    "h100": {
        AS_SHIPPED: {},
        "operands in registers: through a TCM of 128 bytes a cycle": {
            _PE + "operands": "tcm", _PE + "pe_tcm.read_gbs": 253.44, _PE + "pe_tcm.write_gbs": 253.44
        },
        "efficiency of the matrix engine": {
            _PE + "pe_gemm.fixed_cycles": 0, _PE + "pe_gemm.macs_per_cycle": 2048,
            _PE + "pe_gemm.smallest": {"m": 1, "fixed": 0, "macs": 2048},
        },
        "latency of vector operations": {
            _PE + "pe_math.cycles": {
                "*": [0, 127.6], "exp": [0, 17.87], "exp2": [0, 17.28], "rsqrt": [0, 17.3], "div": [0, 13.87]
            },
        },
        "loads ahead: one stage": {"stages": 1},
        "one stage: operands pass through registers": {_PE + "pe_gemm.staging_bytes_per_cycle": 1e9},
        "launch of a kernel": {
            "parts": {"host.cpu": {"kind": "host_cpu", "launch_ns": 0}, "gpu": "gpu"},
            _GPU + "m_cpu.overhead_ns": 0,
        },
        "issue of loads": {_PE + "pe_dma.issue.load_cycles": 0, _PE + "pe_dma.issue.bytes_per_cycle": 1e6},
        "rearrangement of results": {
            _PE + "pe_dma.rearrange.cycles": 0, _PE + "pe_dma.rearrange.bytes_per_cycle": 1e6
        },
        "path of stores": {"wires.stores.gbs": 1e6},
        "latency of cache and memory": {"memory.cache.hit_ns": 0, _MEMORY + "access_ns": 0},
        "rate of the cache": {"memory.cache.gbs": 1e6, "memory.cache.write_gbs": 1e6},
        "coalescing of reads": {"memory.cache.coalesce": 1},
        "clock that falls under load": {_PE + "clock.loaded_ghz": 1.98},
        "products and vector operations side by side": {_PE + "pe_scheduler.compute_slots": 1},
        "cost of reductions": {
            _PE + "pe_math.reduce.across": [0, 1e6], _PE + "pe_math.reduce.within": [0, 1e6]
        },
    },
}  # fmt: skip
"""By table, what is switched off: settings of a case, or keys of the machine h100 and ``stages`` of loops."""
SETS = {
    "tenstorrent": {"fitted, 40 us and more", "fitted, below 40 us"},
    "h100": {"one block", "one stage", "attention of one block", "matmul", "streaming", "attention"},
}
MOST_TURNS = {"tenstorrent": 1700.0, "h100": 1300.0}
TITLES = {"tenstorrent": "Products on Tenstorrent's n150 and p150", "h100": "Kernels on an H100"}
ABOUT = """# What each mechanism is worth

Made by `python -m tools.ablation docs/reference/ablation.md`; do not edit. Rows of silicon as
`kernbench validate --short` takes them, those of few turns of loops: as shipped, then with one mechanism
switched off at a time. Errors are absolute ones of times, in %, over the same rows; "mean" has a sign, so
that + is too slow. A mechanism that changes nothing here decides other cases, or hides behind another;
one without which errors shrink is a finding against the model.
"""


def rows(table: str, most: float) -> list[tuple[float, Case]]:
    """Reference and settings of the sampled rows of a table with at most so many turns of loops."""
    groups = [group for group in read(table).groups if group.measure == "us" and group.set in SETS[table]]
    found = [case for group in groups for case in sampled(table, group, "short")[0]]
    return [(reference, case) for _, reference, case in found if turns(table, case) <= most]


def measure(table: str, off: Case) -> Callable[[Case], float]:
    """The measure of a table's rows with these settings, or keys of the machine."""
    if table == "tenstorrent":
        return lambda case: tenstorrent.us({**case, **off})
    machine = load_topology(table, {key: value for key, value in off.items() if key != "stages"})

    def us(case: Case) -> float:
        params = json.loads(case["params"])
        if "stages" in params and "stages" in off:
            params["stages"] = off["stages"]
        return h100.us({**case, "params": json.dumps(params)}, machine)

    return us


def errors(table: str, off: Case, cases: list[tuple[float, Case]]) -> list[float]:
    """Of each case, %, with its sign."""
    us = measure(table, off)
    return [100 * (us(case) / reference - 1) for reference, case in cases]


def section(table: str, most: float) -> Iterator[str]:
    """The table of a chip."""
    cases = rows(table, most)
    yield f"## {TITLES[table]}\n"
    yield f"{len(cases)} rows of up to {most:,.0f} turns of loops.\n"
    yield "| switched off | median | 90th | mean |\n|---|---|---|---|"
    for name, off in SWITCHES[table].items():
        found = errors(table, off, cases)
        sizes = np.abs(found)
        yield f"| {name} | {np.median(sizes):.1f} | {np.quantile(sizes, 0.9):.1f} | {np.mean(found):+.1f} |"


def main(*arguments: str) -> None:
    """Write the page."""
    *chosen, file = arguments
    page = Path(file)
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    parts = [ABOUT]
    for table, title in TITLES.items():
        if chosen and table not in chosen:
            parts += re.findall(rf"^## {re.escape(title)}.+?(?=^## |\Z)", before, re.M | re.S)
        else:
            parts.append("\n".join(section(table, MOST_TURNS[table])) + "\n")
    page.write_text("\n".join(part.rstrip("\n") + "\n" for part in parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
