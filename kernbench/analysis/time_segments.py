"""The segments of the machine on which a transfer's time is spent, and times that remember their shares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernbench.kinds import COMPONENT_KINDS, LINK_KINDS, Group


class Segment(StrEnum):
    """A share of a transfer's time: a :class:`~kernbench.kinds.Group` of parts, or bytes on wires."""

    SETUP = Group.SETUP
    MESH = Group.MESH
    UCIE = Group.UCIE
    FABRIC = Group.FABRIC
    WIRE = "wire"
    """Putting bytes onto links, bytes / bandwidth: all flits at the narrowest, one at each other."""
    HBM = Group.HBM


SEGMENTS = tuple(Segment)
_NUMBER = {segment: number for number, segment in enumerate(SEGMENTS)}


def of_component(kind: str) -> Segment:
    """The segment that the overhead of a component of this kind counts towards."""
    return Segment(COMPONENT_KINDS[kind].group)


def of_link(kind: str) -> Segment:
    """The segment that the flight time over a link of this kind counts towards."""
    return Segment(LINK_KINDS[kind].group)


@dataclass(frozen=True, slots=True)
class SegmentedTime:
    """A time since the start of the transfer: ``ns`` in all, ``shares`` of it by :data:`SEGMENTS`.

    The shares are those of the events that this time depended on. The later of two spans keeps its own, so
    shares always add up to ``ns``.
    """

    ns: float = 0.0
    shares: tuple[float, ...] = (0.0,) * len(SEGMENTS)

    def plus(self, segment: Segment, ns: float) -> SegmentedTime:
        """``ns`` later, spent in ``segment``."""
        if ns == 0.0:
            return self
        number = _NUMBER[segment]
        shares = (*self.shares[:number], self.shares[number] + ns, *self.shares[number + 1 :])
        return SegmentedTime(self.ns + ns, shares)

    def breakdown(self) -> dict[str, float]:
        """ns by segment, all segments."""
        return {segment.value: share for segment, share in zip(SEGMENTS, self.shares, strict=True)}


def later(*spans: SegmentedTime) -> SegmentedTime:
    """The latest; the first one of equals."""
    return max(spans, key=lambda span: span.ns)
