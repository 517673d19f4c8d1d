"""The fabric under load against a simulation of the same rules with explicit queues.

The reference here knows nothing of the engine: every flit stands in a list in front of a worker or a link
until it is served, and time goes from one event to the next.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.engine.core.clock import Clock
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.node import TRANSIT, FabricNode, Link, path_over
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.support.pgraph import Edge, Properties

FLIT = 256


class _Transit(FabricNode):
    role = TRANSIT


class _End(FabricNode):
    def __init__(self, name: str, overhead_ns: float, clock: Clock) -> None:
        super().__init__(name, overhead_ns)
        self.clock = clock
        self.got: dict[int, float] = {}

    def receive(self, packet: Packet) -> None:
        self.got[packet.transaction.id] = self.clock.now


@dataclass
class Message:
    source: int
    via: tuple[int, ...]
    target: int
    nbytes: int
    start: float


@dataclass
class Case:
    overheads: list[float]
    waits_for_all: list[bool]
    bandwidths: dict[tuple[int, int], float] = field(default_factory=dict)
    delays: dict[tuple[int, int], float] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(3, 6))
    tenth = st.integers(0, 40).map(lambda n: n / 8)
    case = Case(
        draw(st.lists(tenth, min_size=count, max_size=count)),
        draw(st.lists(st.booleans(), min_size=count, max_size=count)),
    )
    for _ in range(draw(st.integers(1, 7))):
        order = draw(st.permutations(range(count)))
        length = draw(st.integers(2, count))
        names = order[:length]
        nbytes = draw(st.integers(0, 1500))
        case.messages.append(Message(names[0], tuple(names[1:-1]), names[-1], nbytes, draw(tenth)))
        for pair in itertools.pairwise(names):
            case.bandwidths.setdefault(pair, draw(st.sampled_from([64.0, 128.0, 256.0, 100.0])))
            case.delays.setdefault(pair, draw(st.sampled_from([0.0, 0.5, 0.03])))
    return case


def reference(case: Case) -> list[float]:
    """Arrival of every message, overhead of its target paid."""
    ends: list[float] = [0.0] * len(case.messages)
    events: list[tuple[float, int, int, int]] = []  # time, message, hop, flit: arrival at a node
    sizes = []
    for m in case.messages:
        flits = [FLIT] * (m.nbytes // FLIT) + ([m.nbytes % FLIT] if m.nbytes % FLIT or not m.nbytes else [])
        sizes.append(flits)
    worker_free = [0.0] * len(case.overheads)
    link_free = dict.fromkeys(case.bandwidths, 0.0)
    seen: dict[tuple[int, int], int] = {}
    launches = sorted((m.start, i) for i, m in enumerate(case.messages))
    # An entry with flit -1 puts a whole message onto its link; those follow flits at equal times, in the
    # order in which they were asked for.
    asked = 0
    later: list[tuple[float, int, int, int]] = []
    for start, i in launches:
        heapq.heappush(later, (start, asked, i, 0))
        asked += 1
    while events or later:
        if later and (not events or later[0][0] < events[0][0]):
            now, _, i, hop = heapq.heappop(later)
            whole = range(len(sizes[i]))
        else:
            now, i, hop, flit = heapq.heappop(events)
            m = case.messages[i]
            way = (m.source, *m.via, m.target)
            node = way[hop]
            last = flit == len(sizes[i]) - 1
            seen[i, hop] = seen.get((i, hop), 0) + 1
            assert seen[i, hop] == flit + 1, "a flit overtook another"
            if node == m.target or case.waits_for_all[node]:
                if not last:
                    continue
                worker_free[node] = max(now, worker_free[node]) + case.overheads[node]
                if node == m.target:
                    ends[i] = worker_free[node]
                else:
                    heapq.heappush(later, (worker_free[node], asked, i, hop))
                    asked += 1
                continue
            if flit == 0:
                worker_free[node] = max(now, worker_free[node]) + case.overheads[node]
            now = max(now, worker_free[node])
            whole = range(flit, flit + 1)
        m = case.messages[i]
        way = (m.source, *m.via, m.target)
        pair = (way[hop], way[hop + 1])
        for flit in whole:
            link_free[pair] = max(now, link_free[pair]) + sizes[i][flit] / case.bandwidths[pair]
            heapq.heappush(events, (link_free[pair] + case.delays[pair], i, hop + 1, flit))
    return ends


@settings(deadline=None, max_examples=400)
@given(cases())
def test_loaded_fabric_agrees_with_explicit_queues(case: Case) -> None:
    clock = Clock()
    fabric = Fabric(clock, FLIT)
    targets = {m.target for m in case.messages}
    nodes: list[FabricNode] = []
    for i, overhead in enumerate(case.overheads):
        node: FabricNode
        if i in targets:
            node = _End(f"n{i}", overhead, clock)
            node.role = 1 if case.waits_for_all[i] else TRANSIT
        else:
            node = _Transit(f"n{i}", overhead)
            node.role = 1 if case.waits_for_all[i] else TRANSIT
        node.index = i
        nodes.append(node)
    links = {}
    for n, (pair, bandwidth) in enumerate(case.bandwidths.items()):
        wire: Properties = {"kind": "wire", "bw_gbs": bandwidth, "delay_ns": case.delays[pair]}
        links[pair] = Link(Edge(f"{pair}", f"n{pair[0]}", f"n{pair[1]}", "LINK", wire), FLIT)
        links[pair].index = 100 + n
    transactions = []
    for i, m in enumerate(case.messages):
        way = (m.source, *m.via, m.target)
        path = path_over([nodes[n] for n in way], [links[p] for p in itertools.pairwise(way)])
        transactions.append(Transaction(i, "m", "", "", m.nbytes, m.start, path))
    for start, i in sorted((m.start, i) for i, m in enumerate(case.messages)):
        packet = Packet(transactions[i], transactions[i].path, case.messages[i].nbytes, FLIT)
        clock.call_at(start, fabric.send, packet)
    while clock.entries:
        clock.step()
    expected = reference(case)
    for i, m in enumerate(case.messages):
        node = nodes[m.target]
        assert isinstance(node, _End)
        assert abs(node.got[i] - expected[i]) < 1e-9
        rows = transactions[i].rows
        assert abs(sum(r.service_ns + r.wait_ns for r in rows) - (node.got[i] - m.start)) < 1e-6
        assert abs(sum(r.wait_ns for r in rows) - sum(w.ns for w in transactions[i].waits)) < 1e-9
        assert all(w.holder != i for w in transactions[i].waits)
    for pair, link in links.items():
        crossing = [
            m.nbytes
            for m in case.messages
            if pair in set(zip((m.source, *m.via), (*m.via, m.target), strict=True))
        ]
        assert (link.bytes, link.transactions) == (sum(crossing), len(crossing))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_message_without_a_link_is_refused(streamed: bool) -> None:
    clock = Clock()
    fabric, here = Fabric(clock, FLIT), _End("here", 0.0, clock)
    path = path_over([here], [])
    packet = Packet(Transaction(0, "write", "here", "here", FLIT, 0.0, path), path, FLIT, FLIT)
    if streamed:
        fabric.stream(packet, [1.0])
    with pytest.raises(IndexError, match="a message of write has no link to be sent over"):
        clock.run() if streamed else fabric.send(packet)
