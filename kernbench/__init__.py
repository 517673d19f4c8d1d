"""KernBench: a graph-database-backed modelling toolkit for multi-chiplet AI accelerators.

``import kernbench as kb`` gives what notebooks and scripts need: :func:`run`, :func:`run_kernel`,
:func:`probe`, :func:`traffic`, :func:`open_store`, :func:`open_run`, :func:`runs`, :func:`ask`,
:func:`load_topology`. Each is imported when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_API = (
    "KernelRun",
    "Run",
    "RunVerificationError",
    "TrafficRun",
    "ask",
    "ask_cypher",
    "diagram",
    "figures",
    "load_topology",
    "open_run",
    "open_store",
    "probe",
    "questions",
    "route",
    "run",
    "run_kernel",
    "runs",
    "traffic",
    "traffic_patterns",
    "what_if",
    "what_if_candidates",
)
_ELSEWHERE = {"DPPolicy": "kernbench.runtime", "KernBenchError": "kernbench.errors"}


def __getattr__(name: str) -> Any:
    # By name rather than by an import statement: no part of the package may depend on the ones above it, and
    # every part depends on this file.
    module = "kernbench.api" if name in _API else _ELSEWHERE.get(name)
    if module is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_API, *_ELSEWHERE])
