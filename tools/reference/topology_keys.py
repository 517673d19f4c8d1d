"""Writes the reference of a topology file's keys from its models: ``python -m tools.reference.topology_keys FILE``."""

# ruff: noqa: E501 - a row of a table, and a paragraph of a page, is one line

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from kernbench.api.topologies import topology_kinds
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.loader import DEFAULT, find, load
from kernbench.hardware.topology.marked_yaml import dotted, load_marked
from kernbench.hardware.topology.spec import TopologySpec

_HEAD = """# Keys of a topology

Made from the models that check a file, by `make docs`; do not edit. `kernbench topology schema` prints the same as a JSON
Schema. An editor with the YAML language server completes and checks keys where a file begins with

```yaml
# yaml-language-server: $schema=topology.schema.json
```

after `kernbench topology schema > topology.schema.json`.

A key that is left out has its default, which is that of the default machine. `--topo KEY=VALUE` and `topo={KEY: VALUE}` take
the dotted key, items of lists by position: `sip.io_chiplets.0.side`. Bytes may be written with a binary unit, `48 GiB`. GB/s is
10^9 bytes a second, each way of a link.

**Source** says where a default comes from. `R` and a number is a design record of the chip that the model was first made for; the
records are not published, so take such a figure as an assumption like any other. `C` is chosen here because the records leave
it open. Neither is a measurement: vary what your result hangs on. The comments of `configs/topologies/default.yaml` give the
reason for each. No source: off, or a matter of naming.

Every part (a section with `overhead_ns`) also takes `impl`, the name of an implementation of your own, and `attributes`, its
further properties: see [use a class of your own](../how-to/use-a-class-of-your-own.md).
"""
_UNITS = {
    "pj_per_byte_mm": "pJ/(byte mm)",
    "ns_per_mm": "ns/mm",
    "gbs": "GB/s",
    "_ns": "ns",
    "_mm": "mm",
    "_mm2": "mm2",
    "_mw": "mW",
    "_bytes": "bytes",
    "_ghz": "GHz",
    "_cycles": "cycles",
}
_SOURCE = re.compile(r"\[(R\b[^]]*|C)\]")


def page() -> str:
    """The whole page."""
    sources, machine = _sources(), load(DEFAULT)
    parts, last = [_HEAD], None
    for section, model, rows in _sections():
        top = section.partition(".")[0].removesuffix("[]")
        if top != last:  # a table for each key of the top level; the sections below it are rows of it
            parts += ([""] if last is not None else []) + [f"## {f'`{top}`' if top else 'Top level'}", ""]
            parts += ["| key | meaning | unit | default | source |", "|---|---|---|---|---|"]
            last = top
        about = (model.__doc__ or "").strip().splitlines()[0]
        parts.append(f"| {f'**`{section}`**' if section else ''} | **{about}** | | | |")
        for key, info in rows:
            meaning = (info.description or "").replace("|", "\\|")
            unit = next((unit for end, unit in _UNITS.items() if key.endswith(end)), "")
            # A required key of a section that may be left out as a whole has the default machine's value.
            required = info.is_required()
            value = _get(machine, key) if required else info.get_default(call_default_factory=True)
            default = "" if required and value is None else f"`{_show(value)}`"
            parts.append(f"| `{key}` | {meaning} | {unit} | {default} | {sources.get(key, '')} |")
    parts += [
        "",
        "## Kinds",
        "",
        "What `parts` and `wires` may name as `kind`; `kernbench topology kinds` prints the same.",
        "",
    ]
    parts += ["| | kind | means | keys |", "|---|---|---|---|"]
    parts += [f"| {' | '.join(row.values())} |" for row in topology_kinds()]
    return "\n".join(parts) + "\n"


def _sections() -> Iterator[tuple[str, type[Section], list[tuple[str, FieldInfo]]]]:
    """Each section of the file by its key, with its own keys; small sections are keys of the one above."""
    pending: list[tuple[str, type[Section]]] = [("", TopologySpec)]
    while pending:
        path, model = pending.pop(0)
        rows, inner = [], []
        for name, info in model.model_fields.items():
            key = f"{path}.{name}" if path else name
            below = _model(info.annotation)
            if below is not None:
                inner.append((key + _many(info.annotation), below))
            elif name not in _OF_EVERY_PART:
                rows.append((key, info))
        if rows:
            yield path, model, rows
        pending[:0] = inner


def _get(machine: TopologySpec, key: str) -> Any:
    """The machine's value of a key in a section; None where there is none, as in a list."""
    value: Any = machine if "." in key else None
    for name in key.split("."):
        value = getattr(value, name, None)
    return value


_OF_EVERY_PART = ("impl", "attributes")


def _many(annotation: Any) -> str:
    """How the key of one of many sections is written."""
    kinds = {get_origin(annotation), *map(get_origin, get_args(annotation))}
    return "[]" if tuple in kinds else ".NAME" if dict in kinds else ""


def _model(annotation: Any) -> type[Section] | None:
    """The section that a field holds, or holds several of."""
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, Section) else None
    return next((found for inner in get_args(annotation) if (found := _model(inner))), None)


def _show(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value >= 1 << 10 and value % (1 << 10) == 0:
        unit, size = max((u, s) for u, s in ((3, 1 << 30), (2, 1 << 20), (1, 1 << 10)) if value % s == 0)
        return f"{value // size} {('KiB', 'MiB', 'GiB')[unit - 1]}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_show(item) for item in value)}]"
    return "none" if value is None else '""' if value == "" else str(value)


def _sources() -> dict[str, str]:
    """What the comments of ``default.yaml`` say of each figure: ``C``, or the number of a record."""
    text = find(DEFAULT).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {}
    for path, number in load_marked(text, DEFAULT).lines.items():
        if match := _SOURCE.search(lines[number - 1].partition("#")[2]):
            found[re.sub(r"\.\d+", "[]", dotted(path))] = match[1].rstrip(",")
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
