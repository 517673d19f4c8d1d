"""From a ``tl`` call to a command: operations with their ids, result handles, errors that say where."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from kernbench.errors import KernBenchError, KernelError
from kernbench.hints import shown
from kernbench.kernels.arguments import BadArgumentError
from kernbench.kernels.handles import TensorHandle, TensorRef
from kernbench.kernels.pointer import Pointer
from kernbench.kernels.scratch import Block, Scratch
from kernbench.kernels.triton_names import arguments_known
from kernbench.program.commands import Command, PeContext
from kernbench.program.operations import Op, Operand
from kernbench.replay.races import RaceDetector, Thread
from kernbench.user_code import line_of

if TYPE_CHECKING:
    from kernbench.kernels.tl import Language

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Issuer")
Array = np.ndarray[Any, Any]
ValueOf = Callable[[Op], Callable[[], Array] | None]
"""From an operation to how its value is worked out; None: it cannot be known."""


class ValueSource(Protocol):
    """Where the values of handles are known, as far as they are."""

    def value(self, handle: int) -> Array | None:
        """The value of a handle, or ``None`` while it is pending."""

    def release(self, handle: int) -> None:
        """The kernel has let go of a handle, and every operation that uses it has been reported."""


def tl_call(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Mark a method as a call that kernels make: its errors say kernel, PE, time, call and argument."""

    signature = inspect.signature(method)
    name, parameters = method.__name__, signature.parameters
    names = frozenset(parameters)
    anything = any(one.kind is one.VAR_KEYWORD for one in parameters.values())

    @functools.wraps(method)
    def call(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        outer, self._current = self._current, name
        try:
            if not kwargs:  # the usual call; ``**kwargs`` would copy an empty dict
                return method(self, *args)  # type: ignore[call-arg]
            if not anything and not names.issuperset(kwargs):
                return method(self, *args, **cast("Any", arguments_known(name, names, kwargs)))
            return method(self, *args, **kwargs)
        except BadArgumentError as problem:
            raise self._error(str(problem)) from None
        except (TypeError, ValueError, OverflowError) as problem:
            if isinstance(problem, KernBenchError):
                raise
            try:
                signature.bind(self, *args, **kwargs)
            except TypeError as wrong:
                raise self._error(f"{wrong}; it takes {', '.join([*parameters][1:])}") from None
            raise self._error(
                f"an argument has a type or value that it does not take: {problem}"
            ) from problem
        except KeyboardInterrupt:
            self._interrupted_in = name
            raise
        finally:
            self._current = outer

    return cast("Callable[Concatenate[S, P], R]", call)


class Issuer:
    """State shared by all groups of ``tl`` calls: one kernel on one PE.

    ``send`` hands a command to the PE and returns when the PE resumes the kernel.
    """

    _title = ""
    """What a group of calls is called in the reference; empty for none."""

    def __init__(
        self, kernel: str, pe: PeContext, send: Callable[[Command], None], data: ValueSource | None = None
    ) -> None:
        self._kernel = kernel
        # Name of the ``tl`` call being made, for errors and deadlock reports.
        self._current = ""
        # That of the call in which Ctrl-C was pressed; the outermost, as the kernel wrote it.
        self._interrupted_in = ""
        self._pe = pe
        self._launch = pe.launch
        self._send = send
        self._data = data
        self._races: RaceDetector | None = getattr(data, "races", None)
        begin = getattr(data, "kernel_begins", None)
        self._thread: Thread | None = begin(pe.launch, (pe.sip, pe.cube, pe.pe)) if begin else None
        self._scratch = Scratch(pe.scratch_base, pe.scratch_bytes)
        # Whether a line of the user's own code can be above a call.
        self._has_lines = True

    def _place(self) -> str:
        """Kernel, PE and simulated time, as errors begin."""
        return f"kernel '{self._kernel}' on {self._pe.name} at {self._pe.now():g} ns"

    def _error(self, problem: str) -> KernelError:
        """An error of the call being made, or of what a kernel does with a handle."""
        at_call = f"tl.{self._current}: {problem}" if self._current else problem
        return KernelError(f"{self._place()}: {at_call}", at_call)

    def _handle(self, argument: str, value: object) -> TensorHandle:
        """``value`` as an operand in TCM; for a reference or an address the error says to load it first."""
        if isinstance(value, TensorHandle):
            if value._tl is not self:
                raise BadArgumentError(
                    argument, "the handle belongs to another kernel; pass data through memory"
                )
            return value
        if isinstance(value, (TensorRef, Pointer)):
            raise BadArgumentError(argument, "is in memory, not in TCM; tl.load it first")
        raise BadArgumentError(argument, f"{shown(value)} is not a tensor handle; tl.load gives one")

    def _release(self, handle: int) -> None:
        if self._data is not None:
            self._data.release(handle)

    def _op(
        self,
        op_id: int,
        kind: str,
        name: str,
        inputs: tuple[Operand, ...],
        output: Operand | None,
        params: dict[str, Any] | None,
        size: int,
        above: int = 3,
    ) -> Op:
        """The operation of the call being made.

        ``above``: frames from here to that of the kernel, or fewer. Three are always there: this one, that of
        the call's method and that of ``tl_call``.
        """
        op = Op(op_id, kind, name, inputs, output, {} if params is None else params)
        op.launch = self._launch
        op.nbytes = size
        if self._has_lines:
            op.source = line_of(sys._getframe(above))
        if self._thread is not None:
            if kind == "memory" or kind == "queue":
                self._thread.stamp(op)
            elif name.startswith("composite_"):
                self._thread.stamp(op, blocking=False)
        return op

    def _new(
        self,
        kind: str,
        name: str,
        inputs: tuple[Operand, ...],
        shape: tuple[int, ...],
        dtype: str,
        params: dict[str, Any] | None = None,
        size: int = 0,
        above: int = 4,
    ) -> Op:
        """An operation whose result is a new handle; :meth:`_result` makes that when the PE is done.

        The handle's id is the operation's: ids are unique in a run, and every operation gives one value.
        """
        op_id = self._pe.next_op_id()
        return self._op(op_id, kind, name, inputs, Operand(shape, dtype, op_id), params, size, above)

    def _result(self, op: Op, block: Block, value: ValueOf | None = None) -> TensorHandle:
        """The handle to the result of ``op``, which the PE has carried out.

        ``value`` says how to get numbers that need no engine when the data plane has none.
        """
        output, data = op.output, self._data
        assert output is not None
        known: Array | Callable[[], Array] | None = None if data is None else data.value(op.id)
        if known is None and value is not None:
            known = value(op)
        tl = cast("Language", self)
        return TensorHandle(op.id, op.name, output.shape, output.dtype, block, tl, known, output)
