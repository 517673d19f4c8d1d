"""The links of a cut between two parts of the machine, as the graph has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.run_view import RunView
from kernbench.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


def cut(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The links that lead straight from ``src`` to ``dst`` and back, else all at the edge of ``src``.

    Raises:
        UsageError: One part lies within the other, or no link leads out of the first one.
    """
    src, dst = str(params["src"]), str(params["dst"])
    name = f"cut from {src} to {dst or 'all else'}"
    return {name: lambda: _tables(asked.topology_tables, name, src, dst)}


def _tables(topology: Mapping[str, pa.Table], name: str, src: str, dst: str) -> dict[str, pa.Table]:
    first, second = disjoint(topology, src, dst)
    wires = topology["Link"].select(["name", "src", "dst", "bw_gbs"]).to_pylist()
    straight = _between(wires, first, second)
    found = straight or _between(wires, first, {*topology["Component"]["name"].to_pylist()} - first)
    if not found:
        raise UsageError(f"no link leads out of '{src}'; name a component with wires, or a group")
    gbs = {wire["name"]: wire["bw_gbs"] for wire in wires}
    about = {"src": src, "dst": dst, "lost": "", "straight": bool(straight), "first": src, "exact": True}
    out = float(sum(gbs[link] for link, back in found if not back))
    return cut_tables({"name": name, "kind": "between", "gbs": out, **about}, found)


def cut_tables(cut: Mapping[str, Any], links: Sequence[tuple[str, bool]]) -> dict[str, pa.Table]:
    """The tables of one cut, and of its links with whether each leads back."""
    import pyarrow as pa

    return {
        "Cut": pa.Table.from_pylist([dict(cut)]),
        "Crossed": pa.Table.from_pylist(
            [{"cut": cut["name"], "link": link, "back": back} for link, back in links]
        ),
    }


def disjoint(topology: Mapping[str, pa.Table], src: str, dst: str) -> tuple[set[str], set[str]]:
    """All that is in ``src``, and in ``dst`` or else outside; ``UsageError`` where they share something."""
    parents = topology["Component"].select(["name", "parent"]).to_pylist()
    inside = {row["name"]: row["parent"] for row in parents}
    first = _within(inside, src)
    second = _within(inside, dst) if dst else inside.keys() - first
    if first & second:
        raise UsageError(f"'{src}' and '{dst}' share components; name two parts beside each other")
    return first, second


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


def _between(wires: Sequence[Mapping[str, Any]], first: set[str], second: Any) -> list[tuple[str, bool]]:
    """The links from ``first`` to ``second``, and those back, which are marked."""
    out = [(wire["name"], False) for wire in wires if wire["src"] in first and wire["dst"] in second]
    return out + [(wire["name"], True) for wire in wires if wire["src"] in second and wire["dst"] in first]
