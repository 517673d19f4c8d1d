"""Scripts: files that launch kernels where they stand, as on a GPU, and register no bench."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kernbench.support.user_modules import run_file, source

if TYPE_CHECKING:
    from kernbench.host.context import Context


def is_script(place: str) -> bool:
    """Whether a file imports ``kernbench.torch``, which only scripts do. ``UsageError``: it has no text."""
    text = source(place, "bench")
    try:
        tree = ast.parse(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False  # to import it says what is wrong
    return any(
        (isinstance(node, ast.Import) and any(one.name == "kernbench.torch" for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "kernbench.torch")
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "kernbench"
            and any(one.name == "torch" for one in node.names)
        )
        for node in ast.walk(tree)
    )


def name_of(place: str) -> str:
    """What a script's runs are called."""
    return re.sub(r"[^a-z0-9]+", "-", Path(place).stem.lower()).strip("-") or "script"


def runner(place: str) -> Callable[[Context], Any]:
    """The program that carries a script out: its parameters are options of the command line, ``--n=1``.

    One without a value, ``fast=``, is ``--fast``.
    """

    def run(torch: Context) -> None:
        values = {name: str(value) for name, value in torch.params.items()}
        run_file(place, [f"--{name}={value}" if value else f"--{name}" for name, value in values.items()])

    module = ModuleType(name_of(place))
    module.__file__ = str(Path(place).expanduser().resolve())
    run.__wrapped__ = module  # type: ignore[attr-defined]  # what a run's hash is taken of
    run.__module__ = place
    return run
