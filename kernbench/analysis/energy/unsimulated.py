"""Energy of what a run accounts for without having simulated it: periods like others, and packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernbench.analysis.energy.charges import ChargedMachine, Charges
from kernbench.analysis.trace_tables import Ints
from kernbench.analysis.windows.estimate_bounds import repeated
from kernbench.analysis.windows.time_window import Floats
from kernbench.hardware.topology.packages import Partners
from kernbench.support.pgraph import TopologyRecord


def times_of(info: Mapping[str, Any], launch: Ints, at: Floats) -> Ints:
    """How often what belongs to a ``launch`` happens; of what has none, -1, the time ``at`` decides."""
    launches = info.get("launches") or []
    known = np.array([*(one.get("times", 1) for one in launches), 1], np.int64)
    found = known[np.minimum(launch, len(launches))]
    for one in repeated(info):
        inside = (launch < 0) & (at >= one.begin - one.period_ns) & (at < one.begin)
        found = np.where(inside, found + one.times, found)
    return np.asarray(found)


def with_followers(
    found: Charges, info: Mapping[str, Any], machine: ChargedMachine, topology: TopologyRecord
) -> Charges:
    """``found`` with what launches took that were simulated on another package: the same at its parts."""
    launches = info.get("launches") or []
    following = [(number, one["follows"]) for number, one in enumerate(launches) if "follows" in one]
    if not following:
        return found
    components, links = topology.tables["Component"], topology.tables["Link"]
    parts = list(zip(*(components[name].to_pylist() for name in ("name", "sip")), strict=True))
    wires = list(zip(*(links[name].to_pylist() for name in ("name", "src", "dst")), strict=True))
    sip_of, partners = dict(parts), Partners(parts, wires)
    # Runs of older versions name the PEs of their launches instead.
    sips = [
        one["sips"][0] if one.get("sips") else sip_of.get(next(iter(one.get("pe_times") or ()), ""), -1)
        for one in launches
    ]
    maps: dict[tuple[int, int], Ints] = {}
    more = [found]
    for number, led in following:
        pair = sips[led], sips[number]
        if pair not in maps:
            there = partners.of(*pair)
            maps[pair] = np.array([machine.index[there.get(name, name)] for name in machine.names], np.int64)
        of = found.launch == led
        op, part, cause, fj = found.op[of], maps[pair][found.part[of]], found.cause[of], found.fj[of]
        more.append(Charges(op, np.full(len(op), number), part, cause, fj))
    return Charges(*(np.concatenate(columns) for columns in zip(*more, strict=True)))
