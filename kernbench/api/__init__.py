"""The Python interface: everything that users import and that the command line calls."""

from __future__ import annotations

from kernbench.api.asking import ask, ask_cypher, question, questions
from kernbench.api.comparing import compare
from kernbench.api.diagnosis import doctor
from kernbench.api.kept_runs import copy_runs, listed, prune, remove, tag
from kernbench.api.kernel import KernelRun, run_kernel
from kernbench.api.pictures import (
    BANDWIDTH_BYTES,
    DIAGRAM_FORMATS,
    DIAGRAM_VIEWS,
    LATENCY_BYTES,
    diagram,
    diagram_suffix,
    figures,
    require_figures,
    sweep_figure,
)
from kernbench.api.probing import probe
from kernbench.api.result import Frame, Run
from kernbench.api.running import RunVerificationError, benches, run
from kernbench.api.stores import borrowed, default_store, open_run, open_store, runs
from kernbench.api.sweep_result import Sweep, SweepPoint
from kernbench.api.sweeping import Standing, sweep
from kernbench.api.topologies import TRAFFIC, load_topology, route, topology_counts, topology_overrides
from kernbench.api.traffic import TrafficRun, traffic, traffic_patterns
from kernbench.api.tuning import Point, Tuning, tune
from kernbench.api.what_if import what_if, what_if_candidates
from kernbench.pgraph import GraphNode, GraphPath, GraphRelationship, PropertyGraph

__all__ = [
    "BANDWIDTH_BYTES",
    "DIAGRAM_FORMATS",
    "DIAGRAM_VIEWS",
    "LATENCY_BYTES",
    "TRAFFIC",
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
    "ask",
    "ask_cypher",
    "benches",
    "borrowed",
    "compare",
    "copy_runs",
    "default_store",
    "diagram",
    "diagram_suffix",
    "doctor",
    "figures",
    "listed",
    "load_topology",
    "open_run",
    "open_store",
    "probe",
    "prune",
    "question",
    "questions",
    "remove",
    "require_figures",
    "route",
    "run",
    "run_kernel",
    "runs",
    "sweep",
    "sweep_figure",
    "tag",
    "topology_counts",
    "topology_overrides",
    "traffic",
    "traffic_patterns",
    "tune",
    "what_if",
    "what_if_candidates",
]
