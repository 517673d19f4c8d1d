"""Breakdown of a transaction's time: its hops by part of the machine, transfer and contention.

A transaction's hops tell the story of its last flit, whose journey has no gaps, so that the parts add up to
the time from submission to answer. A hop's waits for others are ``contention``. The rest of a component's
time goes to the component's part of the machine. The rest of a link's time is flight, which goes to the
link's part; the flit's own time on the wire, which is ``transfer``; and time behind flits of its own message.
That last is, in this order,

- ``transfer``, as far as the link is slower than those before it: a stream piles up there by itself;
- an overhead passed before and not felt yet, the latest first: the first flit of a message pays it, and the
  last one feels it where it catches up. An overhead that a slow link hides costs nothing;
- ``contention``: the flits ahead were held up by others.
"""

from __future__ import annotations

from kernbench.kinds import LINK_KINDS, Group, component_kind
from kernbench.machine.machine import Machine
from kernbench.sim.node import TRANSIT, FabricNode, Link
from kernbench.sim.records import HopRow
from kernbench.sim.server import Server

PARTS = (Group.SETUP, Group.MESH, Group.UCIE, Group.FABRIC, "transfer", Group.HBM, "contention")
"""The parts of a breakdown, in the order in which a transfer meets them: a :class:`~kernbench.kinds.Group` of
components and links, ``transfer`` (bytes on wires), or ``contention`` (waiting for others).
"""

_NOTHING = 1e-9
"""ns that are rounding."""


def part_of(resource: Server) -> Group:
    """Which of :data:`PARTS` a component, or the flight time of a link, belongs to."""
    if isinstance(resource, Link):
        return LINK_KINDS[resource.kind].group
    node = getattr(resource, "node", None)
    return Group.SETUP if node is None else component_kind(node).group


def breakdown(machine: Machine, rows: list[HopRow]) -> dict[str, float]:
    """ns by part of the hops ``rows`` of one transaction; their sum is its time."""
    parts = dict.fromkeys(map(str, PARTS), 0.0)
    unfelt: list[tuple[str, float]] = []
    stream = _Stream()
    for number, row in enumerate(rows):
        resource = machine.resources[row.resource]
        part = part_of(resource)
        parts["contention"] += row.wait_ns
        if isinstance(resource, Link):
            flits = max(-(-row.bytes // machine.flit_bytes), 1)
            own = (row.bytes - (flits - 1) * machine.flit_bytes) / resource.bw_gbs
            behind = row.service_ns - resource.delay_ns - own
            piled = min(behind, stream.cross(flits, resource.flit_ns, own))
            parts[part] += resource.delay_ns
            parts["transfer"] += own + piled
            held_up = _charge(parts, unfelt, behind - piled)
            parts["contention" if held_up > _NOTHING else "transfer"] += held_up
            continue
        parts[part] += row.service_ns
        assert isinstance(resource, FabricNode)
        if resource.role != TRANSIT or number == 0:
            # The message is whole again, and sets out from here as if from its source.
            unfelt.clear()
            stream = _Stream()
        elif resource.overhead_ns > row.service_ns:
            unfelt.append((part, resource.overhead_ns - row.service_ns))
    return parts


class _Stream:
    """A message's flits on their way over links, were there neither overheads nor others.

    They stand at the source all at once; after a link they are as far apart as the slowest link so far has
    made them, the last one, which may be shorter, by a time of its own.
    """

    def __init__(self) -> None:
        self.apart = 0.0
        """ns between any two flits but the last."""
        self.last_apart = 0.0
        """ns between the last flit and the one before it."""

    def cross(self, flits: int, flit_ns: float, last_ns: float) -> float:
        """Take a link on which a flit takes ``flit_ns``, the last ``last_ns``; return its wait."""
        if flits == 1:
            return 0.0
        waits = (flits - 2) * max(0.0, flit_ns - self.apart) + max(0.0, flit_ns - self.last_apart)
        self.last_apart = last_ns + max(0.0, self.last_apart - flit_ns)
        self.apart = max(self.apart, flit_ns)
        return waits


def _charge(parts: dict[str, float], unfelt: list[tuple[str, float]], lost: float) -> float:
    """Spread ``lost`` ns over overheads not felt yet, the latest first; return what found no place."""
    while unfelt and lost > _NOTHING:
        part, ns = unfelt.pop()
        taken = min(ns, lost)
        parts[part] += taken
        lost -= taken
        if ns - taken > _NOTHING:
            unfelt.append((part, ns - taken))
    return lost
