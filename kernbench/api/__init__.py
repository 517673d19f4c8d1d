"""The Python interface: everything that users import and that the command line calls.

A name's module is imported when the name is first asked for, so that a command pays for what it uses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernbench.api.advising import advise
    from kernbench.api.annotating import annotate
    from kernbench.api.asking import ask, ask_cypher, print_question, question, questions
    from kernbench.api.comparing import compare
    from kernbench.api.diagnosis import doctor
    from kernbench.api.energy_use import ENERGY_BY, energy
    from kernbench.api.evaluating import Evaluated, evaluate, evaluations
    from kernbench.api.folding import ask_folded
    from kernbench.api.kept_runs import copy_runs, listed, prune, remove, tag, tagged
    from kernbench.api.kernel import KernelRun, run_kernel
    from kernbench.api.pictures import (
        BANDWIDTH_BYTES,
        DIAGRAM_FORMATS,
        DIAGRAM_VIEWS,
        LATENCY_BYTES,
        RUN_FIGURES,
        diagram,
        diagram_frames,
        diagram_suffix,
        figures,
        pareto_figure,
        require_figures,
        roofline_figure,
        save_figure,
        sweep_figure,
    )
    from kernbench.api.probing import probe
    from kernbench.api.result import Frame, Run
    from kernbench.api.run_report import write_report
    from kernbench.api.running import RunVerificationError, benches, run
    from kernbench.api.stores import borrowed, default_store, open_run, open_store, runs
    from kernbench.api.sweep_result import Sweep, SweepPoint
    from kernbench.api.sweeping import Standing, sweep
    from kernbench.api.topologies import (
        TRAFFIC,
        check_routes,
        load_topology,
        route,
        topology_area,
        topology_counts,
        topology_overrides,
        topology_schema,
    )
    from kernbench.api.traffic_runs import TrafficRun, traffic, traffic_patterns
    from kernbench.api.tuning import TUNING_GOALS, Point, Tuning, tune
    from kernbench.api.what_if_runs import what_if, what_if_candidates
    from kernbench.pgraph import GraphNode, GraphPath, GraphRelationship, PropertyGraph

_NAMES = {
    "kernbench.api.advising": "advise",
    "kernbench.api.annotating": "annotate",
    "kernbench.api.asking": "ask ask_cypher print_question question questions",
    "kernbench.api.comparing": "compare",
    "kernbench.api.diagnosis": "doctor",
    "kernbench.api.energy_use": "ENERGY_BY energy",
    "kernbench.api.evaluating": "Evaluated evaluate evaluations",
    "kernbench.api.folding": "ask_folded",
    "kernbench.api.kept_runs": "copy_runs listed prune remove tag tagged",
    "kernbench.api.kernel": "KernelRun run_kernel",
    "kernbench.api.pictures": (
        "BANDWIDTH_BYTES DIAGRAM_FORMATS DIAGRAM_VIEWS LATENCY_BYTES RUN_FIGURES diagram "
        "diagram_frames diagram_suffix figures pareto_figure require_figures roofline_figure save_figure "
        "sweep_figure"
    ),
    "kernbench.api.probing": "probe",
    "kernbench.api.result": "Frame Run",
    "kernbench.api.run_report": "write_report",
    "kernbench.api.running": "RunVerificationError benches run",
    "kernbench.api.stores": "borrowed default_store open_run open_store runs",
    "kernbench.api.sweep_result": "Sweep SweepPoint",
    "kernbench.api.sweeping": "Standing sweep",
    "kernbench.api.topologies": (
        "TRAFFIC check_routes load_topology route topology_area topology_counts topology_overrides "
        "topology_schema"
    ),
    "kernbench.api.traffic_runs": "TrafficRun traffic traffic_patterns",
    "kernbench.api.tuning": "TUNING_GOALS Point Tuning tune",
    "kernbench.api.what_if_runs": "what_if what_if_candidates",
    "kernbench.pgraph": "GraphNode GraphPath GraphRelationship PropertyGraph",
}
_MODULE = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "BANDWIDTH_BYTES",
    "DIAGRAM_FORMATS",
    "DIAGRAM_VIEWS",
    "ENERGY_BY",
    "LATENCY_BYTES",
    "RUN_FIGURES",
    "TRAFFIC",
    "TUNING_GOALS",
    "Evaluated",
    "Frame",
    "GraphNode",
    "GraphPath",
    "GraphRelationship",
    "KernelRun",
    "Point",
    "PropertyGraph",
    "Run",
    "RunVerificationError",
    "Standing",
    "Sweep",
    "SweepPoint",
    "TrafficRun",
    "Tuning",
    "advise",
    "annotate",
    "ask",
    "ask_cypher",
    "ask_folded",
    "benches",
    "borrowed",
    "check_routes",
    "compare",
    "copy_runs",
    "default_store",
    "diagram",
    "diagram_frames",
    "diagram_suffix",
    "doctor",
    "energy",
    "evaluate",
    "evaluations",
    "figures",
    "listed",
    "load_topology",
    "open_run",
    "open_store",
    "pareto_figure",
    "print_question",
    "probe",
    "prune",
    "question",
    "questions",
    "remove",
    "require_figures",
    "roofline_figure",
    "route",
    "run",
    "run_kernel",
    "runs",
    "save_figure",
    "sweep",
    "sweep_figure",
    "tag",
    "tagged",
    "topology_area",
    "topology_counts",
    "topology_overrides",
    "topology_schema",
    "traffic",
    "traffic_patterns",
    "tune",
    "what_if",
    "what_if_candidates",
    "write_report",
]


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value
