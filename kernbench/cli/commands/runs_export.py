"""``kernbench runs export``."""

from __future__ import annotations

from kernbench.cli.copying import copy_command

command = copy_command(
    "export",
    "--to",
    "Copy RUNS, by default all, from the store to the one at --to, with their topologies.",
    outward=True,
)
