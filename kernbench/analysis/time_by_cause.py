"""Times of a transfer on an idle machine that remember what they were spent on."""

from __future__ import annotations

from dataclasses import dataclass

CAUSES = ("host", "component", "link", "memory", "hbm")
"""Those causes of a critical path's steps that a transfer has which waits for nobody."""


@dataclass(frozen=True, slots=True)
class TimeByCause:
    """A time since the start of the transfer: ``ns`` in all, ``shares`` of it by :data:`CAUSES`.

    The shares are those of the events that this time depended on. The later of two spans keeps its own, so
    shares always add up to ``ns``.
    """

    ns: float = 0.0
    shares: tuple[float, ...] = (0.0,) * len(CAUSES)

    def plus(self, cause: str, ns: float) -> TimeByCause:
        """``ns`` later, spent on ``cause``."""
        if ns == 0.0:
            return self
        number = CAUSES.index(cause)
        shares = (*self.shares[:number], self.shares[number] + ns, *self.shares[number + 1 :])
        return TimeByCause(self.ns + ns, shares)

    def breakdown(self) -> dict[str, float]:
        """ns by cause, all of :data:`CAUSES`."""
        return dict(zip(CAUSES, self.shares, strict=True))


def later(*spans: TimeByCause) -> TimeByCause:
    """The latest; the first one of equals."""
    return max(spans, key=lambda span: span.ns)
