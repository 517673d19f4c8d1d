"""A run as an NPE timeline, the JSON that tt-npe writes and TT-NN Visualizer shows: meshes over time.

Version 1.0.0 of the format (``timeline_schema_v1.json`` of tt-npe). Where its viewer reads other names than
that file has, such as ``id`` and ``NOC0``, these are the viewer's (``NPEModel.ts``).
A device of the file is a cube, and a core one of its routers; a cycle of the file is a picosecond, so that
times are exact. On a device there are links to four sides, and one into the network and one out of it at each
core: here of the PE on NOC0, of memories and everything else on NOC1. Links between cubes have no place in
the format; a transfer goes on in the other cube.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from kernbench.analysis.use.use_over_time import use_over_time
from kernbench.analysis.windows.time_window import Window
from kernbench.errors import UsageError

ROWS, COLUMNS = 12, 10
"""The most that a device of the format has."""
NETWORKS = ("NOC0", "NOC1")
STEPS = 128
"""Intervals of time."""
_ROUTER = re.compile(r"sip(\d+)\.cube(\d+)\.r(\d+)c(\d+)")
_SIDES = {(0, 1): "NOC0_EAST", (1, 0): "NOC0_SOUTH", (-1, 0): "NOC1_NORTH", (0, -1): "NOC1_WEST"}
"""By the step in rows and columns."""

At = tuple[int, int, int]
"""Device, row, column."""


@dataclass(frozen=True, slots=True)
class Place:
    """A link of the file, from a core."""

    at: At
    to: At
    name: str

    @property
    def link(self) -> list[Any]:
        """As the file has it."""
        return [*self.at, self.name]


class Cubes:
    """The cubes of a machine as devices: ``count`` in a package, ``wide`` of them side by side."""

    def __init__(self, wide: int, count: int) -> None:
        self.wide = wide
        self.count = count

    def core(self, name: str) -> At | None:
        """The core that a router is; None for all else. ``UsageError`` where a device has no such core."""
        found = _ROUTER.fullmatch(name)
        if found is None:
            return None
        sip, cube, row, column = map(int, found.groups())
        if row >= ROWS or column >= COLUMNS:
            raise UsageError(
                f"'{name}' has no place: NPE knows {ROWS} rows and {COLUMNS} columns of routers; "
                "export it to perfetto instead"
            )
        return sip * self.count + cube, row, column

    def place(self, resource: str) -> Place | None:
        """The link of the file that a link of the machine is; None where the format has none."""
        source, arrow, target = resource.partition("->")
        if not arrow:
            return None
        a, b = self.core(source), self.core(target)
        if a is not None and b is not None:
            side = _SIDES.get((b[1] - a[1], b[2] - a[2]))
            return Place(a, b, side) if side is not None and a[0] == b[0] else None
        core, other = (a, target) if a is not None else (b, source)
        if core is None or "ucie" in other:
            return None
        network = "NOC0" if re.search(r"\.pe\d+\.pe_", other) else "NOC1"
        return Place(core, core, f"{network}_{'IN' if a is None else 'OUT'}")

    def chips(self, devices: set[int]) -> dict[str, list[int]]:
        """Where each cube is drawn: packages side by side."""
        found = {}
        for device in sorted(devices):
            sip, cube = divmod(device, self.count)
            x, y = cube % self.wide + sip * (self.wide + 1), cube // self.wide
            found[str(device)] = [x, y, 0, 0]
        return found


def write(
    out: BinaryIO, tables: Mapping[str, pa.Table], links: list[str], window: Window, cubes: Cubes
) -> None:
    """Write the file; ``links`` are all of the machine. ``UsageError`` where nothing crossed a mesh."""
    places = {name: place for name in links if (place := cubes.place(name)) is not None}
    start = window.spans[0][0]
    transfers = list(_transfers(tables, window, start, places))
    if not transfers:
        raise UsageError(f"nothing crossed a mesh of routers in {window.name}: NPE has nothing to show")
    demand = _Demand(tables, window, places)
    steps: list[dict[str, Any]] = []
    for number, (begin, end) in enumerate(demand.steps):
        shares = demand.of_step(number)
        steps.append(
            {
                "start_cycle": _cycles(begin - start),
                "end_cycle": _cycles(end - start),
                "active_transfers": [
                    one["id"]
                    for one in transfers
                    if one["start_cycle"] < _cycles(end - start) and one["end_cycle"] > _cycles(begin - start)
                ],
                "avg_link_demand": demand.average(shares),
                "avg_link_util": demand.average(shares),
                "noc": demand.by_network(shares),
                "link_demand": [[*place.link, share] for place, share in shares.items()],
            }
        )
    mean = demand.mean()
    means = {network: demand.mean(network) for network in NETWORKS}
    found = {
        "common_info": {
            "version": "1.0.0",
            "arch": "kernbench",
            "mesh_device": "kernbench",
            "device_name": "kernbench",
            "congestion_model_name": "none",
            "cycles_per_timestep": max(_cycles(demand.steps[0][1] - demand.steps[0][0]), 1),
            "num_rows": max(place.at[1] for place in places.values()) + 1,
            "num_cols": max(place.at[2] for place in places.values()) + 1,
            "link_util": mean,
            "link_demand": mean,
            "max_link_demand": max(step["avg_link_demand"] for step in steps),
            "noc": {
                network: {
                    "avg_link_demand": of,
                    "avg_link_util": of,
                    "max_link_demand": max(step["noc"][network]["avg_link_demand"] for step in steps),
                }
                for network, of in means.items()
            },
        },
        "chips": cubes.chips({place.at[0] for place in places.values()}),
        "noc_transfers": transfers,
        "timestep_data": steps,
    }
    out.write(json.dumps(found, allow_nan=False, separators=(",", ":")).encode())


class _Demand:
    """Utilisation in percent by link of the file; the busiest counts where one stands for several."""

    def __init__(self, tables: Mapping[str, pa.Table], window: Window, places: Mapping[str, Place]) -> None:
        names, edges, shares = use_over_time(tables, window, STEPS)
        self.steps = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        distinct = {(place.at, place.name) for place in places.values()}
        self._all = {
            network: sum(name.startswith(network) for _, name in distinct) for network in ("", *NETWORKS)
        }
        columns: dict[tuple[At, str], list[int]] = {}
        self._place: dict[tuple[At, str], Place] = {}
        for column, name in enumerate(names):
            if (place := places.get(name)) is not None:
                columns.setdefault((place.at, place.name), []).append(column)
                self._place[place.at, place.name] = place
        self._shares = {key: shares[:, at].max(axis=1) * 100 for key, at in columns.items()}
        self._lengths = np.diff(window.covered(edges))

    def of_step(self, number: int) -> dict[Place, float]:
        """Those that were busy in an interval."""
        return {
            self._place[key]: round(float(values[number]), 3)
            for key, values in self._shares.items()
            if values[number] > 0
        }

    def mean(self, network: str = "") -> float:
        """The mean over all links of a network, or of both, and over the whole window."""
        of = [values for (_, name), values in self._shares.items() if name.startswith(network)]
        sums = sum(of, np.zeros(STEPS))
        return float(np.average(sums, weights=self._lengths)) / max(self._all[network], 1)

    def average(self, shares: Mapping[Place, float], network: str = "") -> float:
        """The mean over all links of a network, or of both, idle ones too."""
        of = (share for place, share in shares.items() if place.name.startswith(network))
        return math.fsum(of) / max(self._all[network], 1)

    def by_network(self, shares: Mapping[Place, float]) -> dict[str, dict[str, float]]:
        """The means of each network, which the viewer shows when one is chosen, and its busiest link."""
        return {
            network: {
                "avg_link_demand": self.average(shares, network),
                "avg_link_util": self.average(shares, network),
                "max_link_demand": max(
                    (share for place, share in shares.items() if place.name.startswith(network)), default=0.0
                ),
            }
            for network in NETWORKS
        }


def _transfers(
    tables: Mapping[str, pa.Table], window: Window, start: float, places: Mapping[str, Place]
) -> Iterator[dict[str, Any]]:
    """Every transaction that crossed such a link within the window: what carried its data, else all of it."""
    hop = tables["Hop"]
    inside = window.touches(hop["t_start"].to_numpy(), hop["t_out"].to_numpy())
    rows = hop.filter(pa.array(inside)).sort_by([("txn", "ascending"), ("seq", "ascending")]).to_pylist()
    known = {one["number"]: one for one in tables["Transaction"].to_pylist()}
    for number, own in groupby(rows, key=lambda row: int(row["txn"])):
        crossed = [row for row in own if row["resource"] in places]
        crossed = [row for row in crossed if row["bytes"] > 0] or crossed
        if not crossed:
            continue
        kind, nbytes = str(known[number]["kind"]), int(known[number]["bytes"])
        parts = [_part(group, nbytes, start, places) for group in _segments(crossed, places)]
        yield {
            "id": number,
            "noc_event_type": "READ" if "read" in kind else "WRITE" if "write" in kind else kind.upper(),
            "fabric_event_type": len({part["device_id"] for part in parts}) > 1,
            "total_bytes": nbytes,
            "src": parts[0]["src"],
            "dst": parts[-1]["dst"],
            "start_cycle": min(part["start_cycle"] for part in parts),
            "end_cycle": max(part["end_cycle"] for part in parts),
            "route": parts,
        }


def _segments(rows: list[dict[str, Any]], places: Mapping[str, Place]) -> Iterator[list[dict[str, Any]]]:
    """Pieces of a route on one device and network, each link where the one before ended."""
    piece: list[dict[str, Any]] = []
    for row in rows:
        place = places[row["resource"]]
        if piece:
            last = places[piece[-1]["resource"]]
            if last.to != place.at or last.name[:4] != place.name[:4] or last.name.endswith("OUT"):
                yield piece
                piece = []
        piece.append(row)
    yield piece


def _part(
    rows: list[dict[str, Any]], nbytes: int, start: float, places: Mapping[str, Place]
) -> dict[str, Any]:
    own = [places[row["resource"]] for row in rows]
    begin = _cycles(min(row["t_start"] for row in rows) - start)
    end = _cycles(max(row["t_out"] for row in rows) - start)
    return {
        "device_id": own[0].at[0],
        "src": list(own[0].at),
        "dst": [list(own[-1].to)],
        "noc_type": own[0].name[:4],
        "injection_rate": nbytes / (end - begin) if end > begin else 0.0,
        "start_cycle": begin,
        "end_cycle": end,
        "links": [place.link for place in own],
    }


def _cycles(ns: float) -> int:
    return round(ns * 1000)
