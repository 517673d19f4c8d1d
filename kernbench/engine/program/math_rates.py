"""What PE_MATH takes for the operations that ``pe_math.cycles`` and ``pe_math.reduce`` name.

Each has a latency, for which it does not hold the compute slot, and elements a cycle, for which it does.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.hardware.topology.fields import numbers
from kernbench.operations import ANY
from kernbench.support.pgraph import Properties

Rate = tuple[float, float]
"""Latency in cycles, elements a cycle."""


def _rate(text: object) -> Rate | None:
    latency, _, per_cycle = str(text or "").partition(":")
    return (float(latency), float(per_cycle)) if per_cycle else None


@dataclass(frozen=True, slots=True)
class MathRates:
    """The tables of one PE_MATH."""

    named: dict[str, Rate]
    across: Rate | None
    within: Rate | None
    lanes: int
    passes: dict[str, int]

    @classmethod
    def of(cls, properties: Properties) -> MathRates | None:
        """Those of a PE_MATH with these properties; None where it has none."""
        entries = (entry.split("=") for entry in str(properties.get("cycles", "")).split())
        named = {name: rate for name, text in entries if (rate := _rate(text)) is not None}
        across, within = (_rate(properties.get(f"reduce_{way}")) for way in ("across", "within"))
        if not named and across is None and within is None:
            return None
        return cls(named, across, within, int(properties["lanes"]), passes_of(properties))

    def find(self, name: str, elements: int, reduced: int) -> Rate | None:
        """Latency, and elements a cycle, of an operation; None where the tables leave it to the lanes.

        ``reduced``: of a reduction the elements that it makes one of, all where it is not along rows. It is
        within a row where several results are left and a row has at most ``lanes`` elements.
        """
        found = self.named.get(name)
        if reduced:
            found = (self.within if reduced < elements and reduced <= self.lanes else self.across) or found
        if found is None and ANY in self.named:
            (latency, rate), passes = self.named[ANY], self.passes.get(name, 1)
            found = latency * passes, rate / passes
        return found


def passes_of(properties: Properties) -> dict[str, int]:
    """The table of passes of a PE_MATH."""
    return {name: int(passes) for name, passes in numbers(properties.get("passes")).items()}
