"""Memories that the compiled fabric serves by itself: HBM slices and SRAMs with their shipped methods."""

from __future__ import annotations

from kernbench.compiled import core
from kernbench.components.base import Component
from kernbench.components.hbm import Channel, HbmSlice
from kernbench.components.memory import Memory
from kernbench.components.sram import Sram

_METHODS = ("receive_flit", "commit", "fetch", "leave", "_acknowledge", "_burst", "_leave", "_read")
_AS_SHIPPED = {cls: {n: getattr(cls, n, None) for n in _METHODS} for cls in (HbmSlice, Sram)}
_CHANNEL = dict(vars(Channel))


def attach(component: Component) -> None:
    """Let the compiled fabric serve ``component``, where it is such a memory; else its methods are called."""
    if core is None or not isinstance(component, Memory):
        return
    known = next((cls for cls in (HbmSlice, Sram) if isinstance(component, cls)), None)
    if known is None or not vars(component).keys().isdisjoint(_METHODS):
        return
    if any(getattr(type(component), name, None) is not method for name, method in _AS_SHIPPED[known].items()):
        return
    if not isinstance(component, HbmSlice):
        core.Memory(component, component.entry_ns)
    elif vars(Channel) == _CHANNEL and all(
        type(channel) is Channel and not vars(channel).keys() - {"node"} for channel in component.channels
    ):
        core.Memory(
            component, component.entry_ns, component.channels, component._shift, component._burst_ns,
            component._penalty_ns, component._flit_bytes,
        )  # fmt: skip
