"""Writes the reference page of the host's side, ``torch`` and ``DPPolicy``, from their docstrings.

``python -m kernbench.runtime.reference [FILE]``; without a file to stdout.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from kernbench.kernels.reference import entry, prose
from kernbench.runtime.context import Context
from kernbench.runtime.launching import LaunchHandle
from kernbench.runtime.placement import DPPolicy
from kernbench.runtime.tensors import Tensor

_HEAD = """# The host's side: `torch`, tensors, `DPPolicy`

Made from the docstrings by `make docs`; do not edit. `help(torch)` in a bench shows the same.

A bench is a function `run(torch)`. `torch` makes tensors in the memory of the simulated machine, launches
kernels on them and reads the results back. [`torch.distributed`](torch-distributed.md) has a page of its own,
and so has [`tl`](tl.md), the language of kernels. A wrong argument is a `UsageError` that names it.
"""
_INTERNAL = (
    "allocation",
    "kernel_arg",
    "reference",
    "settle_writes",
    "takes_name",
    "take_name",
    "copy_of",
    "finished",
    "abandon",
    "submitted",
)
"""Public to the runtime's own modules, not meant for benches."""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for title, prefix, of in (
        ("`torch`", "torch", Context),
        ("Tensors", "tensor", Tensor),
        ("Launches", "launch", LaunchHandle),
    ):
        parts += [f"## {title}\n", prose(of.__doc__) + "\n"]
        parts += [_member(prefix, name, getattr(of, name)) for name in _members(of)]
    parts += ["## `DPPolicy`\n", f"`DPPolicy{inspect.signature(DPPolicy)}`\n".replace(chr(39), "")]
    parts.append(prose(DPPolicy.__doc__) + "\n")
    return "\n".join(parts)


def _members(of: type) -> list[str]:
    """Methods and properties that have a docstring, in order of name."""
    names = [name for name in dir(of) if not name.startswith("_") and name not in _INTERNAL]
    return [name for name in names if not isinstance(getattr(of, name), str) and getattr(of, name).__doc__]


def _member(prefix: str, name: str, member: object) -> str:
    if inspect.isfunction(member):
        return entry(f"{prefix}.{name}", member)
    return f"### `{prefix}.{name}`\n\n{prose(member.__doc__)}\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
