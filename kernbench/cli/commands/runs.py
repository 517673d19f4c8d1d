"""``kernbench runs``: the group of the commands that work on kept runs."""

from __future__ import annotations

from kernbench.cli.group import Entry, LazyGroup

_HERE = "kernbench.cli.commands"

command = LazyGroup(
    "runs",
    help="List, compare, tag, copy and remove kept runs.",
    entries={
        "list": Entry(f"{_HERE}.runs_list", "List the kept runs, oldest first."),
        "show": Entry(f"{_HERE}.runs_show", "Show what is known of one run."),
        "compare": Entry(f"{_HERE}.runs_compare", "Show what got slower from one run to another."),
        "tag": Entry(f"{_HERE}.runs_tag", "Give a run tags, or take them away."),
        "export": Entry(f"{_HERE}.runs_export", "Copy runs to another store."),
        "import": Entry(f"{_HERE}.runs_import", "Copy runs from another store."),
        "prune": Entry(f"{_HERE}.runs_prune", "Remove all but the newest runs of each bench."),
        "rm": Entry(f"{_HERE}.runs_rm", "Remove runs."),
    },
    examples=["kernbench runs show last"],
)
