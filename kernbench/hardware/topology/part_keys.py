"""Properties of single parts, checked and completed as a topology file's sections are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import ComponentKind
from kernbench.hardware.topology.fields import Part, Section, written
from kernbench.hardware.topology.pe_spec import PeGemm, PeMath
from kernbench.hardware.topology.problems import from_pydantic
from kernbench.hardware.topology.shapes.model import plain_section
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import did_you_mean, shown
from kernbench.support.pgraph import Properties
from kernbench.support.sizes import read_size

Wrong = Callable[[str, str], ConfigError]
_NUMBERED: Properties = {"row": 0, "col": 0, "side": "", "index": 0, "channel": 0, "slice": 0}
"""Properties that say which of several a part is, and what they are of a single one."""
_SLICE = ("n_channels", "slice_bytes")
"""What an HBM slice must be given: a topology file says it of a whole cube."""


def _section(spec: TopologySpec, kind: ComponentKind) -> Part:
    """The default machine's section of a kind of wired component."""
    if not kind.section:
        return plain_section(kind)
    found: Any = spec
    for key in kind.section:
        found = found[0] if key == "*" else getattr(found, key)
    assert isinstance(found, Part)
    return found


def of_kind(spec: TopologySpec, kind: ComponentKind, keys: Mapping[str, Any], wrong: Wrong) -> Properties:
    """The properties of components of ``kind`` beside name and location in a machine of ``spec``.

    ``wrong`` makes the error of a key, empty where it is none of these, and a message.
    """
    usual = _section(spec, kind)
    known = flat(usual)
    allowed = [
        key
        for key in ("overhead_ns", "impl", "attributes", *kind.properties, *kind.switches)
        if key != "slice_gbs"
    ]
    for key in keys:
        if key not in allowed:
            raise wrong(key, f"unknown key, {did_you_mean(key, allowed)}")
    own = {
        key: keys.get(key, value)
        for key, value in _NUMBERED.items()
        if key in kind.properties and key not in known
    }
    if not kind.section:  # what its section lacks, each part says itself
        for key in kind.properties:
            if key not in known and key not in keys:
                raise wrong("", f"{key} is missing, expected a value: the kind has no default")
        own |= {key: keys[key] for key in kind.properties if key not in known}
    given = {key: value for key, value in keys.items() if key in known}
    try:
        section = type(usual).model_validate(_nest(usual, {**known, **given}))
    except ValidationError as error:
        first = from_pydantic(error, type(usual))[0]
        raise wrong("_".join(map(str, first.path)), first.message) from None
    if kind.sliced:
        own |= _slice(spec, wrong, {**flat(section), **keys})
    return component(kind, section, spec, own)


def _slice(spec: TopologySpec, wrong: Wrong, given: Mapping[str, Any]) -> Properties:
    """What a topology file says of the HBM of a cube, of one slice."""
    for key in _SLICE:
        if key not in given:
            raise wrong("", f"{key} is missing, expected an integer from 1 on")
    size = given["slice_bytes"]
    found: Properties = {
        "n_channels": given["n_channels"],
        "slice_bytes": (read_size(size) or size) if isinstance(size, str) else size,
        "burst_bytes": given.get("burst_bytes", spec.system.flit_bytes),
    }
    for key, value in found.items():
        if type(value) is not int or value < 1:
            unit = ", or bytes with a unit such as '2 GiB'" if key == "slice_bytes" else ""
            raise wrong(key, f"is {shown(value)}, expected an integer from 1 on{unit}")
    return {**found, "slice_gbs": int(found["n_channels"]) * float(given["channel_gbs"])}


def flat(section: Section) -> Properties:
    """The keys of a section as properties; those of a section within it are ``outer_inner``."""
    found: Properties = {}
    for key in type(section).model_fields:
        value = getattr(section, key)
        if isinstance(value, Section):
            found |= {f"{key}_{inner}": item for inner, item in flat(value).items()}
        else:
            found[key] = value
    return found


def component(
    kind: ComponentKind, section: Part, spec: TopologySpec, own: Properties | None = None
) -> Properties:
    """The properties of a component beside name and location: what its ``section`` says, and its ``own``.

    ``own`` are those that no key has, or that are not what the key says. The file's ``attributes`` follow.
    """
    values = flat(section)
    if "worker" in values:
        values["worker"] = values["worker"] or spec.system.worker
    if isinstance(section, PeMath):
        values["passes"] = written({op: n for op, n in section.passes.items() if n > 1})
        values["cycles"] = " ".join(f"{op}={_pair(pair)}" for op, pair in sorted(section.cycles.items()))
        for way in ("across", "within"):
            pair = getattr(section.reduce, way)
            values[f"reduce_{way}"] = _pair(pair) if pair else ""
    if isinstance(section, PeGemm):
        systolic = float(section.rows * section.cols)
        values["macs_per_cycle"] = section.rate if section.dataflow == "tile" else systolic
        values |= {"rates": written(section.rates), "phases": written(section.phases)}
    values |= own or {}
    found = {"impl": section.impl or f"builtin.{kind.kind}", "overhead_ns": section.overhead_ns}
    found |= {key: values[key] for key in kind.properties}
    found |= {key: values[key] for key in kind.switches if values[key]}
    return {**found, **(own or {}), **section.attributes}


def _pair(pair: tuple[float, float]) -> str:
    return f"{pair[0]}:{pair[1]}"


def _nest(section: Section, values: Mapping[str, object], prefix: str = "") -> dict[str, Any]:
    """Flat keys (``tile_m``) as the section has them (``tile: {m: ...}``), without those that it lacks."""
    found: dict[str, Any] = {}
    for key in type(section).model_fields:
        inner = getattr(section, key)
        if isinstance(inner, Section):
            found[key] = _nest(inner, values, f"{prefix}{key}_")
        elif prefix + key in values:
            found[key] = values[prefix + key]
    return found
