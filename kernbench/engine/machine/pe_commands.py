"""What a kernel asks of a PE, gone through without a machine: equal where two PEs do the same."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernbench.engine.components.pe_cpu import PeCpu
from kernbench.engine.components.pe_translator import Translator
from kernbench.engine.program import commands as c
from kernbench.engine.program.launches import Launch
from kernbench.engine.program.operations import Op, Operand
from kernbench.engine.program.tile_plans import TilePlan
from kernbench.hardware.address.runs import Runs

Key = tuple[Any, ...]
Memories = dict[tuple[str, str], int]
"""Memories that a PE uses, by name and channel router, with their numbers in the order of use."""


class Unlike(Exception):  # noqa: N818, an answer
    """Why PEs are not, or cannot be shown to be, alike."""


class Asked:
    """What a kernel asks of one PE: its commands as values that are equal where the PE does the same."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self.memories: Memories = {}
        self.writes: list[Op] = []
        """What it writes to memory."""
        self._computed: set[int | None] = set()
        """Handles whose values a run without verification does not know."""
        self._numbers: dict[object, int] = {}

    def commands(self, launch: Launch, cpu: PeCpu) -> Key:
        """All of them, in order.

        Raises:
            Unlike: what a kernel does cannot be known before.
        """
        pending: Any = getattr(launch.kernel, "without_values", None)
        if pending is None or hasattr(launch.kernel, "blocks"):
            raise Unlike("PEs take its blocks as they become free" if pending else "its kernel is not of tl")
        found: list[Key] = []
        thread: Any = None
        try:
            context = cpu.context(launch, itertools.count().__next__)
            thread = pending().start(replace(context, now=_no_time))
            while (command := thread.resume()) is not None:
                found.append(self._key(command))
                self._follow(getattr(command, "op", None))
                if not isinstance(command, c.Ahead | c.Composite):
                    command.answer()
        except Unlike:
            raise
        except Exception as error:
            raise Unlike(f"what it does depends on values or time ({type(error).__name__})") from error
        finally:
            if thread is not None:
                thread.close()
        return tuple(found)

    def _follow(self, op: Op | None) -> None:
        """Note what is written, and which handles are computed; copies of what may be known are refused."""
        if op is None or op.output is None:
            return
        computes = op.kind in ("gemm", "math") or any(one.handle in self._computed for one in op.inputs)
        if op.output.handle is not None:
            if computes:
                self._computed.add(op.output.handle)
        elif not computes:
            raise Unlike("it stores a value that it did not compute")
        else:
            self.writes.append(op)

    def written(self) -> list[Op]:
        """What it writes, with the places in physical memory."""
        for op in self.writes:
            assert op.output is not None
            assert op.output.address is not None
            op.output.regions = self._translator.regions(op.output.address, op.output.nbytes)
        return self.writes

    def _key(self, command: Any) -> Key:
        kind = type(command)
        if kind is c.Ahead:
            after = [self._number(one) for one in command.after]
            return (
                kind,
                self._number(command.completion),
                *after,
                command.thread,
                self._key(command.command),
            )
        if kind in (c.Load, c.Store):
            return kind, command.fresh, command.op.name, *self._requests(command.runs)
        if kind in (c.Gemm, c.Math):
            return kind, *self._of_op(command.op), _of_plan(command.plan)
        if kind is c.Composite:
            return kind, self._number(command.completion), *self._of_op(command.op)
        if kind is c.Define:
            return kind, *self._of_op(command.op)
        if kind is c.Wait:
            return kind, *[self._number(one) for one in command.completions]
        if kind is c.Cycles:
            return kind, command.count
        raise Unlike(f"its PEs use {kind.__name__.lower()}")

    def _number(self, one: object) -> int:
        return self._numbers.setdefault(one, len(self._numbers))

    def _of_op(self, op: Op) -> Key:
        operands = [op.output, *op.inputs]
        return op.kind, op.name, op.nbytes, _frozen(op.params), *[self._operand(one) for one in operands]

    def _operand(self, one: Operand | None) -> Key:
        if one is None:
            return ()
        where = self._requests([(one.address, one.nbytes)]) if one.address is not None else ()
        return one.shape, one.dtype, one.handle, *where

    def _requests(self, runs: Sequence[tuple[int, int]]) -> Key:
        """What is sent for runs of bytes: memory, place in it, bytes."""
        if isinstance(runs, Runs):
            sent = self._translator.gathered(runs)[0]
        else:
            sent = [one for run in runs for one in self._translator.requests(*run)]
        found: list[Any] = [len(runs)]
        for one in sent:
            number = self.memories.setdefault((one.component, one.via), len(self.memories))
            many = one.gathered
            form = (many.at, many.form.offsets.tobytes(), many.form.sizes.tobytes()) if many else ()
            found += (number, one.offset, one.nbytes, one.channel, one.stride, one.opens, form)
        return tuple(found)


def _no_time() -> float:
    raise Unlike("it asks for the time")


def _of_plan(plan: TilePlan) -> Key:
    stages = [
        (s.kind, s.nbytes, len(s.transfers), s.block, s.elements, s.name, s.partial, s.registers, s.reduced,
         s.dtype, s.precision)
        for s in plan.stages
    ]  # fmt: skip
    return plan.buffer_bytes, plan.writes, *stages


def _frozen(value: Any) -> Any:
    """A value that is equal where ``value`` is, and can be a key."""
    if isinstance(value, Mapping):
        return tuple([(key, _frozen(one)) for key, one in value.items()])
    if isinstance(value, list | tuple):
        return tuple([_frozen(one) for one in value])
    if isinstance(value, slice):
        return slice, value.start, value.stop, value.step
    if value is None or isinstance(value, str | int | float | bool | bytes):
        return value
    raise Unlike(f"an operation has a parameter of type {type(value).__name__}")
