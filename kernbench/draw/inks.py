"""How each wire of a view is drawn: what a topology file calls by one name has one colour, of its own."""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.draw.machine import View, Wire
from kernbench.hardware.kinds import LINK_KINDS
from kernbench.hardware.kinds.links import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

_PALETTE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, "#8c564b", "#17becf", "#7f7f00")


_ELSE = LINK_KINDS["router_mesh"]
"""How wires are drawn whose kind a topology file has made up."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Colour and thickness (points) of a line, and its name in the legend."""

    text: str
    colour: str
    thick: float
    dashed: bool


def kind_of(wire: Wire) -> str:
    """What wires are one class by: the name in the topology file, else the kind of link."""
    return wire.name or wire.kind


def inks(view: View) -> dict[str, Ink]:
    """By :func:`kind_of`, in the order in which the view has them.

    The first wires of a kind of link have its colour, others one that no wire has yet.
    """
    found: dict[str, Ink] = {}
    for wire in view.wires:
        if kind_of(wire) in found:
            continue
        kind = LINK_KINDS.get(wire.kind, _ELSE)
        taken = {ink.colour for ink in found.values()}
        colours = (kind.colour, *_PALETTE) if wire.name else (kind.colour,)
        colour = next((one for one in colours if one not in taken), kind.colour)
        found[kind_of(wire)] = Ink(
            wire.name or (kind.title if wire.kind in LINK_KINDS else wire.kind),
            colour,
            kind.thick,
            kind.dashed,
        )
    return found
