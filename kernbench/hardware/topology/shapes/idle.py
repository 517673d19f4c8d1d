"""Keys of a file that would change nothing of its machine: a study of their influence would believe it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.marked_yaml import Path, dotted
from kernbench.hardware.topology.problems import Problem
from kernbench.hardware.topology.shapes.rows import Rows
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import suggestion


def refuse_idle_routing(spec: TopologySpec, rows: Rows) -> None:
    """:class:`ConfigError` for a key of ``routing`` that would change no route."""
    if spec.routing.connection != "nearest":
        kinds = {sort.kind.kind for sort in rows.sorts}
        if not kinds & {"ucie_conn", "io_ucie_conn"}:
            raise _idle(spec, ("routing", "connection"), "it chooses among UCIe connections, and it has none")
    if spec.routing.spread:
        ways = ("way" in link or not str(link.get("dealt", "of 1")).endswith("of 1") for link in rows.links)
        if not any(ways):
            which = "it chooses among equal ways around a ring, or over links of 'all', and it has none"
            raise _idle(spec, ("routing", "spread"), which)


def refuse_idle_sections(spec: TopologySpec, kinds: Collection[str], sections: Collection[str]) -> None:
    """:class:`ConfigError` for a key of a section that no part of a machine of any shape takes.

    ``kinds`` are those of its parts, ``sections`` those that its built-in blocks take.
    """
    usual = TopologySpec.model_validate({"name": "usual"})
    for top in ("sip", "cube", "pe"):
        for path in _differing(getattr(spec, top), getattr(usual, top), (top,)):
            if top not in sections and not any(_takes(kind, path) for kind in kinds):
                raise _idle(spec, path, "none of its parts takes this key")
    if spec.system.inter_sip != usual.system.inter_sip and not spec.has_tray:
        raise _idle(spec, ("system", "inter_sip"), "collectives see its packages as the wires of their array")


def unused_wires(spec: TopologySpec) -> Iterator[Problem]:
    """Wires that no connection of a file names: a misspelt one, or a key of one given for a command."""
    named = [one.wire for block in spec.blocks.values() for one in block.connect]
    named += [one.wire for one in spec.connect]
    used = [name for name in spec.wires if name in named]
    for name in spec.wires:
        if name not in used:
            message = f"no connection names this wire, {suggestion(name, used)}expected it left out"
            yield Problem(("wires", name), message)


def _takes(kind: str, path: Path) -> bool:
    section = COMPONENT_KINDS[kind].section
    if not section or any(a not in (b, "*") for a, b in zip(section, path, strict=False)):
        return False
    inner = path[len(section) :]
    known = ("overhead_ns", "impl", "attributes", *COMPONENT_KINDS[kind].properties)
    return "_".join(map(str, inner)) in known or inner[:1] == ("attributes",)


def _differing(one: Any, other: Any, path: Path) -> Iterator[Path]:
    """Paths of all that is not alike."""
    if isinstance(one, Section):
        for key in type(one).model_fields:
            yield from _differing(getattr(one, key), getattr(other, key), (*path, key))
    elif isinstance(one, tuple) and len(one) == len(other) and one and isinstance(one[0], Section):
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from _differing(a, b, (*path, i))
    elif one != other:
        yield path


def _idle(spec: TopologySpec, path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{spec.located(path)}: {dotted(path)}: changes nothing of this machine: {why}, expected it left out"
    )
