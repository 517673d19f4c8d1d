"""A kept trace, indexed for walking it backwards: what ended when, what belongs to what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

CLOSE_NS = 1e-6
"""Times that differ by less are one; far above rounding, far below anything that is simulated."""


class Message(NamedTuple):
    """A transaction. Times in ns; ``op`` is its operation's id or -1."""

    id: int
    kind: str
    src: str
    dst: str
    t_submit: float
    t_done: float
    op: int


class Place(NamedTuple):
    """One place on a transaction's way, as its last flit saw it."""

    resource: str
    is_link: bool
    t_out: float
    service_ns: float
    wait_ns: float


class Work(NamedTuple):
    """An operation, or one stage of one tile of it."""

    id: int
    name: str
    stage: str
    component: str
    launch: int
    parent: int
    t_ready: float
    t_start: float
    t_end: float
    label: str


class TraceIndex:
    """The tables of one run. ``launches`` are those of the run's info."""

    def __init__(self, tables: Mapping[str, pa.Table], launches: Sequence[Mapping[str, Any]]) -> None:
        self.launches = list(launches)
        self.messages: dict[int, Message] = {m.id: m for m in _records(tables["Transaction"], Message)}
        self.work: dict[int, Work] = {w.id: w for w in _records(tables["Op"], Work)}
        caused = tables["Caused"]
        self.parent: dict[int, int] = dict(
            zip(caused["child"].to_pylist(), caused["parent"].to_pylist(), strict=True)
        )
        self.children: dict[int, list[Work]] = defaultdict(list)
        self.ended: dict[tuple[str, float], list[Work]] = defaultdict(list)
        for work in self.work.values():
            if work.parent >= 0:
                self.children[work.parent].append(work)
            self.ended[work.component, work.t_end].append(work)
        self.moved: dict[int, list[Message]] = defaultdict(list)
        moved = tables["Moved"]
        for op, txn in zip(moved["op"].to_pylist(), moved["txn"].to_pylist(), strict=True):
            self.moved[op].append(self.messages[txn])
        self.after: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        depends = tables["DependsOn"]
        timing = ("stage", "slot", "issue", "wait", "buffer")
        for op, on, hazard in zip(*(depends[c].to_pylist() for c in ("op", "on", "hazard")), strict=True):
            if hazard in timing:
                self.after[op][hazard].append(on)
        self.answered: dict[float, list[Message]] = defaultdict(list)
        for message in self.messages.values():
            self.answered[message.t_done].append(message)
        used = tables["Used"]
        self.kinds = dict(zip(used["resource"].to_pylist(), used["kind"].to_pylist(), strict=True))
        self._hops = tables["Hop"]
        self._of = self._hops["txn"].to_numpy()

    def way(self, message: Message) -> list[Place]:
        """The places that ``message`` went through, out and back, in order."""
        begin, end = np.searchsorted(self._of, [message.id, message.id + 1])
        rows = self._hops.slice(int(begin), int(end - begin))
        return _records(rows, Place)

    def root(self, message: Message) -> Message:
        """What the host sent that brought ``message`` about."""
        while message.id in self.parent:
            message = self.messages[self.parent[message.id]]
        return message

    def parts(self, work: Work) -> list[Work]:
        """The stages that a command consists of: those of its tiles, or itself."""
        children = self.children.get(work.id, [])
        return [*children, work] if work.stage or not children else children

    def last_part(self, work: Work, until: float) -> Work | None:
        """The stage of a command that ended last, at ``until`` or before."""
        found = [part for part in self.parts(work) if part.t_end <= until + CLOSE_NS]
        return max(found, key=lambda part: (part.t_end, part.id), default=None)


def _records(table: pa.Table, kind: type[Any]) -> list[Any]:
    columns = (table[name].to_pylist() for name in kind._fields)
    return [kind(*row) for row in zip(*columns, strict=True)]
