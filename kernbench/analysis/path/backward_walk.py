"""The walk back in time from the end of a run or launch, over transactions, kernels and operations.

:class:`OperationWalk` goes back within engines and tile pipelines, :class:`Walk` over launches, host reads
and writes, mapping and barriers. Queues have a module of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.analysis.path.queue_walk import QUEUE, SEND, QueueWalk
from kernbench.analysis.path.walk_track import Cause, Track, named
from kernbench.analysis.trace_index import CLOSE_NS, HOST_LEVEL, LAUNCHING
from kernbench.analysis.trace_tables import TracedMessage, TracedOp

_LOADS = ".pe_dma"
_UNDER_WAY = "under way when the run was stopped"


class OperationWalk:
    """Goes back within engines and pipelines."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.index = track.index

    def over(self, work: TracedOp) -> TracedOp | None:
        """Back over ``work`` itself; returns what held its engine meanwhile, if the path goes on there."""
        if self.track.now <= work.t_ready:
            return None  # the path has come over it as it was issued
        sent = max(self.index.moved(work), key=lambda m: (m.t_done, m.id), default=None)
        before = self._computed(work) if sent is None else self._transferred(work, sent)
        if before is None:
            self.track.to(work.t_ready, "component", work.component, work.label)
        return before

    def before(self, work: TracedOp) -> TracedOp | None:
        """The cause that made ``work`` ready: the stage before, or room in the scheduler's buffers."""
        earlier = self.index.after(work, "stage") or self.index.after(work, "buffer")
        if not earlier and work.component.endswith(_LOADS):
            return self._holder(work, work.t_ready)
        return max(earlier, key=lambda w: (w.t_end, w.id), default=None)

    def _computed(self, work: TracedOp) -> TracedOp | None:
        """Back over what an engine computed, to the operation that held it before."""
        track = self.track
        track.to(work.t_start, "compute", work.component, work.label)
        if work.t_start > work.t_ready:
            holder = self._holder(work, work.t_start)
            if holder is not None:
                return holder
            track.to(work.t_ready, "dependency", work.component, work.label)
        return None

    def _holder(self, work: TracedOp, until: float) -> TracedOp | None:
        """What held the compute slot before ``work``, until then; back over a load that was being issued."""
        for holder in self.index.after(work, "slot"):
            if holder.component.endswith(_LOADS):
                self.track.to(holder.t_ready, "component", holder.component, "issue")
                return holder
            if holder.t_start < until <= holder.t_end + CLOSE_NS:  # a latency goes on when the slot is free
                return holder
        return None

    def _transferred(self, work: TracedOp, sent: TracedMessage) -> TracedOp | None:
        """Back over a transfer; of its transactions, ``sent`` was answered last."""
        track = self.track
        # Its data crossed the PE to the TCM, or it was still being issued.
        track.to(sent.t_done, "component", work.component, work.label)
        first = next(iter(self.index.path(sent)), None)
        queued = first is not None and first.resource == work.component and work.t_start > work.t_ready
        track.back_over(sent, 1 if queued else 0)
        if queued:
            track.to(work.t_start, "component", work.component, named(sent), sent.id, 0)
            holders = self.index.after(work, "engine")
            if holders:
                return holders[0]
            track.to(work.t_ready, "queue", work.component, named(sent), sent.id, 0)
        track.to(sent.t_submit, "unexplained", work.component, named(sent))
        return None


class Walk:
    """Goes back from one transaction as far as causes can be followed, but not beyond the track's stop."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.index = track.index
        self._operations = OperationWalk(track)
        self._queues = QueueWalk(track)

    def back_from(self, last: Cause, *, unfinished: bool = False) -> None:
        """As far as possible, from ``last``: the last answer, or what ended last of an ``unfinished`` run."""
        track = self.track
        following = last
        if isinstance(last, TracedOp):
            cause, activity = ("unfinished", _UNDER_WAY) if unfinished else ("host", "after the last answer")
            track.to(last.t_end, cause, last.component or self.index.host, activity)
        elif last is not None and unfinished:
            track.to(last.t_done, "unfinished", last.dst, _UNDER_WAY)
        elif last is not None:
            track.to(last.t_done, "host", last.dst, "after the last answer")
        else:
            track.to(track.stop, "unfinished", self.index.host, _UNDER_WAY)
        while following is not None and track.now > track.stop:
            following = (
                self._message(following) if isinstance(following, TracedMessage) else self._work(following)
            )
        track.line, track.op = "", -1
        track.to(track.stop, "host", self.index.host, "before the first request")

    def _message(self, message: TracedMessage) -> Cause:
        """Back over a transaction, to what brought it about."""
        work = self.index.work(message.op)
        if work is not None and message.kind not in LAUNCHING and message.kind not in HOST_LEVEL:
            return work
        self.track.line, self.track.op = "", -1
        self.track.back_over(message)
        self.track.to(message.t_submit, "unexplained", message.src, named(message))
        if message.kind == "launch_done" and message.src.endswith(".pe_cpu"):
            # Back over the kernel, from its PE's answer that it has ended.
            return self._kernel(message.src, self._resumed_by(message), self._launch_of(message))
        cause = self.index.cause(message)
        return self.track.before_host(message) if cause is None else cause

    def _work(self, work: TracedOp) -> Cause:
        """Back over an operation, and over what its kernel did by itself before."""
        # Time that a kernel takes by itself before an operation belongs to the operation's line.
        command = self.index.work(work.parent)
        self.track.line = work.source or (command.source if command is not None else "")
        self.track.op = work.id
        if work.name.startswith(QUEUE):
            return self._queue(work)
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
        if command.name.startswith(QUEUE):
            return self._queues.around(work, command) or self._command(command)
        cpu = f"{work.component.rpartition('.')[0]}.pe_cpu"
        return self._kernel(cpu, self.index.after(command, "issue", "wait"), command.launch)

    def _queue(self, work: TracedOp) -> Cause:
        """Back over an operation of a queue, to the other end's or to the kernel that gave the command."""
        following = self._queues.over(work)
        return following or self._command(self.index.work(work.parent) or work)

    def _command(self, command: TracedOp) -> Cause:
        """Back over a send or receive as its PE_IPCQ took it, and over its kernel."""
        self.track.to(command.t_ready, "component", command.component, command.label)
        cpu = f"{command.component.rpartition('.')[0]}.pe_cpu"
        return self._kernel(cpu, self.index.after(command, "issue", "wait"), command.launch)

    def _kernel(self, cpu: str, resumed_by: Sequence[TracedOp], launch: int) -> Cause:
        """Back over what a kernel did by itself, to the work that let it go on, or to its launch."""
        index, track = self.index, self.track
        track.op = -1
        while True:
            # A send is over when its last part is given away, whatever becomes of that.
            ends = [
                part
                for work in resumed_by
                if (part := work if work.name == SEND else index.last_part(work, track.now))
            ]
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
            track.line = ""
            cpu, resumed_by, launch = earlier.src, self._resumed_by(earlier), self._launch_of(earlier)
        track.line = ""
        latest = max(index.launch_messages(launch), key=lambda m: (m.t_done, -m.id))
        track.to(latest.t_done, "launch", latest.dst, f"common start of launch {launch}")
        return latest

    def _resumed_by(self, answer: TracedMessage) -> list[TracedOp]:
        work = self.index.work(answer.op)
        return [] if work is None else [work]

    def _launch_of(self, message: TracedMessage) -> int:
        number = self.index.launch_of(message)
        assert number is not None
        return number
