"""Built-in patterns of traffic, defined over PE ranks, so that they fit a topology of any size.

Machines without PEs have ranks of sources, each with the memory in its block.

The N PEs of a topology are ranked 0 .. N-1 by SIP, cube and PE. A pattern says which rank's memory each
rank talks to; the memory of PE p is slice ``p mod slices`` of its cube, which is its own slice wherever
there are as many slices as PEs. The formulas are those of Dally and Towles, Principles and Practices of
Interconnection Networks, 3.2, carried over to any N; what that means for an N that is not a power of two
stands with each pattern.

To add a pattern, write a function from (N, parameters) to pairs of ranks and register it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isqrt
from random import Random

from kernbench.errors import UsageError
from kernbench.hardware.kinds import component_kind
from kernbench.hardware.topology.nodes import Location, location
from kernbench.hardware.topology.places import SLICE, places
from kernbench.support.hints import suggestion
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.benches.params import Param, ParamValue
from kernbench.workloads.probes.traffic_flow import Flow, make_flows

Values = Mapping[str, ParamValue]
Pairs = Iterable[tuple[int, int]]
"""(rank of the PE that asks, rank of the PE whose memory answers)."""

COMMON = (
    Param("bytes", int, 4096, "bytes of each transfer", minimum=1),
    Param("op", str, "write", "write to the other's memory, or read from it", choices=("write", "read")),
    Param("count", int, 1, "transfers of each flow", minimum=1),
    Param("period_ns", float, 0.0, "time from one transfer of a flow to the next, ns", minimum=0),
    Param("start_ns", float, 0.0, "when the first ones start, ns", minimum=0),
    Param("offset", int, 0, "first byte used of each memory", minimum=0),
)
"""Parameters of every pattern."""
SEED = Param("seed", int, 0, "seed of the random numbers", minimum=0)
ROOT = Param("root", int, 0, "rank of the PE in the middle", minimum=0)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A registered pattern. ``formula`` in words and symbols: s asks, d answers, of N ranks.

    ``shared``: several ranks may use one memory; each then uses its own part, ``bytes * rank`` further on.
    """

    name: str
    formula: str
    params: tuple[Param, ...]
    pairs: Callable[[int, Values], Pairs]
    shared: bool


_patterns: dict[str, Pattern] = {}


def _pattern(
    name: str, formula: str, *params: Param, shared: bool = False
) -> Callable[[Callable[[int, Values], Pairs]], Callable[[int, Values], Pairs]]:
    def register(pairs: Callable[[int, Values], Pairs]) -> Callable[[int, Values], Pairs]:
        _patterns[name] = Pattern(name, formula, (*COMMON, *params), pairs, shared)
        return pairs

    return register


@_pattern("uniform-random", "d = any of N, all equally likely, itself included", SEED, shared=True)
def uniform_random(n: int, values: Values) -> Pairs:
    """Every rank draws its partner; the same seed draws the same ones."""
    random = Random(values["seed"])
    return [(s, random.randrange(n)) for s in range(n)]


@_pattern(
    "transpose", "ranks row by row in an R x C matrix, R <= C closest to square: d = (s mod C) R + s div C"
)
def transpose(n: int, _: Values) -> Pairs:
    """For N = 4^k this exchanges the upper and the lower half of the bits. For a prime N (R = 1) d = s."""
    rows = next(r for r in range(isqrt(n), 0, -1) if n % r == 0)
    cols = n // rows
    return [(s, s % cols * rows + s // cols) for s in range(n)]


@_pattern("bit-complement", "d = N - 1 - s")
def bit_complement(n: int, _: Values) -> Pairs:
    """For a power of two all bits of s are inverted. For an odd N the rank in the middle talks to itself."""
    return [(s, n - 1 - s) for s in range(n)]


@_pattern("tornado", "d = (s + ceil(N / 2) - 1) mod N")
def tornado(n: int, _: Values) -> Pairs:
    """Almost half of the way around all ranks, which defeats shortest paths on a ring. Up to N = 2, d = s."""
    return [(s, (s + (n + 1) // 2 - 1) % n) for s in range(n)]


@_pattern("neighbour", "d = (s + 1) mod N")
def neighbour(n: int, _: Values) -> Pairs:
    """The next rank; the last one of a cube or SIP crosses into the next."""
    return [(s, (s + 1) % n) for s in range(n)]


@_pattern(
    "hot-spot", "d = root with probability share, else any of N", ROOT, SEED,
    Param("share", float, 0.25, "probability with which a rank turns to the root, 0 to 1", minimum=0),
    shared=True,
)  # fmt: skip
def hot_spot(n: int, values: Values) -> Pairs:
    """Uniform random traffic with a place that many turn to (Pfister and Norton, 1985)."""
    share, root, random = float(values["share"]), _root(n, values), Random(values["seed"])
    if share > 1:
        raise UsageError(f"pattern 'hot-spot', parameter 'share': {share:g} is above the maximum of 1")
    # Both numbers are drawn for every rank, so that a change of share moves no other rank's partner.
    drawn = [(random.random(), random.randrange(n)) for _ in range(n)]
    return [(s, root if luck < share else d) for s, (luck, d) in enumerate(drawn)]


@_pattern("all-local", "d = s")
def all_local(n: int, _: Values) -> Pairs:
    """Every PE with its own slice: nothing is shared but the router between the two."""
    return [(s, s) for s in range(n)]


@_pattern("gather", "d = root: all turn to the root's memory", ROOT, shared=True)
def gather(n: int, values: Values) -> Pairs:
    """All ranks, the root included, write to (or read from) one memory."""
    root = _root(n, values)
    return [(s, root) for s in range(n)]


@_pattern("scatter", "s = root, d = 0 .. N-1: the root turns to every memory", ROOT)
def scatter(n: int, values: Values) -> Pairs:
    """One rank's DMA writes to (or reads from) every memory, in order of rank."""
    root = _root(n, values)
    return [(root, d) for d in range(n)]


def _root(n: int, values: Values) -> int:
    root = int(values["root"])
    if root >= n:
        raise UsageError(f"parameter 'root': no PE has rank {root}; ranks of this topology are 0 .. {n - 1}")
    return root


def patterns() -> list[Pattern]:
    """All patterns, in the order in which they are defined."""
    return list(_patterns.values())


def find_pattern(name: str) -> Pattern:
    """The pattern called ``name``; :class:`UsageError` says which there are."""
    found = _patterns.get(name)
    if found is None:
        hint = suggestion(name, _patterns)
        raise UsageError(f"no traffic pattern '{name}'; {hint}available: {', '.join(_patterns)}")
    return found


def resolve_values(pattern: Pattern, given: Mapping[str, object]) -> dict[str, ParamValue]:
    """Every parameter's value, from ``given`` or its default; :class:`UsageError` names what is wrong."""
    known = {param.name: param for param in pattern.params}
    for key in given:
        if key not in known:
            hint = suggestion(key, known)
            raise UsageError(
                f"pattern '{pattern.name}' has no parameter '{key}'; {hint}it has {', '.join(known)}"
            )
    values: dict[str, ParamValue] = {}
    for name, param in known.items():
        try:
            values[name] = param.accept(given[name]) if name in given else param.default
        except ValueError as error:
            raise UsageError(f"pattern '{pattern.name}', parameter '{name}': {error}") from None
    return values


def pattern_flows(graph: PropertyGraph, pattern: Pattern, values: Values) -> list[Flow]:
    """The flows of ``pattern`` on a topology, by rank of the PE or source that asks; ``values`` are resolved.

    A flow's name says which ranks it joins: ``3->7``.
    """
    ends = ranked_ends(graph)
    same = {key: values[key] for key in ("bytes", "op", "count", "period_ns", "start_ns")}
    offset, step = int(values["offset"]), int(values["bytes"]) if pattern.shared else 0
    entries: list[dict[str, object]] = [
        {"src": ends[s][0], "dst": ends[d][1], "offset": offset + s * step, "name": f"{s}->{d}", **same}
        for s, d in pattern.pairs(len(ends), values)
    ]
    where = f"pattern '{pattern.name}'"
    return make_flows((entry, lambda key: f"{where}: {key}" if key else where) for entry in entries)


def ranked_ends(graph: PropertyGraph) -> list[tuple[str, str]]:
    """By rank, who asks and the memory that is its own: a PE and its slice, or a source and its memory.

    Of interleaved memory, whose bytes are anybody's, ranks have the controllers of their package in turn.
    """
    known = places(graph)
    shared: dict[int, list[str]] = {}
    slices = (node for node in graph.nodes() if component_kind(node).sliced)
    for node in slices if graph.properties.get("interleave") else ():
        shared.setdefault(int(node.properties["sip"]), []).append(node.id)
    found = []
    for number, at in enumerate(ranks(graph)):
        own = shared[at[0]][number % len(shared[at[0]])] if at[0] in shared else known.find(SLICE, *at)
        found.append((known.pe(*at), own or known.part("pe_tcm", *at)))
    return found or _sources(graph)


def _sources(graph: PropertyGraph) -> list[tuple[str, str]]:
    """Every source with the memory of its number in the same block; in the order of the machine."""
    beside: dict[str, list[str]] = {}
    for node in (node for node in graph.nodes() if component_kind(node).memory):
        beside.setdefault(node.id.rpartition(".")[0], []).append(node.id)
    counts: Counter[str] = Counter()
    found = []
    for node in (node for node in graph.nodes() if component_kind(node).stands_anywhere):
        block = node.id.rpartition(".")[0]
        if block not in beside:
            raise UsageError(
                f"source '{node.id}' has no memory in its block; name ends in a traffic file instead"
            )
        found.append((node.id, beside[block][counts[block] % len(beside[block])]))
        counts[block] += 1
    return found


def ranks(graph: PropertyGraph) -> list[Location]:
    """(sip, cube, pe) of every PE, by rank."""
    return sorted(location(node) for node in graph.nodes() if node.properties["kind"] == "pe")
