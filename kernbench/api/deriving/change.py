"""What a loss changes for the pairs of ends between which a run's transactions went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.errors import RoutingError
from kernbench.routing import Traffic

_SENDS = {"pe_dma": Traffic.PE_DMA, "m_cpu": Traffic.MCPU_DMA, "host_cpu": Traffic.HOST_MEMORY}
_MOVES = ("dma_read", "dma_write", "host_read", "host_write")


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``src dst traffic transactions reachable weight new_weight ns new_ns`` per pair whose route uses it.

    ``transactions`` are all that the run had from ``src`` to ``dst``. They are counted here: in a store each
    pair would cost a look at every transaction.
    """
    routed = asked.routed
    loss = routed.loss(str(params["lost"]))
    ends = ["src", "dst", "kind"]
    # Threads that have grouped rows outlive it: see graph.archive.
    grouped = asked.tables["Transaction"].group_by(ends, use_threads=False)
    groups = grouped.aggregate([([], "count_all")]).to_pylist()
    pairs = sorted((row["src"], row["dst"], row["kind"]) for row in groups)
    between: Counter[tuple[str, str]] = Counter()
    for row in groups:
        between[row["src"], row["dst"]] += row["count_all"]
    changed: dict[tuple[str, str, Traffic], dict[str, Any]] = {}
    for src, dst, kind in pairs:
        if kind.startswith("tcm_"):
            continue  # within a PE, where nothing is routed
        sender = str(routed.graph.node(src).properties["kind"])
        traffic = _SENDS.get(sender, Traffic.COMMAND) if kind in _MOVES else Traffic.COMMAND
        try:
            found = loss.change(src, dst, traffic)
        except RoutingError:
            continue
        if found is None:
            continue
        after = found.after
        changed[src, dst, traffic] = {
            "src": src,
            "dst": dst,
            "traffic": traffic.value,
            "transactions": between[src, dst],
            "weight": found.before.weight,
            "ns": routed.latency_ns(found.before),
            "reachable": after is not None,
            "new_weight": after.weight if after else 0.0,
            "new_ns": routed.latency_ns(after) if after else 0.0,
        }
    return list(changed.values())
