"""``kernbench topology``: the group of the commands that work on topology files."""

from __future__ import annotations

from kernbench.cli.group import Entry, LazyGroup

_HERE = "kernbench.cli.commands"

command = LazyGroup(
    "topology",
    help="Check a topology file, look into it, draw it.",
    entries={
        "check": Entry(f"{_HERE}.topology_check", "Say whether a file is a valid topology."),
        "show": Entry(f"{_HERE}.topology_show", "Count its parts, or show the way between two of them."),
        "diagram": Entry(f"{_HERE}.topology_diagram", "Draw it, on request with a run's utilisation."),
    },
    examples=["kernbench topology show default --from sip0.cube0.pe0 --to sip0.cube5.hbm_ctrl.pe0"],
)
