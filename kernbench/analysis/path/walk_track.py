"""The record of a walk back in time: its steps, and the paths of the transactions that they name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from kernbench.analysis.path.path_steps import Passed, Step
from kernbench.analysis.trace_index import CLOSE_NS, HOST_LEVEL, LAUNCHING, MAPPING, TraceIndex
from kernbench.analysis.trace_tables import TracedMessage, TracedOp
from kernbench.hardware.kinds import COMPONENT_KINDS

Cause = TracedMessage | TracedOp | None
"""The next stop of a walk; ``None`` when nothing came before."""


class Track:
    """One walk back in time, from ``now`` to ``stop``. ``now`` is how far it has come.

    Steps wholly outside of ``spans``, disjoint and ascending intervals, are not taken down; nor are
    the paths that only they name. None takes down all.
    """

    def __init__(
        self, index: TraceIndex, stop: float, now: float, spans: Sequence[tuple[float, float]] | None = None
    ) -> None:
        self.index = index
        self._spans = spans
        self._ends = [end for _, end in spans or ()]
        self._causes: dict[str, str] = {}
        self.stop = stop
        self.now = now
        self.line = ""
        """The source line that the time belongs to."""
        self.op = -1
        """The operation that the time belongs to."""
        self.steps: list[Step] = []
        """The newest first."""
        self.paths: dict[int, tuple[Passed, ...]] = {}

    def to(
        self, time: float, cause: str, location: str, activity: str, transaction: int = -1, hop: int = -1
    ) -> None:
        """Go back to ``time``: all since then is a step, if it is anything."""
        time = max(time, self.stop)
        if time < self.now:
            if self._is_wanted(time, self.now):
                step = Step(time, self.now, cause, location, activity, transaction, hop, self.line, self.op)
                self.steps.append(step)
            self.now = time

    def back_over(self, message: TracedMessage, first: int = 0) -> None:
        """Back over the path of ``message``, to its hop number ``first``."""
        arrived = max(self.index.arrived(message, first), self.stop)
        if not self._is_wanted(arrived, self.now):
            self.now = min(arrived, self.now)
            return
        path = self.index.path(message)
        over = _over(message)
        passed = tuple([Passed(p.resource, p.bytes, self._cause(message, p.resource), over) for p in path])
        self.paths[message.id] = passed
        name = named(message)
        for hop in reversed(range(first, len(path))):
            at_hop = path[hop]
            at = at_hop.resource, name
            begun = at_hop.t_out - at_hop.service_ns
            if abs(at_hop.t_out - self.now) > CLOSE_NS:
                self.to(at_hop.t_out, "unexplained", *at)
            if passed[hop].cause == "hbm":
                row, refresh = self.index.dram_waits(message)
                self.to(begun + row + refresh, "hbm", *at, message.id, hop)
                if row or refresh:
                    self.to(begun + refresh, "row", *at, message.id, hop)
                    self.to(begun, "refresh", *at, message.id, hop)
            elif passed[hop].cause in ("cache_hit", "cache_miss"):
                cached = self.index.cache_misses(message)
                self.to(begun + (cached[1] if cached else 0.0), "cache_hit", *at, message.id, hop)
                self.to(begun, "cache_miss", *at, message.id, hop)
            else:
                self.to(begun, passed[hop].cause, *at, message.id, hop)
            room = self.index.held_up(message, hop)
            if room:
                self.to(begun - room, "back_pressure", *at, message.id, hop)
            self.to(begun - at_hop.wait_ns, "queue", *at, message.id, hop)

    def _is_wanted(self, begin: float, end: float) -> bool:
        """Whether any of that time is in the intervals to take down."""
        if self._spans is None:
            return True
        at = bisect_right(self._ends, begin)
        return at < len(self._spans) and self._spans[at][0] < end

    def before_host(self, message: TracedMessage) -> TracedMessage | None:
        """The request whose answer the host was waiting for when it sent ``message``."""
        sources = [
            m
            for m in self.index.answered(message.t_submit)
            if m.id != message.id
            and m.t_submit < message.t_submit
            and (m.kind in HOST_LEVEL or (m.kind == "launch_done" and m.dst == message.src))
        ]
        return min(sources, key=lambda m: m.id, default=None)

    def _cause(self, message: TracedMessage, resource: str) -> str:
        if message.kind in LAUNCHING:
            return "launch"
        if message.kind in MAPPING:
            return "host"
        cause = self._causes.get(resource)
        if cause is None:
            kind = self.index.kinds.get(resource, "")
            known = COMPONENT_KINDS[kind].cause if kind in COMPONENT_KINDS else "component"
            cause = self._causes[resource] = "link" if self.index.is_link.get(resource) else known
        if cause == "hbm" and (cached := self.index.cache_misses(message)):
            return "cache_miss" if cached[0] else "cache_hit"
        return cause


def _over(message: TracedMessage) -> str:
    """The link that an access of a part to the TCM of its PE crosses; empty for any other transaction."""
    ends = {"tcm_read": (message.dst, message.src), "tcm_write": (message.src, message.dst)}.get(message.kind)
    return "->".join(ends) if ends else ""


def named(message: TracedMessage) -> str:
    """A transaction, as steps name it."""
    return f"{message.kind} {message.id}, {message.src} to {message.dst}"
