"""``@triton.jit`` and ``kernel[grid](...)``: blocks of a grid, dealt to PEs as these become free."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from greenlet import getcurrent

from kernbench.errors import EmptyGridError, KernelError, UsageError
from kernbench.host.placement import distinct
from kernbench.host.tensors import Tensor
from kernbench.language import Autotuned, TensorArg
from kernbench.language.residents import Room
from kernbench.language.tl import constexpr as constant
from kernbench.support.dtypes import row_major
from kernbench.support.hints import did_you_mean, shown
from kernbench.triton import language
from kernbench.triton.calls import Grid, TritonLanguage, current
from kernbench.triton.rewriting import CALLS, rewritten
from kernbench.triton.runtime import driver
from kernbench.triton.values import Literal, constexpr

STAGES = 3
"""``num_stages`` of launches that do not say, as on a GPU."""
WARPS = 4
"""``num_warps`` of those, also as on a GPU."""
Placed = tuple[tuple[Any, ...], dict[str, Any], Mapping[str, int]]
"""Arguments of a launch, by place and by name, and by name where those begin within their tensors."""
OPTIONS = (
    "num_warps",
    "num_ctas",
    "maxnreg",
    "num_stages",
    "residents",
    "warmup",
    "launch_cooperative_grid",
    "launch_pdl",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
)
"""Of a launch, where the kernel has no parameter of that name."""


class JITFunction:
    """A function under ``@triton.jit``: ``kernel[grid](...)`` launches it, kernels call it."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not isinstance(fn, FunctionType):
            raise UsageError(f"triton.jit: {shown(fn)} is not a function")
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.signature = inspect.signature(fn)
        self.arg_names = list(self.signature.parameters)
        parameters = self.signature.parameters.values()
        self.more = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), "")
        """Its parameter ``*args``, if it has one."""
        self.heuristics: dict[str, Callable[[dict[str, Any]], Any]] = {}
        """Parameters whose values are worked out from the arguments of each launch."""
        self.tuned: Autotuned | None = None
        """Its configurations, if it has any."""
        self.constants = frozenset(
            name for name, one in self.signature.parameters.items() if _is_constant(one.annotation)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function within a kernel, as another kernel calls it."""
        kernel = getattr(getcurrent(), "tl", None)
        if not isinstance(kernel, TritonLanguage):
            raise KernelError(f"kernel '{self.fn.__name__}' is launched on a grid: kernel[grid](...)")
        made = kernel.functions.get(self)
        if made is None:
            made = kernel.functions[self] = _in_kernel(self.fn, self._code)
        return made(*args, **kwargs)

    @functools.cached_property
    def _code(self) -> CodeType:
        return rewritten(self.fn)

    def __getitem__(self, grid: Any) -> OnGrid:
        return OnGrid(self, grid)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """``kernel[grid](*args, **kwargs)``."""
        return self[grid](*args, **kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> Compiled:
        """What a launch would compile, with what its blocks need of a PE."""
        del args, kwargs["grid"]
        options = [key for key in OPTIONS if key in kwargs and key not in self.arg_names]
        return Compiled(self, {key: kwargs[key] for key in options})

    def __repr__(self) -> str:
        return f"<kernel '{self.fn.__name__}' of triton.jit>"


class Compiled:
    """A kernel with options of its launches, and what share of a PE a block takes: see ``warmup``.

    ``n_regs`` and ``metadata.shared`` leave room for as many blocks as a PE's warps; a launch itself sees how
    many find room in its scratch.
    """

    def __init__(self, kernel: JITFunction, options: dict[str, Any]) -> None:
        self._kernel, self._options = kernel, options
        of_pe = driver.active.utils.get_device_properties()
        warps = _count("num_warps", options.get("num_warps", WARPS))
        blocks = max(1, of_pe["max_warps"] // warps)
        self.n_regs, self.n_spills = of_pe["max_num_regs"] // (blocks * warps), 0
        self.metadata = SimpleNamespace(shared=of_pe["max_shared_mem"] // blocks, num_warps=warps)

    def _init_handles(self) -> None:
        """Nothing: it is there."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return functools.partial(OnGrid(self._kernel, grid), **self._options)


class OnGrid:
    """A kernel and the grid of its launch; a call launches it on the machine of its tensors.

    ``offsets``: of arguments that begin within their tensor, by name, the element that each begins at.
    """

    placed: ClassVar[Callable[[JITFunction, tuple[Any, ...], dict[str, Any]], Placed] | None] = None
    """While PyTorch's tensors lie on the machine: arguments with those there, and their offsets."""

    def __init__(self, kernel: JITFunction, grid: Any, offsets: Mapping[str, int] | None = None) -> None:
        functools.update_wrapper(self, kernel.fn)
        self.kernel = kernel
        self.tuned = kernel.tuned
        self.grid = grid
        self.offsets = offsets or {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch; does not wait. A grid without blocks launches nothing, as in Triton."""
        if OnGrid.placed is not None:
            args, kwargs, self.offsets = OnGrid.placed(self.kernel, args, kwargs)
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)]
        name = self.kernel.fn.__name__
        if not tensors:
            raise UsageError(
                f"kernel '{name}': none of its arguments is a KernBench tensor, so no machine is known; "
                f"give arrays to kb.run_kernel({name}[grid], ...), or run the file: kernbench run FILE.py"
            )
        try:
            return tensors[0].launch(name, self, *args, **kwargs)
        except EmptyGridError:
            return None

    def prepared(
        self,
        args: Sequence[Any],
        given: Mapping[str, Any],
        choose: Callable[[Autotuned, Sequence[Any], Mapping[str, Any]], Mapping[str, Any]],
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """What runs on each PE, and the arguments that it gets by name beside ``args``.

        ``choose`` gives the configuration of a kernel that has several.
        """
        tuned = self.tuned
        named = dict(given)
        if tuned is not None:
            self._dims(self._bound(args, {**tuned.configs[0], **named})[0])  # an empty grid chooses nothing
            named = {**choose(tuned, args, given), **named}
        arguments, named, options = self._bound(args, named)
        kernel = self.kernel
        name = kernel.fn.__name__
        pairs = [*arguments.items()]
        for argument, value in pairs:
            if isinstance(value, tuple):  # of *args
                pairs += [(f"{argument}[{n}]", one) for n, one in enumerate(value)]
            elif isinstance(value, Tensor):
                _check_placement(name, argument, value)
        stages = named.get("num_stages", options.get("num_stages", STAGES))
        dims = self._dims(arguments)
        residents = options.get("residents")
        room = Room(
            residents if residents is None else _count("residents", residents),
            _count("num_warps", named.get("num_warps", options.get("num_warps", WARPS))),
            _count("num_stages", stages, 0),
        )
        pointed = _pointed(name, [value for _, value in pairs])
        return BlockKernel(kernel, dims, room, pointed, self.offsets), named

    def _bound(
        self, args: Sequence[Any], given: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """All arguments of a launch, those of them that are given by name, and its options."""
        kernel = self.kernel
        known, name = kernel.signature.parameters, kernel.fn.__name__
        named = {key: value for key, value in given.items() if key not in OPTIONS or key in known}
        given = {**given, **self._worked_out(args, named)}
        options = {key: given[key] for key in OPTIONS if key in given and key not in known}
        named = {key: value for key, value in given.items() if key not in options}
        for given_name in named:
            if given_name not in known:
                meant = did_you_mean(given_name, known)
                raise KernelError(f"kernel '{name}' has no parameter '{given_name}'; {meant}")
        try:
            bound = kernel.signature.bind(*args, **named)
        except TypeError as problem:
            raise KernelError(f"kernel '{name}' takes {', '.join(known)}: {problem}") from None
        bound.apply_defaults()
        return dict(bound.arguments), named, options

    def _worked_out(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Values of ``@triton.heuristics``, each from the arguments so far."""
        found: dict[str, Any] = {}
        for name, how in self.kernel.heuristics.items():
            so_far = {key: value for key, value in found.items() if key in self.kernel.signature.parameters}
            bound = self.kernel.signature.bind_partial(*args, **{**named, **so_far})
            bound.apply_defaults()
            found[name] = how(dict(bound.arguments))
        return found

    def _dims(self, arguments: dict[str, Any]) -> Grid:
        dims = self.grid(arguments) if callable(self.grid) else self.grid
        listed = tuple(dims) if isinstance(dims, Sequence) else (dims,)
        whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0 for n in listed)
        if not 1 <= len(listed) <= 3 or not whole or 0 in listed:
            name = self.kernel.fn.__name__
            empty = whole and 0 in listed and len(listed) <= 3
            raise (EmptyGridError if empty else UsageError)(
                f"kernel '{name}': grid {shown(dims)} must be one to three counts of 1 or more, "
                "such as triton.cdiv(n, BLOCK)"
            )
        x, y, z = (*(int(n) for n in listed), 1, 1)[:3]
        return x, y, z


class BlockKernel:
    """What a launch runs on each PE: block after block of its grid, axis 0 fastest, while there are any."""

    written_in = "triton"

    def __init__(
        self,
        kernel: JITFunction,
        grid: Grid,
        room: Room,
        pointed: Sequence[TensorArg],
        offsets: Mapping[str, int],
    ) -> None:
        functools.update_wrapper(self, kernel.fn)
        self.pointed = pointed
        self.offsets = offsets
        self.kernel = kernel
        self.grid = grid
        self.room = room
        self.language = type("TritonLanguage", (TritonLanguage,), {"stages": room.stages})
        x, y, z = grid
        self.blocks = x * y * z
        self.taken = 0
        self._left: Iterator[tuple[int, Grid]] = enumerate(itertools.product(range(z), range(y), range(x)))

    def like(self, other: object) -> bool:
        """Whether another one runs the same kernel over the same grid."""
        mine = self.kernel, self.grid, self.offsets
        return isinstance(other, BlockKernel) and mine == (other.kernel, other.grid, other.offsets)

    def settings(self) -> dict[str, Any]:
        """``grid num_warps num_stages``, and the most ``residents`` that a PE had room for so far."""
        return {
            "grid": "x".join(map(str, self.grid)),
            "num_warps": self.room.warps,
            "num_stages": self.room.stages,
            "residents": self.room.most,
        }

    def first(self) -> BlockKernel:
        """The kernel with its first block alone, which prints nothing."""
        alone = BlockKernel(self.kernel, self.grid, self.room, self.pointed, self.offsets)
        alone.language = type("TritonLanguage", (self.language,), {"device_print": lambda *_, **__: None})
        alone._left = itertools.islice(alone._left, 1)
        return alone

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Take blocks until there are none left."""
        tl = current(self.kernel.fn.__name__)
        names, constants = self.kernel.arg_names, self.kernel.constants
        more = self.kernel.more
        if more:
            first = names.index(more)
            names = [*names[:first], *(f"{more}[{n}]" for n in range(len(args) - first))]
        given = [
            one if name in constants else tl.argument(name, one, self.offsets.get(name, 0))
            for name, one in zip(names, args, strict=False)
        ]
        named = {
            key: one if key in constants else tl.argument(key, one, self.offsets.get(key, 0))
            for key, one in kwargs.items()
        }
        tl.pointed = self.pointed
        for number, (z, y, x) in self._left:
            self.taken = number + 1
            tl.begin_block(number, (x, y, z), self.grid)
            self.kernel(*given, **named)
            tl.end_block()


def jit(fn: Any = None, **options: Any) -> Any:
    """Decorator of a kernel, or of a function that kernels call. Triton's options are without effect."""
    return JITFunction(fn) if fn is not None else JITFunction


def _in_kernel(fn: FunctionType, code: CodeType) -> FunctionType:
    """The function by ``code``, whose loops have loads that run ahead; ``min`` and ``max`` take blocks."""
    spread = {**fn.__globals__, **CALLS, "range": language.range, "min": _either(min), "max": _either(max),
              "float": Literal}  # fmt: skip
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    closure = tuple([cells[name] for name in code.co_freevars])
    made = FunctionType(code, spread, fn.__name__, fn.__defaults__, closure)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def _either(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Python's ``min`` or ``max`` of numbers, else Triton's."""
    name = {min: "minimum", max: "maximum"}[plain]

    def call(*values: Any, **how: Any) -> Any:
        if len(values) != 2 or all(isinstance(one, int | float) for one in values):
            return plain(*values, **how)
        return getattr(current(name), name)(*values)

    return call


def _is_constant(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.endswith("constexpr")
    return annotation in (constant, constexpr)


def _count(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"launch option {name}={shown(value)} must be a whole number of {least} or more")
    return value


def _pointed(kernel: str, arguments: Iterable[Any]) -> list[TensorArg]:
    """Tensors that pointers in those of the arguments that are i64 may name, ready to be used."""
    tables = [one for one in arguments if isinstance(one, Tensor) and one.dtype == "i64"]
    found = [one for table in tables[:1] for one in table.pointed()]
    for tensor in found:
        _check_placement(kernel, "pointer in memory", tensor)
        tensor.settle_writes()
    return [one.kernel_arg for one in found]


def _check_placement(kernel: str, argument: str, tensor: Tensor) -> None:
    """A block addresses a tensor as one row-major array, whichever PE it runs on."""
    subject = f"kernel '{kernel}': argument '{argument}': tensor '{tensor.name}' of shape {tensor.shape}"
    if len(tensor.sips) > 1:
        raise UsageError(
            f"{subject} has a copy on each of SIPs {list(tensor.sips)}; make it on one: --device sip:0"
        )
    shards = tensor.shards
    once = distinct(shards)
    if len(once) < len(shards):
        raise UsageError(
            f"{subject} is replicated over {len(shards)} PEs: a store would change one copy; place it "
            "row-wise, DPPolicy(cube='row_wise', pe='row_wise'), or on one PE"
        )
    if len(once) > 1 and tensor.va is None:
        raise UsageError(
            f"{subject} lies in shards that are apart in the pa address model; use va or la, or one PE"
        )
    strides = row_major(tensor.shape)
    for shard in once:
        first = sum(part.start * step for part, step in zip(shard.index, strides, strict=True))
        whole = [
            n for n, (part, size) in enumerate(zip(shard.shape, tensor.shape, strict=True)) if part != size
        ]
        apart = bool(whole) and math.prod(shard.shape[: whole[-1]]) > 1
        if first * tensor.itemsize != shard.offset_bytes or apart:
            raise UsageError(
                f"{subject} is not one row-major array as it is placed (column-wise or in tiles): blocks "
                "would read other elements than they name; place it row-wise, or on one PE"
            )
