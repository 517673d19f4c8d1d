"""A Wormhole chip of Tenstorrent: workers and DRAM nodes on two tori whose links lead one way.

The figures are those of tt-npe's device model (tt_npe/cpp/include/device_models/wormhole_b0.hpp at 1021603,
Apache-2.0), in bytes a cycle and cycles, which are ns here. Network 0 moves east, then south; network 1 moves
north, then west. Both wrap around, so a read that leaves its row crosses all of its columns: there with the
request, back with the data. That is where the measured latencies of an idle read come from, which do not
depend on the distance: 70 cycles within a node, 84 more around a column, 100 more around a row, and 16 for
both, as each way then has a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kernbench.pgraph import PropertyGraph
from kernbench.topology.parts import Topology

ROWS, COLUMNS = 12, 10
FLIT_BYTES = 32
LINK = 30.0
"""Bytes that a link of a torus moves in a cycle."""
WIDE = 1e6
"""Of wires that never limit anything: those within a node."""
WORKER = (28.1, 28.1)
"""Bytes a cycle out of a node and into it, for both networks."""
_DRAM = (23.2, 24.0)
_DRAM_ROWS = {0: (0, 1, 5, 6, 7, 11), 5: (*range(12),)}
"""Rows of the nodes that lead to DRAM, by column."""
_NODE, _COLUMN, _ROW, _TURN = 70.0, 84.0 / ROWS, 100.0 / COLUMNS, 16.0 / 2
"""Cycles of a read within a node, of one hop along a column and along a row, and of a turn."""
DRAM_ACCESS = 120.0
"""Cycles that a read of DRAM takes beyond one of a worker's memory: fitted to the trace DRAM_TO_1x1_HEIGHT,
in which a single worker reads and waits for nobody."""
_OUTSTANDING = 128
"""Reads that a worker may have under way: more than any trace has at a time. Other nodes read nothing."""


def worker(x: int, y: int, network: int) -> str:
    """What reads and writes at column ``x`` and row ``y``, over one of the networks."""
    return f"{_place(x, y, network)}.m_cpu"


def memory(x: int, y: int, network: int) -> str:
    """The memory there, as one of the networks reaches it."""
    return f"{_place(x, y, network)}.sram"


@lru_cache(maxsize=1)
def machine() -> PropertyGraph:
    """The chip. A node is a package with a cube for each network: a cube has one sender and one memory."""
    made = Topology("wormhole", flit_bytes=FLIT_BYTES, ns_per_mm=0.0)
    for network in (0, 1):
        for x, y in _nodes():
            _add_node(made, x, y, network)
        for x, y in _nodes():
            _add_hops(made, x, y, network)
    return made.compile()


def _add_node(made: Topology, x: int, y: int, network: int) -> None:
    """Routers for rows and for columns, the port between them and the node, and what stands at the node.

    Weights keep messages from turning at ports: a turn is one wire of its own, the way round is longer.
    """
    place = _place(x, y, network)
    out, port, into, row, column = (made.add(f"{place}.r0c{i}", overhead_ns=0.0) for i in range(5))
    is_dram = y in _DRAM_ROWS.get(x, ())
    out_rate, in_rate = _DRAM if is_dram else WORKER
    # The first flit of data takes its time on the wire into the node beside the latency that is measured.
    end_ns = (_NODE - FLIT_BYTES / in_rate) / 4
    made.add(worker(x, y, network), overhead_ns=0.0, outstanding=_OUTSTANDING if _works(x, y) else 1)
    access_ns = DRAM_ACCESS if is_dram else 0.0
    made.add(memory(x, y, network), overhead_ns=0.0, access_ns=access_ns, size_bytes=1 << 20)
    for end in (worker(x, y, network), memory(x, y, network)):
        _wire(made, end, out, WIDE, end_ns)
        _wire(made, into, end, WIDE, end_ns)
    _wire(made, out, port, out_rate, 0.0)
    _wire(made, port, into, in_rate, 0.0)
    for router in (row, column):
        _wire(made, port, router, WIDE, 0.0)
        _wire(made, router, port, WIDE, 0.0)
    first, second = (row, column) if network == 0 else (column, row)
    _wire(made, first, second, LINK, _hop_ns(_TURN))


def _add_hops(made: Topology, x: int, y: int, network: int) -> None:
    """The links to the next node of the row and of the column."""
    step = 1 if network == 0 else -1
    here = _place(x, y, network)
    along_row = _place((x + step) % COLUMNS, y, network)
    along_column = _place(x, (y + step) % ROWS, network)
    _wire(made, f"{here}.r0c3", f"{along_row}.r0c3", LINK, _hop_ns(_ROW))
    _wire(made, f"{here}.r0c4", f"{along_column}.r0c4", LINK, _hop_ns(_COLUMN))


def _hop_ns(cycles: float) -> float:
    """Delay of a link that a read crosses in ``cycles``.

    Requests have no bytes here and data take a flit's time on each link, so half of that is taken off.
    """
    return cycles - FLIT_BYTES / LINK / 2


def _wire(made: Topology, a: str, b: str, gbs: float, delay_ns: float) -> None:
    made.link(a, b, "router_mesh", gbs=gbs, delay_ns=delay_ns, weight_mm=1.0, one_way=True)


def _works(x: int, y: int) -> bool:
    """Whether there is a worker at a node; the others lead to DRAM, to other chips and to the host."""
    return x % 5 != 0 and y % 6 != 0


def _nodes() -> Iterator[tuple[int, int]]:
    return ((x, y) for y in range(ROWS) for x in range(COLUMNS))


def _place(x: int, y: int, network: int) -> str:
    return f"sip{y * COLUMNS + x}.cube{network}"
