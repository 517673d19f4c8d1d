"""The table of operations: a row each, with name, meaning, types, check, and names in both languages."""

from __future__ import annotations

from kernbench.operations.along import ALONG
from kernbench.operations.epilogues import EPILOGUES as EPILOGUES
from kernbench.operations.of_one import OF_ONE
from kernbench.operations.of_several import OF_SEVERAL
from kernbench.operations.row import Operation as Operation

OPERATIONS: dict[str, Operation] = {row.name: row for row in (*OF_ONE, *OF_SEVERAL, *ALONG)}
"""The operations of PE_MATH, by name."""
REDUCTIONS = tuple(row.name for row in OPERATIONS.values() if row.kind == "reduce")
NAMES = (*(row.name for row in OPERATIONS.values() if row.engine == row.name), *EPILOGUES)
"""What a topology file may give passes or cycles to."""
ANY = "*"
"""In such a table: all operations that it does not name."""
