"""Output files of Inductor: their kernels are made, their arguments, and the results are compared."""

from __future__ import annotations

import argparse
import ast
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kernbench.host.context import Context
from kernbench.host.expectations import Check
from kernbench.inductor.buffers import Array, Strided, context, empty_strided
from kernbench.inductor.heuristics import Kernel
from kernbench.inductor.sources import refused
from kernbench.support import dtypes


@dataclass
class Inputs:
    """The arguments of a file's ``call`` in one run: from a file of arrays, or random ones."""

    drawn: int = 0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """What ``inputs=FILE.npz`` has, by name; empty without it."""
        known = argparse.ArgumentParser(prog="output file", add_help=False, allow_abbrev=False)
        known.add_argument("--inputs")
        found, others = known.parse_known_args(sys.argv[1:])
        if others:
            raise refused(f"{', '.join(others)}: files of Inductor take inputs=FILE.npz only")
        place = found.inputs
        if place is None:
            return {}
        try:
            with np.load(place) as kept:
                return {name: kept[name] for name in kept.files}
        except (OSError, ValueError) as problem:
            raise refused(f"inputs={place}: {problem}; give an .npz file with arg0, arg1, ...") from None


_inputs: WeakKeyDictionary[Context, Inputs] = WeakKeyDictionary()


def _of_run() -> Inputs:
    return _inputs.setdefault(context(), Inputs())


def rand_strided(
    size: Sequence[int], stride: Sequence[int], dtype: str = "f32", device: object = None, extra_size: int = 0
) -> Strided:
    """The next argument of ``call``: from ``inputs=``, else random floats, and zeros of other types."""
    inputs = _of_run()
    name = f"arg{inputs.drawn}"
    inputs.drawn += 1
    made = empty_strided(size, stride, dtype, name=name)
    if not inputs.arrays:
        kind = dtypes.dtype(dtype)
        values = (
            inputs.random.standard_normal(made.shape, np.float32) if kind.is_float else np.zeros(made.shape)
        )
        return made.write(values.astype(kind.numpy))
    if name not in inputs.arrays:
        raise refused(f"inputs= has no {name}, of shape {tuple(size)}; it has {', '.join(inputs.arrays)}")
    values = _typed(inputs.arrays[name], dtype)
    if values.shape != tuple(size):
        raise refused(f"inputs=: {name} has shape {values.shape}; the file was compiled for {tuple(size)}")
    return made.write(values)


def _typed(values: Array, dtype: str) -> Array:
    """Numbers of a file of arrays: bf16 is there as its bits."""
    bits = values.dtype == np.uint16 and dtype == "bf16"
    return values.view(dtypes.dtype(dtype).numpy) if bits else values


def carry_out(fn: Callable[[], Any], *_: Any, **__: Any) -> float:
    """``fn``, which calls the file's ``call``, once; its results are compared with ``want0``, ...

    Where PyTorch measures a file, ``print_performance``; times are those of the run.
    """
    found = fn()
    inputs = _of_run()
    results = found if isinstance(found, tuple | list) else (found,)
    for number, one in enumerate(results):
        wanted = inputs.arrays.get(f"want{number}")
        if wanted is not None and isinstance(one, Strided):
            name = f"want{number}"
            if wanted.shape != one.shape:
                raise refused(f"inputs=: {name} has shape {wanted.shape}, the result {one.shape}")
            context().checks.append(check_of(name, one, _typed(wanted, one.dtype)))
    return 0.0


def check_of(name: str, found: Strided, wanted: Array, tolerance: float | None = None) -> Check:
    """That a result holds ``wanted`` when the run ends."""
    run, memory, box = context(), found.memory, (slice(0, found.end),)

    def expected() -> Array:
        """What the buffer should hold: where the result has gaps, what it does hold."""
        flat = np.zeros(found.end, dtypes.dtype(memory.dtype).numpy)
        if found.numel() < found.end:
            flat = run.storage.peek_box(memory.copy_of(None), box, memory.dtype, name)
        found.of(flat)[...] = wanted.astype(flat.dtype)
        return flat

    return Check(name, memory, expected, tolerance=tolerance, box=box)


def compiled_module_main(name: object, benchmark: Callable[..., Any]) -> None:
    """What a file does where it is run: ``benchmark`` measures its ``call``."""
    benchmark(times=1, repeat=1)


class AsyncCompile:
    """Makes the kernels of a file: their text is a string in it, and their lines are the file's."""

    def triton(self, name: str, text: str, device_str: str | None = None, **_: Any) -> Kernel:
        """The kernel ``name`` of a text."""
        frame = sys._getframe(1)
        place = frame.f_code.co_filename
        at = _strings("".join(linecache.getlines(place))).get(text, 1)
        padded = "\n" * (at - 1) + text
        names: dict[str, Any] = {"__name__": f"{name}_kernel", "__file__": place, "__kernel_source__": padded}
        names["AttrsDescriptor"] = dict  # not imported by texts that are written where Triton is not
        exec(compile(padded, place, "exec", dont_inherit=True), names)
        made = names[name]
        assert isinstance(made, Kernel)
        return made

    def wait(self, names: object) -> None:
        """Nothing: kernels are made when they are met."""

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        def compiled(name: str = "", *_: Any, **__: Any) -> Any:
            raise refused(
                f"kernel '{name}' is in {kind}, not in Triton; compile for device 'cuda', or with "
                "torch._inductor.config.cpu_backend = 'triton'"
            )

        return compiled


@lru_cache(maxsize=4)
def _strings(source: str) -> dict[str, int]:
    """The strings in a file, each with its first line."""
    nodes = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant)]
    return {node.value: node.lineno for node in reversed(nodes) if isinstance(node.value, str)}
