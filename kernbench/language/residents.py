"""Several threads of a kernel on one PE: each goes on while others wait."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from kernbench.engine.program.commands import Ahead, Command, Completion, Cycles, Load, PeContext, Wait
from kernbench.errors import KernBenchError

if TYPE_CHECKING:
    from kernbench.language.thread import KernelThread


def shares(pe: PeContext, count: int) -> list[PeContext]:
    """``pe`` as each of ``count`` threads sees it: with its share of the scratch."""
    each = pe.scratch_bytes // count
    return [replace(pe, scratch_base=pe.scratch_base + n * each, scratch_bytes=each) for n in range(count)]


@dataclass
class Room:
    """How many blocks of a launch a PE has at a time: what the launch says, else what a PE with warps has."""

    residents: int | None
    warps: int
    stages: int
    most: int = 0
    """The most that a PE had room for so far."""
    _known: dict[tuple[int, int], int] = field(default_factory=dict)

    def count(self, pe: PeContext, blocks: int, first: Callable[[PeContext], KernelThread]) -> int:
        """The number on ``pe``, of a grid of ``blocks``.

        ``first`` makes a thread of the first block alone. It is gone through without a machine, to see what a
        block keeps in the scratch. Where that depends on loaded values, a PE has one block.
        """
        by_warps = min(pe.warps // self.warps, -(-blocks // math.prod(pe.num_programs)))
        count = self._fitting(pe, by_warps, first) if self.residents is None else self.residents
        self.most = max(self.most, count)
        return count

    def _fitting(self, pe: PeContext, by_warps: int, first: Callable[[PeContext], KernelThread]) -> int:
        if by_warps <= 1:
            return 1
        key = pe.warps, pe.scratch_bytes
        if key not in self._known:
            alone = replace(pe, next_op_id=itertools.count(1).__next__)
            self._known[key] = pe.scratch_bytes // max(1, self._kept(first(alone), pe.scratch_bytes))
        return max(1, min(by_warps, self._known[key]))

    def _kept(self, thread: KernelThread, scratch_bytes: int) -> int:
        """The most bytes that a block keeps, a quarter more for gaps; all where that is not known."""
        most = of_turn = loads = 0
        try:
            while (command := thread.resume()) is not None:
                most = max(most, scratch_bytes - thread.free_bytes)
                if isinstance(command, Ahead):
                    if isinstance(asked := command.command, Load) and thread.in_loop:
                        of_turn = asked.op.nbytes + (0 if asked.fresh else of_turn)
                        loads = max(loads, of_turn)
                    command.completion.complete()
        except KernBenchError:  # of the kernel: the launch says so itself
            return scratch_bytes
        finally:
            thread.close()
        # Of the buffers of loads one is in use already.
        return (most + max(0, self.stages - 2) * loads) * 5 // 4


class _OthersStart(Cycles):
    """Time for the other PEs to begin as many threads; it takes none."""

    dispatched = False


class Residents:
    """Threads in turn; to their PE they are one running kernel.

    Each begins when all PEs of the launch have begun as many, so that the blocks of a grid go round the PEs.
    """

    def __init__(self, threads: Sequence[KernelThread]) -> None:
        self._threads = list(threads[:1])
        self._others = list(threads[1:])
        self._numbers = {id(thread): number for number, thread in enumerate(threads)}
        self._begun = self._turned = False
        self._awaited: dict[int, Sequence[Completion]] = {}
        self._turn = 0
        self._woken: Completion | None = None
        """Done with the first of what the threads wait for, when all of them do."""
        self._last = threads[0]

    def resume(self) -> Command | None:
        """The next command of any of them; ``None`` when all have ended."""
        waiting = 0
        if self._begun and self._others:
            self._turned = not self._turned
            if self._turned:
                return _OthersStart(0.0)
            self._threads.append(self._others.pop(0))
            self._turn = len(self._threads) - 2
        self._begun = True
        while self._threads:
            if waiting == len(self._threads):
                self._woken = Completion("a resident block")
                return Wait([self._woken])
            self._turn = (self._turn + 1) % len(self._threads)
            thread = self._threads[self._turn]
            if any(not one.done for one in self._awaited.get(id(thread), ())):
                waiting += 1
                continue
            self._last = thread
            command = thread.resume()
            if command is None:
                del self._threads[self._turn]
                waiting = 0
            elif isinstance(command, Wait):
                self._awaited[id(thread)] = command.completions
                for one in command.completions:
                    one.then(partial(self._one_done, one))
                waiting = 0
            else:
                if isinstance(command, Ahead):
                    command.thread = self._numbers[id(thread)]
                return command
        return None

    def _one_done(self, awaited: Completion) -> None:
        """Go on, if all threads wait: one of what they wait for is over."""
        woken = self._woken
        if woken is not None and not woken.done:
            woken.op = awaited.op
            woken.complete()

    def close(self) -> None:
        """Stop them all."""
        for thread in (*self._threads, *self._others):
            thread.close()

    def describe(self) -> str:
        """What the one does that went on last."""
        return self._last.describe()

    def nearest_tensor(self, address: int) -> str:
        """The tensor argument next to an address: all have the same ones."""
        return self._last.nearest_tensor(address)
