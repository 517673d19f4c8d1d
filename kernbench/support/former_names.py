"""Packages by the names that they had until 0.1: files of users that import them run unchanged."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from kernbench.support.stand_ins import Alias

NOW = {
    "address": "hardware.address",
    "arbiters": "engine.arbiters",
    "benches": "workloads.benches",
    "collectives": "host.collectives",
    "compiled": "support.compiled",
    "components": "engine.components",
    "evaluations": "api.evaluations",
    "kernels": "language",
    "kinds": "hardware.kinds",
    "machine": "engine.machine",
    "models": "workloads.models",
    "probes": "workloads.probes",
    "program": "engine.program",
    "routing": "hardware.routing",
    "runtime": "host",
    "sim": "engine.core",
    "sweeps": "api.sweeps",
    "topology": "hardware.topology",
}
"""Former name of a package of ``kernbench`` -> its present name."""


class FormerNames(Alias, MetaPathFinder):
    """Finds a module by a former name and gives the one that it is now, with a ``DeprecationWarning``."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        first, _, rest = name.partition(".")
        package, dot, rest = rest.partition(".")
        if first != "kernbench" or package not in NOW:
            return None
        now = f"kernbench.{NOW[package]}{dot}{rest}"
        return ModuleSpec(name, self, loader_state=now)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module by its present name."""
        warnings.warn(f"'{spec.name}' is '{spec.loader_state}' now", DeprecationWarning, stacklevel=2)
        return super().create_module(spec)
