"""Where things lie in a cube: its router mesh and what attaches to which router.

Pure functions of a cube's measures. Positions are mm from the cube's north-west corner, x to the east
and y to the south, rounded to the nanometre so that equal distances compare equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

MARGIN_MM = 1.5
"""Distance of the outermost routers and PE centres from the cube's edge."""
HBM_OFFSET_MM = 1.5
"""Distance of the two HBM rows from the cube's horizontal middle line."""
MAX_GAP_MM = 3.0
"""Widest gap between columns; a wider one gets relay columns."""
MAX_PITCH_MM = 3.0
"""Widest distance between neighbouring PEs of a corner."""

CORNERS = ("NW", "NE", "SW", "SE")
"""Corners in the order in which PEs are numbered."""

Cell = tuple[int, int]
"""(row, column) of a router."""


@dataclass(frozen=True, slots=True)
class Zone:
    """The HBM zone: ``rows`` x ``cols`` cells from (``row``, ``col``) on; None is the middle of the mesh."""

    rows: int = 2
    cols: int = 2
    row: int | None = None
    col: int | None = None

    def cells(self, n_rows: int, n_cols: int) -> tuple[Cell, ...]:
        """Its cells in a mesh of that size.

        A zone that is centred loses the columns that are the mesh's outermost: on a narrow cube the mesh
        stays connected around it.
        """
        row = (n_rows - self.rows) // 2 if self.row is None else self.row
        col = (n_cols - self.cols) // 2 if self.col is None else self.col
        columns = range(col, col + self.cols)
        if self.col is None:
            columns = range(max(col, 1), min(col + self.cols, n_cols - 1))
        return tuple((r, c) for r in range(row, row + self.rows) for c in columns)


@dataclass(frozen=True, slots=True)
class CubeLayout:
    """The router mesh of a cube and its attachments."""

    rows_mm: tuple[float, ...]
    """y of each row."""
    cols_mm: tuple[float, ...]
    """x of each column."""
    hbm_zone: tuple[Cell, ...]
    """Cells without a router, because the HBM die is there."""
    pe_positions: tuple[tuple[float, float], ...]
    """(x, y) of each PE's centre in mm, by PE."""
    pe_cells: tuple[Cell, ...]
    """Router of each PE."""
    m_cpu: Cell
    sram: Cell
    ports: dict[str, tuple[Cell, ...]]
    """Per side (N S E W) the router of each UCIe connection."""

    def cells(self) -> tuple[Cell, ...]:
        """All cells that hold a router, row by row."""
        hole = set(self.hbm_zone)
        grid = ((r, c) for r in range(len(self.rows_mm)) for c in range(len(self.cols_mm)))
        return tuple(cell for cell in grid if cell not in hole)

    def position(self, cell: Cell) -> tuple[float, float]:
        """(x, y) of a router in mm."""
        return self.cols_mm[cell[1]], self.rows_mm[cell[0]]

    def neighbours(self) -> tuple[tuple[Cell, Cell, float], ...]:
        """Pairs of adjacent routers (each pair once) with the mm between them."""
        cells = self.cells()
        present = set(cells)
        pairs = []
        for row, col in cells:
            if (row, col + 1) in present:
                pairs.append(((row, col), (row, col + 1), _nm(self.cols_mm[col + 1] - self.cols_mm[col])))
            if (row + 1, col) in present:
                pairs.append(((row, col), (row + 1, col), _nm(self.rows_mm[row + 1] - self.rows_mm[row])))
        return tuple(pairs)


def layout(
    width_mm: float,
    height_mm: float,
    pes: int,
    corners: tuple[str, ...],
    n_connections: int,
    m_cpu_mm: tuple[float, float],
    sram_mm: tuple[float, float],
    zone: Zone = Zone(),
) -> CubeLayout:
    """Lay a cube out.

    ``pes`` are dealt evenly to ``corners`` (the first corners take what is left over); ``n_connections``
    is per UCIe port. Raises ``ValueError`` where ``height_mm`` or ``width_mm`` is too small for the rows
    (see :func:`min_height_mm`) or columns.
    """
    per_corner = deal(pes, corners)
    if width_mm <= 2 * MARGIN_MM or height_mm <= min_height_mm(per_corner, n_connections):
        raise ValueError(f"a cube of {width_mm} mm x {height_mm} mm is too small for its mesh")
    corner_xs = _pe_xs(width_mm, per_corner)
    columns = _columns(width_mm, corner_xs)
    rows, per_half = _rows(height_mm, per_corner, n_connections)
    cells_of_hbm = zone.cells(len(rows), len(columns))

    corner_rows = _corner_rows(per_corner, per_half)
    positions, cells = [], []
    for corner in CORNERS:
        for x in corner_xs.get(corner, ()):
            y = MARGIN_MM if corner[0] == "N" else _nm(height_mm - MARGIN_MM)
            positions.append((x, y))
            cells.append((corner_rows[corner], columns.index(x)))

    bare = CubeLayout(rows, columns, cells_of_hbm, tuple(positions), tuple(cells), (0, 0), (0, 0), {})
    return replace(
        bare,
        m_cpu=_nearest(bare, m_cpu_mm),
        sram=_nearest(bare, sram_mm),
        ports=_ports(bare, width_mm, n_connections, per_half),
    )


def deal(pes: int, corners: tuple[str, ...]) -> dict[str, int]:
    """PEs of each corner that has any, in the order of :data:`CORNERS`."""
    used = [c for c in CORNERS if c in corners]
    share, rest = divmod(pes, len(used))
    counts = {corner: share + (i < rest) for i, corner in enumerate(used)}
    return {corner: n for corner, n in counts.items() if n}


def rows_per_half(per_corner: dict[str, int], n_connections: int) -> int:
    """PE rows above (and as many below) the HBM rows: enough for the connections and for the corners."""
    most = max(sum(c[0] == half for c in per_corner) for half in "NS")
    return max(math.ceil(max(n_connections, 2) / 2), most)


def min_height_mm(per_corner: dict[str, int], n_connections: int) -> float:
    """Height in mm that a cube must exceed for its rows to lie apart."""
    if rows_per_half(per_corner, n_connections) > 1:
        return 2 * (MARGIN_MM + MARGIN_MM + HBM_OFFSET_MM)
    return 2 * (MARGIN_MM + HBM_OFFSET_MM)


def _nm(mm: float) -> float:
    return round(mm, 6)


def _pe_xs(width: float, per_corner: dict[str, int]) -> dict[str, tuple[float, ...]]:
    """x of the PEs of each corner, from the edge inwards; PE numbers grow with x."""
    most = max(per_corner.values())
    pitch = min(MAX_PITCH_MM, (width - 2 * MARGIN_MM) / (2 * most - 1))
    xs = {}
    for corner, count in per_corner.items():
        inwards = [MARGIN_MM + i * pitch for i in range(count)]
        xs[corner] = tuple(sorted(_nm(x if corner[1] == "W" else width - x) for x in inwards))
    return xs


def _columns(width: float, corner_xs: dict[str, tuple[float, ...]]) -> tuple[float, ...]:
    fixed = sorted({MARGIN_MM, _nm(width - MARGIN_MM), *(x for xs in corner_xs.values() for x in xs)})
    columns = fixed[:1]
    for left, right in pairwise(fixed):
        gaps = math.ceil(_nm(right - left) / MAX_GAP_MM)
        columns += [_nm(left + (right - left) * i / gaps) for i in range(1, gaps)]
        columns.append(right)
    return tuple(columns)


def _rows(height: float, per_corner: dict[str, int], n_connections: int) -> tuple[tuple[float, ...], int]:
    half = rows_per_half(per_corner, n_connections)
    last = height / 2 - HBM_OFFSET_MM - MARGIN_MM
    step = (last - MARGIN_MM) / (half - 1) if half > 1 else 0.0
    top = [_nm(MARGIN_MM + i * step) for i in range(half)] + [_nm(height / 2 - HBM_OFFSET_MM)]
    return tuple(top + [_nm(height - y) for y in reversed(top)]), half


def _corner_rows(per_corner: dict[str, int], per_half: int) -> dict[str, int]:
    rows = {}
    for half, first in (("N", 0), ("S", per_half + 2)):
        for i, corner in enumerate(c for c in per_corner if c[0] == half):
            rows[corner] = first + i
    return rows


def _nearest(mesh: CubeLayout, point: tuple[float, float]) -> Cell:
    def squared(cell: Cell) -> float:
        x, y = mesh.position(cell)
        return _nm((x - point[0]) ** 2 + (y - point[1]) ** 2)

    return min(mesh.cells(), key=lambda cell: (squared(cell), cell))


def _ports(mesh: CubeLayout, width: float, n: int, per_half: int) -> dict[str, tuple[Cell, ...]]:
    last_row, last_col = len(mesh.rows_mm) - 1, len(mesh.cols_mm) - 1
    rows = [r for r in range(last_row + 1) if r not in (per_half, per_half + 1)]
    columns = sorted({0, last_col, *(col for _, col in mesh.pe_cells)})
    left = [c for c in columns if mesh.cols_mm[c] < width / 2]
    right = [c for c in columns if mesh.cols_mm[c] >= width / 2]
    ns = spread(math.ceil(n / 2), left) + spread(n // 2, right)
    ew = spread(n, rows)
    return {
        "N": tuple((0, c) for c in ns),
        "S": tuple((last_row, c) for c in ns),
        "E": tuple((r, last_col) for r in ew),
        "W": tuple((r, 0) for r in ew),
    }


def spread(count: int, lines: list[int]) -> list[int]:
    """``count`` connections over the rows or columns ``lines``: evenly, or round robin if there are more."""
    size = len(lines)
    if count > size:
        return [lines[i % size] for i in range(count)]
    return [lines[(2 * i + 1) * size // (2 * count)] for i in range(count)]
