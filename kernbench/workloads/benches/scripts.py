"""Scripts: files that launch kernels where they stand, as on a GPU, and register no bench."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kernbench.support.stand_ins import has_pytorch, standing_in
from kernbench.support.user_modules import run_file, source

if TYPE_CHECKING:
    from kernbench.host.context import Context


def is_script(place: str) -> bool:
    """Whether a file imports ``torch`` and decorates no ``bench``. ``UsageError``: it has no text."""
    imported, benches = _read(place)
    return bool(imported & {"torch", "kernbench.torch"}) and not benches


def of_inductor(place: str) -> bool:
    """Whether a file is one that Inductor wrote: it compiles kernels of its own as that does."""
    return "torch._inductor.async_compile" in _read(place)[0]


def _read(place: str) -> tuple[set[str], bool]:
    """The modules that a file imports, by their full names and packages, and whether it has benches."""
    text = source(place, "bench")
    try:
        tree = ast.parse(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return set(), False  # to import it says what is wrong
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.update((node.module, *(f"{node.module}.{one.name}" for one in node.names)))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    decorators = (one.func for node in functions for one in node.decorator_list if isinstance(one, ast.Call))
    named = {getattr(one, "attr", getattr(one, "id", "")) for one in decorators}
    imported |= {name.partition(".")[0] for name in imported}
    return imported, "bench" in named


def name_of(place: str) -> str:
    """What a script's runs are called."""
    return re.sub(r"[^a-z0-9]+", "-", Path(place).stem.lower()).strip("-") or "script"


def runner(place: str) -> Callable[[Context], Any]:
    """The program that carries a script out: its parameters are options of the command line, ``--n=1``.

    One without a value, ``fast=``, is ``--fast``.
    """

    without_pytorch = of_inductor(place)

    def run(torch: Context) -> None:
        values = {name: str(value) for name, value in torch.params.items()}
        arguments = [f"--{name}={value}" if value else f"--{name}" for name, value in values.items()]
        with standing_in(without_pytorch):
            run_file(place, arguments)

    module = ModuleType(name_of(place))
    module.__file__ = str(Path(place).expanduser().resolve())
    run.__wrapped__ = module  # type: ignore[attr-defined]  # what a run's hash is taken of
    run.__module__ = place
    run.with_pytorch = not without_pytorch and "torch" in _read(place)[0] and has_pytorch()  # type: ignore[attr-defined]
    return run
