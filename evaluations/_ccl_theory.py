"""Theoretical times of all_reduce from the records, kept as data, to be drawn beside measured ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

import yaml

from kernbench.hardware.kinds.links import GREEN, ORANGE
from kernbench.support.data_files import data_dir

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@cache
def theory() -> Mapping[str, Any]:
    """The file: ``line`` has times by size, ``point`` that of one size."""
    file = data_dir("configs") / "evaluations" / "allreduce-theory.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def line_ns(nbytes: int) -> float:
    """The line at ``nbytes`` a PE, ns."""
    line = theory()["line"]
    return float(line["latency_ns"] + line["packet_ns"] * ceil(nbytes / line["packet_bytes"]))


def draw(axes: Axes, sizes: list[int], *, torus: bool) -> None:
    """The line over ``sizes``, and for a torus the point, in us; with a legend."""
    line, point = theory()["line"], theory()["point"]
    times = [line_ns(n) / 1e3 for n in sizes]
    axes.plot(sizes, times, color=ORANGE, linestyle="--", linewidth=1.2, label=line["name"])
    if torus:
        us = point["latency_ns"] / 1e3
        axes.plot([point["bytes_per_pe"]], [us], "D", color=GREEN, label=f"{point['name']}: {us:g} us")
        axes.axhline(us, color=GREEN, linestyle=":", linewidth=1.0)
    axes.legend(frameon=False, fontsize=9)


def sources() -> str:
    """A sentence for the reader of the results."""
    line, point = theory()["line"], theory()["point"]
    return (
        f"Theory: {line['name']} with packets of {line['packet_bytes']} bytes ({line['source']}); "
        f"{point['latency_ns'] / 1e3:g} us ({point['source']})."
    )
