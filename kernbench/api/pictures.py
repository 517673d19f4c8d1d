"""Pictures: diagrams of topologies, with a run's utilisation if wanted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.analysis.windows.time_window import Window
from kernbench.api.advising import named_run
from kernbench.api.result import Run
from kernbench.api.stores import Store
from kernbench.api.topologies import Topology, load_topology
from kernbench.errors import UsageError
from kernbench.support.pgraph import PropertyGraph

DIAGRAM_VIEWS = ("system", "sip", "cube", "pe")
"""From the tray to the parts of a PE."""


def diagram_views(graph: PropertyGraph) -> tuple[str, ...]:
    """The views that a machine has: one of blocks alone where it is not a tray of packages."""
    from kernbench.draw.machine.facts import is_tray

    return DIAGRAM_VIEWS if is_tray(graph) else DIAGRAM_VIEWS[:1]


def diagram(
    topology: Topology = None,
    view: str = "cube",
    *,
    run: str | Run | None = None,
    store: Store = None,
    of: str | None = None,
    launch: Chosen = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
) -> str:
    """One view of a topology as SVG. Equal arguments give equal text.

    Args:
        topology: As for :func:`run`.
        view: One of :data:`DIAGRAM_VIEWS`.
        run: A reference such as ``last``, or a :class:`Run`. Links and parts are coloured by the share of the
            time of its launches for which they were busy; where the view draws several as one, the busiest
            member counts: a part in it, or a link between two of them.
        store: Where the run is; as for :func:`run`.
        of: The SIP, cube or PE to show instead of one that stands for all.
        launch: With ``from_ns`` and ``to_ns``, another window; see :meth:`Run.window`.
        from_ns: Start of the window.
        to_ns: Its end.

    Raises:
        UsageError: There is no such view or part, or the run was on another topology.
    """
    from kernbench.draw.machine import VIEWS, overlay
    from kernbench.draw.svg import svg

    if view not in VIEWS:
        raise UsageError(f"there is no view '{view}'; use one of {', '.join(VIEWS)}")
    graph = load_topology(topology)
    drawn = VIEWS[view](graph, of)
    if run is None:
        return svg(drawn, None, "")
    with named_run(run, store) as found:
        window = found.window(launch, from_ns, to_ns)
        used = _utilisation(found, graph, window)
        name = f"{found.id} ({found.bench})" if found.id else found.bench
        return svg(drawn, overlay(drawn, used), f"{name}, {window.name}")


def diagram_frames(run: Run, count: int, launch: Chosen = "all") -> list[ChosenWindow]:
    """A window of a run (:meth:`kernbench.Run.window`) as ``count`` intervals of equal length, in order.

    Each is the window of one picture (:func:`diagram`), so that they show how the traffic moves. Gaps between
    launches with nothing in the window are left out.
    """
    if count < 1:
        raise UsageError(f"{count} frames cannot be drawn; give a number from 1")
    chosen = ChosenWindow.of(launch)
    window = run.window(chosen)
    window.check_time()
    begin, end = window.spans[0][0], window.spans[-1][1]
    edges = [begin + (end - begin) * number / count for number in range(count)] + [end]
    return [
        replace(chosen, from_ns=a, to_ns=b)
        for a, b in pairwise(edges)
        if any(first < b and last > a for first, last in window.spans)
    ]


def _utilisation(run: Run, graph: PropertyGraph, window: Window) -> dict[str, float]:
    """Utilisation within a window by component and link."""
    if run.info["topology_id"] != graph.properties["id"]:
        raise UsageError(
            f"run '{run.id}' was on topology '{run.topology}' (id {run.info['topology_id']}), not on "
            f"'{graph.properties['name']}' (id {graph.properties['id']}); draw the topology that it ran on"
        )
    return run.utilisation(window)
