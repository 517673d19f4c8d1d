"""Which component or link of a view a component or link of the machine is: its role.

All SIPs are alike, and so are all cubes and all PEs, so a view shows one that stands for all (ADR-0005 D2).
The role of ``sip1.cube5.r0c0`` in the cube view is ``sip*.cube*.r0c0``. A view of one SIP, cube or PE by
name folds nothing: there a role is the name itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kernbench.topology.views.model import View

_FOLDS: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "system": (),
    "sip": ((re.compile(r"\bsip\d+"), "sip*"),),
    "cube": ((re.compile(r"\bsip\d+\.cube\d+"), "sip*.cube*"),),
    # The routers of the PEs are different ones, yet each is "the PE's router".
    "pe": (
        (re.compile(r"\bsip\d+\.cube\d+\.pe\d+"), "sip*.cube*.pe*"),
        (re.compile(r"\bsip\d+\.cube\d+\.r\d+c\d+"), "sip*.cube*.r*"),
    ),
}


def role(name: str, view: str, instance: str = "") -> str:
    """The role of a component or link ``name`` in a view."""
    if not instance:
        for pattern, replacement in _FOLDS[view]:
            name = pattern.sub(replacement, name)
    return name


@dataclass(frozen=True, slots=True)
class Overlay:
    """What a run did to a view: shares of its time, 0 to 1, by wire and box. What is missing was idle."""

    wires: Mapping[str, float] = field(default_factory=dict)
    boxes: Mapping[str, float] = field(default_factory=dict)

    @property
    def top(self) -> float:
        """The largest share of any wire or box."""
        return max((*self.wires.values(), *self.boxes.values()), default=0.0)


def overlay(view: View, used: Mapping[str, float]) -> Overlay:
    """Utilisation ``used`` (share by component and link) on a view.

    Where several links are one wire, or several components one box, the busiest of them counts: a maximum
    shows a bottleneck that a mean would hide.
    """
    shares: dict[str, float] = {}
    for name, share in used.items():
        key = role(name, view.name, view.instance)
        shares[key] = max(share, shares.get(key, 0.0))

    def most(roles: Iterable[str]) -> float:
        return max((shares.get(key, 0.0) for key in roles), default=0.0)

    wires = {wire.id: most(wire.links) for wire in view.wires}
    boxes = {box.id: most(box.components) for box in view.boxes}
    return Overlay(
        {key: share for key, share in wires.items() if share > 0.0},
        {key: share for key, share in boxes.items() if share > 0.0},
    )
