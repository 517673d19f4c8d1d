"""Properties of single parts, checked and completed as a topology file's sections are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import ComponentKind
from kernbench.hardware.topology.fields import Part, Section, numbers, written
from kernbench.hardware.topology.names import Said
from kernbench.hardware.topology.pe_spec import PeGemm, PeMath
from kernbench.hardware.topology.problems import from_pydantic
from kernbench.hardware.topology.shapes.model import plain_section
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.operations import ANY
from kernbench.support.hints import did_you_mean, shown
from kernbench.support.pgraph import Properties
from kernbench.support.sizes import read_size

Wrong = Callable[[str, str], ConfigError]
_NUMBERED: Properties = {"row": 0, "col": 0, "side": "", "index": 0, "channel": 0, "slice": 0}
"""Properties that names say, where there are none."""
_SLICE = ("n_channels", "slice_bytes")
"""What an HBM slice must be given: a topology file says it of a whole cube."""


class PartKeys:
    """The properties of parts of one machine; those that are not given are the default machine's."""

    def __init__(self, spec: TopologySpec) -> None:
        self.spec = spec

    @property
    def model(self) -> str:
        """The address model."""
        return self.spec.system.address_model

    def section(self, kind: ComponentKind) -> Part:
        """The default machine's section of a kind of wired component."""
        if not kind.section:
            return plain_section(kind)
        found: Any = self.spec
        for key in kind.section:
            found = found[0] if key == "*" else getattr(found, key)
        assert isinstance(found, Part)
        return found

    def of_kind(
        self, kind: ComponentKind, keys: Mapping[str, Any], wrong: Wrong, own: Properties | None = None
    ) -> Properties:
        """The properties of components of ``kind`` beside name and location.

        ``own`` are those that its name says; left out, ``keys`` may say them. ``wrong`` makes the error of a
        key, empty where it is none of these, and a message.
        """
        usual = self.section(kind)
        known = flat(usual)
        numbered = {
            key: value for key, value in _NUMBERED.items() if key in kind.properties and key not in known
        }
        derived = {"slice_gbs"} if own is None else {*own, "slice_gbs"}
        allowed = [
            key
            for key in ("overhead_ns", "impl", "attributes", *kind.properties, *kind.switches)
            if key not in derived
        ]
        for key in keys:
            if key not in allowed:
                raise wrong(key, f"unknown key, {did_you_mean(key, allowed)}")
        if own is None:
            own = {key: keys.get(key, value) for key, value in numbered.items()}
        if not kind.section:  # what its section lacks, each part says itself
            for key in kind.properties:
                if key not in known and key not in keys:
                    raise wrong("", f"{key} is missing, expected a value: the kind has no default")
            own = {**own, **{key: keys[key] for key in kind.properties if key not in known}}
        given = {key: value for key, value in keys.items() if key in known}
        try:
            section = type(usual).model_validate(_nest(usual, {**known, **given}))
        except ValidationError as error:
            first = from_pydantic(error, type(usual))[0]
            raise wrong("_".join(map(str, first.path)), first.message) from None
        if kind.sliced:
            own = {**own, **self._slice(wrong, {**flat(section), **keys})}
        return component(kind, section, self.spec, own)

    def changed(
        self, kind: ComponentKind, now: Properties, keys: Mapping[str, Any], wrong: Wrong
    ) -> Properties:
        """The properties ``now`` of a component of ``kind``, with ``keys`` changed."""
        usual = flat(self.section(kind))
        slice_ = (*_SLICE, "burst_bytes") if kind.sliced else ()
        known: dict[str, Any] = {
            key: value
            for key, value in now.items()
            if key in slice_ or type(value) is type(usual.get(key)) or (key == "worker" and key in usual)
        }
        if "macs_per_cycle" in now:
            by_type = {ANY: now["macs_per_cycle"], **numbers(now.get("rates"))}
            known["macs_per_cycle"] = by_type if "rates" in now else now["macs_per_cycle"]
            now = {key: value for key, value in now.items() if key != "rates"}
        own = {key: now[key] for key in kind.properties if key not in usual and key not in slice_}
        own = {key: value for key, value in own.items() if key not in ("slice_gbs", "passes")}
        found = {**now, **self.of_kind(kind, {**known, **keys}, wrong, own)}
        if "slice_gbs" in now:  # the efficiency of the file's HBM stays
            then, since = (int(p["n_channels"]) * float(p["channel_gbs"]) for p in (now, found))
            found["slice_gbs"] = float(now["slice_gbs"]) * (since / then)
        return found

    def _slice(self, wrong: Wrong, given: Mapping[str, Any]) -> Properties:
        """What a topology file says of the HBM of a cube, of one slice."""
        for key in _SLICE:
            if key not in given:
                raise wrong("", f"{key} is missing, expected an integer from 1 on")
        size = given["slice_bytes"]
        found: Properties = {
            "n_channels": given["n_channels"],
            "slice_bytes": (read_size(size) or size) if isinstance(size, str) else size,
            "burst_bytes": given.get("burst_bytes", self.spec.system.flit_bytes),
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


def check_part(where: str, model: type[Any], values: dict[str, Any]) -> Any:
    """An object of ``model``; :class:`ConfigError` of one line for the first value that does not fit."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = from_pydantic(error, model)[0]
        raise ConfigError(f"{where}: {'_'.join(map(str, first.path))}: {first.message}") from None


def by_name(kind: ComponentKind, said: Said) -> Properties:
    """The properties that a part's name says."""
    fields = {"slice": "pe", "channel": "index"}
    return {key: said[fields.get(key, key)] for key in kind.properties if key in _NUMBERED}


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
