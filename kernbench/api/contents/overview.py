"""A run at a glance: what was run, its launches, where their time went, and its busiest parts."""

from __future__ import annotations

from collections.abc import Iterator

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import SCREENS, judged, parts
from kernbench.api.result import Run
from kernbench.api.summary import most_waited_for
from kernbench.draw.cells import number
from kernbench.draw.content import Content, Grid

_VERIFIED = {
    "no": "NO: values are wrong",
    "race": "NO: accesses race, values depend on their timing",
    "nothing checked": "nothing was checked",
}


def of_run(run: Run, window: ChosenWindow) -> Content:
    """Facts and tables; of a run without a trace those tables that are known of the whole run."""
    known = window if run.traced else ChosenWindow()
    grids: list[Grid] = []
    for screen in SCREENS:
        if screen.at_a_glance and (run.traced or not screen.needs_trace):
            grids += screen.work_out(run, window).grids
    grids.append(parts.longest(run, window))
    title = f"{run.bench} on {run.topology}"
    return Content(grids, "nothing", title=title, facts=list(facts(run, known)), wrong=wrong(run))


def wrong(run: Run) -> list[str]:
    """What is wrong with a run: its values, its races, or what ended it."""
    races = [str(race["message"]) for race in run.info["races"]]
    problem = run.problem if run.verdict != "race" else ""
    return [*problem.splitlines(), *races]


def facts(run: Run, window: ChosenWindow) -> Iterator[tuple[str, str]]:
    """What identifies a run, and its figures: names and texts. Nothing of where it is kept."""
    info, shown = run.info, run.window(window)
    yield "run", run.id or "not kept"
    yield "bench", run.bench
    if run.params:
        yield "parameters", " ".join(f"{key}={value}" for key, value in run.params.items())
    changes = " ".join(f"{key}={value}" for key, value in info["topology_changes"].items())
    yield "topology", f"{run.topology} with {changes}" if changes else run.topology
    if info.get("tile_transfers") == "packed":
        yield "tiles", "packed: a composite's tiles move as if each were stored by itself"
    for line in run.accounted:
        yield "estimated", line
    if host := info.get("on_host"):
        named = ", ".join(f"{one['name']} {one['times']}" for one in host[:6])
        more = f" and {len(host) - 6} more" if len(host) > 6 else ""
        times, nbytes = (sum(one[key] for one in host) for key in ("times", "nbytes"))
        yield "on the host", f"{times} operations of {nbytes} bytes, in no time: {named}{more}"
    if pes := info.get("pes"):
        rest = "the others do the same on parts of their own, and take their times"
        yield "PEs", f"simulated {pes['simulated']} of {pes['of']}, counted in each launch; {rest}"
    count = sum(one.get("times", 1) for one in run.launches)
    launched = "1 launch" if count == 1 else f"{count} launches"
    latency = run.latency_ns
    parts = f"launch {number(run.launch_ns)}, kernels {number(run.kernels_ns)}"
    yield "latency", "no launches" if latency is None else f"{number(latency)} ns in {launched} ({parts})"
    first = {str(one["kernel"]): one["first_of"] for one in run.launches if one.get("first_of")}
    for kernel, count in first.items():
        yield (
            "autotune",
            f"{kernel} runs the first of {count} configurations; 'kernbench tune' finds the best",
        )
    setup = run.sim_ns - run.time_ns
    outside = f", including {number(setup)} ns outside launches" if setup else ""
    yield "simulated", f"{number(run.sim_ns)} ns{outside}"
    one_by_one = f", {info['ops_verified']} operations one by one" if info.get("ops_verified") else ""
    yield (
        "verified",
        f"{_VERIFIED.get(run.verdict, run.verdict)}{one_by_one}",
    )
    if by := judged.launches(run):
        yield "judged by", by
    if info["status"] != "ok":
        yield "status", {"partial": "partial: it was stopped"}.get(info["status"], str(info["status"]))
    if not run.traced and most_waited_for(run.used, 0) is None:
        yield "waits", "not known without a trace"
    rate = info["events"] / info["wall_s"] if info["wall_s"] > 0 else 0.0
    yield "took", f"{number(info['wall_s'])} s, {info['events']} events, {rate:.0f} events/s"
    yield "started", str(info["started_at"])[:19].replace("T", " ") + " UTC"
    yield "window", f"{shown.name}, {number(shown.ns)} ns"
    if run.tags:
        yield "tags", ", ".join(run.tags)
