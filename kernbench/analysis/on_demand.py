"""Analyses with parameters: each answer is added to a run's graph when a question first asks for it.

A question names its analysis in ``works_out``. One more analysis is one function in the module of its topic,
which gives the names of the answers that some parameters need, each with what works it out; its tables in
:mod:`kernbench_graph.schema_added`; and one line in :data:`ON_DEMAND`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernbench.analysis.run_view import RunView
from kernbench.support.pgraph import GraphStore, QueryError

if TYPE_CHECKING:
    import pyarrow as pa

Answers = Mapping[str, Callable[[], Mapping[str, "pa.Table"]]]
"""The names under which answers are kept with a run, and what makes the rows of each."""
ON_DEMAND = {
    "route": "routes.route_answers.route",
    "two routes": "routes.route_answers.two_routes",
    "routes": "routes.route_answers.routes",
    "distances": "routes.route_answers.distances",
    "single points": "routes.fault_answers.single_points",
    "fault": "routes.fault_answers.fault",
    "cut": "routes.traffic.cut",
    "minimum cut": "routes.least_cuts.minimum_cut",
    "bisection": "routes.least_cuts.bisection",
    "cone": "use.contention.cone",
    "meetings": "use.contention.meetings",
    "lineage": "value_sources.lineage",
    "centrality": "routes.centrality.centrality",
}
"""Analysis -> the module of this package, and the function in it, that says what answers it needs."""


def add_answers(store: GraphStore, run: str, analysis: str, params: Mapping[str, Any]) -> None:
    """See to it that the graph of a run has what an analysis finds for ``params``."""
    if analysis not in ON_DEMAND:
        known = ", ".join(ON_DEMAND)
        raise QueryError(f"works_out: there is no analysis '{analysis}'; there are {known}")
    module, _, name = ON_DEMAND[analysis].rpartition(".")
    wanted: Answers = getattr(import_module(f"kernbench.analysis.{module}"), name)(
        RunView(store, run), params
    )
    there = store.added(run)
    for answer, work_out in wanted.items():
        if answer not in there:
            store.add(run, answer, work_out())
