"""Kernels suspended between two commands: each runs in a greenlet, driven by the PE it runs on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NoReturn

import numpy as np
from greenlet import GreenletExit, getcurrent

from kernbench.engine.program.commands import Command, Completion, PeContext, Wait
from kernbench.errors import KernelError
from kernbench.language.ahead import AheadLanguage
from kernbench.language.binding import Binding, name_of
from kernbench.language.building import Builder
from kernbench.language.issue import ValueSource
from kernbench.language.pointer import Pointer, TensorArg
from kernbench.language.residents import Residents, shares
from kernbench.language.scratch import Cycles, Scratch
from kernbench.language.tl import Language
from kernbench.support.user_code import ends, line_of, line_within, raised_at
from kernbench.support.user_greenlets import UserGreenlet

_NEAR = 1 << 32
"""Bytes beyond which an address has nothing to do with a tensor."""


class KernelGreenlet(UserGreenlet):
    """The greenlet of a kernel, with the ``tl`` that calls of :mod:`kernbench.tl` in it go to."""

    tl: Builder


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
        called_at: str = "",
    ) -> None:
        self.name = name or name_of(fn)
        self._args = tuple(args)
        self._kwargs = dict(kwargs or {})
        self._data = data
        if hasattr(fn, "blocks"):
            self.blocks: int = fn.blocks
            """Blocks of its grid, which PEs take as they become free."""
        self._binding = Binding(fn, self.name)
        self._binding.check(self._args, self._kwargs)
        self.line = "" if self._binding.has_lines(self._args, self._kwargs) else called_at
        """``file.py:12``, the host's call, where no line of the user's runs within the kernel; else empty."""
        for label, value in [*enumerate(self._args), *self._kwargs.items()]:
            if isinstance(value, np.ndarray):
                raise KernelError(f"kernel '{self.name}': argument {label} is a numpy array; pass a tensor")

    def start(self, pe: PeContext) -> KernelThread | Residents:
        """A new thread of the kernel on that PE, or several; nothing runs before the first ``resume``."""

        def local(value: object) -> object:
            return value.pointer(pe) if isinstance(value, TensorArg) else value

        args = [local(value) for value in self._args]
        kwargs = {key: local(value) for key, value in self._kwargs.items()}
        count = self._count(pe, args, kwargs)
        threads = [
            KernelThread(self._binding, args, kwargs, share, self._data, self.line)
            for share in (shares(pe, count) if count > 1 else [pe])
        ]
        return threads[0] if count == 1 else Residents(threads)

    def without_values(self) -> KernelCall:
        """The same with all values pending, to go through it without a machine."""
        call = copy(self)
        call._data, call._binding = None, copy(self._binding)
        call._binding.cycles = Cycles()
        return call

    def _count(self, pe: PeContext, args: Sequence[object], kwargs: Mapping[str, object]) -> int:
        """How many threads of it a PE runs at a time."""
        function: Any = self._binding.function
        room = getattr(function, "room", None)
        if room is None:
            return 1
        return int(room.count(pe, self.blocks, lambda alone: KernelThread(
            Binding(function.first(), self.name), args, kwargs, alone, None, self.line
        )))  # fmt: skip


class KernelThread:
    """One run of a kernel on one PE. Made by :meth:`KernelCall.start`."""

    def __init__(
        self,
        binding: Binding,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        pe: PeContext,
        data: ValueSource | None,
        line: str = "",
    ) -> None:
        self._binding = binding
        self._args = args
        self._kwargs = kwargs
        usual = AheadLanguage if pe.run_ahead else Language
        language: type[Builder] = getattr(binding.function, "language", usual)
        self._scratch = Scratch(pe.scratch_base, pe.scratch_bytes, binding.cycles)
        self._tl = language(binding.name, pe, self._scratch, self._issue, data)
        self._tl._has_lines = binding.has_lines(args, kwargs)
        self._tl._line = line
        self._pe = pe
        self._closing = False
        self._ident = threading.get_ident()
        self._misused: KernelError | None = None
        self._interrupted_at = ""
        self._waits_for: Sequence[Completion] = ()
        self._greenlet = KernelGreenlet(self._run)
        self._greenlet.tl = self._tl

    @property
    def free_bytes(self) -> int:
        """Bytes of its scratch that nothing is kept in."""
        return self._scratch.free_bytes

    @property
    def in_loop(self) -> bool:
        """Whether it is in a loop whose loads run ahead."""
        return bool(getattr(self._tl, "_loops", False))

    def resume(self) -> Command | None:
        """Run the kernel to its next command; ``None`` when it has returned. Raises what it raised."""
        kernel = self._greenlet
        if kernel.dead:
            return None
        # The kernel's next command, its return or its exception goes to the greenlet that resumes it.
        caller = getcurrent()
        if kernel.parent is not caller:
            kernel.parent = caller
        command: Command | None = kernel.switch()
        return command

    def close(self) -> None:
        """Stop a kernel that will not be resumed any more; its ``finally`` blocks run, without ``tl``."""
        self._closing = True
        self._greenlet.end()

    def describe(self) -> str:
        """Kernel, PE, the call it is in, its line and what it waits for, for a deadlock report."""
        subject = f"kernel '{self._binding.name}' on {self._pe.name}"
        if self._interrupted_at:
            call = f" in tl.{self._tl._interrupted_in}" if self._tl._interrupted_in else ""
            return f"{subject}: interrupted{call} at {self._interrupted_at}"
        if self._greenlet.dead:
            return f"{subject}: finished"
        if not self._greenlet:
            return f"{subject}: not started"
        frame = self._greenlet.gr_frame
        line = line_of(frame) or line_within(self._binding.function, frame)
        at = f" at {line}" if line else ""
        outside = "in code of its own" if self._greenlet.left else "at its end"
        call = f"in tl.{self._tl._current}" if self._tl._current else outside
        awaited = [completion.label for completion in self._waits_for if not completion.done]
        waiting = f", waiting for {', '.join(awaited)}" if awaited else ""
        return f"{subject}: {call}{at}{waiting}"

    def nearest_tensor(self, address: int) -> str:
        """The tensor argument next to ``address``, by the bytes between them; empty without one."""
        nearest: tuple[int, str] | None = None
        for value in (*self._args, *self._kwargs.values()):
            if not isinstance(value, Pointer):
                continue
            begin, end = int(value), int(value) + value.reach
            tensor = f"tensor '{value.name}' ({value.dtype}{list(value.shape)})"
            if address < begin:
                away = begin - address, f"{tensor}, begins {begin - address} bytes after"
            elif address < end:
                away = 0, f"{tensor}, begins {address - begin} bytes before"
            else:
                away = address - end, f"{tensor}, ends {address - end} bytes before"
            nearest = away if nearest is None or away < nearest else nearest
        if nearest is None:
            return ""
        if nearest[0] > _NEAR:
            return "no tensor argument is near that address"
        return f"the nearest argument, {nearest[1]} that address"

    def _run(self) -> None:
        try:
            self._binding.call(self._args, self._kwargs, self._tl)
        except KeyboardInterrupt as stop:
            # Ctrl-C arrives wherever Python is at that moment: here, in the kernel or in a call of it.
            self._interrupted_at = raised_at(stop) or "its beginning"
            raise
        except AttributeError as error:
            if error.obj is not self._tl:
                raise
            raise self._tl._unknown(str(error.name)).with_traceback(error.__traceback__) from None
        except BaseException as error:
            if isinstance(error, Exception) or (isinstance(error, GreenletExit) and self._closing):
                raise
            failure = KernelError(f"it {ends(error)}; return instead")
            raise failure.with_traceback(error.__traceback__) from error
        else:
            if self._misused is not None:
                raise self._misused
            unfinished = [*self._tl._unfinished(), *self._tl._posted]
            if unfinished:
                self._issue(Wait(unfinished))
        finally:
            # What led back here would be a cycle of references.
            tl = self._tl
            tl._send = tl._hand_over = tl._scratch.wait = partial(_outside, self._binding.name)

    def _issue(self, command: Command) -> None:
        """Forward a command to the PE and suspend until it resumes this kernel."""
        kernel = self._greenlet
        if getcurrent() is not kernel:
            name = self._binding.name
            if threading.get_ident() == self._ident:
                _outside(name)
            # It is the kernel's failure too: what the thread was to do is missing there.
            self._misused = KernelError(
                f"kernel '{name}': tl is used in another thread; a kernel runs in one, call it from there"
            )
            raise self._misused
        if self._misused is not None:
            raise self._misused
        if self._closing:
            kernel.again(GreenletExit())
        self._waits_for = command.awaited
        parent = kernel.parent
        assert parent is not None
        parent.switch(command)


def _outside(kernel: str, *_: object) -> NoReturn:
    """Called instead of the PE by a ``tl`` whose kernel is not running."""
    raise KernelError(f"kernel '{kernel}': tl is used outside of the kernel, where handles end")
