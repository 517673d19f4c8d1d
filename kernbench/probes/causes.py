"""What a transfer's time is spent on, and times that remember it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """What a share of a transfer's time is due to."""

    SETUP = "setup"
    """Overheads of whoever asks (host CPU or PE_DMA) and address translation."""
    MESH = "mesh"
    """Routers and wires of the cubes' meshes."""
    UCIE = "ucie"
    """UCIe ports, connections, PHYs and the wires between chiplets."""
    FABRIC = "fabric"
    """The tray's switch and wires, PCIe endpoints, the IO chiplets' networks."""
    WIRE = "wire"
    """Putting bytes onto links, bytes / bandwidth: all flits at the narrowest, one at each other."""
    HBM = "hbm"
    """The memory itself: controller and pseudo-channels."""


CAUSES = tuple(Cause)
_NUMBER = {cause: number for number, cause in enumerate(CAUSES)}

_OF_COMPONENT = {
    "host_cpu": Cause.SETUP,
    "pe_dma": Cause.SETUP,
    "m_cpu": Cause.SETUP,
    "router": Cause.MESH,
    "channel_router": Cause.MESH,
    "ucie_port": Cause.UCIE,
    "ucie_conn": Cause.UCIE,
    "io_ucie": Cause.UCIE,
    "io_ucie_conn": Cause.UCIE,
    "hbm_ctrl": Cause.HBM,
}
_OF_LINK = {
    "router_mesh": Cause.MESH,
    "pe_to_router": Cause.MESH,
    "router_to_hbm": Cause.MESH,
    "router_to_channel": Cause.MESH,
    "channel_to_hbm": Cause.MESH,
    "ucie_internal": Cause.UCIE,
    "ucie_to_router": Cause.UCIE,
    "ucie_mesh": Cause.UCIE,
    "io_to_cube": Cause.UCIE,
}


def of_component(kind: str) -> Cause:
    """What the overhead of a component of this kind counts as."""
    return _OF_COMPONENT.get(kind, Cause.FABRIC)


def of_link(kind: str) -> Cause:
    """What the flight time over a link of this kind counts as."""
    return _OF_LINK.get(kind, Cause.FABRIC)


@dataclass(frozen=True, slots=True)
class Span:
    """A time since the start of the transfer: ``ns`` in all, ``shares`` of it by :data:`CAUSES`.

    The shares are those of the critical path, the chain of events that this time waited for. The later of
    two spans keeps its own, so shares always add up to ``ns``.
    """

    ns: float = 0.0
    shares: tuple[float, ...] = (0.0,) * len(CAUSES)

    def plus(self, cause: Cause, ns: float) -> Span:
        """``ns`` later, because of ``cause``."""
        if ns == 0.0:
            return self
        number = _NUMBER[cause]
        shares = (*self.shares[:number], self.shares[number] + ns, *self.shares[number + 1 :])
        return Span(self.ns + ns, shares)

    def breakdown(self) -> dict[str, float]:
        """ns by cause, all causes."""
        return {cause.value: share for cause, share in zip(CAUSES, self.shares, strict=True)}


def later(*spans: Span) -> Span:
    """The latest; the first one of equals."""
    return max(spans, key=lambda span: span.ns)
