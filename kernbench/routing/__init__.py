"""Routes over the compiled topology: shortest by weight, restricted by what is being routed."""

from __future__ import annotations

from kernbench.routing.router import Router
from kernbench.routing.traffic import Route, Traffic

__all__ = ["Route", "Router", "Traffic"]
