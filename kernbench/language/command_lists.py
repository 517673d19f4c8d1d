"""What a kernel asks for, without a machine: its commands as a list."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Ahead, Command
from kernbench.errors import UsageError
from kernbench.hardware.topology.neighbours import Neighbours
from kernbench.language.interpret import InterpretedMemory, pe_context
from kernbench.language.interpreted_queues import InterpretedQueues
from kernbench.language.thread import KernelCall
from kernbench.support.hints import shown

Array = np.ndarray[Any, Any]


def commands(
    fn: Callable[..., Any],
    *args: object,
    out: Array | Sequence[Array] | None = None,
    program_id: tuple[int, int, int] = (0, 0, 0),
    grid: tuple[int, int, int] | int = (1, 1, 1),
    scratch_bytes: int = 1 << 20,
    queues: str | Sequence[str] | Neighbours = (),
    **constants: object,
) -> list[Command]:
    """The commands of one program of the kernel ``fn``, in the order in which its PE would get them.

    Nothing is computed and no time passes: every value is pending, also loaded ones, so a kernel that
    branches on data fails where it does (:class:`PendingValueError`); :func:`interpret` runs such a kernel.
    A command is one of ``Load``, ``Store``, ``Gemm``, ``Math``, ``Define``, ``Composite``, ``Wait``,
    ``Send``, ``Receive`` and ``Cycles`` of :mod:`kernbench.engine.program.commands`; its ``op`` has kind,
    name, operands, parameters, bytes and the line of the kernel.

    Args:
        fn: The kernel; of one with configurations the best that is known, else the first, is taken.
        args: Its arguments: arrays become pointers, the first to address 4096, others are passed as they are.
        out: One or more further arrays, passed last.
        program_id: The program (PE in its cube, cube, SIP) of ``grid``, as in :func:`interpret`.
        grid: Number of programs along each axis.
        scratch_bytes: TCM scratch of the PE.
        queues: Patterns of neighbours, or neighbours. A ``tl.recv`` must name its shape.
        constants: Arguments by name.

    Raises:
        KernelError: As on the machine, wherever no values are needed to find it.
    """
    pes, cubes, sips = counts = (grid, 1, 1) if isinstance(grid, int) else grid
    if program_id not in set(itertools.product(range(pes), range(cubes), range(sips))):
        raise UsageError(f"program_id {shown(program_id)} is not in grid {shown(grid)}")
    fn, placed, named = InterpretedMemory().place_all(fn, args, out, constants)
    rings = InterpretedQueues(counts, queues, 4, 4096, None)
    pe = pe_context(program_id, counts, rings, scratch_bytes, itertools.count())
    thread = KernelCall(fn, placed, named).start(pe)
    found: list[Command] = []
    try:
        while (command := thread.resume()) is not None:
            found.append(command.command if isinstance(command, Ahead) else command)
            command.answer()
    finally:
        thread.close()
    return found
