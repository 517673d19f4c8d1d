"""Benches: small programs that place tensors, launch kernels and check the numbers.

One module per bench, registered with :func:`bench`. Importing this package imports them all; a module
that registers none fails at once.
"""

from __future__ import annotations

from kernbench.benches.params import Param, parse_assignments, resolve_params
from kernbench.benches.registry import BenchSpec, bench, list_all, load_package, resolve

__all__ = ["BenchSpec", "Param", "bench", "list_all", "parse_assignments", "resolve", "resolve_params"]

load_package(__path__, __name__)
