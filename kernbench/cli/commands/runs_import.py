"""``kernbench runs import``."""

from __future__ import annotations

from kernbench.cli.copying import copy_command

command = copy_command(
    "import",
    "--from",
    "Copy RUNS, by default all, from the store at --from into this one, with their topologies.",
    outward=False,
)
