"""The walk back over one operation, or one stage of one tile, to the operation that it came after."""

from __future__ import annotations

from kernbench.analysis.trace_index import CLOSE_NS
from kernbench.analysis.trace_records import Message, Work
from kernbench.analysis.track import Track, named


class OperationWalk:
    """Goes back within engines and pipelines."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.index = track.index

    def over(self, work: Work) -> Work | None:
        """Back over ``work`` itself; what held its engine meanwhile, if that is where the chain goes on."""
        sent = max(self.index.moved(work), key=lambda m: (m.t_done, m.id), default=None)
        before = self._computed(work) if sent is None else self._transferred(work, sent)
        if before is None:
            self.track.to(work.t_ready, "component", work.component, work.label)
        return before

    def before(self, work: Work) -> Work | None:
        """What made ``work`` ready: the stage before, or room in the scheduler's buffers."""
        first, earlier = work, []
        while stages := self.index.after(first, "stage"):
            first = stages[0]
            earlier.append(first)
        done = [w for w in earlier if w.t_end <= work.t_ready + CLOSE_NS]
        if not done:
            # Transfers of one stage are a chain as well, though they are sent together.
            for last in self.index.after(first, "buffer"):
                done += self._together(last)
        return max(done, key=lambda w: (w.t_end, w.id), default=None)

    def _computed(self, work: Work) -> Work | None:
        """Back over what an engine computed, to who held it before."""
        track = self.track
        track.to(work.t_start, "compute", work.component, work.label)
        if work.t_start > work.t_ready:
            for holder in self.index.after(work, "slot"):
                if abs(holder.t_end - work.t_start) <= CLOSE_NS:
                    return holder
            track.to(work.t_ready, "dependency", work.component, work.label)
        return None

    def _transferred(self, work: Work, sent: Message) -> Work | None:
        """Back over a transfer, of which ``sent`` was answered last."""
        track = self.track
        first = next(iter(self.index.way(sent)), None)
        queued = first is not None and first.resource == work.component and work.t_start > work.t_ready
        track.way(sent, 1 if queued else 0)
        if queued:
            track.to(work.t_start, "component", work.component, named(sent), sent.id, 0)
            before = self._engine_holder(work)
            if before is not None:
                return before
            track.to(work.t_ready, "queue", work.component, named(sent), sent.id, 0)
        track.to(sent.t_submit, "unexplained", work.component, named(sent))
        return None

    def _engine_holder(self, work: Work) -> Work | None:
        """The transfer whose end freed the DMA engine for ``work``."""
        ended = self.index.ended(work.component, work.t_start)
        same = [w for w in ended if w.id != work.id and w.name == work.name and w.t_ready < work.t_start]
        return min(same, key=lambda w: w.id, default=None)

    def _together(self, work: Work) -> list[Work]:
        """``work`` and the transfers of the same stage of its tile that had ended by now."""
        found = [work]
        while stages := self.index.after(found[-1], "stage"):
            if (stages[0].name, stages[0].t_ready) != (work.name, work.t_ready):
                break
            found.append(stages[0])
        return [w for w in found if w.t_end <= self.track.now + CLOSE_NS]
