"""How one run is shown, by ``run`` and by ``runs show``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernbench.api import Run
from kernbench.cli.output import number, print_csv, print_json, print_table

_VERIFIED = {True: "yes", False: "NO", None: "not asked"}
_RESOURCE = ("resource", "kind", "utilisation", "busy_ns", "wait_ns", "bytes", "transactions")
_LAUNCH = ("launch", "kernel", "pes", "t_start", "t_done", "latency_ns")


def print_run(fmt: str, run: Run) -> None:
    """Print the summary of ``run``: as JSON, as one line of CSV, or for people."""
    if fmt == "json":
        print_json(run.summary())
    elif fmt == "csv":
        print_csv(list(run.info), [list(run.info.values())])
    else:
        _print_for_people(run.summary())


def _print_for_people(summary: dict[str, Any]) -> None:
    for name, value in _facts(summary):
        print(f"{name:<13} {value}")
    _section("launches", _LAUNCH, summary["launches"])
    _section("busiest links", _RESOURCE, [_percent(row) for row in summary["busiest_links"]])
    _section("busiest engines", _RESOURCE, [_percent(row) for row in summary["busiest_engines"]])


def _facts(summary: dict[str, Any]) -> Iterable[tuple[str, str]]:
    rate = summary["events"] / summary["wall_s"] if summary["wall_s"] > 0 else 0.0
    yield "run", summary["run_id"] or "not kept"
    yield "bench", summary["bench"]
    if summary["params"]:
        yield "parameters", " ".join(f"{key}={value}" for key, value in summary["params"].items())
    yield "topology", summary["topology"]
    launches = len(summary["launches"])
    yield "latency", f"{number(summary['latency_ns'])} ns in {launches} launch{'' if launches == 1 else 'es'}"
    yield "simulated", f"{number(summary['sim_ns'])} ns"
    yield "verified", _VERIFIED[summary["verified"]]
    yield "took", f"{number(summary['wall_s'])} s, {summary['events']} events, {rate:.0f} events/s"
    if summary["tags"]:
        yield "tags", ", ".join(summary["tags"])


def _section(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    if rows:
        print(f"\n{title}")
        print_table(columns, [[row[column] for column in columns] for row in rows])


def _percent(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "utilisation": f"{row['utilisation']:.1%}"}
