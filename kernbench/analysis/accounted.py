"""What a run accounts for without having simulated it: equal periods, and packages that do the same.

Its totals have it, as the table ``Use`` has. Hops, waits and operations are of the simulated part alone. A
window of all launches, or of the time outside of them, has its share of it as the simulated part has: as much
of a layer lies within launches, whether it was simulated or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_BAR = 0.005
"""Periods of drained machines were found to differ by less than this without any cause that is known."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Periods that were accounted for, from ``begin`` to ``end`` ns: ``times`` of them, as the last one."""

    name: str
    begin: float
    end: float
    simulated: int
    times: int
    period_ns: float
    before_ns: float

    @property
    def bar(self) -> float:
        """By how much of it that stretch may be off: what the last two periods differ by, or more."""
        return max(abs(self.period_ns / self.before_ns - 1.0) if self.before_ns else 0.0, LEAST_BAR)


def repeated(info: Mapping[str, Any]) -> list[Repeated]:
    """The periods that a run accounts for, in order of time."""
    return [
        Repeated(
            *(
                one[key]
                for key in ("name", "from_ns", "to_ns", "simulated", "times", "period_ns", "before_ns")
            )
        )
        for one in info.get("repeats") or ()
        if one["kind"] == "repeat"
    ]


def said(info: Mapping[str, Any]) -> list[str]:
    """What was simulated of a run that accounts for more, and how far off times may be, in words."""
    found = []
    for one in info.get("repeats") or ():
        last, whole = one["simulated"] - 1, one["simulated"] + one["times"]
        some = f"{one['name']} 0" if not last else f"{one['name']}s 0 to {last}"
        found.append(f"{some} of {whole}")
    if not found:
        return []
    bars = [
        f"each of the other {one.times} takes {one.period_ns:.1f} ns, +-{100 * one.bar:.2g} %"
        for one in repeated(info)
    ]
    return [f"simulated {', '.join(found)}; totals are of all, hops, waits and operations of these", *bars]


def launched(info: Mapping[str, Any], spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The time of launches in what was accounted for, as one stretch for each repeat.

    ``spans`` are the stretches of the launches that were simulated, apart and ascending.
    """
    found = []
    for one in repeated(info):
        since = one.begin - one.period_ns
        within = sum(max(0.0, min(end, one.begin) - max(begin, since)) for begin, end in spans)
        if within > 0:
            found.append((one.begin, min(one.begin + one.times * within, one.end)))
    return found
