"""How one run is shown, by ``run`` and by ``runs show``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kernbench.cli.output import fold, number, print_csv, print_json, print_table, say
from kernbench.report.cells import PART, launch_columns, share

if TYPE_CHECKING:
    from kernbench.api import Run

_MANY, _SHOWN = 100_000, 5
"""Resources that are looked at, and rows that are shown once those that are alike are one row."""
_ADVISED = 20_000
"""Hops of a run up to which its summary tells people of advice: that takes about a second."""
_VERIFIED = {True: "yes", False: "NO", None: "not asked"}

_ROOFLINES = {"launch": "launches", "pe": "PEs", "operation": "operations"}
_ROOF = ("launch", "name", "flops", "hbm_bytes", "sram_bytes", "tcm_bytes", "link_bytes", "package_bytes",
         "intensity", "achieved_tflops", "attainable_tflops", "achieved_gbs", "peak_gbs", "ns", "light_ns",
         "share", "bound")  # fmt: skip
_ROOF_SHOWN = 10


def print_run(fmt: str, run: Run, details: bool = False, **window: Any) -> None:
    """Print the summary of ``run``: as JSON, as one line of CSV, or for people.

    ``window`` is ``launch``, ``from_ns`` and ``to_ns``, as :meth:`Run.window` takes them. With ``details``
    the roofline of its launches follows; of a run that is not kept there is none.
    """
    launch = window.get("launch") or "all"
    rooflines = {}
    if details and run.id and fmt != "csv":
        rooflines = {by: run.roofline(by, launch) if launch != "setup" else [] for by in _ROOFLINES}
    if fmt == "json":
        print_json({**run.summary(**window), **({"roofline": rooflines} if details else {})})
    elif fmt == "csv":
        print_csv(list(run.info), [list(run.info.values())])
    else:
        _print_for_people(run.summary(_MANY, **window))
        if sys.stdout.isatty() and run.id and run.launches and run.info["hops"] <= _ADVISED:
            from kernbench.api.screens.advice import one_line

            say(f"\n{one_line(run.advice())}")
        for by, rows in rooflines.items():
            _roofline(_ROOFLINES[by], rows, ("name",) if by == "pe" else ())


def _roofline(title: str, rows: list[dict[str, Any]], parts: tuple[str, ...]) -> None:
    """A table of how near work came to its least possible time; equal rows and symmetric PEs are one."""
    if not rows:
        return
    shown = [name for name in _ROOF if not name.endswith("_bytes") or any(row[name] for row in rows)]
    columns, cells = fold(shown, [[row[name] for name in shown] for row in rows], parts)
    at = columns.index("share")
    say(f"\n{title}: time against the least possible, most to gain first")
    print_table(columns, [[*c[:at], f"{c[at]:.1%}", *c[at + 1 :]] for c in cells[:_ROOF_SHOWN]])
    if len(cells) > _ROOF_SHOWN:
        say(f"{len(cells) - _ROOF_SHOWN} more: kernbench query bottleneck/roofline")


def _print_for_people(summary: dict[str, Any]) -> None:
    for name, value in _facts(summary):
        say(f"{name:<13} {value}")
    for race in summary["races"]:
        say(race["message"])
    _section("launches", launch_columns(summary["launches"]), summary["launches"])
    if "window" not in summary:
        _parts("busiest parts", summary["busiest"])
        return
    window = summary["window"]
    total = window["ns"]
    causes = [
        {"cause": cause, "ns": ns, "share": f"{ns / total:.1%}"} for cause, ns in summary["by_cause"].items()
    ]
    _section(
        f"critical path of {window['name']} by cause, {number(total)} ns", ("cause", "ns", "share"), causes
    )
    lines = [
        {"line": line, "ns": ns, "share": f"{ns / total:.1%}"}
        for line, ns in summary["by_line"].items()
        if line
    ]
    _section("critical path by source line", ("line", "ns", "share"), lines[:_SHOWN])
    _parts("busiest parts", summary["busiest"])
    _parts("parts that were waited for longest", summary["most_waited_for"])


def _facts(summary: dict[str, Any]) -> Iterable[tuple[str, str]]:
    rate = summary["events"] / summary["wall_s"] if summary["wall_s"] > 0 else 0.0
    partial = ", partial: it was stopped" if summary["status"] == "partial" else ""
    yield "run", f"{summary['run_id']}{partial}" if summary["run_id"] else "not kept"
    yield "bench", summary["bench"]
    if summary["params"]:
        yield "parameters", " ".join(f"{key}={value}" for key, value in summary["params"].items())
    changes = " ".join(f"{key}={value}" for key, value in summary["topology_changes"].items())
    yield "topology", f"{summary['topology']} with {changes}" if changes else summary["topology"]
    launches = len(summary["launches"])
    yield "latency", f"{number(summary['latency_ns'])} ns in {launches} launch{'' if launches == 1 else 'es'}"
    setup = summary.get("window", {}).get("setup_ns")
    outside = "" if not setup else f", of which {number(setup)} ns are setup, outside of launches"
    yield "simulated", f"{number(summary['sim_ns'])} ns{outside}"
    ops = f", {summary['ops_verified']} operations one by one" if summary.get("ops_verified") else ""
    verified = "nothing was checked" if summary["nothing_checked"] else _VERIFIED[summary["verified"]]
    yield "verified", f"{verified}{ops}"
    yield "took", f"{number(summary['wall_s'])} s, {summary['events']} events, {rate:.0f} events/s"
    if summary["tags"]:
        yield "tags", ", ".join(summary["tags"])


def _section(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    if rows:
        say(f"\n{title}")
        print_table(columns, [[row[column] for column in columns] for row in rows])


def _parts(title: str, rows: list[dict[str, Any]]) -> None:
    """Parts of the machine; those that differ only in their place in it are one row."""
    columns, cells = fold(PART, [[row[column] for column in PART] for row in rows], ("resource",))
    if cells:
        say(f"\n{title}")
        print_table(columns, [[*c[:2], share(c[2]), share(c[3]), *c[4:]] for c in cells[:_SHOWN]])
