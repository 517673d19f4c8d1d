"""What a view is made of: boxes, wires between them and free notes, as plain data.

A view is laid out in points (1/96 inch on a screen), x to the east and y to the south, from its own top
left corner. Where it has a ``scale``, distances on it are that many points per mm of the machine; every box
also carries its true place in mm.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """Roles (see :mod:`~kernbench.topology.views.roles`) of the components that it stands for."""
    is_frame: bool = False
    """Others lie on it; its label, if any, is at its top."""
    x_mm: float = 0.0
    y_mm: float = 0.0
    tip: str = ""
    """What else there is to say of it, for those who point at it."""

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
    """All links between two boxes, both ways, as one line."""

    a: str
    b: str
    kind: str
    """Kind of its links; where they differ, of those that carry data."""
    gbs: float
    """Bandwidth each way, GB/s, of the links of that kind together."""
    mm: float
    """Their length."""
    links: tuple[str, ...]
    """Roles of all links, both directions."""
    points: tuple[Point, ...]

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
