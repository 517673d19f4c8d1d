"""One run as the page shows it, section by section: overview and critical path."""

from __future__ import annotations

from typing import Any

from kernbench.analysis.time_window import WHOLE
from kernbench.api.result import Run
from kernbench.pages.tables import of_dicts, table
from kernbench.report.cells import PART, launch_columns, number
from kernbench.report.content import Column

_STEPS = ("t_start", "ns", "cause", "location", "activity", "transaction", "line")
_ROWS = 20
ALL = 1 << 40
"""More rows than there are of anything."""
_VERIFIED = {True: "yes", False: "NO: values are wrong", None: "not asked"}
NS = "ns"


def facts(run: Run, **window: Any) -> list[list[str]]:
    """Pairs of a name and a text: what identifies the run; nothing of where it is kept."""
    info = run.info
    shown = run.window(**window)
    count = len(run.launches)
    launched = (
        f"{number(run.latency_ns)} ns in {count} launch{'es' * (count != 1)}" if count else "no launches"
    )
    pairs = {
        "run": run.id,
        "started": str(info["started_at"])[:19].replace("T", " ") + " UTC",
        "parameters": " ".join(f"{key}={value}" for key, value in run.params.items()),
        "changed in the topology": " ".join(f"{k}={v}" for k, v in info["topology_changes"].items()),
        "latency": launched,
        "simulated": f"{number(run.sim_ns)} ns",
        "shown here": f"{shown.name}, {number(shown.ns)} ns",
        "values verified": "nothing was checked" if run.nothing_checked else _VERIFIED[run.verified],
        "status": "" if info["status"] == "ok" else str(info["status"]),
        "tags": ", ".join(run.tags),
    }
    return [[name, text] for name, text in pairs.items() if text]


def overview(run: Run, **window: Any) -> dict[str, Any]:
    """``title facts races launches causes lines busiest waited ns setup_ns windows``.

    ``causes`` and ``lines`` are ``[name, ns]`` of the critical path, longest first; ``windows`` names the
    windows that may be asked for.
    """
    found = run.summary(ALL, **window)
    return {
        "title": f"{run.bench} on {run.topology}",
        "facts": facts(run, **window),
        "races": [str(race["message"]) for race in found["races"]],
        "launches": of_dicts(
            found["launches"],
            [Column(n, NS if n.startswith("t_") else "") for n in launch_columns(found["launches"])],
            "this run launched no kernel",
        ),
        "ns": found["window"]["ns"],
        "window": found["window"]["name"],
        "setup_ns": found["window"]["setup_ns"],
        "causes": [[name, ns] for name, ns in found["by_cause"].items()],
        "lines": [[name or "outside of kernels", ns] for name, ns in found["by_line"].items()],
        "busiest": of_dicts(found["busiest"], PART, "nothing was used", _ROWS, ("resource",)),
        "waited": of_dicts(found["most_waited_for"], PART, "nothing was waited for", _ROWS, ("resource",)),
        "windows": windows(run),
    }  # fmt: skip


def windows(run: Run) -> list[list[str]]:
    """Windows by what ``launch`` may be, with a text for each: all launches, each one, setup, the run."""
    if not run.launches:
        last = [["run", WHOLE]]
        return last if run.window("all") == run.window() else [["all", run.window("all").name], *last]
    each = [[str(n), f"launch {n}: {one['kernel']}"] for n, one in enumerate(run.launches)]
    first = [["all", "all launches"]] if len(each) > 1 else []
    return [*first, *each, ["setup", "setup, outside of launches"], ["run", WHOLE]]


def path(run: Run, **window: Any) -> dict[str, Any]:
    """The critical path: ``ns causes locations lines steps``; sums are ``[name, ns]``, longest first."""
    found = run.critical_path(**window)
    return {
        "ns": found.ns,
        "start_ns": found.t_start,
        "causes": [[name, ns] for name, ns in found.by_cause().items()],
        "locations": [[name, ns] for name, ns in found.by_location().items()][:_ROWS],
        "lines": [[name or "outside of kernels", ns] for name, ns in found.by_line().items()][:_ROWS],
        "strip": _strip(found),
        "steps": table(
            [Column(n, NS if n in ("t_start", "ns") else "") for n in _STEPS],
            [[getattr(step, n) for n in _STEPS] for step in found.steps],
            empty="no time in this window",
        ),
    }  # fmt: skip


_STRIP = 2000


def _strip(found: Any) -> list[list[Any]]:
    """The steps as ``[begin, end, cause]`` in ns, neighbours of one cause as one."""
    joined: list[list[Any]] = []
    for step in found.steps:
        if joined and joined[-1][2] == step.cause and abs(joined[-1][1] - step.t_start) < 1e-9:
            joined[-1][1] = step.t_end
        else:
            joined.append([step.t_start, step.t_end, step.cause])
    if len(joined) > _STRIP:
        least = sorted((b - a for a, b, _ in joined), reverse=True)[_STRIP - 1]
        joined = [one for one in joined if one[1] - one[0] >= least]
    return joined
