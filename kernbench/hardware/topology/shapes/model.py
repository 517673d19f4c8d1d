"""What a topology file says of a machine of any shape: ``wires``, ``blocks``, ``parts``, ``connect``.

Figures may be expressions of a block's parameters, such as ``"{n * 2}"``, so their values are checked where
the block is used.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from kernbench.hardware.kinds import ComponentKind
from kernbench.hardware.topology.fields import LinkPart, MemoryPart, Part, Section, Size

PATTERNS = ("pair", "all", "mesh", "torus", "ring", "all_to_all", "dragonfly")
"""Keys of a connection that say what is joined to what; each has one of them."""
LEVELS = {"package": "sip", "chiplet": "cube", "pe": "pe"}
"""The kind of group that a block with a ``level`` is."""

Texts = Annotated[tuple[str, ...], Field(strict=False)]


class Wire(LinkPart):
    """A class of links."""

    gbs: Any = Field(default=None, description="GB/s of each lane, each way")
    lanes: Any = Field(default=1, description="lanes: so many times the bandwidth")
    delay_ns: Any = Field(default=0.0, description="ns of flight, beside those of its length")
    mm: Any = Field(default=0.0, description="mm of length")
    weight: Any = Field(default=1.0, description="what it counts in the choice of routes")
    kind: str = Field(default="", description="kind of link; left out, what its ends make it", max_length=64)


class Connect(Section):
    """One pattern of links."""

    pair: Any = Field(default=None, description="[A, B]: one to one, or k consecutive ones of B to each of A")
    all: Any = Field(default=None, description="[A, B]: each of A with each of B")
    mesh: Any = Field(default=None, description="A: neighbours along the axes of A")
    torus: Any = Field(default=None, description="A: a mesh whose rows and columns are closed to rings")
    ring: Any = Field(
        default=None, description="A, or [A, B, C]: each with the next, the last with the first"
    )
    all_to_all: Any = Field(
        default=None, description="A: each with each; with axes, within each group along them"
    )
    dragonfly: Any = Field(
        default=None, description="GROUP.ROUTER: a link from each group to each other group"
    )
    each: dict[str, Any] = Field(default_factory=dict, description="{i: 8}: once for each i from 0 to 7")
    wire: Any = Field(description="name of a wire, or its figures")
    one_way: bool = Field(default=False, description="true: from the first to the second alone")
    reverse: bool = Field(default=False, description="true: the other way round, with one_way")
    axes: Texts | None = Field(default=None, description="the axes along which; all when left out")
    by: dict[str, Texts] = Field(
        default_factory=dict, description="{x: [EAST, WEST]}: the ports that face the next and the one before"
    )
    per_router: Any = Field(default=1, description="of a dragonfly: links of each router to other groups")


class Block(Section):
    """Parts that are used together, any number of times."""

    params: dict[str, Any] = Field(default_factory=dict, description="its parameters, each with its default")
    level: Literal["", "package", "chiplet", "pe"] = Field(default="", description="what it counts as one of")
    port: Any = Field(default=(), description="the part, or list of parts, that a link to the block goes to")
    parts: dict[str, Any] = Field(default_factory=dict, description="parts and blocks by name")
    connect: Annotated[tuple[Connect, ...], Field(strict=False)] = Field(
        default=(), description="links among them"
    )


class Source(Part):
    """Reads and writes memories: traffic at any place."""

    outstanding: int = Field(default=16, ge=1, description="reads, and as many writes, in flight")


class PlainMemory(MemoryPart):
    """A memory as fast as its links."""

    size_bytes: Size = Field(default=1 << 20, ge=1, description="bytes")


PLAIN: dict[str, Part] = {}
"""The sections of kinds that machines of any shape alone have, all defaults; made when first asked for."""


def plain_section(kind: ComponentKind) -> Part:
    """The section of a kind without one of its own, such as ``source`` or ``memory``."""
    if kind.kind not in PLAIN:
        made: type[Part] = PlainMemory if kind.memory else Source if kind.stands_anywhere else Part
        PLAIN[kind.kind] = made.model_validate({})
    return PLAIN[kind.kind]
