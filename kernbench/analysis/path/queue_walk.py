"""The walk back over queues: from a receive to its slots, and from a message to the credit that it needed."""

from __future__ import annotations

from kernbench.analysis.path.walk_track import Track, named
from kernbench.analysis.trace_index import CLOSE_NS
from kernbench.analysis.trace_tables import TracedMessage, TracedOp

SEND, COPY = "ipcq_send", "ipcq_copy"
QUEUE = "ipcq_"
"""Beginning of the names of a queue's operations."""


class QueueWalk:
    """Goes back over sends, receives and the copies of their parts."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.index = track.index

    def over(self, work: TracedOp) -> TracedOp | None:
        """Back over ``work``; returns the operation where the path goes on.

        None: it goes on with the kernel whose command ``work`` is part of.
        """
        if work.name == SEND:
            return self._handed(work)
        if work.stage == "TO_SLOT":
            return self._to_slot(work)
        for read in self._moved(work):
            self._back(read)
        self.track.to(work.t_ready, "component", work.component, work.label)
        return self._ended_now(work, "token")

    def around(self, work: TracedOp, command: TracedOp) -> TracedOp | None:
        """A transfer of PE_DMA that a send or receive ``command`` needed: what it waited for."""
        if command.name != SEND:
            return self._ended_now(work, "handle")  # it writes what was read from a slot
        for part in self.index.parts(command):
            if any(source.id == work.id for source in self.index.after(part, "handle")):
                moved = self._moved(part)
                return self._credited(moved[-1] if moved else None)
        return None

    def _to_slot(self, work: TracedOp) -> TracedOp | None:
        """Back over one part's way to its slot, to what it waited for at its sender."""
        track = self.track
        moved = self._moved(work)
        for message in moved:
            self._back(message)
        track.to(work.t_ready, "component", work.component, work.label)
        return self._before_token(work, moved[-1] if moved else None)

    def _handed(self, send: TracedOp) -> TracedOp | None:
        """A send is over when its last part is with the DMA: back to what that one waited for."""
        parts = [part for part in self.index.parts(send) if part.stage == "TO_SLOT"]
        last = max(parts, key=lambda part: (part.t_ready, part.id), default=None)
        if last is None:
            return None
        self.track.to(last.t_ready, "component", send.component, send.label)
        moved = self._moved(last)
        return self._before_token(last, moved[-1] if moved else None)

    def _before_token(self, part: TracedOp, token: TracedMessage | None) -> TracedOp | None:
        """The cause that let a part go to its slot just then: a read of its bytes, a credit, or its send."""
        source = self._ended_now(part, "handle")
        if source is not None and source.name != COPY:
            return source
        return self._credited(token)

    def _credited(self, token: TracedMessage | None) -> TracedOp | None:
        """Back over the credit that let a token go, if it came at this moment, to the read before it."""
        credit = None if token is None else self.index.cause(token)
        if credit is None or abs(credit.t_done - self.track.now) > CLOSE_NS:
            return None
        self._back(credit)
        return self.index.work(credit.op)

    def _ended_now(self, work: TracedOp, hazard: str) -> TracedOp | None:
        """The operation that ``work`` came after, for this reason, if it ended at this moment."""
        found = [w for w in self.index.after(work, hazard) if abs(w.t_end - self.track.now) <= CLOSE_NS]
        return max(found, key=lambda w: w.id, default=None)

    def _moved(self, work: TracedOp) -> list[TracedMessage]:
        """Its transactions, the last first."""
        return sorted(self.index.moved(work), key=lambda m: (m.t_done, m.id), reverse=True)

    def _back(self, message: TracedMessage) -> None:
        self.track.to(message.t_done, "component", message.dst, named(message))
        self.track.back_over(message)
        whole = self.index.whole(message)
        if whole is not None:  # up to where the leg left it
            self._back(whole)
            return
        self.track.to(message.t_submit, "unexplained", message.src, named(message))
