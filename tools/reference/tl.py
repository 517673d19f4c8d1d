"""Writes the reference page of the kernel language from the docstrings of its calls.

``python -m tools.reference.tl [FILE]``; without a file to stdout.
"""

# ruff: noqa: E501 - a row of a table, and a paragraph of a page, is one line

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from kernbench.language.tl import Language, public_names
from kernbench.language.triton_names import ELSEWHERE
from kernbench.operations import EPILOGUES, OPERATIONS
from kernbench.values.epilogues import BY_NAME, SCOPES

_HEAD = """# The language of kernels: `tl`

Made from the docstrings by `make docs`; do not edit. `help(kernbench.tl)` shows the same.

A kernel is a plain Python function. Its parameter `tl` is the language; `import kernbench.tl as tl` gives the
same names to kernels that do not take it, and to annotations. Handles are values in the TCM of the PE. Loaded
values, constants, and comparisons and integer arithmetic of these are known to the kernel; other results are
pending until replay (`--verify-data`). Handles have the operators `+ - * / // % ** @ & | ^ ~ << >> == != < <= > >=`, slices with `None`
and `...`, `.to(dtype)`, `.T`, `.shape`, `.dtype`. Types are `f16`, `bf16`, `f32`, `i8`, `u8`, `i32`.

**Time.** A load or store takes the time of its transfer over the machine. An operation on handles takes FETCH, its
engine and STORE; MATH takes `ceil(elements / lanes)` cycles for each pass; the topology says how many passes an
operation needs. Views (`trans`, `reshape`, slices), constants (`zeros`, `full`, `arange`) and `program_id` take none.

A wrong argument is a `KernelError` at the call: kernel, PE, simulated time, argument, remedy.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    left = [name for name in public_names() if inspect.isroutine(getattr(Language, name))]
    for title, group in _groups().items():
        own = [name for name in left if name in vars(group)]
        parts.append(f"## {title}\n")
        parts += [entry(f"tl.{name}", getattr(Language, name)) for name in own]
    parts.append("## Epilogues of a composite\n")
    parts.append(
        f"Each is a dict with `op` and, where it has one, its operand; `scope` is one of {_names(SCOPES)}.\n"
    )
    parts.append("| op | operand | its shape |\n|---|---|---|")
    shapes = {"row": "(N,)", "full": "(M, N)", "": "none"}
    for epilogue in EPILOGUES.values():
        kinds = [shapes[epilogue.operand]] if epilogue.operand else []
        kinds += ["a number"] if epilogue.scalar else []
        parts.append(
            f"| `{epilogue.name}` | {_names(epilogue.value) or 'none'} | {' or '.join(kinds) or 'none'} |"
        )
    parts.append(
        "\nWith `group` the scale of `dequant` has the shape (K / group, N), a row for each group of so many "
        "elements along K; its scope is `k_tile`, and `group` is a multiple of the K of `tile_shape`.\n\n"
        f"By name: {_names(one.name for one in BY_NAME.values() if not one.value)}; and with `value`, a number "
        f"or a tensor of shape (N,), (M, 1) or (M, N): {_names(one.name for one in BY_NAME.values() if one.value)}."
    )
    parts.append("\n## Names of Triton that are not here\n\n| name | instead |\n|---|---|")
    parts += [f"| `{name}` | {instead} |" for name, instead in ELSEWHERE.items()]
    return "\n".join(parts) + "\n"


def _groups() -> dict[str, type]:
    """The classes whose calls make up the language, by title; each after the one that it builds on."""
    found: dict[str, type] = {}
    for base in Language.__bases__:
        for group in reversed(base.__mro__):
            if title := vars(group).get("_title"):
                found.setdefault(title, group)
    return found | {"Programs and the rest": Language}


def entry(title: str, method: Callable[..., object]) -> str:
    """A method as a section of a page: its signature without ``self``, and its docstring."""
    signature = inspect.signature(method)
    shown = signature.replace(parameters=list(signature.parameters.values())[1:])
    return f"### `{title}{str(shown).replace(chr(39), '')}`\n\n{prose(method.__doc__)}\n"


def prose(docstring: str | None) -> str:
    """A docstring as Markdown."""
    text = re.sub(r":\w+:`+[~.]?([^`]*)`+", r"`\1`", inspect.cleandoc(docstring or "")).replace("``", "`")
    text = (
        text.replace("Args:", "Arguments:\n").replace("Raises:", "Errors:\n").replace("Returns:", "Result:\n")
    )
    lines = [line[4:] if line.startswith("    ") else line for line in text.split("\n")]
    return "\n".join(_item(line) for line in lines)


def _item(line: str) -> str:
    """An argument, or an error, of a docstring's list as an item."""
    name, colon, _ = line.partition(":")
    listed = name.isidentifier() and (name.islower() or name.endswith(("Error", "Interrupt")))
    return f"- `{name}`{line[len(name) :]}" if colon and listed else line


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_STUB = '''\
"""Types of :mod:`kernbench.tl` for editors and type checkers; 'make docs' writes this file."""

from typing import Any, TypeAlias

from kernbench.language.handles import TensorHandle
from kernbench.language.tl import Language

_language: Language

constexpr: TypeAlias = Any
'''


def stub() -> str:
    """The stub of :mod:`kernbench.tl`, whose functions are made when it is imported."""
    lines, calls = [], []
    for name in public_names():
        value = getattr(Language, name)
        if name in OPERATIONS and OPERATIONS[name].kind not in ("cast", "move"):
            signature = inspect.signature(value)
            shown = signature.replace(parameters=list(signature.parameters.values())[1:])
            calls.append(f"def {name}{str(shown).replace(chr(39), '')}: ...")
        elif inspect.isroutine(value):
            lines.append(f"{name} = _language.{name}")
        elif isinstance(getattr(Language, name), str):
            lines.append(f"{name}: str")
    return _STUB + "\n".join([*lines, "", *calls]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
        (Path(__file__).parents[2] / "kernbench" / "tl.pyi").write_text(stub(), encoding="utf-8")
    else:
        sys.stdout.write(page())
