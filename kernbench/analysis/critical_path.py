"""The chain of work and waiting that makes a run's time, found by walking back from its end.

Every step begins when the one before it ends, so their times add up to the run's. Whoever waited for a
compute slot or a DMA engine hands over to who held it, so that a full pipeline shows as the work that
fills it; waits of single flits on links, at routers and in memory are steps of cause ``queue``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from kernbench.analysis.trace_index import CLOSE_NS, Message, Place, TraceIndex, Work

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
_LAUNCHING = ("launch", "launch_done")
_MAPPING = ("map", "unmap")
_HOST_LEVEL = ("host_read", "host_write", *_MAPPING)


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of the chain, ``t_start`` to ``t_end`` ns, at ``place``; ``what`` says whose time it was."""

    t_start: float
    t_end: float
    cause: str
    place: str
    what: str

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


def critical_path(
    tables: Mapping[str, pa.Table],
    launches: Sequence[Mapping[str, Any]],
    sim_ns: float,
    launch: int | None = None,
) -> CriticalPath:
    """The chain that makes a run's time, or that of launch number ``launch`` from its common start on.

    ``tables`` are those of the run's archive, ``launches`` those of its info. ``IndexError`` when there is
    no such launch, ``ValueError`` when the run has no transactions.
    """
    index = TraceIndex(tables, launches)
    if not index.messages:
        raise ValueError("no transactions")
    if launch is None:
        return _Walk(index, 0.0).back_from(sim_ns)
    chosen = launches[launch]
    return _Walk(index, float(chosen["t_start"])).back_from(float(chosen["t_done"]), ("launch_done",))


class _Walk:
    """One walk back in time. ``now`` is how far it has come."""

    def __init__(self, index: TraceIndex, stop: float) -> None:
        self.index = index
        self.stop = stop
        self.now = 0.0
        self.steps: list[Step] = []

    def back_from(self, end: float, kinds: Sequence[str] = ()) -> CriticalPath:
        """The chain that ends with what was answered last by ``end``."""
        self.now = end
        last = max(
            (
                m
                for m in self.index.messages.values()
                if m.t_done <= end + CLOSE_NS and (not kinds or m.kind in kinds)
            ),
            key=lambda m: (m.t_done, m.id),
        )
        self._to(last.t_done, "host", last.dst, "after the last answer")
        following: Message | Work | None = last
        while following is not None and self.now > self.stop:
            following = self._message(following) if isinstance(following, Message) else self._work(following)
        self._to(self.stop, "host", "host.cpu", "before the first request")
        return CriticalPath(self.stop, end, tuple(reversed(self.steps)))

    def _to(self, time: float, cause: str, place: str, what: str) -> None:
        """Go back to ``time``: all since then is a step, if it is anything."""
        time = max(time, self.stop)
        if time < self.now:
            self.steps.append(Step(time, self.now, cause, place, what))
            self.now = time

    # -- transactions -------------------------------------------------------------------------------

    def _message(self, message: Message) -> Message | Work | None:
        """Back over a transaction, to what brought it about."""
        work = self.index.work.get(message.op)
        if work is not None and message.kind not in _LAUNCHING and message.kind not in _HOST_LEVEL:
            return work
        self._way(message, self.index.way(message))
        self._to(message.t_submit, "unexplained", message.src, _named(message))
        cause = self.index.messages.get(self.index.parent.get(message.id, -1))
        if message.kind == "launch_done" and message.src.endswith(".pe_cpu"):
            assert cause is not None
            return self._kernel(message.src, [message.op], cause, work.launch if work else None)
        if cause is not None:
            return cause
        return self._host(message)

    def _way(self, message: Message, places: Sequence[Place]) -> None:
        for place in reversed(places):
            begun = place.t_out - place.service_ns
            if abs(place.t_out - self.now) > CLOSE_NS:
                self._to(place.t_out, "unexplained", place.resource, _named(message))
            self._to(begun, self._cause(message, place), place.resource, _named(message))
            self._to(begun - place.wait_ns, "queue", place.resource, _named(message))

    def _cause(self, message: Message, place: Place) -> str:
        if message.kind in _LAUNCHING:
            return "launch"
        kind = self.index.kinds.get(place.resource, "")
        if message.kind in _MAPPING or kind == "host_cpu":
            return "host"
        if place.is_link:
            return "link"
        return {"hbm_ctrl": "hbm", "sram": "memory", "pe_tcm": "memory"}.get(kind, "component")

    def _host(self, message: Message) -> Message | None:
        """What the host was waiting for when it sent ``message``: an answer at that very moment."""
        sources = [
            m
            for m in self.index.answered.get(message.t_submit, [])
            if m.id != message.id
            and m.t_submit < message.t_submit
            and (m.kind in _HOST_LEVEL or (m.kind == "launch_done" and m.dst == message.src))
        ]
        return min(sources, key=lambda m: m.id, default=None)

    # -- kernels ------------------------------------------------------------------------------------

    def _kernel(
        self, cpu: str, resumed_by: Sequence[int], told: Message | None, launch: int | None
    ) -> Message | Work | None:
        """Back over what a kernel did by itself, to the work that let it go on, or to its launch."""
        ends = [
            part
            for op in resumed_by
            if op in self.index.work and (part := self.index.last_part(self.index.work[op], self.now))
        ]
        last = max(ends, key=lambda part: (part.t_end, part.id), default=None)
        if last is not None:
            self._to(last.t_end, "component", cpu, "kernel and dispatch")
            return last
        number = launch if launch is not None else self._launch_of(told)
        if number is None:
            self._to(told.t_done if told else self.stop, "unexplained", cpu, "kernel without a launch")
            return told
        return self._barrier(cpu, number)

    def _launch_of(self, told: Message | None) -> int | None:
        """The launch of which a PE was told by ``told``."""
        if told is None:
            return None
        submitted = self.index.root(told).t_submit
        fits = [
            (float(entry["t_start"]), number)
            for number, entry in enumerate(self.index.launches)
            if entry["t_submit"] == submitted and told.t_done <= entry["t_start"] + CLOSE_NS
            if entry["t_start"] <= self.now + CLOSE_NS
        ]
        return max(fits)[1] if fits else None

    def _barrier(self, cpu: str, number: int) -> Message | Work | None:
        """Back over the common start, to the PE that was the last to be told or to become free."""
        launch = self.index.launches[number]
        start = float(launch["t_start"])
        self._to(start, "component", cpu, "kernel and dispatch")
        told = [
            m
            for m in self.index.messages.values()
            if m.kind == "launch" and m.dst.endswith(".pe_cpu") and m.t_done <= start + CLOSE_NS
            if self.index.root(m).t_submit == launch["t_submit"]
        ]
        cpus = {m.dst for m in told}
        for m in self.index.messages.values():
            if m.kind == "launch_done" and m.src in cpus and m.t_submit == start:
                earlier = self.index.messages.get(self.index.parent.get(m.id, -1))
                work = self.index.work.get(m.op)
                return self._kernel(m.src, [m.op], earlier, work.launch if work else None)
        last = max(told, key=lambda m: (m.t_done, -m.id), default=None)
        if last is not None:
            self._to(last.t_done, "launch", last.dst, f"common start of launch {number}")
        return last

    # -- operations ---------------------------------------------------------------------------------

    def _work(self, work: Work) -> Message | Work | None:
        """Back over one operation or stage, to what it came after."""
        sent = max(self.index.moved.get(work.id, []), key=lambda m: (m.t_done, m.id), default=None)
        if sent is None:
            self._to(work.t_start, "compute", work.component, work.label)
            if work.t_start > work.t_ready:
                holders = [self.index.work[n] for n in self.index.after[work.id]["slot"]]
                for holder in holders:
                    if abs(holder.t_end - work.t_start) <= CLOSE_NS:
                        return holder
                self._to(work.t_ready, "dependency", work.component, work.label)
        else:
            places = self.index.way(sent)
            queued = places and places[0].resource == work.component and work.t_start > work.t_ready
            self._way(sent, places[1:] if queued else places)
            if queued:
                self._to(work.t_start, "component", work.component, _named(sent))
                before = self._engine_holder(work)
                if before is not None:
                    return before
                self._to(work.t_ready, "queue", work.component, _named(sent))
            self._to(sent.t_submit, "unexplained", work.component, _named(sent))
            if sent.src == work.component and work.name == "host_write":
                return self._host(sent)
        self._to(work.t_ready, "component", work.component, work.label)
        return self._before(work)

    def _engine_holder(self, work: Work) -> Work | None:
        """The transfer whose end freed the DMA engine for ``work``."""
        ended = self.index.ended.get((work.component, work.t_start), [])
        same = [w for w in ended if w.id != work.id and w.name == work.name and w.t_ready < work.t_start]
        return min(same, key=lambda w: w.id, default=None)

    def _before(self, work: Work) -> Message | Work | None:
        """What made ``work`` ready: the stage before, room in the scheduler's buffers, or the kernel."""
        first, earlier = work, []
        while stages := self.index.after[first.id]["stage"]:
            first = self.index.work[stages[0]]
            earlier.append(first)
        done = [w for w in earlier if w.t_end <= work.t_ready + CLOSE_NS]
        if not done:
            # Transfers of one stage are a chain as well, though they are sent together.
            for number in self.index.after[first.id]["buffer"]:
                done += self._together(self.index.work[number])
        last = max(done, key=lambda w: (w.t_end, w.id), default=None)
        if last is not None:
            self._to(last.t_end, "component", work.component, "dispatch")
            return last
        command = self.index.work.get(work.parent, work)
        after = self.index.after[command.id]
        cpu = f"{work.component.rpartition('.')[0]}.pe_cpu"
        if command.launch < 0:
            return None
        return self._kernel(cpu, [*after["issue"], *after["wait"]], None, command.launch)

    def _together(self, work: Work) -> list[Work]:
        """``work`` and the transfers of the same stage of its tile that had ended by now."""
        found = [work]
        while stages := self.index.after[found[-1].id]["stage"]:
            before = self.index.work[stages[0]]
            if (before.name, before.t_ready) != (work.name, work.t_ready):
                break
            found.append(before)
        return [w for w in found if w.t_end <= self.now + CLOSE_NS]


def _named(message: Message) -> str:
    return f"{message.kind} {message.id}, {message.src} to {message.dst}"
