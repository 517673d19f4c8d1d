"""Physical requests: what is sent to a memory for a range of bytes, in one piece or one a pseudo-channel.

A slice deals its bytes to its channels burst by burst, by address. Where the topology maps channels one
to one, a range therefore becomes one request for each channel that it touches, and a request's bytes lie
``stride`` apart. The same byte is in the same channel in both mappings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernbench.hardware.address.runs import Runs, dealt

IN_TURN = -2
"""The ``channel`` of a request for more of a run of interleaved memory: it is sent with the one before it."""


class PhysicalRequest:
    """``nbytes`` of one component, from ``offset`` (physical address ``pa``) on.

    ``channel`` and ``via``: the pseudo-channel that serves it and the channel router that leads there; -1
    and ``""`` for an aggregated request, whose bytes lie one after another. Those of a channel's request lie
    in bursts of ``burst_bytes`` that begin ``stride`` bytes apart. ``opens``: it is the first of the requests
    that stand for one aggregated one, or for one run of interleaved memory, which those behind it without
    ``opens`` belong to. ``gathered``: its runs, from the beginning of the component, where it is for many.
    """

    def __init__(
        self,
        component: str,
        pa: int,
        offset: int,
        nbytes: int,
        channel: int = -1,
        via: str = "",
        burst_bytes: int = 0,
        stride: int = 0,
        opens: bool = True,
        gathered: Runs | None = None,
    ) -> None:
        self.component = component
        self.pa = pa
        self.offset = offset
        self.nbytes = nbytes
        self.channel = channel
        self.via = via
        self.burst_bytes = burst_bytes
        self.stride = stride
        self.opens = opens
        self.gathered = gathered

    def runs(self) -> Iterator[tuple[int, int]]:
        """The request's bytes as ``(pa, nbytes)``, in order of address."""
        if not self.stride:
            yield self.pa, self.nbytes
            return
        at, left = self.pa, self.nbytes
        while left:
            length = min(left, self.burst_bytes - at % self.burst_bytes)
            yield at, length
            left -= length
            at += self.stride - at % self.burst_bytes


def by_channel(
    component: str, pa: int, offset: int, nbytes: int, burst_bytes: int, routers: Sequence[str]
) -> list[PhysicalRequest]:
    """One request for each channel of a slice that ``[offset, offset + nbytes)`` touches, by first byte.

    ``routers`` are the channel routers of the slice, a power of two of them; burst ``n`` of the slice is in
    channel ``n mod len(routers)``.
    """
    count = len(routers)
    end = offset + nbytes
    first, last = offset // burst_bytes, (end - 1) // burst_bytes
    requests = []
    for burst in range(first, min(first + count, last + 1)):
        start = max(offset, burst * burst_bytes)
        bursts = (last - burst) // count + 1
        size = bursts * burst_bytes - (start - burst * burst_bytes)
        if (last - burst) % count == 0:
            size -= (last + 1) * burst_bytes - end
        channel = burst % count
        requests.append(
            PhysicalRequest(
                component, pa + start - offset, start, size,
                channel, routers[channel], burst_bytes, count * burst_bytes, burst == first,
            )
        )  # fmt: skip
    return requests


def gathered_by_channel(
    component: str, base: int, runs: Runs, burst_bytes: int, routers: Sequence[str]
) -> list[PhysicalRequest]:
    """As :func:`by_channel`, for ``runs`` of a slice that begins at physical address ``base``."""
    count = len(routers)
    requests: list[PhysicalRequest] = []
    for channel, form in dealt(runs.form, runs.at % (count * burst_bytes), burst_bytes, count, False):
        mine = Runs(form, runs.at)
        first = mine.span[0]
        requests.append(
            PhysicalRequest(
                component, base + first, first, form.nbytes, channel, routers[channel],
                opens=not requests, gathered=mine,
            )
        )  # fmt: skip
    return requests
