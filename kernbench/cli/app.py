"""Which commands there are."""

from __future__ import annotations

import click

import kernbench
from kernbench.cli.group import Entry, LazyGroup

_HERE = "kernbench.cli.commands"


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"kernbench {kernbench.__version__}")
        ctx.exit()


app = LazyGroup(
    "kernbench",
    help="Simulate kernels on multi-chiplet AI accelerators and query the traces.",
    entries={
        "run": Entry(f"{_HERE}.run", "Run a bench; print its times; keep its trace."),
        "tune": Entry(f"{_HERE}.tune", "Find the fastest configuration of a bench's kernels."),
        "sweep": Entry(f"{_HERE}.sweep", "Run a bench over many parameters and topologies."),
        "evaluate": Entry(f"{_HERE}.evaluate", "Run an evaluation: points, tables, figures, regressions."),
        "list": Entry(f"{_HERE}.list", "List the benches and their parameters."),
        "probe": Entry(f"{_HERE}.probe", "Time single transfers, check them against a formula."),
        "validate": Entry(f"{_HERE}.validate", "Measure the model beside silicon and other simulators."),
        "traffic": Entry(f"{_HERE}.traffic", "Run a list of flows, or a pattern of traffic, together."),
        "query": Entry(f"{_HERE}.query", "Ask a question of a kept run."),
        "show": Entry(f"{_HERE}.show", "Show a kept run at a glance, or one of its tabs."),
        "why": Entry(f"{_HERE}.why", "Show what made the time of a kept run."),
        "advise": Entry(f"{_HERE}.advise", "Say what to change next in a kernel, and what it saves."),
        "energy": Entry(f"{_HERE}.energy", "Show where the energy of a kept run went."),
        "what-if": Entry(f"{_HERE}.what_if", "Estimate, then measure, a run on a faster machine."),
        "compare": Entry(f"{_HERE}.compare", "Show what got slower from one run to another."),
        "runs": Entry(f"{_HERE}.runs", "List, tag, copy and remove kept runs."),
        "timeline": Entry(f"{_HERE}.timeline", "Show the timeline of a run."),
        "export": Entry(f"{_HERE}.export", "Write a kept run for Perfetto, as tables, as a picture."),
        "report": Entry(f"{_HERE}.report", "Write a kept run as one HTML page to send on."),
        "topology": Entry(f"{_HERE}.topology", "Check a topology file, look into it, draw it."),
        "tui": Entry(f"{_HERE}.tui", "Browse kept runs in the terminal."),
        "web": Entry(f"{_HERE}.web", "Browse kept runs in the browser."),
        "completion": Entry(f"{_HERE}.completion", "Print a script for tab completion in bash, zsh or fish."),
        "doctor": Entry(f"{_HERE}.doctor", "Check the installation and the store."),
    },
    first=(
        *("run", "tune", "sweep", "list", "query", "why"),
        *("advise", "compare", "topology", "tui", "web", "export"),
    ),
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        )
    ],
    examples=["kernbench run qkv-gemm --verify-data", "kernbench query busiest-links limit=3"],
    elsewhere={
        "ls": "runs list",
        "history": "runs list",
        "diff": "compare",
        "bench": "run",
        "simulate": "run",
        "benches": "list",
        "questions": "query --list",
        "ask": "query",
        "cypher": "query --cypher",
        "profile": "why",
        "trace": "timeline",
        "gui": "web",
        "ui": "tui",
        "figures": "evaluate dma",
    },
)
