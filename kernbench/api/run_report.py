"""The report of a run: everything that a colleague asks first, as one HTML file."""

from __future__ import annotations

import os
from typing import Any

from kernbench.api.comparing import compare
from kernbench.api.exporting import written
from kernbench.api.pictures import DIAGRAM_VIEWS, diagram
from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, open_run
from kernbench.pgraph import GraphStore, topology_graph
from kernbench.report import html
from kernbench.report.cells import number

_LAUNCH = ("launch", "kernel", "pes", "t_start", "t_done", "latency_ns")
_USE = ("resource", "kind", "utilisation", "busy_ns", "wait_ns", "bytes", "transactions")
_WAIT = (
    "resource",
    "waiter",
    "waiter_kind",
    "waiter_src",
    "holder",
    "holder_kind",
    "holder_src",
    "from_ns",
    "wait_ns",
)
_ROOF = ("launch", "op", "name", "source", "flops", "memory", "intensity", "ns", "light_ns", "share", "bound")
_CHANGES = ("name", "before", "after", "change_ns", "change", "slower")
_SETTINGS = ("what", "key", "before", "after")
_ROWS = 20
_VERIFIED = {True: "yes", False: "NO: values are wrong", None: "not asked"}


def write_report(
    run: str | Run,
    path: str | os.PathLike[str],
    store: Store = None,
    *,
    launch: int | str | None = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
    against: str | None = None,
) -> str:
    """Write the report of a run into one HTML file that opens without a network, and give the file's name.

    It has the launches, where their time went by cause and by source line, the time line, the machine's
    four views with utilisation, the busiest links and engines, the longest waits and the roofline: of the
    launches, or of the window that ``launch``, ``from_ns`` and ``to_ns`` choose
    (:meth:`kernbench.Run.window`).

    Args:
        run: A run, or a reference to one, such as ``last``.
        path: The file. It appears whole or not at all.
        store: Where the run is kept.
        launch: The window; see above.
        from_ns: ns of simulated time.
        to_ns: ns of simulated time.
        against: An earlier run to compare it with: what was configured differently, and what changed.

    Raises:
        UsageError: There is no such run or window, the run has no trace, or ``against`` is of another bench.
    """
    with borrowed(store) as kept_in:
        found = run if isinstance(run, Run) else open_run(run, kept_in)
        window: dict[str, Any] = {"launch": launch, "from_ns": from_ns, "to_ns": to_ns}
        sections = _sections(found, window)
        if against is not None:
            sections.insert(0, _comparison(against, found.id, kept_in, window))
    title = f"{found.bench} on {found.topology}"
    text = html.page(title, _facts(found, window), sections, f"KernBench {found.info['version']}")
    return written(path, lambda out: out.write(text.encode()))[0]


def _facts(run: Run, window: dict[str, Any]) -> dict[str, str]:
    info = run.info
    shown = run.window(**window)
    launched = f"{number(run.latency_ns)} ns in {len(run.launches)} launch{'es' * (len(run.launches) != 1)}"
    return {
        "run": run.id,
        "started": str(info["started_at"]),
        "parameters": " ".join(f"{key}={value}" for key, value in run.params.items()),
        "changed in the topology": " ".join(f"{k}={v}" for k, v in info["topology_changes"].items()),
        "latency": launched,
        "simulated": f"{number(run.sim_ns)} ns",
        "shown here": f"{shown.name}, {number(shown.ns)} ns",
        "values verified": _VERIFIED[run.verified],
        "status": "" if info["status"] == "ok" else str(info["status"]),
        "tags": ", ".join(run.tags),
    }


def _sections(run: Run, window: dict[str, Any]) -> list[html.Section]:
    summary = run.summary(_ROWS, **window)
    ns = summary["window"]["ns"]
    races = "".join(html.paragraph(race["message"]) for race in summary["races"])
    sections = [html.Section("Races", races)] if races else []
    launches = html.table(_LAUNCH, [[row[name] for name in _LAUNCH] for row in summary["launches"]])
    causes = html.paragraph(
        "The critical path: the chain of work and waiting that makes this time, by cause."
    )
    by_line = {line or "outside of kernels": time for line, time in summary["by_line"].items()}
    sections += [
        html.Section("Launches", launches),
        html.Section("Where the time went", causes + html.shares(summary["by_cause"], ns)),
        html.Section("By source line", html.shares(by_line, ns)),
        html.Section("Time line", _time_line(run, window)),
        html.Section("Machine", _machine(run, window)),
    ]
    for title, rows in (("Busiest links", "busiest_links"), ("Busiest engines", "busiest_engines")):
        cells = [[f"{row[n]:.1%}" if n == "utilisation" else row[n] for n in _USE] for row in summary[rows]]
        sections.append(html.Section(title, html.table(_USE, cells)))
    sections.append(html.Section("Longest waits", _waits(run, window)))
    if window["from_ns"] is None and window["to_ns"] is None and run.launches:
        sections.append(html.Section("Speed of light", _roofline(run, window["launch"])))
    return sections


def _time_line(run: Run, window: dict[str, Any]) -> str:
    line = run.timeline(**window, links=True)
    return html.picture(line.svg(), "Bars name their operation, number and source line under the pointer.")


def _machine(run: Run, window: dict[str, Any]) -> str:
    graph = topology_graph(run.topology_record())
    parts = [html.paragraph("Darker is busier; the busiest counts where one part is drawn for several.")]
    for view in DIAGRAM_VIEWS:
        drawn = diagram(graph, view, run=run, **window)
        parts.append(html.picture(drawn, f"view: {view}", folded=view != "cube"))
    return "".join(parts)


def _waits(run: Run, window: dict[str, Any]) -> str:
    asked = {
        "launch": "run" if window["launch"] is None else str(window["launch"]),
        "from_ns": window["from_ns"] or 0.0,
        "to_ns": -1.0 if window["to_ns"] is None else window["to_ns"],
        "limit": _ROWS,
    }
    rows = run.query("contention/who-waited-for-whom", **asked).dicts()
    return html.table(_WAIT, [[row[name] for name in _WAIT] for row in rows], "nothing waited for anything")


def _roofline(run: Run, launch: int | str | None) -> str:
    rows = run.roofline(launch="run" if launch is None else launch, limit=_ROWS)
    cells = [[f"{row[n]:.1%}" if n == "share" else row[n] for n in _ROOF] for row in rows]
    note = (
        "light_ns is the least time for these flops and bytes here; share is how close the work came to it."
    )
    return html.paragraph(note) + html.table(_ROOF, cells, "no operation moved or computed anything")


def _comparison(before: str, after: str, store: GraphStore, window: dict[str, Any]) -> html.Section:
    found = compare(before, after, store, **window)
    settings = [[row[name] for name in _SETTINGS] for row in found["configured"]]
    alike = (
        "configured alike" if found["same_config"] else "configured differently in a way that was not kept"
    )
    changes = [
        [*(row[n] for n in _CHANGES[:4]), _percent(row["change"]), row["slower"]] for row in found["figures"]
    ]
    body = html.paragraph(f"before: {found['before']['run_id']}, after: {found['after']['run_id']}")
    body += html.table(_SETTINGS, settings, alike) + html.table(_CHANGES, changes)
    return html.Section("Compared with an earlier run", body)


def _percent(change: float | None) -> str:
    return "-" if change is None else f"{change:+.1%}"
