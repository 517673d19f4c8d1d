"""Derived parameters about the bytes that links carried within a window over a cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.analysis.bottleneck import link_use
from kernbench.analysis.derived import AskedRun, Rows
from kernbench.errors import UsageError


def cut(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``link back straight used bytes utilisation window_ns`` per link of the cut between two parts.

    Raises:
        UsageError: One part lies within the other, or no link leads out of the first one.
    """
    src, dst = str(params["src"]), str(params["dst"])
    parents = asked.topology_tables["Component"].select(["name", "parent"]).to_pylist()
    inside = {row["name"]: row["parent"] for row in parents}
    first = _within(inside, src)
    second = _within(inside, dst) if dst else inside.keys() - first
    if first & second:
        raise UsageError(f"'{src}' and '{dst}' share components; name two parts beside each other")
    wires = asked.topology_tables["Link"].select(["name", "src", "dst"]).to_pylist()
    straight = _between(wires, first, second)
    found = straight or _between(wires, first, inside.keys() - first)
    if not found:
        raise UsageError(f"no link leads out of '{src}'; name a component with wires, or a group")
    use = {row["resource"]: row for row in link_use(asked, {**params, "kind": ""})}
    nothing = {"bytes": 0, "utilisation": 0.0, "transactions": 0}
    window_ns = asked.window(params).ns
    return [
        {
            "link": link,
            "back": back,
            "straight": bool(straight),
            "used": int(use.get(link, nothing)["transactions"] > 0),
            "bytes": use.get(link, nothing)["bytes"],
            "utilisation": use.get(link, nothing)["utilisation"],
            "window_ns": window_ns,
        }
        for link, back in found
    ]


def _within(inside: Mapping[str, str], name: str) -> set[str]:
    """A component or group and everything in it; ``inside`` is the group that each is in."""
    found, others = {name}, [part for part in inside if part != name]
    for part in others:
        chain = [part]
        while chain[-1] in inside and chain[-1] not in found:
            chain.append(inside[chain[-1]])
        if chain[-1] in found:
            found.update(chain)
    return found


def _between(wires: Rows, first: set[str], second: Any) -> list[tuple[str, bool]]:
    """The links from ``first`` to ``second``, and those back, which are marked."""
    out = [(wire["name"], False) for wire in wires if wire["src"] in first and wire["dst"] in second]
    return out + [(wire["name"], True) for wire in wires if wire["src"] in second and wire["dst"] in first]
