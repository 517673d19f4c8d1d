"""What a component of one's own may not replace: methods that only the engine's C code calls.

Compiled, a replacement would never be called, and a run would have other times than interpreted. So it is
refused in both, and the error says what may be replaced instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.components.base import Component
from kernbench.components.hbm import HbmSlice
from kernbench.components.hbm_dram import DramSlice
from kernbench.components.memory import Memory
from kernbench.components.pe_component import PeComponent
from kernbench.components.pe_tcm import PeTcm
from kernbench.errors import ConfigError
from kernbench.sim.node import FabricNode
from kernbench.sim.server import Server

INSTEAD: dict[type, dict[str, str]] = {
    Server: {"waited_for": "waits", "drop_runs": "end_run", "others": "waits", "rest": "waits"},
    FabricNode: {"overhead": "overhead_ns"},
    Component: dict.fromkeys(("crossed", "crossing"), "forward"),
    Memory: {"entry": "entry_ns", "served": "commit and fetch", "depart": "leave"},
    HbmSlice: dict.fromkeys(("burst", "channel_at"), "commit and fetch"),
    DramSlice: dict.fromkeys(("submit", "part_done", "over", "note_rows"), "commit and fetch"),
    PeComponent: {
        **{"part_of": "sibling", "hand": "pass_on", "go_on": "pass_on", "token_over": "pass_on"},
        **{"begin_stage": "stage_op", "end_stage": "finish"},
    },
    PeTcm: dict.fromkeys(("begin", "end"), "access"),
}
"""By the class that defines it: the method, and what is called by its name."""


def check_class(cls: type[Component], meant: str) -> None:
    """``ConfigError`` where a class between ``cls`` and KernBench's own replaces such a method."""
    own = {
        name for base in cls.__mro__ if not base.__module__.startswith("kernbench.") for name in vars(base)
    }
    _refuse(cls, own, meant)


def check_object(component: Component) -> None:
    """``ConfigError`` where one has been replaced on the object itself."""
    of = f"component '{component.resource}' ({type(component).__name__})"
    _refuse(type(component), getattr(component, "__dict__", ()), of)


def _refuse(cls: type[Component], own: Iterable[str], meant: str) -> None:
    for base, names in INSTEAD.items():
        if issubclass(cls, base):
            for name in names.keys() & own:
                raise ConfigError(
                    f"{meant} replaces {name}, which compiled code alone calls; replace {names[name]} instead"
                )
