"""Every number of a topology file: absurd ones are errors with line and key, or machines; never a crash.

The keys come from the models of the file, those of parts and wires from a machine of parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel

from kernbench.errors import ConfigError
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.fields import LARGEST, SMALLEST
from kernbench.hardware.topology.spec import TopologySpec

IMPOSSIBLE = [
    pytest.param(text, id=text[:8])
    for text in (
        "9" * 400,
        "-" + "9" * 400,
        "1e+308",
        "-1e+308",
        "1e-308",
        ".inf",
        "-.inf",
        ".nan",
        "1" + "0" * 30,
    )
]
OF_PARTS = """\
name: t
wires:
  w:
    {gbs: 10, lanes: 2, mm: 1.5, delay_ns: 2.5, weight: 3,
    buffer_flits: 4, vcs: 2, credit_ns: 1, allocation_ns: 1}
defaults:
  hbm_ctrl: {slice_bytes: 1048576, n_channels: 2, channel_gbs: 8, overhead_ns: 1, access_ns: 3}
blocks:
  b:
    params: {n: 2}
    parts:
      r: {kind: router, shape: {x: 2, y: 1}, overhead_ns: 2, pitch_mm: {x: 1.5, y: 2}, at: {x: 1, y: 1}}
    connect:
      - {mesh: r, wire: w}
parts:
  a: {kind: source, outstanding: 4}
  b: {block: b, n: 3}
  m: {kind: hbm_ctrl, count: 2, switch_penalty_ns: 1}
connect:
  - {all: ["b.r[0,0]", m], wire: w}
  - {pair: [a, "b.r[1,0]"], wire: {gbs: 5, lanes: 1, mm: 1, delay_ns: 1, weight: 1}}
overrides: [{where: "wire:w", speed: 2}]
"""  # fmt: skip


def keys(annotation: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Dotted keys of all numbers below a field of that type, but for those of lists and mappings."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from keys(field.annotation, (*path, name))
    elif annotation in (int, float):
        yield path
    elif origin is Annotated:
        yield from keys(arguments[0], path)
    elif origin is not tuple and origin is not dict:
        for argument in arguments:
            yield from keys(argument, path)


KEYS = sorted({".".join(map(str, path)) for path in keys(TopologySpec)})


def refused(text: str, overrides: dict[str, object] | None = None) -> str:
    """The error of a machine; empty where it is one. Other exceptions than errors of the file go on."""
    try:
        compile_topology(parse(text, "f.yaml", overrides))
    except ConfigError as error:
        return str(error)
    return ""


def test_there_are_many_keys() -> None:
    assert {"pe.pe_gemm.clock_ghz", "system.ns_per_mm", "cube.hbm.channel_gbs"} <= {*KEYS}
    assert len(KEYS) > 100


@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_an_absurd_number_is_an_error_at_its_line_and_key(value: str) -> None:
    for key in KEYS:
        *outer, last = key.split(".")
        text = f"name: t\n{yaml.safe_dump(nested(outer, last), sort_keys=False)}".replace("HERE", value)
        lines = text.splitlines()
        said = refused(text)
        where = f"f.yaml:{next(n for n, line in enumerate(lines, 1) if line.endswith(value))}: {key}: is "
        assert where in said, (key, said)


def nested(outer: list[str], last: str) -> dict[str, Any]:
    found: Any = {last: "HERE"}
    for name in reversed(outer):
        found = {name: found}
    return dict(found)


@pytest.mark.daily(".nan", "-9999999", "1e+308")
@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_so_it_is_of_parts_wires_and_blocks(value: str) -> None:
    assert not refused(OF_PARTS)
    plain = yaml.safe_load(OF_PARTS)
    for path in numbers(plain):
        here = ".".join(map(str, path))
        said = refused(OF_PARTS, {here: yaml.safe_load(value)})
        assert f"override {here}: " in said, (here, said)
        assert ": is " in said


def numbers(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(value, (*path, key))
    elif isinstance(data, int | float):
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("value", [LARGEST, SMALLEST])
def test_the_largest_and_smallest_figures_are_machines_or_errors(value: float) -> None:
    for path in numbers(yaml.safe_load(OF_PARTS)):
        refused(OF_PARTS, {".".join(map(str, path)): value})
    for key in KEYS:
        refused("name: t", {key: value})
