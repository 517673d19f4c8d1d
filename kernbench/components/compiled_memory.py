"""Memories that the compiled fabric serves by itself: HBM slices and SRAMs with their shipped methods."""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.compiled import core
from kernbench.components.base import Component
from kernbench.components.hbm import Channel, HbmSlice
from kernbench.components.sram import Sram
from kernbench.sim.engine import changed_too_late

_METHODS = ("receive_flit", "commit", "fetch", "leave", "_acknowledge", "_burst", "_leave", "_read")
_AS_SHIPPED = {cls: {n: getattr(cls, n, None) for n in _METHODS} for cls in (HbmSlice, Sram)}
_CHANNEL = dict(vars(Channel))


def attach(components: Iterable[Component]) -> list[Component]:
    """Let the compiled fabric serve those that are such memories; returns them. Others are called."""
    if core is None:
        return []
    found = [component for component in components if _as_shipped(component)]
    for component in found:
        if isinstance(component, HbmSlice):
            core.Memory(component, component.channels, component._shift, component._flit_bytes)
        else:
            core.Memory(component)
    return found


def check_unchanged(attached: Iterable[Component]) -> None:
    """At the end of a run: see that no memory of ``attached`` has methods or channels of its own by now."""
    for component in attached:
        if not _as_shipped(component):
            raise changed_too_late(f"'{component.resource}' has a method or a channel of its own")


def _as_shipped(component: Component) -> bool:
    known = next((cls for cls in (HbmSlice, Sram) if isinstance(component, cls)), None)
    if known is None or not vars(component).keys().isdisjoint(_METHODS):
        return False
    if any(getattr(type(component), name, None) is not method for name, method in _AS_SHIPPED[known].items()):
        return False
    if not isinstance(component, HbmSlice):
        return True
    return vars(Channel) == _CHANNEL and all(
        type(channel) is Channel and not vars(channel).keys() - {"node"} for channel in component.channels
    )
