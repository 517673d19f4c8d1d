"""The cache before the HBM controllers of a machine (``memory.cache``), dealt to them."""

from __future__ import annotations

from collections import Counter

from kernbench.errors import ConfigError
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.pgraph import Node, PropertyGraph

_PLAIN = "builtin.hbm_ctrl"
_CACHED = "builtin.hbm_cached"
"""What carries out an HBM slice without a cache, and one with."""


def describe(graph: PropertyGraph, spec: TopologySpec) -> None:
    """Give each HBM slice of ``graph`` its share of the cache, if the file says that there is one.

    Raises:
        ConfigError: the share of a slice is not a valid cache, or a slice cannot have a cache.
    """
    said = spec.memory.cache
    if not said.capacity:
        return
    kinds = Counter(str(node.properties["kind"]) for node in graph.nodes())
    if kinds["channel_router"]:
        raise _wrong(spec, "is before controllers whose channels have routers of their own; use one of them")
    if not kinds["hbm_ctrl"]:
        raise _wrong(spec, "changes nothing of this machine: it has no HBM controller, expected it left out")
    slices = [node for node in graph.nodes() if node.properties["kind"] == "hbm_ctrl"]
    together = Counter(_memory(slice_, spec.memory.interleave) for slice_ in slices)
    for slice_ in slices:
        p = slice_.properties
        if p["impl"] != _PLAIN:
            what = "has DRAM" if "dram" in p else f"is carried out by '{p['impl']}'"
            raise _wrong(spec, f"'{slice_.id}' {what}, expected a controller of '{_PLAIN}' behind a cache")
        burst = int(p["burst_bytes"])
        if said.line < burst or said.line & (said.line - 1):
            raise _wrong(spec, f"is {said.line}, expected a power of two from {burst} (a burst) on", "line")
        parts = together[_memory(slice_, spec.memory.interleave)]
        behind = parts * int(p["slice_bytes"])
        if said.capacity > behind:
            message = f"is {said.capacity}, expected at most the bytes of the memory behind it, {behind}"
            raise _wrong(spec, message, "capacity")
        unit = said.line * max(said.ways, 1)
        if said.capacity % (unit * parts):
            of = f" with {said.ways} ways" if said.ways else ""
            message = (
                f"is {said.capacity}, expected a multiple of {unit * parts}: lines of {parts} caches{of}"
            )
            raise _wrong(spec, message, "capacity")
        p |= {
            "impl": _CACHED,
            "cache_capacity_bytes": said.capacity // parts,
            "cache_line_bytes": said.line,
            "cache_ways": said.ways,
            "cache_hit_ns": said.hit_ns,
            "cache_gbs": said.gbs / parts,
            "cache_write_gbs": (said.write_gbs or said.gbs) / parts,
            "cache_coalesce": said.coalesce,
            "cache_write_back": said.write_back,
        }


def _memory(slice_: Node, over: str) -> tuple[object, ...]:
    """The memory that a slice is a part of."""
    p = slice_.properties
    return (p["sip"], p["cube"])[: 2 if over == "chiplet" else 1] if over else (slice_.id,)


def _wrong(spec: TopologySpec, message: str, key: str = "") -> ConfigError:
    path = ("memory", "cache", *((key,) if key else ()))
    return ConfigError(f"{spec.located(path)}: {'.'.join(path)}: {message}")
