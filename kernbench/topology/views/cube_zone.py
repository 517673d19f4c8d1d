"""The HBM zone of a cube: the cells of its mesh without routers, because the HBM die is there."""

from __future__ import annotations

from collections.abc import Iterable

from kernbench.pgraph import Node, PropertyGraph
from kernbench.topology.views.axis import Axis
from kernbench.topology.views.facts import size_text, spec
from kernbench.topology.views.sheet import Sheet
from kernbench.topology.views.text import block

_PAD = 12.0


class HbmZone:
    """The zone of a mesh with ``columns`` x ``rows`` cells; there may be none."""

    def __init__(
        self,
        graph: PropertyGraph,
        routers: Iterable[Node],
        columns: int,
        rows: int,
        router: tuple[float, float],
    ) -> None:
        present = {(int(n.properties["row"]), int(n.properties["col"])) for n in routers}
        cells = [(r, c) for r in range(rows) for c in range(columns) if (r, c) not in present]
        self.rows = sorted({r for r, _ in cells})
        self.columns = sorted({c for _, c in cells})
        self.router = router
        hbm = spec(graph)["cube"]["hbm"]
        self.lines = ("HBM zone", size_text(hbm["capacity_bytes"]))
        self.tip = f"HBM: {hbm['pseudo_channels']} pseudo-channels of {hbm['channel_gbs']:g} GB/s"
        self.least, self.label_h = (side + _PAD for side in block(self.lines))

    def reserved(self) -> dict[tuple[int, int], float]:
        """Points at the top of fields that the zone's label takes."""
        if not self.rows:
            return {}
        first, last = self.columns[0], self.columns[-1]
        return {(self.rows[0], c): self.label_h for c in range(first - (first == last), max(last, first + 1))}

    def widened(self, needs: list[float]) -> list[float]:
        """Needs of the gaps between columns, with room beside a zone of one column for its label."""
        if len(self.columns) != 1:
            return needs
        column, extra = self.columns[0], (self.least - self.router[0]) / 2
        return [need + extra if gap in (column, column + 1) else need for gap, need in enumerate(needs)]

    def draw(self, sheet: Sheet, across: Axis, down: Axis) -> None:
        """Put the zone on ``sheet``, if there is one."""
        if not self.rows:
            return
        left, right = across.stop(self.columns[0] + 1), across.stop(self.columns[-1] + 1)
        top, bottom = down.stop(self.rows[0] + 1), down.stop(self.rows[-1] + 1)
        width = max(right - left + self.router[0], self.least)
        at = ((left + right - width) / 2, top - self.router[1] / 2, width, bottom - top + self.router[1])
        sheet.put("hbm_zone", "zone", at, self.lines, frame=True, tip=self.tip)
