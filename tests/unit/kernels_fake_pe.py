"""A PE without hardware: records the commands of a kernel and answers as the data plane of pass 1 does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Command, Composite, Load, PeContext, Wait
from kernbench.language import KernelCall, KernelThread


class FakePe:
    """Loads of known addresses are concrete, computed values pending; composites end when waited for."""

    def __init__(self, memory: Mapping[int, np.ndarray] | None = None, scratch_bytes: int = 1 << 16) -> None:
        self.memory = dict(memory or {})
        self.commands: list[Command] = []
        self.released: list[int] = []
        self.time = 0.0
        self._values: dict[int, np.ndarray] = {}
        ids = itertools.count(100)
        self.context = PeContext(
            sip=1,
            cube=2,
            pe=3,
            name="sip1.cube2.pe3",
            program_id=(3, 2, 1),
            num_programs=(8, 16, 2),
            scratch_base=0x1000,
            scratch_bytes=scratch_bytes,
            now=lambda: self.time,
            next_op_id=lambda: next(ids),
            launch=7,
        )

    def known(self, handle: int) -> np.ndarray | None:
        return self._values.get(handle)

    replayed = known

    def release(self, handle: int) -> None:
        self.released.append(handle)
        self._values.pop(handle, None)

    def thread(self, fn: Callable[..., Any], *args: object, **kwargs: object) -> KernelThread:
        return KernelCall(fn, args, kwargs, data=self).start(self.context)

    def answer(self, command: Command) -> None:
        self.time += 10.0
        self.commands.append(command)
        if isinstance(command, Load):
            output = command.op.output
            assert output is not None
            assert output.handle is not None
            if command.runs[0][0] in self.memory:
                self._values[output.handle] = self.memory[command.runs[0][0]]
        if isinstance(command, Wait):
            for completion in command.completions:
                if not completion.done:
                    completion.complete()

    def run(self, fn: Callable[..., Any], *args: object, **kwargs: object) -> list[Command]:
        thread = self.thread(fn, *args, **kwargs)
        while (command := thread.resume()) is not None:
            self.answer(command)
        return self.commands

    def composites(self) -> list[Composite]:
        return [command for command in self.commands if isinstance(command, Composite)]
