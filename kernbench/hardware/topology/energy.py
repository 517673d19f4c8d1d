"""Energy and area of parts by kind: the section ``energy`` of a topology over ``configs/energy.yaml``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS, Form
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.marked_yaml import load_data
from kernbench.support.data_files import data_dir
from kernbench.support.dtypes import DTYPES, PACKED
from kernbench.support.hints import did_you_mean

Figure = Annotated[float, Field(ge=0, le=1e12)]
ByType = dict[str, Figure]
Figures = Mapping[str, Mapping[str, Any]]
"""Figures by kind, then by key."""

_LINK = ("pj_per_byte", "pj_per_byte_mm")
_ANY = ("pj_per_flit", "pj_per_message", "static_mw", "area_mm2")
_MEMORY = ("pj_per_byte_read", "pj_per_byte_write")
_TYPED = {"pe_gemm": "pj_per_mac", "pe_math": "pj_per_op"}


class KindEnergy(Section):
    """Energy and area of one kind of part; a key that is left out is that of ``configs/energy.yaml``."""

    pj_per_byte: Figure | None = Field(default=None, description="pJ for each byte over a link")
    pj_per_byte_mm: Figure | None = Field(default=None, description="pJ for each byte and mm of a link")
    pj_per_byte_read: Figure | None = Field(default=None, description="pJ for each byte read from a memory")
    pj_per_byte_write: Figure | None = Field(default=None, description="pJ for each byte written to a memory")
    pj_per_mac: ByType | None = Field(default=None, description="pJ for each multiply-accumulate, by type")
    pj_per_op: ByType | None = Field(default=None, description="pJ for each element and pass, by type")
    pj_per_flit: Figure | None = Field(default=None, description="pJ for each flit of a message")
    pj_per_message: Figure | None = Field(default=None, description="pJ for each message")
    static_mw: Figure | None = Field(default=None, description="mW of each part while the run lasts")
    area_mm2: Figure | None = Field(default=None, description="mm2 of each part")
    area_mm2_per_unit: Figure | None = Field(
        default=None, description="mm2 for each MiB of a memory, MAC unit of PE_GEMM, lane of PE_MATH"
    )


def keys_of(kind: str) -> tuple[str, ...]:
    """The keys that a kind of part takes; none of one that has no energy of its own."""
    if kind in LINK_KINDS:
        return () if LINK_KINDS[kind].within_pe else _LINK
    if kind == "memory_cache":
        return (*_MEMORY, "static_mw", "area_mm2")
    found = COMPONENT_KINDS.get(kind)
    if found is None or found.form is not Form.WIRED:
        return ()
    own = _MEMORY if found.memory else (_TYPED[kind],) if kind in _TYPED else ()
    counted = kind in _TYPED or "size_bytes" in found.properties
    return (*own, *_ANY, *(("area_mm2_per_unit",) if counted else ()))


def wrong(
    said: Mapping[str, Mapping[str, Any]], wires: Iterable[str] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What cannot be ``said`` of energy: the path of each such key below ``energy``, and why.

    ``wires`` are those of the machine, which take the keys of links.
    """
    kinds = [*(kind for kind in (*COMPONENT_KINDS, *LINK_KINDS) if keys_of(kind)), *wires]
    for kind, figures in said.items():
        keys = keys_of(kind) or _LINK
        if kind in LINK_KINDS and not keys_of(kind):
            yield (kind,), "has no energy of its own: wires within a PE are part of its memory's figures"
        elif kind not in kinds:
            yield (kind,), f"is not a kind of part with energy, {did_you_mean(kind, kinds)}"
        else:
            for key, value in figures.items():
                if key not in keys:
                    yield (kind, key), f"is not a figure of {kind}, {did_you_mean(key, keys)}"
                elif (key in _TYPED.values()) != isinstance(value, Mapping):
                    expected = "one figure for each type" if key in _TYPED.values() else "one figure"
                    yield (kind, key), f"is {value!r}, expected {expected}"
                for name in value if isinstance(value, Mapping) else ():
                    if name not in DTYPES and name not in PACKED:
                        yield (kind, key, name), f"is not a type, {did_you_mean(name, (*DTYPES, *PACKED))}"


@cache
def _shipped() -> Figures:
    found: Figures = load_data(data_dir("configs") / "energy.yaml")
    return found


def with_defaults(*said: Figures) -> dict[str, dict[str, Any]]:
    """Figures of every kind: the shipped ones, and on top of them what is ``said``, the last in front."""
    found = {kind: dict(figures) for kind, figures in _shipped().items()}
    for more in said:
        for kind, figures in more.items():
            own = found.setdefault(kind, {})
            for key, value in figures.items():
                own[key] = {**own.get(key, {}), **value} if isinstance(value, Mapping) else value
    return found


def figures_of(spec: str, *said: Figures) -> dict[str, dict[str, Any]]:
    """The figures of a machine by its ``spec``; what is ``said`` goes before them.

    A ``spec`` that is not JSON, such as one written by hand, has no figures of its own.
    """
    try:
        content = json.loads(spec or "{}")
    except ValueError:
        content = {}
    return with_defaults(content.get("energy", {}) if isinstance(content, dict) else {}, *said)


def area_mm2(kind: str, properties: Mapping[str, Any], figures: Figures) -> float | None:
    """The area of a part with these ``properties``; None where no figure is known."""
    own = figures.get(kind, {})
    if "area_mm2" not in own and "area_mm2_per_unit" not in own:
        return None
    units = {
        "pe_gemm": properties.get("macs_per_cycle", 0),
        "pe_math": properties.get("lanes", 0),
    }.get(kind, properties.get("size_bytes", 0) / 2**20)
    return float(own.get("area_mm2", 0.0) + own.get("area_mm2_per_unit", 0.0) * units)
