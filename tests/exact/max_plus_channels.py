"""Times of a lone access in the ``one_to_one`` mapping, from the rules alone: max-plus over all its requests.

The requests of an access share the way to the slice's router, their flits in turn, and split there. One of
them pays each overhead: the first on the way out and for data, the last to be acknowledged for
acknowledgements. Like :mod:`tests.exact.max_plus`, of which it is made, this shares no code with the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tests.exact.max_plus import TRANSIT, MaxPlus, Times


class Flits:
    """Flits of several requests in one order: when each is there, its bytes, its request, its number."""

    def __init__(self, times: Times, sizes: Times, owner: Times, number: Times) -> None:
        self.times, self.sizes, self.owner, self.number = times, sizes, owner, number

    def of(self, request: int) -> Times:
        """Which of them are ``request``'s."""
        return self.owner == request

    def in_order(self) -> Flits:
        """By time of arrival; at equal times by request, then number."""
        order = np.lexsort((self.number, self.owner, self.times))
        return Flits(self.times[order], self.sizes[order], self.owner[order], self.number[order])


class ChannelMaxPlus(MaxPlus):
    """The closed form for one compiled graph whose slices have channel routers."""

    def shares(self, slice_name: str, offset: int, nbytes: int) -> list[tuple[int, int]]:
        """(channel, bytes) of each request, in order of first bytes: counted byte range by byte range."""
        properties = self.node[slice_name]
        burst, channels = int(properties["burst_bytes"]), int(properties["n_channels"])
        shares: dict[int, int] = {}
        at, end = offset, offset + nbytes
        while at < end:
            stop = min(end, (at // burst + 1) * burst)
            channel = at // burst % channels
            shares[channel] = shares.get(channel, 0) + stop - at
            at = stop
        return list(shares.items())

    def access_ns(self, ways: Sequence[Sequence[str]], shares: Sequence[int], *, write: bool) -> float:
        """A read or write of ``shares`` bytes by ``ways``: source to slice, each by its channel router."""
        shared = ways[0][:-2]
        out = self._dealt([self.sizes(n) if write else np.zeros(1) for n in shares])
        self._along(shared, out, pays=(0, 0))
        out.times = self._node(shared[-1], out, pays=(0, 0))
        arrived = self._split(out, [way[-3:] for way in ways])
        slice_name = ways[0][-1]
        first = (arrived.owner == 0) & (arrived.number == 0)
        inside = self.serve(arrived.times, np.where(first, float(self.node[slice_name]["overhead_ns"]), 0.0))
        burst_ns = float(self.node[slice_name]["burst_bytes"]) / float(self.node[slice_name]["channel_gbs"])
        leaving = []
        for request, nbytes in enumerate(shares):
            mine = inside[arrived.of(request)]
            sizes = self.sizes(nbytes)
            times = mine if write else np.full(len(sizes), mine[0])
            done = self.serve(times, np.full(len(times), burst_ns))
            leaving.append((done[-1:], np.zeros(1)) if write else (done, sizes))
        back = self._merged(leaving, [way[-3:][::-1] for way in ways])
        last = max(range(len(shares)), key=lambda request: (leaving[request][0][-1], request))
        pays = (last, 0) if write else (0, 0)
        names = shared[::-1]
        back.times = self._node(names[0], back, pays)
        self._along(names, back, pays)
        return float(back.times.max()) + float(self.node[names[-1]]["overhead_ns"])

    @staticmethod
    def _dealt(sizes: Sequence[Times]) -> Flits:
        """All flits at time 0, one of each request in turn."""
        order = [
            (number, request)
            for number in range(max(map(len, sizes)))
            for request in range(len(sizes))
            if number < len(sizes[request])
        ]
        number, owner = (np.array(column) for column in zip(*order, strict=True))
        amount = np.array([sizes[r][n] for n, r in order])
        return Flits(np.zeros(len(order)), amount, owner, number)

    def _along(self, names: Sequence[str], flits: Flits, pays: tuple[int, int]) -> None:
        """From the first component's output to the last one's input."""
        for here, there in itertools.pairwise(names):
            if here != names[0]:
                flits.times = self._node(here, flits, pays)
            flits.times = self.cross(here, there, flits.times, flits.sizes)

    def _node(self, name: str, flits: Flits, pays: tuple[int, int]) -> Times:
        """Through a component: the flit ``pays`` (request, number) has its overhead."""
        properties = self.node[name]
        overhead = float(properties["overhead_ns"])
        if properties["kind"] in TRANSIT or properties.get("cut_through"):
            one = (flits.owner == pays[0]) & (flits.number == pays[1])
            return self.serve(flits.times, np.where(one, overhead, 0.0))
        order = np.lexsort((flits.owner, flits.number))  # whole, so they take turns anew
        for column in ("sizes", "owner", "number"):
            setattr(flits, column, getattr(flits, column)[order])
        return np.full(len(flits.times), flits.times.max() + overhead)

    def _channel(self, names: Sequence[str], times: Times, sizes: Times) -> Times:
        """Over a channel router, of its own for each request."""
        a, router, b = names
        times = self.cross(a, router, times, sizes)
        service = np.zeros(len(times))
        service[0] = float(self.node[router]["overhead_ns"])
        return self.cross(router, b, self.serve(times, service), sizes)

    def _split(self, flits: Flits, ways: Sequence[Sequence[str]]) -> Flits:
        """From the slice's router to the slice, each request by its own channel router."""
        for request, way in enumerate(ways):
            mine = flits.of(request)
            flits.times[mine] = self._channel(way, flits.times[mine], flits.sizes[mine])
        return flits.in_order()

    def _merged(self, leaving: Sequence[tuple[Times, Times]], ways: Sequence[Sequence[str]]) -> Flits:
        """From the slice to its router, where all meet."""
        there = [self._channel(way, *sent) for way, sent in zip(ways, leaving, strict=True)]
        return Flits(
            np.concatenate(there),
            np.concatenate([sizes for _, sizes in leaving]),
            np.concatenate([np.full(len(times), i) for i, times in enumerate(there)]),
            np.concatenate([np.arange(len(times)) for times in there]),
        ).in_order()
