"""``tl`` calls of loops and assertions, which mean the same in both languages."""

from __future__ import annotations

from collections.abc import Iterator

from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.building import Builder
from kernbench.language.issue import tl_call

_range = range


class LoopCalls(Builder):
    """range, static_assert."""

    _title = "Loops"

    @tl_call
    def range(
        self, start: int, stop: int | None = None, step: int = 1, num_stages: int | None = None
    ) -> Iterator[int]:
        """Python's ``range``, whose loads run ahead where kernels do.

        With ``pe.pe_cpu.run_ahead`` a call hands its command to the PE and goes on. Loads, stores and compute
        are carried out in order of their kind, each as soon as its operands are there. Each load in the body
        then has ``num_stages - 1`` buffers: it is issued when the last use of the buffer is over.

        Args:
            start: As in Python, as are the next two.
            stop: Python's.
            step: Python's.
            num_stages: How far loads run ahead; by default the launch's, or 1: a load waits for the compute
                before it.
        """
        if num_stages is not None:
            num_stages = arguments.integer("num_stages", num_stages, 0)
        return self._turns(self._numbers(start, stop, step), num_stages)

    def _numbers(self, start: int, stop: int | None, step: int) -> _range:
        given = {"start": start, "stop": stop, "step": step}
        first, last, by = (arguments.integer(name, n or 0) for name, n in given.items())
        if not by:
            raise BadArgumentError("step", "is 0, expected another number")
        return _range(first) if stop is None else _range(first, last, by)

    @tl_call
    def static_assert(self, condition: object, message: str = "") -> None:
        """End the kernel with an error unless ``condition`` holds. No time passes."""
        if not condition:
            raise self._error(message or "the condition does not hold")
