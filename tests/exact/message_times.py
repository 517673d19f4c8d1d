"""The time of a message over an idle route, by max-plus over its flits, apart from the simulator."""

from __future__ import annotations

from kernbench.engine.core.transaction import Path


def message_ns(flit: int, route: Path, nbytes: int) -> float:
    """A message of ``nbytes`` bytes in flits of ``flit`` bytes over a route with nothing in its way, ns."""
    sizes = [flit] * (nbytes // flit) + ([nbytes % flit] if nbytes % flit or not nbytes else [])
    times = [0.0] * len(sizes)
    for node, link in zip(route.nodes[1:], route.links, strict=True):
        free, out = 0.0, []
        for at, size in zip(times, sizes, strict=True):
            free = max(at, free) + size / link.bw_gbs
            out.append(free + link.delay_ns)
        kind = str(node.node.properties["kind"])  # type: ignore[attr-defined]
        if node is route.nodes[-1] or kind == "pcie_ep":
            times = [out[-1] + node.overhead_ns] * len(sizes)
        else:
            times = [max(at, out[0] + node.overhead_ns) for at in out]
    return times[-1]
