"""Which part of a machine is at which place: names are the file's own, places are properties."""

from __future__ import annotations

from kernbench.errors import UsageError
from kernbench.hardware.kinds import component_kind
from kernbench.support.pgraph import PropertyGraph

_KEY = "places"
SLICE = "slice"
"""Stands for whatever kind has a slice of memory somewhere."""


class Places:
    """The parts of a machine by kind and (sip, cube, pe); -1 for a level that a part is above."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._found: dict[tuple[str, int, int, int], str] = {}
        for node in graph.nodes():
            p = node.properties
            sliced = "slice" in p and component_kind(node).sliced
            at = int(p["sip"]), int(p["cube"]), int(p["slice" if sliced else "pe"])
            for kind in (str(p["kind"]), SLICE) if sliced else (str(p["kind"]),):
                self._found.setdefault((kind, *at), node.id)

    def find(self, kind: str, sip: int = -1, cube: int = -1, pe: int = -1) -> str | None:
        """The part of ``kind`` there, the first of several; ``pe`` is the number of a slice."""
        return self._found.get((kind, sip, cube, pe))

    def part(self, kind: str, sip: int = -1, cube: int = -1, pe: int = -1) -> str:
        """As :meth:`find`; ``UsageError`` where there is none."""
        found = self._found.get((kind, sip, cube, pe))
        if found is None:
            at = ", ".join(
                f"{level} {n}" for level, n in (("sip", sip), ("cube", cube), ("pe", pe)) if n >= 0
            )
            where = f" at {at}" if at else ""
            raise UsageError(f"the topology has no {kind}{where}; see 'kernbench topology show'")
        return found

    def pe(self, sip: int, cube: int, pe: int) -> str:
        """Name of a PE."""
        return self.part("pe", sip, cube, pe)


def places(graph: PropertyGraph) -> Places:
    """The places of ``graph``, worked out once."""
    found = graph.worked_out.get(_KEY)
    if found is None:
        found = graph.worked_out[_KEY] = Places(graph)
    assert isinstance(found, Places)
    return found
