"""The steps of a critical path: contiguous intervals, each with its location and its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

CAUSES = (
    "compute", "link", "hbm", "row", "refresh", "cache_hit", "cache_miss", "memory", "component", "queue",
    "back_pressure", "dependency", "launch", "host", "unfinished", "unexplained",
)  # fmt: skip
"""Causes of a step's time.

``compute``: MAC array or vector unit; ``link``: wires; ``hbm``, ``memory``: HBM, other memories;
``row``, ``refresh``: while a row of DRAM was opened, or DRAM was refreshed; ``cache_hit``, ``cache_miss``: at
HBM behind a cache, what a hit takes, and by how much it was later; ``component``: overheads, the
kernel's own cycles and the dispatch of its commands; ``queue``: behind other transactions;
``back_pressure``: for room in a finite buffer; ``dependency``: ready, but held by something
that the trace does not tell apart; ``launch``: launch messages, their answers and the common start;
``host``: the host, mapping, and what came before the first request; ``unfinished``: under way when a run
was stopped and partly kept. ``unexplained`` is a hole in the trace, and a bug.
"""

_SHOWN = 10
"""Rows of a table in a notebook."""


class Passed(NamedTuple):
    """A component or link on a transaction's path, the bytes that pass there, and the cause of time there.

    ``over`` is the link that an access within a PE crosses at the same time as it is served; else empty.
    """

    location: str
    bytes: int
    cause: str
    over: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An interval of the path from ``t_start`` to ``t_end`` ns; ``activity`` names what was under way.

    Time on a transaction's path names the ``transaction`` and the ``hop``: the index in that path, from 0.
    Time of an operation or of a transaction that it sent names the ``op``.
    """

    t_start: float
    t_end: float
    cause: str
    location: str
    activity: str
    transaction: int = -1
    hop: int = -1
    line: str = ""
    """``file.py:12``, the line of the kernel that the time belongs to, or of the call of a collective; empty
    outside of kernels."""
    op: int = -1

    @property
    def ns(self) -> float:
        """Its length, ns."""
        return self.t_end - self.t_start


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The steps from ``t_start`` to ``t_end`` ns, oldest first; each begins where the last one ended.

    Within a window of several intervals (``gaps_ns``) that holds within each interval.
    """

    t_start: float
    t_end: float
    steps: tuple[Step, ...]
    paths: Mapping[int, tuple[Passed, ...]] = field(default_factory=dict, repr=False)
    """The whole path, there and back, of every transaction that steps name."""
    gaps_ns: float = 0.0
    """Time between ``t_start`` and ``t_end`` that is not part of it: outside of a window, ns."""

    @property
    def ns(self) -> float:
        """The sum of its steps, ns."""
        return self.t_end - self.t_start - self.gaps_ns

    def by_cause(self) -> dict[str, float]:
        """ns by cause, longest first; they add up to ``ns``."""
        return self._sum("cause")

    def by_location(self) -> dict[str, float]:
        """ns by component or link, longest first."""
        return self._sum("location")

    def main_causes(self) -> dict[str, str]:
        """By component or link the cause of most of its ns: at a memory its cache, or the memory itself."""
        found: dict[str, dict[str, float]] = {}
        for step in self.steps:
            causes = found.setdefault(step.location, {})
            causes[step.cause] = causes.get(step.cause, 0.0) + step.ns
        return {
            place: max(causes, key=lambda cause: round(causes[cause], 6)) for place, causes in found.items()
        }

    def by_line(self) -> dict[str, float]:
        """ns by source line, longest first; ``""`` for time outside of kernels."""
        return self._sum("line")

    def _repr_html_(self) -> str:
        from kernbench.support.pgraph import html_table

        ns = self.ns
        parts = []
        for name, sums in (
            ("cause", self.by_cause()), ("line", self.by_line()), ("location", self.by_location()),
        ):  # fmt: skip
            rows = [(key or "outside of kernels", time, f"{time / ns:.1%}") for key, time in sums.items()][
                :_SHOWN
            ]
            parts.append(f'<td style="vertical-align:top">{html_table((name, "ns", "share"), rows)}</td>')
        caption = f"critical path: {ns:.3f} ns in {len(self.steps)} steps"
        return f"<p>{caption}</p><table><tr>{''.join(parts)}</tr></table>"

    def __str__(self) -> str:
        causes = ", ".join(f"{cause} {ns:.3f}" for cause, ns in self.by_cause().items())
        return f"{self.ns:.3f} ns in {len(self.steps)} steps: {causes}"

    def _sum(self, key: str) -> dict[str, float]:
        total: dict[str, float] = {}
        for step in self.steps:
            name = str(getattr(step, key))
            total[name] = total.get(name, 0.0) + step.ns
        return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``t_start t_end ns by_cause by_location by_line steps``."""
        return {
            "t_start": self.t_start,
            "t_end": self.t_end,
            "ns": self.ns,
            "by_cause": self.by_cause(),
            "by_location": self.by_location(),
            "by_line": self.by_line(),
            "steps": [{**asdict(step), "ns": step.ns} for step in self.steps],
        }
