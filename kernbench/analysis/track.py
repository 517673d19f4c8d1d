"""The way back so far: how far it has come, its steps, and the ways of transactions it went over."""

from __future__ import annotations

from kernbench.analysis.steps import Passed, Step
from kernbench.analysis.trace_index import CLOSE_NS, TraceIndex
from kernbench.analysis.trace_records import Message, Place, Work

LAUNCHING = ("launch", "launch_done")
MAPPING = ("map", "unmap")
HOST_LEVEL = ("host_read", "host_write", *MAPPING)
"""Transactions that the host waits for itself."""

Cause = Message | Work | None
"""What a walk goes to next; ``None`` when nothing came before."""


class Track:
    """One walk back in time, from ``now`` to ``stop``. ``now`` is how far it has come."""

    def __init__(self, index: TraceIndex, stop: float, now: float) -> None:
        self.index = index
        self.stop = stop
        self.now = now
        self.steps: list[Step] = []
        """The newest first."""
        self.ways: dict[int, tuple[Passed, ...]] = {}

    def to(
        self, time: float, cause: str, place: str, what: str, transaction: int = -1, hop: int = -1
    ) -> None:
        """Go back to ``time``: all since then is a step, if it is anything."""
        time = max(time, self.stop)
        if time < self.now:
            self.steps.append(Step(time, self.now, cause, place, what, transaction, hop))
            self.now = time

    def way(self, message: Message, first: int = 0) -> None:
        """Back over the way of ``message``, to its place number ``first``."""
        way = self.index.way(message)
        passed = tuple(Passed(p.resource, p.bytes, self._cause(message, p)) for p in way)
        self.ways[message.id] = passed
        for hop in reversed(range(first, len(way))):
            place = way[hop]
            at = place.resource, named(message)
            begun = place.t_out - place.service_ns
            if abs(place.t_out - self.now) > CLOSE_NS:
                self.to(place.t_out, "unexplained", *at)
            self.to(begun, passed[hop].cause, *at, message.id, hop)
            self.to(begun - place.wait_ns, "queue", *at, message.id, hop)

    def before_host(self, message: Message) -> Message | None:
        """What the host was waiting for when it sent ``message``: an answer at that very moment."""
        sources = [
            m
            for m in self.index.answered(message.t_submit)
            if m.id != message.id
            and m.t_submit < message.t_submit
            and (m.kind in HOST_LEVEL or (m.kind == "launch_done" and m.dst == message.src))
        ]
        return min(sources, key=lambda m: m.id, default=None)

    def _cause(self, message: Message, place: Place) -> str:
        if message.kind in LAUNCHING:
            return "launch"
        kind = self.index.kinds.get(place.resource, "")
        if message.kind in MAPPING or kind == "host_cpu":
            return "host"
        if place.is_link:
            return "link"
        return {"hbm_ctrl": "hbm", "sram": "memory", "pe_tcm": "memory"}.get(kind, "component")


def named(message: Message) -> str:
    """A transaction, as steps name it."""
    return f"{message.kind} {message.id}, {message.src} to {message.dst}"
