"""Benches: small programs that place tensors, launch kernels and check the numbers.

One module per bench, registered with :func:`bench`. They are imported when they are first listed, so that a
user's own bench does not wait for them; a module that registers none then fails at once.
"""

from __future__ import annotations

from kernbench.workloads.benches.params import Param, resolve_params
from kernbench.workloads.benches.registry import BenchSpec, bench, list_all, resolve

__all__ = ["BenchSpec", "Param", "bench", "list_all", "resolve", "resolve_params"]
