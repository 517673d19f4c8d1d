"""What a critical path consists of: steps that abut, each with its time, its place and the cause of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

CAUSES = (
    "compute", "link", "hbm", "memory", "component", "queue", "dependency", "launch", "host", "unexplained",
)  # fmt: skip
"""What a step's time went into.

``compute``: MAC array or vector unit; ``link``: wires; ``hbm``, ``memory``: HBM, other memories;
``component``: overheads, the kernel's own cycles and the dispatch of its commands; ``queue``: behind other
transactions; ``dependency``: ready, but held by something that the trace does not tell apart; ``launch``:
launch messages, their answers and the common start; ``host``: the host, mapping, and what came before the
first request. ``unexplained`` is a hole in the trace, and a bug.
"""


class Passed(NamedTuple):
    """A component or link on a transaction's way, the bytes that pass there, and the cause of time there."""

    place: str
    bytes: int
    cause: str


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of the chain, ``t_start`` to ``t_end`` ns, at ``place``; ``what`` says whose time it was.

    Time on a transaction's way names the ``transaction`` and the ``hop``: its place in that way, from 0.
    """

    t_start: float
    t_end: float
    cause: str
    place: str
    what: str
    transaction: int = -1
    hop: int = -1

    @property
    def ns(self) -> float:
        """Its length, ns."""
        return self.t_end - self.t_start


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The chain from ``t_start`` to ``t_end`` ns, oldest step first; each begins where the last one ended."""

    t_start: float
    t_end: float
    steps: tuple[Step, ...]
    ways: Mapping[int, tuple[Passed, ...]] = field(default_factory=dict, repr=False)
    """The whole way, there and back, of every transaction that steps name."""

    def by_cause(self) -> dict[str, float]:
        """ns by cause, longest first; they add up to ``t_end - t_start``."""
        return self._sum("cause")

    def by_place(self) -> dict[str, float]:
        """ns by component or link, longest first."""
        return self._sum("place")

    def _sum(self, key: str) -> dict[str, float]:
        total: dict[str, float] = {}
        for step in self.steps:
            name = str(getattr(step, key))
            total[name] = total.get(name, 0.0) + step.ns
        return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``t_start t_end ns by_cause by_place steps``."""
        return {
            "t_start": self.t_start,
            "t_end": self.t_end,
            "ns": self.t_end - self.t_start,
            "by_cause": self.by_cause(),
            "by_place": self.by_place(),
            "steps": [{**asdict(step), "ns": step.ns} for step in self.steps],
        }
