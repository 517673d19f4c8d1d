"""Products of matrices on a systolic array, beside the cycles that a simulator of such arrays counts.

The engine of a PE is the array, its tile what one fold of the array covers: rows and columns of the matrix
that stays, all of the dimension that streams.
"""

from __future__ import annotations

from kernbench.api.running import run
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.program.operations import Op
from kernbench.validation.table_file import Case

_TILES = {
    "os": ("rows", "k", "cols"),
    "ws": ("m", "rows", "cols"),
    "is": ("cols", "rows", "n"),
}
"""What a fold covers of m, k and n: a setting of the case."""


def cycles(case: Case) -> float:
    """The last cycle, from 0, in which the engine is busy with a product of (m, k) and (k, n)."""
    m, k, n = _TILES[case["dataflow"]]
    watch = _Engine()
    run(
        "gemm-single-pe",
        "minimal",
        params={key: case[key] for key in "mkn"},
        topo={
            "pe.pe_gemm": {
                "clock_ghz": 1.0,
                "dataflow": case["dataflow"],
                "rows": case["rows"],
                "cols": case["cols"],
                "tile": {"m": case[m], "k": case[k], "n": case[n]},
            }
        },
        trace=False,
        instruments=[watch],
    )
    return watch.cycles - 1


class _Engine(Instrument):
    """Adds up the time of products; a cycle is 1 ns."""

    def __init__(self) -> None:
        self.cycles = 0.0

    def op_done(self, op: Op) -> None:
        if op.component.endswith(".pe_gemm"):
            self.cycles += op.t_end - op.t_start
