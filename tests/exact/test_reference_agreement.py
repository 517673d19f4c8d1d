"""The engine under load agrees with the independent reference on every transaction's end, to 1e-9 ns.

``-m slow -s`` runs thousands of cases and prints how many there were and how large the largest was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from kernbench.engine.components import access
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.transaction import Packet
from tests.conftest import patches_the_engine
from tests.exact.reference import cases as kept
from tests.exact.reference.cases import TOPOLOGIES, Agreement, Bench, Case, Flow, cases
from tests.examples import examples

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = 200
"""Generated cases a machine in the slow test."""


@pytest.mark.daily(
    "minimal",
    "two SIPs",
    "four cubes",
    "one to one",
    "penalties",
    "serial engines",
    "virtual channels",
    "arbiters",
    "latencies",
    "buffers",
    "a chain with credits",
    "two engines",
    "no distance",
)
@pytest.mark.parametrize("name", TOPOLOGIES)
@examples(20, suppress_health_check=QUIET)
@given(case=cases())
def test_every_transaction_ends_when_the_reference_says(name: str, case: Case) -> None:
    Agreement().compare(name, case)


PATTERNS: dict[str, Callable[[random.Random], tuple[int, str, int]]] = {
    "merge": lambda r: (r.randrange(24), "hbm", 3),
    "hot spots": lambda r: (r.randrange(-2, 24), "hbm", r.choice([0, 0, 0, 5, 9])),
    "crossing": lambda r: (p := r.randrange(24), r.choice(["hbm", "tcm"]), 23 - p),
    "all to all": lambda r: (r.randrange(-4, 24), r.choice(["hbm", "hbm", "sram"]), r.randrange(24)),
    "memories of a PE": lambda r: (r.randrange(4), r.choice(["hbm", "tcm", "sram", "port"]), r.randrange(4)),
}
"""Who sends to which memory."""


def patterned(pattern: str, seed: int, flows: int, most_bytes: int) -> Case:
    """``flows`` transfers of a pattern within a short time, so that queues grow long."""
    draw = random.Random(f"{pattern} {seed}")
    case = []
    for _ in range(flows):
        source, memory, target = PATTERNS[pattern](draw)
        offset = 256 * draw.randrange(64) if draw.random() < 0.7 else draw.randrange(10_000)
        nbytes = draw.randrange(1, most_bytes)
        start = 0.5 * draw.randrange(4 * flows)
        case.append(Flow(source, memory, target, offset, nbytes, draw.random() < 0.5, start))
    return case


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", ["minimal", "four cubes", "penalties", "one to one, penalties"])
def test_patterns_with_long_queues(name: str, pattern: str) -> None:
    Agreement().compare(name, patterned(pattern, 0, 24, 3000))


HELD_BACK = [Flow(0, "tcm", 0, 0, 256, False, 0.0)] * 3 + [Flow(1, "tcm", 0, 0, 256, False, 0.0)]
"""PE 1 reads PE 0's TCM, past PE 0's DMA, while that sends reads of its own over the same link."""
IN_ORDER = [Flow(0, "tcm", 5, 0, 1536, False, 0.0), Flow(1, "tcm", 5, 0, 1280, True, 0.0)]
"""An acknowledgement and later flits of read data leave one worker at one time: as they came."""
SHARED_PORT = [Flow(0, "tcm", 0, 0, 256, False, 0.0), Flow(0, "port", 0, 0, 1280, False, 0.0)]
"""A read over the fabric and one by the PE itself meet at a TCM port that has an overhead."""


@pytest.mark.parametrize("case", [HELD_BACK, IN_ORDER, SHARED_PORT], ids=["held back", "in order", "port"])
def test_cases_that_once_disagreed(case: Case) -> None:
    for name in ("penalties", "penalties, two PEs"):
        Agreement().compare(name, case)


CHANNEL_BEFORE_LINK = [Flow(0, "hbm", 5, 0, 1792, False, 0.0), Flow(0, "hbm", 5, 768, 256, False, 0.0)]
"""A request comes while the last flit of another leaves: it gets the channel before the link is free."""


def test_a_channel_is_given_before_the_link_is_free() -> None:
    Agreement().compare("buffers, pipelined", CHANNEL_BEFORE_LINK)


def _book_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PeDma, "sends", False)


def _pay_at_the_door(patch: pytest.MonkeyPatch) -> None:
    made = PeTcm.__init__

    def init(self: PeTcm, *args: object) -> None:
        made(self, *args)  # type: ignore[arg-type]
        self.entry_ns, self.overhead_ns = self.overhead_ns, 0.0

    patch.setattr(PeTcm, "__init__", init)


def _forget_the_penalty(patch: pytest.MonkeyPatch) -> None:
    burst = HbmSlice.burst

    def no_turns(self: HbmSlice, packet: Packet, flit: int, time: float, writing: bool) -> object:
        for number in range(len(self.channels)):
            self.directions.at[number] = 1.0 if writing else -1.0
        return burst(self, packet, flit, time, writing)

    patch.setattr(HbmSlice, "burst", no_turns)


def _overtake(patch: pytest.MonkeyPatch) -> None:
    inject = Fabric.inject

    def jump_the_queue(self: Fabric, packet: Packet, hop: int) -> None:
        link = packet.path.links[hop]
        if not packet.nbytes:
            link.free = self.clock.now
        inject(self, packet, hop)

    patch.setattr(Fabric, "inject", jump_the_queue)


def _one_request_after_another(patch: pytest.MonkeyPatch) -> None:
    def send_all(fabric: Fabric, packets: Sequence[Packet], hop: int) -> None:
        for packet in packets:
            fabric.inject(packet, hop)

    patch.setattr(access, "inject_together", send_all)


def _pay_for_every_request(patch: pytest.MonkeyPatch) -> None:
    prepare = Packet.prepare

    def pays(self: Packet, *args: object) -> None:
        prepare(self, *args)  # type: ignore[arg-type]
        self.pays = True

    patch.setattr(Packet, "prepare", pays)


TURNS = [Flow(0, "hbm", 0, 0, 4096, turn % 2 == 0, 0.0) for turn in range(6)]


@patches_the_engine
@pytest.mark.parametrize(
    ("breakage", "case"),
    [
        (_book_early, HELD_BACK),
        (_pay_at_the_door, SHARED_PORT),
        (_forget_the_penalty, TURNS),
        (_overtake, TURNS),
    ],
    ids=["booked early", "paid at the door", "no penalty", "overtaking"],
)
def test_a_broken_engine_disagrees(
    breakage: Callable[[pytest.MonkeyPatch], None], case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    Agreement().compare("penalties", case)
    breakage(monkeypatch)
    monkeypatch.setattr(kept, "bench", Bench)  # a machine that is wired after it
    with pytest.raises(AssertionError, match="ns in the engine and at"):
        Agreement().compare("penalties", case, check=False)


@patches_the_engine
@pytest.mark.parametrize("breakage", [_one_request_after_another, _pay_for_every_request])
def test_an_engine_with_broken_channel_requests_disagrees(
    breakage: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    Agreement().compare("one to one, penalties", TURNS)
    breakage(monkeypatch)
    monkeypatch.setattr(kept, "bench", Bench)  # a machine that is wired after it
    with pytest.raises(AssertionError, match="ns in the engine and at"):
        Agreement().compare("one to one, penalties", TURNS, check=False)


def test_cases_hold_contention() -> None:
    """The generator's cases are about waiting: in a typical one, transactions stand behind others."""
    agreement = Agreement()
    agreement.compare("four cubes", patterned("hot spots", 1, 30, 2000))
    assert agreement.waited > agreement.transactions // 2


@pytest.mark.slow
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_thousands_of_cases(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    agreement = Agreement()

    @settings(deadline=None, max_examples=MANY, suppress_health_check=QUIET, database=None)
    @given(case=cases(20))
    def generated(case: Case) -> None:
        agreement.compare(name, case, check=False)

    generated()
    for pattern in PATTERNS:
        for seed in range(1, 6):
            agreement.compare(name, patterned(pattern, seed, 40, 4000))
    with capsys.disabled():
        print(f"\n{name}: {agreement}")
    assert agreement.cases >= MANY


@pytest.mark.slow
@pytest.mark.parametrize("name", ["oblong", "four cubes", "penalties"])
def test_a_large_case(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    agreement = Agreement()
    agreement.compare(name, patterned("all to all", 99, 400, 30_000))
    with capsys.disabled():
        print(f"\n{name}: {agreement}")
