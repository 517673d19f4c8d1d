"""A view as plain data: boxes, wires between them, free notes; and the roles of components in it.

A view is laid out in points (1/96 inch on a screen), x to the east and y to the south, from its own top
left corner. Where it has a ``scale``, distances on it are that many points per mm of the machine; every box
also carries its true location in mm.

All SIPs are alike, and so are all cubes and all PEs, so a view shows one that stands for all.
The role of ``sip1.cube5.r0c0`` in the cube view is ``sip*.cube*.r0c0``. A view of one SIP, cube or PE by
name folds nothing: there a role is the name itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kernbench.analysis.block_use import busiest_member

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """One thing of the view: a component, several folded together, or a frame around others."""

    id: str
    """Unique in its view: the component's name from the view's own level down, ``r0c0`` or ``pe0``."""
    kind: str
    x: float
    y: float
    w: float
    h: float
    lines: tuple[str, ...] = ()
    """The label."""
    components: tuple[str, ...] = ()
    """Roles (see :func:`role`) of the components that it stands for."""
    links: tuple[str, ...] = ()
    """Roles of the links between two of them."""
    is_frame: bool = False
    """Others lie on it; its label, if any, is at its top."""
    x_mm: float = 0.0
    y_mm: float = 0.0
    tip: str = ""
    """Further facts, shown as a tooltip."""

    @property
    def right(self) -> float:
        """x of the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """y of the lower edge."""
        return self.y + self.h

    @property
    def centre(self) -> Point:
        """Middle of the box."""
        return self.x + self.w / 2, self.y + self.h / 2


@dataclass(frozen=True, slots=True)
class Wire:
    """All links between two boxes, in both directions, as one line."""

    a: str
    b: str
    kind: str
    """Kind of its links; where they differ, of those that carry data."""
    name: str
    """What the topology file calls such wires; empty in a tray of packages."""
    gbs: float
    """Bandwidth each way, GB/s, of the links of that kind together."""
    mm: float
    """Their length."""
    links: tuple[str, ...]
    """Roles of all links, both directions."""
    points: tuple[Point, ...] = ()

    @property
    def id(self) -> str:
        """Unique in its view."""
        return f"{self.a}--{self.b}"


@dataclass(frozen=True, slots=True)
class Note:
    """A text of its own. ``anchor`` says which part of it is at ``x``: start, middle or end."""

    text: str
    x: float
    y: float
    """Middle of the line."""
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class View:
    """One picture of a topology."""

    name: str
    """system, sip, cube or pe."""
    topology: str
    title: str
    facts: tuple[str, ...]
    """Short statements about what is shown."""
    boxes: tuple[Box, ...]
    """Frames come before what lies on them."""
    wires: tuple[Wire, ...]
    notes: tuple[Note, ...]
    width: float
    height: float
    scale: float = 0.0
    """Points per mm; 0 where the view shows structure only."""
    stretched: bool = False
    """Some gaps are wider than true to scale, to make room for labels."""
    instance: str = ""
    """The SIP, cube or PE that is shown; empty where it stands for all of its kind."""

    def box(self, box_id: str) -> Box:
        """The box of that id; ``KeyError`` when there is none."""
        for box in self.boxes:
            if box.id == box_id:
                return box
        raise KeyError(box_id)


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
    """Utilisation of a view by a run: the busy share of its time, 0 to 1, by wire and box; absent is idle."""

    wires: Mapping[str, float] = field(default_factory=dict)
    boxes: Mapping[str, float] = field(default_factory=dict)
    busiest: Mapping[str, str] = field(default_factory=dict)
    """The component or link that was as busy as its wire or box."""


def members(view: View, names: Iterable[str]) -> dict[str, list[str]]:
    """Which of the components and links ``names`` each wire or box stands for, by id; none without any.

    A wire stands for its links, a box for the members of a block: see :mod:`kernbench.analysis.block_use`.
    """
    by_role: dict[str, list[str]] = {}
    for name in names:
        by_role.setdefault(role(name, view.name, view.instance), []).append(name)
    roles = {wire.id: wire.links for wire in view.wires}
    roles |= {box.id: box.components + box.links for box in view.boxes}
    found = {key: [name for one in of for name in by_role.get(one, ())] for key, of in roles.items()}
    return {key: own for key, own in found.items() if own}


def overlay(view: View, used: Mapping[str, float]) -> Overlay:
    """Utilisation ``used`` (by component and link) on a view: of each wire and box its busiest member's."""
    most = {key: busiest_member(used, own) for key, own in members(view, used).items()}
    wires = {wire.id for wire in view.wires}
    shares = {key: share for key, (share, _) in most.items() if share > 0.0}
    return Overlay(
        {key: share for key, share in shares.items() if key in wires},
        {key: share for key, share in shares.items() if key not in wires},
        {key: most[key][1] for key in shares},
    )
