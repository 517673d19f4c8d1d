"""Running one kernel on arrays, without writing a bench around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.api.result import Run
from kernbench.api.running import Program, RunVerificationError, program_of, run_program
from kernbench.api.stores import Store, as_store
from kernbench.api.topologies import Topology, kept_machine
from kernbench.api.tuning import Tuner, Tuning
from kernbench.engine.run_options import RunOptions
from kernbench.errors import EmptyGridError, UsageError, VerificationError
from kernbench.support import dtypes
from kernbench.support.pgraph import Result

if TYPE_CHECKING:
    from kernbench.host import DPPolicy
    from kernbench.language import Choices

Array = NDArray[Any]


@dataclass(frozen=True)
class KernelInputs:
    """A kernel and its arguments as they were given, copies of arrays; ``one_pe`` where one PE ran it."""

    fn: Callable[..., Any]
    args: tuple[object, ...]
    out: tuple[Array, ...]
    constants: dict[str, Any]
    one_pe: bool

    def interpreted(self, outputs: int) -> list[Array] | None:
        """The last ``outputs`` arrays of the kernel without hardware; None where several PEs ran it."""
        from kernbench.language import interpret

        if not self.one_pe:
            return None
        given = [v.copy() if isinstance(v, np.ndarray) else v for v in (*self.args, *self.out)]
        interpret(self.fn, *given, **self.constants)
        return [value for value in given if isinstance(value, np.ndarray)][-outputs:]


class KernelRun:
    """The result of a kernel: its time, the arrays as it left them, and its run.

    ``arrays`` are all array arguments in order, ``out`` last; ``outputs`` only those of ``out`` (all of them
    when there was no ``out``). Each is a new array. ``tuning`` has the points that were measured to find the
    kernel's configuration; None where there was nothing to find.
    """

    def __init__(
        self,
        run: Run,
        arrays: Sequence[Array],
        outputs: Sequence[Array],
        call: KernelInputs | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        self.run = run
        self.tuning = tuning
        self.arrays = tuple(arrays)
        self.outputs = tuple(outputs)
        self._call = call

    def __repr__(self) -> str:
        outputs = ", ".join(f"{array.dtype}{list(array.shape)}" for array in self.outputs)
        verified = {"yes": ", verified", "no": ", wrong", "race": ", race"}.get(self.run.verdict, "")
        most = list(self.run.summary()["by_cause"].items())[:3]
        where = " ".join(f"{cause} {ns:.1f}" for cause, ns in most)
        return (
            f"<KernelRun {self.run.bench}: {self.latency_ns:.1f} ns on {self.run.topology}{verified}"
            f"{f'; {where}' if where else ''}; outputs {outputs or 'none'}; run {self.run.id or 'not kept'}>"
        )

    def _repr_html_(self) -> str:
        return self.run._repr_html_()

    @property
    def output(self) -> Array:
        """The only one of ``outputs``; ``ValueError`` when there are more."""
        (only,) = self.outputs
        return only

    @property
    def latency_ns(self) -> float:
        """From the kernel's submission to its completion, ns; 0 for an empty grid, which launches nothing."""
        return self.run.latency_ns or 0.0

    def check(self, reference: Callable[..., object], *, tolerance: float | None = None) -> KernelRun:
        """Compare machine, interpreter and reference; returns itself, so that questions can follow.

        A kernel on one PE runs once more without hardware (:func:`kernbench.language.interpret`): where the
        interpreter is wrong too, the kernel is; where it is right, the order of operations is.

        Args:
            reference: Gets the input arrays as they were given, and returns the array (or
                :class:`kernbench.Bounded`) expected in the only output, or a sequence of these, one for each.
            tolerance: ``rtol`` and ``atol``; by default those of each output's dtype, or the reference's own.

        Raises:
            VerificationError: Two of the three differ (says which, where and by how much), or accesses race.
            UsageError: The reference gives another number of arrays than the kernel has outputs.
        """
        if self._call is None:
            raise UsageError("check: this result was not made by run_kernel")
        from kernbench.support.bounded import Bounded
        from kernbench.values import compare

        inputs = [value for value in self._call.args if isinstance(value, np.ndarray)]
        expected = reference(*(array.copy() for array in inputs))
        listed = expected if isinstance(expected, tuple | list) else [expected]
        wanted = [one if isinstance(one, Bounded) else np.asarray(one) for one in listed]
        if len(wanted) != len(self.outputs):
            raise UsageError(
                f"the reference gives {len(wanted)} arrays, the kernel has {len(self.outputs)} outputs"
            )
        interpreted = self._call.interpreted(len(self.outputs))
        for number, (machine, value) in enumerate(zip(self.outputs, wanted, strict=True)):
            name = f"output {number}" if len(wanted) > 1 else "output"
            kind = dtypes.of_numpy(machine.dtype).name
            sides = [("machine", machine)]
            if interpreted is not None:
                sides.insert(0, ("interpreter", interpreted[number]))
            for side, got in sides:
                compare(f"{name} of the {side}", got, value, kind, tolerance=tolerance)
        if self.run.verified is False:
            raise VerificationError(self.run.problem)
        return self

    def query(self, name: str, /, **params: object) -> Result:
        """Ask the kernel's run a question of the library."""
        return self.run.query(name, **params)


def run_kernel(
    fn: Callable[..., Any],
    *args: object,
    out: Array | Sequence[Array] | None = None,
    dp: DPPolicy | None = None,
    topology: Topology = None,
    device: str | None = None,
    store: Store = "memory:",
    timeout: float | None = None,
    **constants: object,
) -> KernelRun:
    """Run the kernel ``fn(*args, *out, **constants, tl=tl)`` on the simulated machine.

    A kernel with configurations (:func:`kernbench.autotune`) is run once with each of them when it meets a
    key for the first time in this process, and once afterwards; the result is that of the fastest.

    Args:
        fn: The kernel.
        args: Arrays become tensors of their dtypes with the names of the kernel's parameters, written by the
            host before and read by it after; other values are passed as they are.
        out: One array or several that the kernel writes, passed after ``args``.
        dp: Places every array (default: whole, on PE 0 of cube 0); the kernel runs on every PE that holds a
            part.
        topology: As for :func:`run`.
        device: As for :func:`run`.
        store: Where the run is kept; by default in memory.
        timeout: Seconds of wall time after which a kernel that has not ended is an error.
        constants: Further arguments by name.

    Returns:
        The run and the arrays as the kernel left them: the computed values are replayed, so outputs are real.
        Where accesses race its ``run`` is not verified, :meth:`KernelRun.check` raises, and a configuration
        is never the fastest.
    """
    from kernbench.host import Tensor
    from kernbench.host.values import own_copy
    from kernbench.language.autotune import Autotuned
    from kernbench.language.binding import argument_names

    given = [] if out is None else [out] if isinstance(out, np.ndarray) else list(out)
    name = getattr(fn, "__name__", "kernel")
    positional = [*args, *given]
    names = argument_names(fn.fn if isinstance(fn, Autotuned) else fn, len(positional))
    kept = [
        own_copy(value, f"argument '{called}'") if isinstance(value, np.ndarray) else value
        for called, value in zip(names, args, strict=False)
    ]
    copies = tuple(own_copy(array, "out") for array in given)
    call = KernelInputs(fn, tuple(kept), copies, dict(constants), dp is None)
    after: list[Array] = []
    results: dict[str, KernelRun] = {}

    def bench(torch: Any) -> None:
        def place(called: str, value: object) -> object:
            return torch.from_numpy(value, dp=dp, name=called) if isinstance(value, np.ndarray) else value

        values = [place(*one) for one in zip(names, positional, strict=True)]
        with suppress(EmptyGridError):
            torch.launch(name, fn, *values, **{k: place(k, v) for k, v in constants.items()}).wait()
        after.extend(value.numpy() for value in values if isinstance(value, Tensor))

    bench.__name__ = name
    bench.__wrapped__ = fn  # type: ignore[attr-defined]  # what a run's hash is taken of
    shown = {
        "args": [_shape_of(v) for v in positional],
        **{k: _shape_of(v) for k, v in constants.items()},
    }
    program = Program(program_of(bench, {}).name, bench, shown)
    graph, components = kept_machine(topology, None, None)
    kept_in = as_store(store)
    options = RunOptions(verify=True, device=device, timeout=timeout)

    def measure(settings: Mapping[str, Any], choices: Choices | None, _share: float = 0.0) -> Run:
        after.clear()
        one = replace(program, settings=dict(settings))
        try:
            return keep(run_program(one, graph, components, kept_in, options, choices=choices))
        except RunVerificationError as wrong:
            keep(wrong.run)
            raise

    def keep(done: Run) -> Run:
        results[done.id] = KernelRun(done, list(after), after[-len(given) :], call)
        return done

    if not _to_be_tuned(fn, [*args, *given], constants):
        try:
            return results[measure({}, None).id]
        except RunVerificationError as wrong:
            return results[wrong.run.id]
    tuner = Tuner(program, measure, lambda _point: None)
    tuning = tuner.tune()
    if not tuning.best:
        raise tuner.errors[0]
    found = results[tuning.best[0].run_id]
    found.tuning = tuning
    return found


def _to_be_tuned(fn: Callable[..., Any], args: Sequence[object], constants: Mapping[str, object]) -> bool:
    """Whether configurations of the kernel are to be measured: they leave a choice that is not known yet."""
    from kernbench.language import Autotuned
    from kernbench.language.autotune import chosen

    tuned = fn if isinstance(fn, Autotuned) else getattr(fn, "tuned", None)
    if tuned is None or len(tuned.configs) == 1:
        return False
    try:
        chosen(fn, args, constants)
    except EmptyGridError:
        return False
    given = any(name in constants for name in tuned.configs[0])
    return not given and tuned.key_of(args, constants) not in tuned.best


def _shape_of(value: object) -> object:
    """An argument as the run's parameters show it: ``float16[64, 32]`` for an array."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return value if isinstance(value, bool | int | float | str) else repr(value)
