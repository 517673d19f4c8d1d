"""Component to component over one link, with weights that make shortest paths unique where geometry can.

Many paths through a mesh weigh the same, and an engine returns any of them. ``weight_east`` and
``weight_west`` add to each link a little that settles ties and is too small to do anything else: first the
same for every link, so that fewer links win (it also keeps every weight above zero, without which LadybugDB
0.22 returns broken paths), and then a share of its vertical extent that shrinks towards the right or the
left. Among equal paths to a target further right (left), the one whose vertical steps lie furthest right
(left) is the least, and that is the path that goes X first, then Y.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_PER_LINK_MM = 1e-5
"""What every link adds: a hundred of them are still less than any two routing weights differ by."""
_VERTICAL_MM = _PER_LINK_MM / 2
"""The most that the vertical steps of a path add together, so that they never outweigh a link. A path is
taken to climb up to four times the height of the package."""


def connects_table(components: pa.Table, links: pa.Table) -> pa.Table:
    """Rows ``from, to, link, kind, weight, weight_east, weight_west`` from the tables of a topology."""
    weight = links["routing_weight"].to_numpy()
    extent, right, height = _geometry(components, links)
    low = float(right.min()) if len(right) else 0.0
    span = float(right.max()) - low if len(right) else 0.0
    scale = _VERTICAL_MM / (4 * height * span) if height and span else 0.0
    return pa.table(
        {
            "from": links["src"],
            "to": links["dst"],
            "link": links["id"],
            "kind": links["kind"],
            "weight": weight,
            "weight_east": weight + _PER_LINK_MM + scale * extent * (low + span - right),
            "weight_west": weight + _PER_LINK_MM + scale * extent * (right - low),
        }
    )


def _geometry(components: pa.Table, links: pa.Table) -> tuple[FloatArray, FloatArray, float]:
    """Of each link, its vertical extent and its middle's x; of all, the height. In mm."""
    if not links.num_rows:
        return np.zeros(0), np.zeros(0), 0.0
    ids = components["id"].combine_chunks()
    source = pc.index_in(links["src"].combine_chunks(), value_set=ids).to_numpy()
    target = pc.index_in(links["dst"].combine_chunks(), value_set=ids).to_numpy()
    x, y = components["x_mm"].to_numpy(), components["y_mm"].to_numpy()
    return np.abs(y[target] - y[source]), (x[target] + x[source]) / 2, float(y.max() - y.min())
