"""PE_SCHEDULER: the only dispatcher of a PE. Simple commands go to their engine, composites tile by tile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_component import PeComponent, Token
from kernbench.engine.components.pe_compute import PeGemm
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_translator import translator_of
from kernbench.engine.components.system import System
from kernbench.engine.program import commands as c
from kernbench.engine.program.computing import Command, Compute
from kernbench.engine.program.operations import Op, Operand
from kernbench.engine.program.tile_plans import TilePlan, tiles_of
from kernbench.errors import KernelError
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import Node


class Pipeline:
    """A composite being fed: the tiles that are left and the number in flight."""

    def __init__(
        self, system: System, command: c.Composite, tiles: Iterator[TilePlan], t_ready: float
    ) -> None:
        self.system = system
        self.command = command
        self.tiles = tiles
        self.t_ready = t_ready
        self.t_start = -1.0
        self.under_way = 0
        self.fed = False
        self.held: TilePlan | None = None
        self.unwritten = 0
        """DMA writes of its tiles that memory has not committed yet."""

    def written(self) -> None:
        """Called when memory has committed one; with the last the composite takes effect."""
        self.unwritten -= 1
        if self.fed and not self.unwritten:
            self.system.served(self.command.op)


class PeScheduler(PeComponent):
    """One feed loop in order of submission; a tile is fed when its buffers fit the reserved TCM."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        PeScheduler.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        PeComponent.reset(self)
        self._feeds: deque[Pipeline] = deque()
        self._buffers_used = 0

    def wired(self) -> None:
        """Find the engines."""
        dma, gemm = self.sibling("pe_dma"), self.sibling("pe_gemm")
        assert isinstance(dma, PeDma)
        assert isinstance(gemm, PeGemm)
        self._dma, self._gemm, self._translator = dma, gemm, translator_of(self)
        self._by_rows = self.node.properties["tile_transfers"] == "rows"
        self._buffer_bytes = int(self.sibling("pe_tcm").node.properties["scheduler_reserved_bytes"])

    def submit(self, command: Command, done: Callable[[], None]) -> None:
        """Execute ``command``; call ``done()`` when a blocking one is over (never for a composite)."""
        over = self.take_turn(command.op)  # type: ignore[attr-defined]
        if over > self.clock.time:
            self.clock.call_at(over, self._dispatch, command, done)
        else:
            command.dispatch(self, done)

    def _dispatch(self, command: Command, done: Callable[[], None]) -> None:
        command.dispatch(self, done)

    def compute(self, command: Compute, done: Callable[[], None]) -> None:
        """Execute work on operands in TCM; call ``done()`` when it is over."""
        rows = self.system.stage_rows
        token = Token(command.plan, command.op, command.op, done)
        token.site = command.site if rows is not None and rows.takes_computed else None
        self._start(token)

    def transfer(
        self,
        op: Op,
        kind: str,
        runs: Sequence[tuple[int, int]],
        done: Callable[[], None],
    ) -> None:
        """Have PE_DMA move bytes; call ``done()`` when that is over."""
        job = Job(op, kind, runs, done, partial(self.system.served, op))
        if self._dma.issues and not job.is_write:
            self.forward(self._dma, self._dma.issue, job)
        elif self._dma.rearranges and job.is_write:
            self.forward(self._dma, self._dma.store, job)
        else:
            self.forward(self._dma, self._dma.submit, job)

    def feed(self, command: c.Composite) -> None:
        """Execute a composite."""
        op = command.op
        self._feeds.append(Pipeline(self.system, command, self._tiles(op), self.clock.time))
        # The record of the operation has where operands lie (which takes no time) and its tile sizes.
        if op.kind == "gemm" and op.params.get("tile") is None:
            op.params["tile"] = self._gemm.tile
        for operand in _in_memory(op):
            assert operand.address is not None
            operand.regions = self._translator.regions(operand.address, operand.nbytes)
        self._feed()

    def _tiles(self, op: Op, *, outermost: bool = False) -> Iterator[TilePlan]:
        return tiles_of(op, self._gemm.tile, outermost, self._by_rows)

    def _start(self, token: Token) -> None:
        self.hand(self.part_of(token.plan.stages[0]), token)

    def _feed(self, made_room: tuple[int, ...] = ()) -> None:
        """Feed tiles of the oldest composite while their buffers fit; the next one's turn comes after it.

        ``made_room`` are the last operations of the tile that has just ended; none for a new composite.
        """
        while self._feeds:
            pipeline = self._feeds[0]
            tile = pipeline.held or next(pipeline.tiles, None)
            pipeline.held = None
            if tile is None:
                pipeline.fed = True
                self._feeds.popleft()
                self._complete(pipeline)
                continue
            if self._buffers_used + tile.buffer_bytes > self._buffer_bytes and self._buffers_used:
                pipeline.held = tile
                return
            if pipeline.t_start < 0:
                pipeline.t_start = self.clock.time
            self._buffers_used += tile.buffer_bytes
            pipeline.under_way += 1
            pipeline.unwritten += tile.writes
            token = Token(tile, pipeline.command.op)
            token.pipeline = pipeline
            token.fed_by = made_room
            self._start(token)

    def check_runs(self, runs: Sequence[tuple[int, int]]) -> None:
        """Refuse a transfer that cannot be carried out, before any of it has begun.

        :class:`AddressError` or :class:`RoutingError` for memory that does not exist or cannot be reached.
        """
        for address, nbytes in runs:
            self._dma.dma.requests_for(address, nbytes)

    def check_precision(self, precision: str) -> None:
        """:class:`KernelError` for a precision of products that PE_GEMM does not have."""
        known = self._gemm.engine.phases
        if precision not in known:
            remedy = did_you_mean(precision, list(known)) if known else "leave it out: it has one for all"
            raise KernelError(f"precision {precision!r} is not in the machine's pe_gemm.phases; {remedy}")

    def check_tiles(self, command: c.Composite) -> None:
        """Like :meth:`check_runs`; :class:`KernelError` if the largest tile does not fit the TCM."""
        for operand in _in_memory(command.op):
            assert operand.address is not None
            self._dma.dma.requests_for(operand.address, operand.nbytes)
        largest = max(tile.buffer_bytes for tile in self._tiles(command.op, outermost=True))
        if largest > self._buffer_bytes:
            raise KernelError(
                f"composite '{command.op.name}': a tile needs {largest} bytes of buffers, the scheduler's "
                f"TCM has {self._buffer_bytes}; use a smaller tile_shape"
            )

    def token_over(self, token: Token) -> None:
        """See :meth:`PeComponent.token_over`."""
        pipeline: Pipeline | None = token.pipeline
        if pipeline is None:
            assert token.done is not None
            token.done()
        else:
            self._tile_done(pipeline, token)

    def _tile_done(self, pipeline: Pipeline, token: Token) -> None:
        self._buffers_used -= token.plan.buffer_bytes
        pipeline.under_way -= 1
        self._complete(pipeline)
        self._feed(token.previous)

    def _complete(self, pipeline: Pipeline) -> None:
        if pipeline.fed and not pipeline.under_way and not pipeline.command.completion.done:
            now = self.clock.time
            self.finish(pipeline.command.op, pipeline.t_ready, pipeline.t_start, now)
            pipeline.command.completion.complete()

    def waiting(self) -> list[str]:
        """Composites that are not done yet."""
        return [
            f"{self.resource} feeds '{p.command.op.name}', {p.under_way} tiles under way" for p in self._feeds
        ]


def _in_memory(op: Op) -> Iterator[Operand]:
    """The operands that a composite reads from or writes to memory."""
    for operand in (*op.inputs, op.output):
        if operand is not None and operand.handle is None and operand.address is not None:
            yield operand
