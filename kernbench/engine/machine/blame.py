"""Whose failure it is where users' components and instruments take part in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from traceback import walk_tb

from kernbench.engine.components.base import Component
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ComponentError, KernBenchError, UsageError
from kernbench.support.user_code import defined_at, is_users, raised, raised_at


def fault_of_part(failure: BaseException, machine: Machine) -> KernBenchError | None:
    """The error of the instrument or component that raised ``failure``; None where that was neither."""
    line = raised_at(failure)
    frames = [frame for frame, _ in walk_tb(failure.__traceback__)]
    # Code of the user's that a component calls, such as an instrument, is not the component's.
    last = max((n for n, one in enumerate(frames) if is_users(one.f_code.co_filename)), default=0)
    inside = [one.f_locals.get("self") for one in frames[last:]]
    how = f"{raised(failure)} at {machine.clock.now:.3f} ns{f' ({line})' if line else ''}"
    if frames and isinstance(inside[0], Instrument):
        return UsageError(f"instrument {type(inside[0]).__name__} {how}")
    component = next((one for one in reversed(inside) if isinstance(one, Component)), None)
    if component is not None:
        return ComponentError(f"component '{component.resource}' ({type(component).__name__}) {how}")
    if isinstance(failure, TypeError) and frames and _is_engine(frames[-1].f_globals):
        # It could not use what a method gave it, which has left no frame.
        classes = {type(one) for one in machine.components.values()}
        named = sorted(f"{one.__name__} ({file})" for one in classes if (file := defined_at(one, "")))
        if named:
            what = f"a component of class {' or '.join(named)} gave what is not a time"
            return ComponentError(f"{what}: {failure}, at {machine.clock.now:.3f} ns")
    return None


def _is_engine(module: Mapping[str, object]) -> bool:
    return str(module.get("__name__")).startswith(("kernbench.engine.core.", "kernbench.engine.components."))


@contextmanager
def blamed(machine: Machine) -> Iterator[None]:
    """What a component or instrument raises in the block, ``SystemExit`` too, is an error that names it."""
    try:
        yield
    except (KernBenchError, KeyboardInterrupt):
        raise
    except BaseException as failure:
        error = fault_of_part(failure, machine)
        if error is None:
            raise
        raise error from failure
