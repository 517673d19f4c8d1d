"""What a run accounts for without having simulated it: equal periods, and packages that do the same.

Its totals have it, as the table ``Use`` has. Hops, waits and operations are of the simulated part alone. A
window of all launches, or of the time outside of them, has its share of it as the simulated part has: as much
of a layer lies within launches, whether it was simulated or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LEAST_BAR = 0.01
"""Ranks that begin together, as at boundaries, took 0.9 % longer than others in periods of 0.6 us;
periods of a drained machine were seen to differ by 0.3 %."""


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
    least_ns: float
    """0 where it is not known."""

    @property
    def bar(self) -> float:
        """By how much that interval may be off: by its waits, and by what the last two periods differ."""
        return _longer(self.period_ns, self.least_ns) + self.least_bar

    @property
    def least_bar(self) -> float:
        """By how much it may be off without its waits."""
        differs = abs(self.period_ns / self.before_ns - 1.0) if self.before_ns else 0.0
        return max(differs, LEAST_BAR)


def repeated(info: Mapping[str, Any]) -> list[Repeated]:
    """The periods that a run accounts for, in order of time."""
    names = ("name", "from_ns", "to_ns", "simulated", "times", "period_ns", "before_ns")
    of_periods = (one for one in info.get("repeats") or () if one["kind"] == "repeat")
    return [Repeated(*(*(one[name] for name in names), _least_ns(one))) for one in of_periods]


def share_and_bar(info: Mapping[str, Any]) -> tuple[float, float]:
    """The share of a run's time that was accounted for, and by how much of itself that time may be off.

    Packages that are alike account for no time; the bar has the waits of the one that was simulated.
    """
    sim_ns = float(info["sim_ns"])
    if found := repeated(info):  # layers that were simulated have waits at their boundaries too
        return sum(one.end - one.begin for one in found) / sim_ns, max(one.bar for one in found)
    alike = [(one["to_ns"] - one["from_ns"], _least_ns(one)) for one in info.get("repeats") or ()]
    return 0.0, sum(ns * (_longer(ns, least) + LEAST_BAR) for ns, least in alike) / sim_ns


def said(info: Mapping[str, Any]) -> list[str]:
    """What was simulated of a run that accounts for more, and how far off times may be, in words."""
    found = []
    for one in info.get("repeats") or ():
        last, whole = one["simulated"] - 1, one["simulated"] + one["times"]
        some = f"{one['name']} 0" if not last else f"{one['name']}s 0 to {last}"
        found.append(f"{some} of {whole}")
    if not found:
        return []
    if (folded := info.get("collectives", {})).get("folded"):
        found.append(f"{folded['folded']} of {folded['of']} collectives on that package alone")
    bars = [
        f"each of the other {each.times} takes {_off(each.period_ns, each.least_ns, each.least_bar)}"
        for each in repeated(info)
    ]
    if not bars:
        bars = [f"packages take {_off(one['to_ns'] - one['from_ns'], _least_ns(one), LEAST_BAR)}"]
    return [f"simulated {', '.join(found)}; totals are of all, hops, waits and operations of these", *bars]


def _off(ns: float, least_ns: float, least_bar: float) -> str:
    """``ns`` and how far off it may be, in words."""
    if not least_ns:
        return (
            f"{ns:.1f} ns, +-{100 * least_bar:.1f} % or more: the cost of waits was not "
            "measured in this run; run it again"
        )
    bar = _longer(ns, least_ns) + least_bar
    return f"{ns:.1f} ns, +-{100 * bar:.1f} %: {least_ns:.1f} ns or more without the waits of an estimate"


def _least_ns(one: Mapping[str, Any]) -> float:
    """The time without waits that a run says of a repeat; 0 where it was kept before runs measured them."""
    return float(one.get("least_ns", 0.0))


def _longer(ns: float, least_ns: float) -> float:
    """By how much of ``least_ns`` ``ns`` is longer."""
    return ns / least_ns - 1.0 if least_ns > 0 else 1.0
