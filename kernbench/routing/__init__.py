"""Routes over the compiled topology: shortest by weight, restricted by what is being routed."""

from __future__ import annotations

import kernbench.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.kinds import Traffic
from kernbench.routing.route import Route
from kernbench.routing.router import Router, router_of

__all__ = ["Route", "Router", "Traffic", "router_of"]
