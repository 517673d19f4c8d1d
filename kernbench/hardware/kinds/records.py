"""The records that say what depends on a kind of component or link.

Everything in KernBench that treats kinds differently reads it here: the topology compiler, checks, overrides,
routing, addresses, closed forms, summaries, the critical path and the drawings.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache


class Traffic(StrEnum):
    """Kinds of traffic, as far as they differ in the links that they may use."""

    PE_DMA = "PE_DMA"
    """Reads, writes and queue messages of PE_DMA. Within a cube it keeps to the mesh."""
    MCPU_DMA = "MCPU_DMA"
    """Data moved by an M_CPU."""
    HOST_MEMORY = "HOST_MEMORY"
    """Memory reads and writes by the host."""
    COMMAND = "COMMAND"
    """Launches, mappings and their answers."""


class Form(Enum):
    """How a kind stands in the compiled graph."""

    GROUP = "group"
    """Holds other components; no wires, no implementation."""
    WIRED = "wired"
    """Has wires and an implementation."""
    PART = "part"
    """Part of a wired component, for use to be counted at; no wires, no implementation."""


class Passage(Enum):
    """How a component treats messages for other components."""

    END = "end"
    """It passes none on; routes begin and end here."""
    FLITS = "flits"
    """It forwards flits as they come; the first flit of a message pays its overhead."""
    MESSAGES = "messages"
    """It reassembles the whole message, pays its overhead, and sends it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentKind:
    """A kind of node of the compiled graph."""

    kind: str
    """The value of ``properties["kind"]`` of its nodes."""
    form: Form = Form.WIRED
    section: tuple[str, ...] = ()
    """Keys of its section of the topology file; ``*`` stands for a position in a list. Empty: it has none."""
    properties: tuple[str, ...] = ()
    """Properties of its nodes beyond those that every node has."""
    switches: tuple[str, ...] = ()
    """Keys that are off unless a file says otherwise: a node has the property where it says something."""
    rates: tuple[str, ...] = ()
    """Properties that an override of its speed multiplies."""
    times: tuple[str, ...] = ("overhead_ns",)
    """Properties that an override of its speed divides, ns."""
    counts: tuple[str, ...] = ()
    """Properties of which more is better: channels, engines, requests in flight."""
    lookup: str = ""
    """Property with the ns of an address translation; empty for a kind that translates none."""

    passage: Passage = Passage.END
    entrance_to: str = ""
    """Kind that it alone leads to: routes pass through it only to and from such a component."""
    sends: Traffic | None = None
    """Traffic of the memory accesses that it issues, if it issues any."""
    commands: bool = False
    """It sends commands."""
    windows: tuple[str, ...] = ()
    """Ranges of physical addresses that lead to it: ``KIND`` or ``KIND.UNIT`` of the address layout."""

    cause: str = "component"
    """Cause of the steps of a critical path that are spent in it: component, hbm, memory or host."""
    counted_elsewhere: bool = False
    """Its use is part of the use of the component that contains it."""
    untimed: bool = False
    """The trace says how long it worked and not when: during launches."""
    memory: str = ""
    """Its name in messages if reads and writes go to it; empty for all but memories."""
    roof: str = "sram"
    """Of a memory: the roof of the roofline below which its bytes count, ``hbm``, ``sram`` or ``tcm``."""

    fill: str = "#f3f4f6"
    """Colour of its boxes."""
    label: str = ""
    """Label of its boxes in the picture of a cube, with the node's properties as fields; empty: its name."""
    figures: tuple[str, ...] = ()
    """Lines below its name in the picture of a PE, with the node's properties as fields."""
    cell: tuple[int, int] | None = None
    """(column, row) in the picture of a PE; None: at the side."""

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of its nodes: ``Component`` and the kind in CamelCase."""
        return _labels(self.kind)

    @property
    def transit(self) -> bool:
        """Routes between any two ends may pass through it."""
        return self.passage is not Passage.END and not self.entrance_to

    @property
    def forwards_flits(self) -> bool:
        """It passes on the flits of others as they come."""
        return self.passage is Passage.FLITS

    @property
    def stands_anywhere(self) -> bool:
        """It sends traffic from any place of a machine, not for a PE, a chiplet or the host."""
        return self.sends is not None and not self.section

    @property
    def sliced(self) -> bool:
        """A memory in numbered slices: each PE of a chiplet has the one of its number, or all share them."""
        return bool(self.memory) and "slice" in self.properties

    @property
    def has_dma(self) -> bool:
        """It moves data with DMA engines of its own."""
        return self.sends in (Traffic.PE_DMA, Traffic.MCPU_DMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkKind:
    """A kind of wire between two components."""

    kind: str
    """The value of ``properties["kind"]`` of its links."""
    title: str
    """Its name in legends."""
    barred_within: frozenset[Traffic] = frozenset()
    """Traffic within one cube that may not use it."""
    barred_across: frozenset[Traffic] = frozenset()
    """Other traffic that may not use it."""
    ucie: bool = False
    """It belongs to UCIe, so that leaving the mesh by it has to be worth it."""
    seam: bool = False
    """It joins two chiplets."""
    within_pe: bool = False
    """It joins two parts of a PE: operations move bytes over it, and no hops of theirs are recorded."""
    secondary: bool = False
    """It is drawn only where no other kind of link joins the same two boxes."""

    colour: str
    dashed: bool = False
    thick: float = 1.6
    """Points."""

    rates = ("bw_gbs",)
    """Properties that an override of its speed multiplies; of every kind of link."""
    times = ("delay_ns",)
    counts = ()
    """Properties that an override of its speed divides, ns."""


@cache
def _labels(kind: str) -> tuple[str, str]:
    return "Component", "".join(word.capitalize() for word in kind.split("_"))
