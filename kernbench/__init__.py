"""KernBench: a graph-database-backed modelling toolkit for multi-chiplet AI accelerators.

``import kernbench as kb`` gives what notebooks and scripts need: :func:`run`, :func:`run_kernel`,
:func:`autotune`, :func:`tune`, :func:`sweep`, :func:`probe`, :func:`traffic`, :func:`open_store`,
:func:`open_run`, :func:`runs`, :func:`ask`, :func:`load_topology`, :class:`Topology`, and the module ``tl``,
the language of kernels. Each is imported when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_API = (
    "GraphNode",
    "GraphPath",
    "GraphRelationship",
    "KernelRun",
    "Run",
    "RunVerificationError",
    "Sweep",
    "TrafficRun",
    "Tuning",
    "advise",
    "annotate",
    "ask",
    "ask_cypher",
    "diagram",
    "energy",
    "evaluate",
    "figures",
    "load_topology",
    "open_run",
    "open_store",
    "probe",
    "questions",
    "roofline_figure",
    "route",
    "run",
    "run_kernel",
    "runs",
    "sweep",
    "sweep_figure",
    "traffic",
    "traffic_patterns",
    "tune",
    "what_if",
    "what_if_candidates",
    "write_report",
)
_TRITON = {
    "jit": "a kernel is a plain function, without a decorator",
    "Config": "@kernbench.autotune takes dicts, such as configs=[{'BLOCK': 64}]",
    "heuristics": "compute the value in Python before the launch",
    "cdiv": "it is tl.cdiv in kernels; on the host write -(-a // b)",
    "next_power_of_2": "write 1 << (n - 1).bit_length()",
    "testing": "time is simulated and exact: kernbench.run_kernel(...).latency_ns",
}
_ELSEWHERE = {
    "DPPolicy": "kernbench.runtime",
    "autotune": "kernbench.kernels",
    "Bounded": "kernbench.replay",
    "Instrument": "kernbench.sim.instrument",
    "KernBenchError": "kernbench.errors",
    "Topology": "kernbench.topology.parts",
    "validate": "kernbench.validation",
}


def __getattr__(name: str) -> Any:
    # By name rather than by an import statement: no part of the package may depend on the ones above it, and
    # every part depends on this file.
    if name == "tl":
        return importlib.import_module("kernbench.tl")
    module = "kernbench.api" if name in _API else _ELSEWHERE.get(name)
    if module is None:
        raise AttributeError(_unknown(name))
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def _unknown(name: str) -> str:
    """The message for a name that is not here; the ones of Triton that are something else say so."""
    if name in _TRITON:
        return f"kernbench has no '{name}': {_TRITON[name]}"
    if name.startswith("_"):
        return f"module '{__name__}' has no attribute '{name}'"
    from kernbench.hints import suggestion

    meant = suggestion(name, __dir__())
    return f"module '{__name__}' has no attribute '{name}'; {meant}help(kernbench) lists what it has"


def __dir__() -> list[str]:
    return sorted([*globals(), *_API, *_ELSEWHERE, "tl"])
