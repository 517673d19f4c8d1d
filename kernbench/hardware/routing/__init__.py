"""Routes over the compiled topology: shortest by weight, restricted by what is being routed."""

from __future__ import annotations

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing.route import Route
from kernbench.hardware.routing.router import Router, router_of

__all__ = ["Route", "Router", "Traffic", "router_of"]
