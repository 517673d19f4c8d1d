"""What kernels need of a machine, beside PEs: who takes commands, who passes them on, and memory."""

from __future__ import annotations

from kernbench.pgraph import Node, PropertyGraph


def missing(graph: PropertyGraph) -> list[str]:
    """A sentence for each kind of part without which no kernel runs on some PE; empty without PEs."""
    of_kind: dict[str, list[Node]] = {}
    for node in graph.nodes():
        of_kind.setdefault(str(node.properties["kind"]), []).append(node)
    joined = {end for link in graph.edges("LINK") for end in (link.source, link.target)}
    hosts = of_kind.get("host_cpu", [])
    over = {"package": ("sip",), "chiplet": ("sip", "cube")}.get(str(graph.properties.get("interleave")))
    slices = {_at(node, *(over or ("sip", "cube", "slice"))) for node in of_kind.get("hbm_ctrl", [])}
    packages = {_at(node, "sip") for node in of_kind.get("io_cpu", [])}
    chiplets = {_at(node, "sip", "cube") for node in of_kind.get("m_cpu", [])}
    pes = of_kind.get("pe", [])
    lacks = {
        "its package has no io_cpu": [pe for pe in pes if _at(pe, "sip") not in packages],
        "its chiplet has no m_cpu": [pe for pe in pes if _at(pe, "sip", "cube") not in chiplets],
        "there is no hbm_ctrl for it; add one, or 'memory: interleaved' for PEs that share memory": [
            pe for pe in pes if _at(pe, *(over or ("sip", "cube", "pe"))) not in slices
        ],
        "the host CPU has no wires; join it to each package": (
            [] if any(host.id in joined for host in hosts) else pes
        ),
    }
    return [f"no kernel can run on '{found[0].id}': {why}" for why, found in lacks.items() if found]


def _at(node: Node, *levels: str) -> tuple[int, ...]:
    return tuple(int(node.properties[level]) for level in levels)
