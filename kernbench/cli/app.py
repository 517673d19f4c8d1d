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
        "run": Entry(f"{_HERE}.run", "Run a bench, print its times, save its trace."),
        "tune": Entry(f"{_HERE}.tune", "Find the fastest configuration of a bench's kernels."),
        "sweep": Entry(f"{_HERE}.sweep", "Run a bench over many parameters and topologies."),
        "evaluate": Entry(f"{_HERE}.evaluate", "Run an evaluation: points, tables, figures, regressions."),
        "model": Entry(f"{_HERE}.model", "Show what a machine makes of a model: tokens a second, memory."),
        "serve-sim": Entry(f"{_HERE}.serve_sim", "Simulate a service of a model: load, waits, goodput."),
        "list": Entry(f"{_HERE}.list", "List the benches and their parameters."),
        "probe": Entry(f"{_HERE}.probe", "Time single transfers and check them against a formula."),
        "validate": Entry(f"{_HERE}.validate", "Compare the model with silicon and other simulators."),
        "traffic": Entry(f"{_HERE}.traffic", "Run a list of flows or a traffic pattern."),
        "query": Entry(f"{_HERE}.query", "Ask a question about a run."),
        "show": Entry(f"{_HERE}.show", "Show a run at a glance, or one of its tabs."),
        "why": Entry(f"{_HERE}.why", "Show the critical path of a run: where its time went."),
        "advise": Entry(f"{_HERE}.advise", "Recommend changes of a kernel, with what each saves."),
        "energy": Entry(f"{_HERE}.energy", "Show where the energy of a run went."),
        "what-if": Entry(f"{_HERE}.what_if", "Estimate and measure the effect of faster parts."),
        "compare": Entry(f"{_HERE}.compare", "Show what got slower between two runs."),
        "runs": Entry(f"{_HERE}.runs", "List, tag, copy and remove runs."),
        "timeline": Entry(f"{_HERE}.timeline", "Show the timeline of a run."),
        "export": Entry(f"{_HERE}.export", "Write a run for Perfetto, as tables or as a picture."),
        "report": Entry(f"{_HERE}.report", "Write a run as one HTML file to send to others."),
        "topology": Entry(f"{_HERE}.topology", "Check, show, compare and draw topologies."),
        "tui": Entry(f"{_HERE}.tui", "Browse runs in the terminal."),
        "web": Entry(f"{_HERE}.web", "Browse runs in the browser."),
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
