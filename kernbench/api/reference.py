"""Writes the reference of ``import kernbench`` from signatures and docstrings.

``python -m kernbench.api.reference [FILE]``; without a file to stdout.
"""

# ruff: noqa: E501 - a row of a table, and a paragraph of a page, is one line

from __future__ import annotations

import inspect
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import kernbench as kb
from kernbench.kernels.reference import prose

_HEAD = """# Python API: `import kernbench as kb`

Made from signatures and docstrings by `make docs`; do not edit. `help(kb.run)` shows the same. Each name is imported when it is
first used. Times are simulated nanoseconds, sizes bytes and rates GB/s (10^9 bytes a second), unless a name says otherwise.
What cannot be done raises `kb.KernBenchError`, whose text is one line that names the argument and a remedy.

[Kernels](tl.md), [benches](torch.md) and [collectives](torch-distributed.md) have pages of their own.
"""
_GROUPS = {
    "Run": "run run_kernel traffic probe sweep tune autotune what_if what_if_candidates evaluate validate",
    "Look into kept runs": "open_run runs ask ask_cypher advise questions annotate open_store",
    "Machines": "load_topology Topology route traffic_patterns",
    "Pictures and files": "diagram figures roofline_figure sweep_figure write_report",
    "What comes back": "Run KernelRun TrafficRun Sweep Tuning GraphNode GraphRelationship GraphPath",
    "To build on": "DPPolicy Bounded Instrument RunVerificationError KernBenchError",
}
_MADE = ("Topology", "DPPolicy", "Bounded")
"""Classes that users make themselves."""


def page() -> str:
    """The whole page: every public name, in the group that it is listed in."""
    public = {name for name in dir(kb) if not name.startswith("_") and name not in ("annotations", "tl")}
    public = {name for name in public if not inspect.ismodule(getattr(kb, name)) and name != "Any"}
    groups = {title: names.split() for title, names in _GROUPS.items()}
    if left := sorted(public - {name for names in groups.values() for name in names}):
        groups["Others"] = left
    parts = [_HEAD]
    for title, names in groups.items():
        parts.append(f"## {title}\n")
        parts += [_entry(name, getattr(kb, name)) for name in names]
    return "\n".join(parts)


def _entry(name: str, of: Any) -> str:
    if not inspect.isclass(of):
        return f"### `kb.{name}`\n\n{_code(f'kb.{name}', of)}\n\n{prose(of.__doc__)}\n"
    figures, methods = [], []
    for member, doc in _members(of):
        found = inspect.getattr_static(of, member)
        if inspect.isfunction(getattr(found, "__func__", found)):
            methods.append(f"#### `{name}.{member}`\n\n{_code(member, getattr(of, member))}\n\n{doc}\n")
        else:
            figures.append(f"- `.{member}`: {' '.join(doc.split())}")
    made = f"{_code(f'kb.{name}', of)}\n" if name in _MADE else ""
    return "\n".join([f"### `kb.{name}`\n", f"{prose(of.__doc__)}\n", made, *figures, "", *methods])


def _members(of: type) -> list[tuple[str, str]]:
    """Public members with a docstring, those that another class of this page has left to it."""
    others = [getattr(kb, name) for name in _GROUPS["What comes back"].split()]
    inherited = {name for base in of.__mro__[1:] if base in others for name in dir(base)}
    names = [name for name in dir(of) if not name.startswith("_") and name not in inherited]
    docs = ((name, inspect.getattr_static(of, name)) for name in names)
    return [(name, prose(found.__doc__)) for name, found in docs if _documented(found)]


def _documented(found: object) -> bool:
    described = inspect.isroutine(found) or isinstance(found, property | cached_property | classmethod)
    return described and bool(found.__doc__)


def _code(name: str, of: Any) -> str:
    """Its signature, an argument a line."""
    arguments, seen = [], None
    for one in inspect.signature(of).parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and seen is not one.KEYWORD_ONLY and seen is not one.VAR_POSITIONAL:
            arguments.append("*")
        seen = one.kind
        stars = "*" if seen is one.VAR_POSITIONAL else "**" if seen is one.VAR_KEYWORD else ""
        type_ = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        arguments.append(f"{stars}{one.name}{type_}{default}")
    given = inspect.signature(of).return_annotation
    result = "" if given in (inspect.Signature.empty, None, "None") else f" -> {_type(given)}"
    flat = f"{name}({', '.join(arguments)}){result}"
    lines = "".join(f"\n    {argument}," for argument in arguments)
    return f"```python\n{flat if len(flat) < 100 else f'{name}({lines}{chr(10)}){result}'}\n```"


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
