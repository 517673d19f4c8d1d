"""Diagrams of topologies, on request with what a run did to the links."""

from __future__ import annotations

from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, open_run
from kernbench.api.topologies import Topology, as_graph
from kernbench.errors import UsageError
from kernbench.pgraph import PropertyGraph

DIAGRAM_VIEWS = ("system", "sip", "cube", "pe")
"""From the tray to the parts of a PE."""
DIAGRAM_FORMATS = ("svg", "mermaid", "dot")


def diagram(
    topology: Topology = None,
    view: str = "cube",
    to: str = "svg",
    *,
    run: str | Run | None = None,
    store: Store = None,
    of: str | None = None,
) -> str:
    """One view of a topology as text: one of :data:`DIAGRAM_VIEWS` in one of :data:`DIAGRAM_FORMATS`.

    With ``run`` (a reference such as ``last``, or a :class:`Run`) links and parts are coloured by the share
    of that run's time for which they were busy; where the view draws several as one, the busiest counts.
    ``of`` names the SIP, cube or PE to show instead of one that stands for all. Equal arguments give equal
    text. ``UsageError`` for a view, format or part that there is not, or a run on another topology.
    """
    from kernbench.report.diagrams import FORMATS
    from kernbench.topology.views import VIEWS, overlay

    if view not in VIEWS or to not in FORMATS:
        what, given, there = ("view", view, VIEWS) if view not in VIEWS else ("format", to, FORMATS)
        raise UsageError(f"there is no {what} '{given}'; use one of {', '.join(there)}")
    graph = as_graph(topology)
    drawn = VIEWS[view](graph, of)
    write = FORMATS[to].write
    if run is None:
        return write(drawn, None, "")
    if isinstance(run, Run):
        return write(drawn, overlay(drawn, _used(run, graph)), _name(run))
    with borrowed(store) as opened:
        found = open_run(run, opened)
        return write(drawn, overlay(drawn, _used(found, graph)), _name(found))


def diagram_suffix(to: str) -> str:
    """How files of a format end, with the dot."""
    from kernbench.report.diagrams import FORMATS

    return FORMATS[to].suffix


def _name(run: Run) -> str:
    return f"{run.id} ({run.bench})" if run.id else run.bench


def _used(run: Run, graph: PropertyGraph) -> dict[str, float]:
    """Utilisation by component and link."""
    if run.info["topology_id"] != graph.properties["id"]:
        raise UsageError(
            f"run '{run.id}' was on topology '{run.topology}' (id {run.info['topology_id']}), not on "
            f"'{graph.properties['name']}' (id {graph.properties['id']}); draw the one that it ran on"
        )
    used = run.used
    return dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))
