"""Running one kernel on arrays, without writing a bench around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.api.result import Run
from kernbench.api.running import run
from kernbench.api.stores import Store
from kernbench.api.topologies import Topology
from kernbench.pgraph import Result

if TYPE_CHECKING:
    from kernbench.runtime import DPPolicy

Array = NDArray[Any]


class KernelRun:
    """What a kernel did: its time, the arrays as it left them, and its run.

    ``arrays`` are all array arguments in order, ``out`` last; ``outputs`` only those of ``out`` (all of them
    when there was no ``out``). Each is a new array.
    """

    def __init__(self, run: Run, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        self.run = run
        self.arrays = tuple(arrays)
        self.outputs = tuple(outputs)

    @property
    def output(self) -> Array:
        """The only one of ``outputs``; ``ValueError`` when there are more."""
        (only,) = self.outputs
        return only

    @property
    def latency_ns(self) -> float:
        """From the kernel's common start on its PEs to the answer that all have ended, ns."""
        return self.run.latency_ns

    def query(self, name: str, /, **params: object) -> Result:
        """Ask the kernel's run a question of the library."""
        return self.run.query(name, **params)


def run_kernel(
    fn: Callable[..., Any],
    *args: object,
    out: Array | Sequence[Array] | None = None,
    dp: DPPolicy | None = None,
    topology: Topology = None,
    device: str = "sip:0",
    store: Store = "memory:",
    **constants: object,
) -> KernelRun:
    """Run the kernel ``fn(*args, *out, **constants, tl=tl)`` on the simulated machine.

    Arrays become tensors, written by the host before and read by it after; other values are passed as they
    are. ``dp`` places every array (default: whole, on PE 0 of cube 0), and the kernel runs on every PE that
    holds a part. dtypes are those of the arrays. The computed values are replayed, so outputs are real.
    """
    given = [] if out is None else [out] if isinstance(out, np.ndarray) else list(out)
    name = getattr(fn, "__name__", "kernel")
    after: list[Array] = []

    def bench(torch: Any) -> None:
        values: list[Any] = [
            torch.from_numpy(v, dp=dp) if isinstance(v, np.ndarray) else v for v in [*args, *given]
        ]
        placed = {
            k: torch.from_numpy(v, dp=dp) if isinstance(v, np.ndarray) else v for k, v in constants.items()
        }
        torch.launch(name, fn, *values, **placed).wait()
        after.extend(
            tensor.numpy() for tensor, value in zip(values, [*args, *given], strict=True)
            if isinstance(value, np.ndarray)
        )  # fmt: skip

    bench.__name__ = name
    bench.__wrapped__ = fn  # type: ignore[attr-defined]  # what a run's hash is taken of
    told = {"args": [_told(v) for v in [*args, *given]], **{k: _told(v) for k, v in constants.items()}}
    done = run(bench, topology, verify=True, params=told, device=device, store=store)
    return KernelRun(done, after, after[-len(given) :])


def _told(value: object) -> object:
    """An argument as the run's parameters show it: ``float16[64, 32]`` for an array."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return value if isinstance(value, bool | int | float | str) else repr(value)
