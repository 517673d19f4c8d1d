"""Kernels suspended between two commands: each runs in a greenlet, driven by the PE it runs on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
from greenlet import GreenletExit, getcurrent, greenlet

from kernbench.errors import KernelError
from kernbench.kernels.args import TensorArg
from kernbench.kernels.binding import Binding, name_of
from kernbench.kernels.issue import ValueSource
from kernbench.kernels.tl import Language
from kernbench.pe.commands import Command, Completion, PeContext, Wait


class KernelCall:
    """A kernel and its arguments, ready to start on any PE of a launch.

    ``args`` and ``kwargs`` hold :class:`TensorArg` for tensors, which become pointers on each PE;
    anything else is passed as it is. ``data`` knows the values of loads; without it all of them are
    pending. Arguments that the function does not take are a :class:`KernelError`.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        name: str | None = None,
        data: ValueSource | None = None,
    ) -> None:
        self.name = name or name_of(fn)
        self._args = tuple(args)
        self._kwargs = dict(kwargs or {})
        self._data = data
        self._binding = Binding(fn, self.name)
        self._binding.check(self._args, self._kwargs)
        for label, value in [*enumerate(self._args), *self._kwargs.items()]:
            if isinstance(value, np.ndarray):
                raise KernelError(f"kernel '{self.name}': argument {label} is a numpy array; pass a tensor")

    def start(self, pe: PeContext) -> KernelThread:
        """A new thread of the kernel on that PE; nothing runs before the first ``resume``."""

        def local(value: object) -> object:
            return value.pointer(pe.sip, pe.cube, pe.pe) if isinstance(value, TensorArg) else value

        args = [local(value) for value in self._args]
        kwargs = {key: local(value) for key, value in self._kwargs.items()}
        return KernelThread(self._binding, args, kwargs, pe, self._data)


class KernelThread:
    """One run of a kernel on one PE. Made by :meth:`KernelCall.start`."""

    def __init__(
        self,
        binding: Binding,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        pe: PeContext,
        data: ValueSource | None,
    ) -> None:
        self._binding = binding
        self._args = args
        self._kwargs = kwargs
        self._tl = Language(binding.name, pe, self._hand_over, data)
        self._pe = pe
        self._closing = False
        self._waits_for: Sequence[Completion] = ()
        self._greenlet = greenlet(self._run)

    def resume(self) -> Command | None:
        """Run the kernel to its next command; ``None`` when it has returned. Raises what it raised."""
        if self._greenlet.dead:
            return None
        # Whoever resumes is who the kernel's next command, return or exception must come back to.
        self._greenlet.parent = getcurrent()
        command: Command | None = self._greenlet.switch()
        return command

    def close(self) -> None:
        """Stop a kernel that will not be resumed any more; its ``finally`` blocks run, without ``tl``."""
        self._closing = True
        if self._greenlet.dead:
            return
        self._greenlet.parent = getcurrent()
        # A kernel that fails while it is being stopped has nobody left to tell.
        with contextlib.suppress(Exception):
            self._greenlet.throw(GreenletExit)

    def describe(self) -> str:
        """Kernel, PE, the call it is in, its line and what it waits for, for a deadlock report."""
        subject = f"kernel '{self._binding.name}' on {self._pe.name}"
        if self._greenlet.dead:
            return f"{subject}: finished"
        frame = self._greenlet.gr_frame
        if not self._greenlet or frame is None:
            return f"{subject}: not started"
        call = f"in tl.{self._tl._current}" if self._tl._current else "at its end"
        awaited = [completion.label for completion in self._waits_for if not completion.done]
        waiting = f", waiting for {', '.join(awaited)}" if awaited else ""
        return f"{subject}: {call}{_line(frame)}{waiting}"

    def _run(self) -> None:
        try:
            self._binding.call(self._args, self._kwargs, self._tl)
        except SystemExit as error:
            # It would end the whole program, as if the run had gone well.
            told = KernelError(f"it exits with {error.code!r}; return instead")
            raise told.with_traceback(error.__traceback__) from error
        unfinished = self._tl._unfinished()
        if unfinished:
            self._hand_over(Wait(unfinished))

    def _hand_over(self, command: Command) -> None:
        """Give a command to the PE and sleep until it resumes this kernel."""
        if getcurrent() is not self._greenlet:
            raise KernelError(
                f"kernel '{self._binding.name}': tl is used outside of the kernel, where handles end"
            )
        if self._closing:
            raise GreenletExit
        parent = self._greenlet.parent
        assert parent is not None
        self._waits_for = command.completions if isinstance(command, Wait) else ()
        parent.switch(command)


def _line(frame: FrameType | None) -> str:
    """`` at file:line`` of the innermost frame that is the kernel's own code."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kernbench.kernels."):
        frame = frame.f_back
    if frame is None:
        return ""
    return f" at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
