"""What users import and what the command line is made of."""

from __future__ import annotations

from kernbench.api.asking import ask, ask_cypher, questions
from kernbench.api.bench_list import benches
from kernbench.api.diagnosis import doctor
from kernbench.api.kernel import KernelRun, run_kernel
from kernbench.api.result import Frame, Run
from kernbench.api.running import RunVerificationError, run
from kernbench.api.stores import borrowed, default_store, open_run, open_store, runs
from kernbench.api.topologies import TRAFFIC, load_topology, route, topology_counts
from kernbench.pgraph import PropertyGraph

__all__ = [
    "TRAFFIC",
    "Frame",
    "KernelRun",
    "PropertyGraph",
    "Run",
    "RunVerificationError",
    "ask",
    "ask_cypher",
    "benches",
    "borrowed",
    "default_store",
    "doctor",
    "load_topology",
    "open_run",
    "open_store",
    "questions",
    "route",
    "run",
    "run_kernel",
    "runs",
    "topology_counts",
]
