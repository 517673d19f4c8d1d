"""The walk back over transactions and kernels: launches, host reads and writes, mapping, barriers."""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.analysis.operations import OperationWalk
from kernbench.analysis.trace_records import Message, Work
from kernbench.analysis.track import HOST_LEVEL, LAUNCHING, Cause, Track, named


class Walk:
    """Goes back from one transaction as far as the chain can be followed, but not beyond the track's stop."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.index = track.index
        self._operations = OperationWalk(track)

    def back_from(self, last: Message) -> None:
        """All the way, from the answer to ``last``."""
        track = self.track
        track.to(last.t_done, "host", last.dst, "after the last answer")
        following: Cause = last
        while following is not None and track.now > track.stop:
            following = self._message(following) if isinstance(following, Message) else self._work(following)
        track.to(track.stop, "host", "host.cpu", "before the first request")

    def _message(self, message: Message) -> Cause:
        """Back over a transaction, to what brought it about."""
        work = self.index.work(message.op)
        if work is not None and message.kind not in LAUNCHING and message.kind not in HOST_LEVEL:
            return work
        self.track.way(message)
        self.track.to(message.t_submit, "unexplained", message.src, named(message))
        if message.kind == "launch_done" and message.src.endswith(".pe_cpu"):
            return self._ended(message)
        cause = self.index.cause(message)
        return self.track.before_host(message) if cause is None else cause

    def _ended(self, answer: Message) -> Cause:
        """Back over a kernel, from its PE's answer that it has ended."""
        return self._kernel(answer.src, self._resumed_by(answer), self._launch_of(answer))

    def _work(self, work: Work) -> Cause:
        """Back over an operation, and over what its kernel did by itself before."""
        following = self._operations.over(work)
        if following is not None:
            return following
        before = self._operations.before(work)
        if before is not None:
            self.track.to(before.t_end, "component", work.component, "dispatch")
            return before
        command = self.index.work(work.parent) or work
        if command.launch < 0:
            return None
        cpu = f"{work.component.rpartition('.')[0]}.pe_cpu"
        return self._kernel(cpu, self.index.after(command, "issue", "wait"), command.launch)

    def _kernel(self, cpu: str, resumed_by: Sequence[Work], launch: int) -> Cause:
        """Back over what a kernel did by itself, to the work that let it go on, or to its launch."""
        index, track = self.index, self.track
        while True:
            ends = [part for work in resumed_by if (part := index.last_part(work, track.now))]
            last = max(ends, key=lambda part: (part.t_end, part.id), default=None)
            if last is not None:
                track.to(last.t_end, "component", cpu, "kernel and dispatch")
                return last
            start = float(index.launches[launch]["t_start"])
            track.to(start, "component", cpu, "kernel and dispatch")
            # A PE that became free at that moment is what the launch waited for; its messages came before.
            earlier = next((m for m in index.freed(launch) if m.t_submit == start), None)
            if earlier is None:
                break
            cpu, resumed_by, launch = earlier.src, self._resumed_by(earlier), self._launch_of(earlier)
        latest = max(index.told(launch), key=lambda m: (m.t_done, -m.id))
        track.to(latest.t_done, "launch", latest.dst, f"common start of launch {launch}")
        return latest

    def _resumed_by(self, answer: Message) -> list[Work]:
        work = self.index.work(answer.op)
        return [] if work is None else [work]

    def _launch_of(self, message: Message) -> int:
        number = self.index.launch_of(message)
        assert number is not None
        return number
