"""Several threads of a kernel on one PE: each goes on while others wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kernbench.program.commands import Command, Completion, PeContext, Wait

if TYPE_CHECKING:
    from kernbench.kernels.thread import KernelThread


def shares(pe: PeContext, count: int) -> list[PeContext]:
    """``pe`` as each of ``count`` threads sees it: with its share of the scratch."""
    each = pe.scratch_bytes // count
    return [replace(pe, scratch_base=pe.scratch_base + n * each, scratch_bytes=each) for n in range(count)]


class Residents:
    """Threads in turn; to their PE they are one running kernel."""

    def __init__(self, threads: Sequence[KernelThread]) -> None:
        self._threads = list(threads)
        self._awaited: dict[int, Sequence[Completion]] = {}
        self._turn = 0
        self._last = threads[0]

    def resume(self) -> Command | None:
        """The next command of any of them; ``None`` when all have ended."""
        waiting = 0
        while self._threads:
            if waiting == len(self._threads):
                return Wait([self._first_of_all()])
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
                waiting = 0
            else:
                return command
        return None

    def _first_of_all(self) -> Completion:
        """Done with the first of what the threads wait for."""
        first = Completion("a resident block")

        def one_done(awaited: Completion) -> None:
            if not first.done:
                first.op = awaited.op
                first.complete()

        for thread in self._threads:
            for one in self._awaited[id(thread)]:
                if not one.done:
                    one.then(lambda one=one: one_done(one))  # type: ignore[misc]
        return first

    def close(self) -> None:
        """Stop them all."""
        for thread in self._threads:
            thread.close()

    def describe(self) -> str:
        """What the one does that went on last."""
        return self._last.describe()

    def nearest_tensor(self, address: int) -> str:
        """The tensor argument next to an address: all have the same ones."""
        return self._last.nearest_tensor(address)
