"""From a ``tl`` call to a command: operations with their ids, result handles, errors that say where."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from kernbench.engine.program.commands import Command, PeContext
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op, Operand, computed
from kernbench.errors import KernBenchError, KernelError
from kernbench.hardware.address.free_list import Block
from kernbench.language import arguments, sites
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.language.pointer import Pointer
from kernbench.language.scratch import Scratch
from kernbench.language.triton_names import arguments_known
from kernbench.operations import Operation
from kernbench.support.hints import shown
from kernbench.support.user_code import LINES, line_of
from kernbench.values.races import RaceDetector, Thread
from kernbench.values.semantics import compute

_SITES: dict[tuple[Any, ...], CallSite] = {}
"""Sites of elementwise calls, by operation, shapes and types."""
_MOST_SITES = 4096
_TENSOR_OF_POINTERS = (
    "is a pointer: an address in bytes, and there are no tensors of pointers; add a number of bytes to it "
    "(tl.load(ptr + n * 4, shape=...)), or name rows and columns with tl.make_block_ptr"
)

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Issuer")
Array = np.ndarray[Any, Any]
ValueOf = Callable[[Op], Callable[[], Array] | None]
"""From an operation to how its value is worked out; None: it cannot be known."""


class ValueSource(Protocol):
    """Where the values of handles are known, as far as they are."""

    follows_computed: bool
    """Whether it follows computed values; if not, it is neither asked for them nor told that they go."""

    def known(self, handle: int) -> Array | Callable[[], Array] | None:
        """The value of a handle, or how it is worked out; ``None`` while it is pending."""

    def replayed(self, handle: int) -> Array | None:
        """The value of a handle whose operation is done, also of a computed one where these are followed."""

    def release(self, handle: int) -> None:
        """The kernel has let go of a handle, and every operation that uses it has been reported."""


def tl_call(
    method: Callable[Concatenate[S, P], R], row: str = "", taken: tuple[str, ...] = ()
) -> Callable[Concatenate[S, P], R]:
    """Mark a method as a call that kernels make: its errors say kernel, PE, time, call and argument.

    Given just the arguments ``taken``, it carries out the elementwise operation ``row``.
    """

    name, parameters = method.__name__, inspect.signature(method).parameters
    anything = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    names = None if anything else frozenset(parameters)

    @functools.wraps(method)
    def call(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        return _guarded(self, name, method, args, kwargs, names, row, taken)  # type: ignore[no-any-return]

    return cast("Callable[Concatenate[S, P], R]", call)


def _line(frame: FrameType) -> str:
    """``file.py:12``, the line of the user's own code at or above ``frame``; mostly one seen before."""
    known = LINES.get(id(frame.f_code))
    while known is not None and known[1] is None and frame.f_back is not None:
        frame = frame.f_back  # a call of tl that is written in Python
        known = LINES.get(id(frame.f_code))
    if known is not None:
        lines = known[1]
        if lines is not None and (text := lines.get(frame.f_lasti)) is not None:
            return text
    return line_of(frame)


def elementwise_call(row: Operation, name: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """The call ``name`` of the operation of ``row``, whose arguments are ``names``."""
    count = len(names)
    either, named_only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    taken = [inspect.Parameter("self", either)]
    for place, one in enumerate(names):
        block = count == 1 or (row.block_first and not place)
        taken.append(inspect.Parameter(one, either, annotation="TensorHandle" if block else "object"))
    if row.nan:
        taken.append(inspect.Parameter("propagate_nan", named_only, default=False, annotation="bool"))
    signature = inspect.Signature(taken, return_annotation="TensorHandle")

    def call(self: Issuer, *given: Any, **named: Any) -> TensorHandle:
        bound = signature.bind(self, *given, **named)
        nan = bound.kwargs.get("propagate_nan")
        return self._elementwise(row.nan if nan else row.name, names, bound.args[1:])

    return made_call(call, name, row.meaning, signature, row.name, names)


def made_call(
    call: Callable[..., Any],
    name: str,
    meaning: str,
    signature: inspect.Signature | None = None,
    row: str = "",
    taken: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """``call`` as kernels see it: errors, help and the reference page show its name and docstring.

    ``row`` and ``taken``: see :func:`tl_call`.
    """
    function: Any = call
    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    if signature is not None:
        function.__signature__ = signature
    return tl_call(function, row, taken)


def _guarded(
    issuer: Issuer,
    name: str,
    method: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    names: frozenset[str] | None,
    row: str,
    taken: tuple[str, ...],
) -> Any:
    """The answer of ``method`` to a kernel, whose errors become errors of the call ``name``.

    ``names`` are its arguments; None where it takes any by name.
    """
    outer = issuer._current
    issuer._current = name
    try:
        if not kwargs:  # the usual call
            if row and len(args) == len(taken):
                return issuer._elementwise(row, taken, args)
            return method(issuer, *args)
        if names is not None and not names.issuperset(kwargs):
            kwargs = arguments_known(name, names, kwargs)
        return method(issuer, *args, **kwargs)
    except BadArgumentError as problem:
        raise issuer._error(str(problem)) from None
    except (TypeError, ValueError, OverflowError) as problem:
        if isinstance(problem, KernBenchError):
            raise
        signature = inspect.signature(method)
        try:
            signature.bind(issuer, *args, **kwargs)
        except TypeError as wrong:
            raise issuer._error(f"{wrong}; it takes {', '.join([*signature.parameters][1:])}") from None
        raise issuer._error(f"an argument has a type or value that it does not take: {problem}") from problem
    except KeyboardInterrupt:
        issuer._interrupted_in = name
        raise
    finally:
        issuer._current = outer


class Issuer:
    """State shared by all groups of ``tl`` calls: one kernel on one PE.

    ``send`` hands a command to the PE and returns when the PE resumes the kernel.
    """

    _title = ""
    """What a group of calls is called in the reference; empty for none."""

    def __init__(
        self,
        kernel: str,
        pe: PeContext,
        scratch: Scratch,
        send: Callable[[Command], None],
        data: ValueSource | None = None,
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
        self._computed = data if getattr(data, "follows_computed", True) else None
        """Knows computed values."""
        self._next_op_id = pe.next_op_id
        self._races: RaceDetector | None = getattr(data, "races", None)
        begin = getattr(data, "kernel_begins", None)
        self._thread: Thread | None = begin(pe.launch, (pe.sip, pe.cube, pe.pe), pe.name) if begin else None
        self._scratch = scratch
        # Whether a line of the user's own code can be above a call.
        self._has_lines = True
        # That of all operations where none can be.
        self._line = ""

    def _place(self) -> str:
        """Kernel, PE and simulated time, as errors begin."""
        return f"kernel '{self._kernel}' on {self._pe.name} at {self._pe.now():g} ns"

    def _error(self, problem: str) -> KernelError:
        """An error of the call being made, or of what a kernel does with a handle."""
        at_call = f"tl.{self._current}: {problem}" if self._current else problem
        return KernelError(f"{self._place()}: {at_call}", at_call)

    def _replayed(self, handle: int) -> Array | None:
        """The value of a handle that was computed and is done, where results are verified."""
        return None if self._data is None else self._data.replayed(handle)

    def _wait_for(self, handle: TensorHandle) -> None:
        """Wait until the command that makes a handle is over: it is, unless the kernel runs ahead."""

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

    def _op(
        self,
        op_id: int,
        kind: str,
        name: str,
        inputs: tuple[Operand, ...],
        output: Operand | None,
        params: dict[str, Any] | None,
        size: int,
    ) -> Op:
        """The operation of the call being made."""
        op = Op(op_id, kind, name, inputs, output, {} if params is None else params)
        op.launch = self._launch
        op.nbytes = size
        op.source = _line(sys._getframe(0)) if self._has_lines else self._line
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
    ) -> Op:
        """An operation whose result is a new handle; :meth:`_result` makes that when the PE is done.

        The handle's id is the operation's: ids are unique in a run, and every operation gives one value.
        """
        op_id = self._next_op_id()
        return self._op(op_id, kind, name, inputs, Operand(shape, dtype, op_id), params, size)

    def _elementwise(self, name: str, names: tuple[str, ...], given: tuple[object, ...]) -> TensorHandle:
        """Carry out an elementwise call on the arguments ``names``, each a handle or a number."""
        handles: list[TensorHandle] = []
        key: list[Any] = [name]
        for place, value in enumerate(given):
            if isinstance(value, TensorHandle) and value._tl is self:
                one: TensorHandle = value
                handles.append(one)
                key.append(one.shape)
                key.append(one.dtype)
            elif isinstance(value, Pointer):
                raise BadArgumentError(names[place], f"'{value.name}' {_TENSOR_OF_POINTERS}")
            elif arguments.is_scalar(value):
                number = arguments.scalar(names[place], value)
                key.append(type(number))
                key.append(number)
            else:
                self._handle(names[place], value)  # says what is wrong with it
        known = tuple(key)
        site = _SITES.get(known)
        if site is None:
            made = [None if isinstance(part, type) else part for part in key[1:]]
            if len(_SITES) >= _MOST_SITES:
                _SITES.clear()
            site = _SITES[known] = sites.elementwise(name, names, made)
        return self._compute(site, handles)

    def _compute(self, site: CallSite, handles: list[TensorHandle]) -> TensorHandle:
        """Have the PE carry out a call of ``site`` on ``handles``; returns the handle to its result."""
        block = self._scratch.take(site.out_bytes)
        operands = tuple([one.operand() for one in handles])
        number: int = self._next_op_id()
        output = Operand.__new__(Operand)
        output.describe(site.shape, site.dtype, number)
        op = computed(number, site.kind, site.name, operands, output, site.params, site.nbytes)
        op.launch = self._launch
        op.source = _line(sys._getframe(0)) if self._has_lines else self._line
        self._send(site.command(op))
        value: Array | Callable[[], Array] | None = None
        source = self._computed
        if source is not None:
            value = source.known(number)
        if value is None and site.knowable:
            value = _known_value(handles, op)
        made = TensorHandle.__new__(TensorHandle)
        made._fill(number, site.name, site.shape, site.dtype, block, self, value, output, source)
        return made

    def _staged(self, *operands: TensorHandle) -> int:
        """Bytes of a product's operands that pass through registers on their way to shared memory."""
        return 0

    def _result(self, op: Op, block: Block, value: ValueOf | None = None) -> TensorHandle:
        """The handle to the result of ``op``, which the PE has carried out.

        ``value`` says how to get numbers that need no engine when the data plane has none.
        """
        output, data = op.output, self._data
        assert output is not None
        known: Array | Callable[[], Array] | None = None if data is None else data.known(op.id)
        source = self._computed if known is None else data
        if known is None and value is not None:
            known = value(op)
        return TensorHandle(op.id, op.name, output.shape, output.dtype, block, self, known, output, source)


def _known_value(handles: list[TensorHandle], op: Op) -> Callable[[], Array] | None:
    """The value of index arithmetic: comparisons and integer operations on values that are known.

    All else stays pending, so that no kernel depends on floating-point results while time is simulated.
    """
    values = [handle._value for handle in handles if handle._value is not None]
    if len(values) < len(handles):
        return None
    try:
        result = compute(op, [value() if callable(value) else value for value in values])
    except ZeroDivisionError as problem:
        raise BadArgumentError("b", str(problem)) from None
    return lambda: result
