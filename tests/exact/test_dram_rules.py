"""Commands of a DRAM channel are legal under any traffic, and lose and reorder nothing that matters."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.components.dram_channel import DramChannel
from kernbench.engine.components.dram_state import CONFLICT, HIT, MISS, Burst
from kernbench.engine.components.dram_window import FAR
from kernbench.hardware.topology.dram import Dram, shipped
from tests.exact.dram_rules import Rules
from tests.examples import examples

TABLES = ("hbm3_6400", "hbm2_2000")
REQUESTS = st.lists(
    st.tuples(st.integers(0, 120), st.integers(0, 63), st.integers(0, 2), st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=120,
)
"""Ticks since the one before, bank, row, column, whether it is a write."""


class Asked:
    """A request, and how many of its columns found their row in which way."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.found: Counter[int] = Counter()


class Watched(DramChannel):
    """A channel that notes its commands, and which request each column is of."""

    def __init__(self, figures: dict[str, Any], tck_ns: float) -> None:
        super().__init__(figures, tck_ns, 2)
        self.log = []
        self.order: list[tuple[int, int]] = []

    def served(self, burst: Burst, at: int) -> None:
        self.order.append((at, burst.part.number))
        burst.part.found[burst.found] += 1


def counts(channel: DramChannel) -> list[int]:
    """Hits, misses and conflicts of all pseudo-channels."""
    return [sum(getattr(p, name) for p in channel.pseudos) for name in ("hits", "misses", "conflicts")]


def figures(table: str, **more: object) -> dict[str, Any]:
    made = {name: field.get_default() for name, field in Dram.model_fields.items()}
    return {**made, **more, "timing": shipped(table).figures()}


def run(
    channel: Watched, requests: list[tuple[int, int, int, int, bool]]
) -> tuple[list[Asked], list[tuple[int, int, int, int, bool]]]:
    """Let them come, each step of the channel as far as its next command; the requests with their ticks."""
    came, asked, absolute = 0, [], []
    for number, (later, bank, row, column, write) in enumerate(requests):
        came += later
        at = channel.banks[bank % len(channel.banks)]
        asked.append(Asked(number))
        channel.add(came, at, row, 1 << column, write, asked[number])
        absolute.append((came, at.number, row, column, write))
    following = 0
    while following < FAR:
        following = channel.advance(following)
    return asked, absolute


@pytest.mark.parametrize("table", TABLES)
@examples(120)
@given(
    REQUESTS,
    st.sampled_from(["open", "closed"]),
    st.sampled_from(["all_bank", "per_bank", "none"]),
    st.integers(1, 16),
)
def test_every_command_is_legal_and_all_is_served(table, requests, page, refresh, window):
    made = figures(table, page=page, refresh=refresh, read_window=window, write_window=window)
    if refresh != "none":  # often enough to be met
        made["timing"] |= {"tREFI": 900, "tREFIpb": 130}
    channel = Watched(made, 1.0)
    asked, absolute = run(channel, requests)
    assert Rules(made["timing"]).broken(channel.log) == []
    assert sorted(number for _, number in channel.order) == list(range(len(requests)))
    found = sum((one.found for one in asked), Counter())
    assert [found[how] for how in (HIT, MISS, CONFLICT)] == counts(channel)
    assert found.total() == len(requests)
    served = {number: at for at, number in channel.order}
    for i, (came, bank, row, column, write) in enumerate(absolute):
        assert served[i] >= came
        for j in range(i):
            same = absolute[j][1:4] == (bank, row, column) and (write or absolute[j][4])
            assert not same or served[j] < served[i], "a burst overtook another of the same bytes"


@pytest.mark.parametrize("table", TABLES)
@examples(40)
@given(REQUESTS, st.lists(st.integers(1, 400), min_size=1, max_size=40))
def test_how_often_it_is_asked_changes_nothing(table, requests, steps):
    """Commands are issued as late as the data of the next are through, or tick by tick: they are the same.

    Tick by tick, banks look for their oldest bursts anew each time, instead of when something has changed.
    """
    at_once, step_by_step = (Watched(figures(table), 1.0) for _ in range(2))
    run(at_once, requests)
    came, now = 0, 0
    pending = []
    for number, (later, bank, row, column, write) in enumerate(requests):
        came += later
        pending.append((came, bank, row, column, write, Asked(number)))
    while pending or step_by_step.waiting or step_by_step.reads or step_by_step.writes or step_by_step.active:
        for came, bank, row, column, write, one in pending:
            if came <= now:
                step_by_step.add(
                    came, step_by_step.banks[bank % len(step_by_step.banks)], row, 1 << column, write, one
                )
        pending = [request for request in pending if request[0] > now]
        for bank in step_by_step.banks:
            bank.looked_for = 0
        step_by_step.advance(now)
        now += steps[now % len(steps)] if not pending else 1
    assert step_by_step.order == at_once.order


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("first", [None, 5, 6])
def test_a_lone_read_takes_the_sum_of_its_commands(table, first):
    """Of row 5: miss, hit or conflict, from last edge to last edge, columns and activates on rising ones."""
    t = shipped(table)
    channel = Watched(figures(table, refresh="none"), 1.0)
    before = [] if first is None else [(0, 3, first, 0, False)]
    run(channel, [*before, (3000, 3, 5, 1, False)])
    ticks = 2 if t.half_cycles else 1
    act_edges, row_edges = round(t.act_cycles * ticks), round(t.row_cycles * ticks)

    def rising(at: int) -> int:
        return at + (1 - at % 2) if t.half_cycles else at

    at = 3000
    if first == 6:
        at = at + row_edges + t.tRP * ticks - act_edges
    if first != 5:
        at = rising(at) + act_edges + t.tRCDRD * ticks - ticks
    assert channel.order[-1][0] == rising(at)


def test_banks_share_the_work():
    channel = Watched(figures("hbm3_6400"), 1.0)
    run(channel, [(0, bank, 1, 0, False) for bank in range(64)])
    assert Counter(name for _, name, *_ in channel.log) == {"ACT": 64, "RD": 64}
    assert counts(channel) == [0, 64, 0]
