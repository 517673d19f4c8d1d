"""One run as the page shows it, section by section: overview, critical path, waits, roofline."""

from __future__ import annotations

from typing import Any

from kernbench.api import asking
from kernbench.api.advising import advise_window
from kernbench.api.energy_use import energy_levels
from kernbench.api.page.tables import Col, of_dicts, table
from kernbench.api.result import Run
from kernbench.pgraph import Result
from kernbench.report import advice, energy
from kernbench.report.cells import PART, launch_columns, number
from kernbench.report.cells import plain as plain

_STEPS = ("t_start", "ns", "cause", "location", "activity", "transaction", "line")
_ROOF = ("launch", "op", "name", "source", "flops", "memory", "intensity", "ns", "light_ns", "share", "bound")
_POINT = ("name", "op", "launch", "source", "memory", "intensity", "achieved_tflops", "attainable_tflops",
          "peak_tflops", "peak_gbs", "share", "bound", "ns", "flops")  # fmt: skip
_ROWS = 20
_PLACES = 50
_PAIRS = 200
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
            [Col(n, NS if n.startswith("t_") else "") for n in launch_columns(found["launches"])],
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
        return [["run", "the whole run"]]
    each = [[str(n), f"launch {n}: {one['kernel']}"] for n, one in enumerate(run.launches)]
    first = [["all", "all launches"]] if len(each) > 1 else []
    return [*first, *each, ["setup", "setup, outside of launches"], ["run", "the whole run"]]


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
            [Col(n, NS if n in ("t_start", "ns") else "") for n in _STEPS],
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


def waits(run: Run, **window: Any) -> dict[str, Any]:
    """Who waited for whom, and where: ``pairs`` and ``places``, tables of the rows of two questions."""
    given = {"launch": "run"} | {name: value for name, value in window.items() if value is not None}

    def asked(name: str, limit: int) -> Result:
        return asking.ask(f"contention/{name}", run.id, run._kept_in(), {"limit": limit}, **given)

    nothing = "nothing waited for anything"
    pairs, places = asked("who-waited-for-whom", _PAIRS), asked("waits-by-resource", ALL)
    return {
        "pairs": table(pairs.columns, pairs.rows, empty=nothing),
        "places": table(places.columns, places.rows, empty=nothing, first=_PLACES, parts=("resource",)),
    }


def advised(run: Run, **window: Any) -> dict[str, Any]:
    """What to do next: ``table`` with a row for each piece of advice, and a ``note``."""
    found = of_dicts(advise_window(run, **window), [Col(*one) for one in advice.COLUMNS], advice.EMPTY)
    return {"table": found, "note": advice.NOTE}


def energy_spent(run: Run) -> dict[str, Any]:
    """Where the energy of the whole run went: ``said note total levels``.

    A level has ``key heading pairs table``; ``pairs`` are a name and pJ, the largest first.
    """
    levels = []
    for found, (by, heading) in zip(energy_levels(run), energy.LEVELS, strict=True):
        rows = found["rows"] if found["energy_pj"] else []
        columns = [Col(*one) for one in energy.columns(found["rows"], by, found["static_pj"])]
        pairs = [[row["name"], row["energy_pj"]] for row in rows[:_ROWS]]
        shown = of_dicts(rows, columns, energy.EMPTY)
        levels.append({"key": by, "heading": heading, "pairs": pairs, "table": shown})
    return {
        "said": energy.headline(found), "note": energy.NOTE, "total": found["energy_pj"], "levels": levels
    }  # fmt: skip


def roofline(run: Run, launch: int | str | None = "all") -> dict[str, Any]:
    """How near launches, PEs and operations came to what the hardware allows, by each of the three.

    Each has ``points`` (dictionaries, those with flops and a memory) and ``table``.
    """
    of = "run" if launch is None else launch
    found = {}
    for by, limit in (("launch", None), ("pe", 300), ("operation", 500)):
        rows = run.roofline(by, of, limit)
        points = [row for row in rows if row["flops"] and row["memory"] and row["ns"] > 0]
        found[by] = {
            "points": _alike([{name: plain(row[name]) for name in _POINT} for row in points]),
            "table": of_dicts(
                rows, _ROOF, "no operation moved or computed anything", parts=("name",) if by == "pe" else ()
            ),
        }
    return found


def _alike(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points at one place once, with their count."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for point in points:
        key = (point["memory"], round(point["intensity"], 6), round(point["achieved_tflops"], 9))
        if key in found:
            found[key]["count"] += 1
        else:
            found[key] = {**point, "count": 1}
    return list(found.values())
