"""What users import and what the command line is made of."""

from __future__ import annotations

from kernbench.api.asking import ask, ask_cypher, questions
from kernbench.api.bench_list import benches
from kernbench.api.diagnosis import doctor
from kernbench.api.drawing import DIAGRAM_FORMATS, DIAGRAM_VIEWS, diagram, diagram_suffix
from kernbench.api.figures import BANDWIDTH_BYTES, LATENCY_BYTES, figures
from kernbench.api.history import compare, copy_runs, prune, tag
from kernbench.api.kernel import KernelRun, run_kernel
from kernbench.api.probing import probe
from kernbench.api.result import Frame, Run
from kernbench.api.running import RunVerificationError, run
from kernbench.api.stores import borrowed, default_store, open_run, open_store, runs
from kernbench.api.topologies import TRAFFIC, load_topology, route, topology_counts, topology_overrides
from kernbench.api.traffic import TrafficRun, traffic, traffic_patterns
from kernbench.api.what_if import what_if, what_if_candidates
from kernbench.pgraph import PropertyGraph

__all__ = [
    "BANDWIDTH_BYTES",
    "DIAGRAM_FORMATS",
    "DIAGRAM_VIEWS",
    "LATENCY_BYTES",
    "TRAFFIC",
    "Frame",
    "KernelRun",
    "PropertyGraph",
    "Run",
    "RunVerificationError",
    "TrafficRun",
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
    "load_topology",
    "open_run",
    "open_store",
    "probe",
    "prune",
    "questions",
    "route",
    "run",
    "run_kernel",
    "runs",
    "tag",
    "topology_counts",
    "topology_overrides",
    "traffic",
    "traffic_patterns",
    "what_if",
    "what_if_candidates",
]
