"""Pictures: diagrams of topologies, with a run's utilisation if wanted, and figures of DMA transfers."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, open_run
from kernbench.api.topologies import Topology, as_graph
from kernbench.errors import UsageError
from kernbench.hints import did_you_mean
from kernbench.pgraph import PropertyGraph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIAGRAM_VIEWS = ("system", "sip", "cube", "pe")
"""From the tray to the parts of a PE."""


def diagram(
    topology: Topology = None,
    view: str = "cube",
    *,
    run: str | Run | None = None,
    store: Store = None,
    of: str | None = None,
    launch: int | str | None = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
) -> str:
    """One view of a topology as SVG. Equal arguments give equal text.

    Args:
        topology: As for :func:`run`.
        view: One of :data:`DIAGRAM_VIEWS`.
        run: A reference such as ``last``, or a :class:`Run`. Links and parts are coloured by the share of the
            time of its launches for which they were busy; where the view draws several as one, the busiest
            counts.
        store: Where the run is; as for :func:`run`.
        of: The SIP, cube or PE to show instead of one that stands for all.
        launch: With ``from_ns`` and ``to_ns``, another window; see :meth:`Run.window`.
        from_ns: Start of the window.
        to_ns: Its end.

    Raises:
        UsageError: There is no such view or part, or the run was on another topology.
    """
    from kernbench.report.svg import svg
    from kernbench.report.views import VIEWS, overlay

    if view not in VIEWS:
        raise UsageError(f"there is no view '{view}'; use one of {', '.join(VIEWS)}")
    graph = as_graph(topology)
    drawn = VIEWS[view](graph, of)
    if run is None:
        return svg(drawn, None, "")
    with borrowed(store) if not isinstance(run, Run) else nullcontext() as opened:
        found = run if isinstance(run, Run) else open_run(run, opened)
        used = _utilisation(found, graph, launch, from_ns, to_ns)
        window = found.window(launch, from_ns, to_ns).name
        return svg(drawn, overlay(drawn, used), f"{_name(found)}, {window}")


def diagram_frames(
    run: Run,
    count: int,
    launch: int | str | None = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
) -> list[dict[str, Any]]:
    """A window of a run (:meth:`kernbench.Run.window`) as ``count`` stretches of equal length, in order.

    Each is the ``launch``, ``from_ns`` and ``to_ns`` of one picture (:func:`diagram`), so that they show how
    the traffic moves. Gaps between launches with nothing in the window are left out.
    """
    if count < 1:
        raise UsageError(f"{count} frames cannot be drawn; give a number from 1")
    window = run.window(launch, from_ns, to_ns)
    if window.ns <= 0:
        raise UsageError(f"there is no time in {window.name} to cut into frames; choose another window")
    begin, end = window.spans[0][0], window.spans[-1][1]
    edges = [begin + (end - begin) * number / count for number in range(count)] + [end]
    return [
        {"launch": launch, "from_ns": a, "to_ns": b}
        for a, b in pairwise(edges)
        if any(first < b and last > a for first, last in window.spans)
    ]


def _name(run: Run) -> str:
    return f"{run.id} ({run.bench})" if run.id else run.bench


def _utilisation(
    run: Run, graph: PropertyGraph, launch: int | str | None, from_ns: float | None, to_ns: float | None
) -> dict[str, float]:
    """Utilisation within a window by component and link."""
    if run.info["topology_id"] != graph.properties["id"]:
        raise UsageError(
            f"run '{run.id}' was on topology '{run.topology}' (id {run.info['topology_id']}), not on "
            f"'{graph.properties['name']}' (id {graph.properties['id']}); draw the one that it ran on"
        )
    used = run.use(launch, from_ns, to_ns)
    return dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))


def require_figures() -> None:
    """``MissingExtraError`` when matplotlib is not installed."""
    from kernbench.report.figures import drawing

    drawing.require()


RUN_FIGURES = ("roofline", "links", "timeline", "energy")
"""Figures of a run."""


def run_figure(
    run: Run, name: str, launch: int | str | None, from_ns: float | None, to_ns: float | None
) -> Figure:
    """See :meth:`kernbench.Run.figure`."""
    from kernbench.report.figures import drawing

    if name not in RUN_FIGURES:
        raise UsageError(f"a run has no figure '{name}'; {did_you_mean(name, RUN_FIGURES)}")
    drawing.require()
    if name == "roofline":
        from kernbench.report.figures.roofline import roofline_figure
        from kernbench.report.roofs import drawn

        if from_ns is not None or to_ns is not None or launch == "setup":
            raise UsageError("a roofline is of whole launches; leave the times out, and name a launch or all")
        of = "all" if launch is None else launch
        window = run.window(launch).name
        title = f"{run.bench} on {run.topology}, {window}: roofline"
        panels = {"launches": "launch", "operations": "operation"}
        return roofline_figure([(name, drawn(run.roofline(by, of))) for name, by in panels.items()], title)
    if name == "energy":
        from kernbench.report.figures.energy_plot import energy_figure

        if from_ns is not None or to_ns is not None or launch not in (None, "all"):
            raise UsageError("the figure of energy is of the whole run; leave launch and times out")
        title = f"{run.bench} on {run.topology}: energy"
        return energy_figure(run.energy("kind")["rows"], run.energy("line")["rows"], title)
    line = run.timeline(launch, from_ns, to_ns, links=name == "links", rows=40).drawn
    if name == "links":
        from kernbench.report.figures.link_heat import link_heat_figure

        return link_heat_figure(line)
    from kernbench.report.timeline.png import figure

    return figure(line)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> str:
    """Write a figure as PNG, always the same bytes for the same figure, and give the file's name."""
    from kernbench.report.figures import drawing

    os.makedirs(os.path.dirname(os.fspath(path)) or ".", exist_ok=True)
    drawing.save(figure, os.fspath(path))
    return os.fspath(path)


def roofline_figure(
    run: Run, path: str | os.PathLike[str], by: str = "operation", launch: int | str = "all"
) -> None:
    """Draw the roofline of a run as PNG, a point for each row of :meth:`Run.roofline` that has flops.

    Args:
        run: The run.
        path: The file to write.
        by: What a point is: ``operation``, ``pe`` or ``launch``.
        launch: Number of a launch, or ``"all"``.

    Raises:
        UsageError: No row has flops.
        MissingExtraError: matplotlib is not installed.
    """
    from kernbench.report.figures import drawing
    from kernbench.report.figures import roofline as plot
    from kernbench.report.roofs import drawn

    drawing.require()
    what = {"operation": "operations", "pe": "PEs", "launch": "launches"}
    title = f"Roofline of the {what[by]} of {_name(run)}"
    panels = [(what[by], drawn(run.roofline(by, launch)))]
    drawing.save(plot.roofline_figure(panels, title), os.fspath(path))


LATENCY_BYTES, BANDWIDTH_BYTES = 4096, 65536


def figures(
    out: str | os.PathLike[str],
    topology: Topology = None,
    *,
    latency_bytes: int = LATENCY_BYTES,
    bandwidth_bytes: int = BANDWIDTH_BYTES,
    progress: Callable[[float, int, float | None], None] | None = None,
) -> dict[str, Any]:
    """Run the PE-DMA scenarios of a topology and write two figures with their numbers.

    ``dma_latency.png`` and ``.csv`` show where the ns of one transfer go, ``dma_bandwidth`` GB/s against what
    the busiest link or memory allows.

    Args:
        out: The folder to write into.
        topology: As for :func:`run`.
        latency_bytes: Of the transfer whose latency is taken apart.
        bandwidth_bytes: Of the transfers whose bandwidth is measured.
        progress: Called with simulated ns, flits moved and the share done.

    Returns:
        ``files``, ``latency`` and ``bandwidth`` (a dictionary a row) and ``left_out`` (``scenario`` and
        ``why``: the scenarios that the topology is too small for).

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from kernbench.report.figures.make import make

    return make(as_graph(topology), os.fspath(out), latency_bytes, bandwidth_bytes, progress)
