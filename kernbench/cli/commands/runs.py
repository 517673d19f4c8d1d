"""``kernbench runs``: the group of the commands that work on kept runs."""

from __future__ import annotations

from kernbench.cli.group import Entry, LazyGroup

_HERE = "kernbench.cli.commands"

command = LazyGroup(
    "runs",
    help="List, show and remove kept runs.",
    entries={
        "list": Entry(f"{_HERE}.runs_list", "List the kept runs, oldest first."),
        "show": Entry(f"{_HERE}.runs_show", "Show what is known of one run."),
        "rm": Entry(f"{_HERE}.runs_rm", "Remove runs."),
    },
    examples=["kernbench runs show last"],
)
