"""Traces of a chip's transfers: how they are read, and what a barrier does to what follows it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, DeadlockError
from kernbench.hardware.kinds import Traffic
from kernbench.validation import wormhole
from kernbench.validation.noc_trace import (
    BARRIER_CYCLES,
    Chip,
    NocEvent,
    Processor,
    Trace,
    read_traces,
    replay,
)

HEAD = "trace,x,y,proc,noc,type,dx,dy,bytes,cycle\n"
CHIP = Chip(wormhole.worker, wormhole.memory)
AT = Processor(1, 1, "N")
READ, START, END = "READ", "READ_BARRIER_START", "READ_BARRIER_END"


def events(*rows: tuple[str, int]) -> Trace:
    """Reads of 2,048 bytes from (4, 1), and barriers, each with its cycle."""
    return {AT: [NocEvent(kind, 0, 4, 1, 2048 if kind == READ else 0, cycle) for kind, cycle in rows]}


def alone(nbytes: int = 2048) -> float:
    """Cycles of such a read with nothing else under way."""
    machine = Machine(wormhole.machine())
    read = machine.flow(wormhole.worker(1, 1, 0), wormhole.memory(4, 1, 0), 0, nbytes, is_write=False)
    machine.wait(read)
    return read.ns


def test_a_barrier_lasts_until_what_it_waits_for_has_come() -> None:
    trace = events((READ, 10), (START, 50), (END, 60), (READ, 65))
    # The chip left the barrier after 10 cycles; the machine leaves it when the data are there.
    left = 10 + alone() + BARRIER_CYCLES / 2
    assert replay(wormhole.machine(), CHIP, trace, closed=True) == pytest.approx(left + 5 + alone())
    assert replay(wormhole.machine(), CHIP, trace, closed=False) < left + alone()


def test_a_barrier_with_nothing_to_wait_for_takes_its_own_time() -> None:
    trace = events((START, 100), (END, 400), (START, 410), (END, 700))
    assert replay(wormhole.machine(), CHIP, trace, closed=True) == 100 + 2 * BARRIER_CYCLES + 10
    assert replay(wormhole.machine(), CHIP, trace, closed=False) == 410 + BARRIER_CYCLES


def test_processors_get_in_each_others_way() -> None:
    one = {AT: [NocEvent(READ, 0, 4, 1, 4096, 0)]}
    both = {**one, Processor(1, 2, "N"): [NocEvent(READ, 0, 4, 1, 4096, 0)]}
    times = [replay(wormhole.machine(), CHIP, trace, closed=False) for trace in (one, both)]
    assert times[1] - times[0] > 0.9 * 4096 / wormhole.WORKER[0]


def test_the_networks_are_apart_and_go_opposite_ways() -> None:
    ends = [wormhole.worker(1, 1, network) for network in (0, 1)]
    routes = [
        Machine(wormhole.machine()).router.route(end, wormhole.memory(4, 3, network), Traffic.PE_DMA)
        for network, end in enumerate(ends)
    ]
    assert [sum(link.source.rpartition(".")[0] != link.target.rpartition(".")[0] for link in route.links)
            for route in routes] == [3 + 2, 10 - 3 + 12 - 2]  # fmt: skip
    assert not set(routes[0].nodes) & set(routes[1].nodes)


def test_a_replay_that_comes_to_a_stop_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "advance", lambda self, goal: False)
    with pytest.raises(DeadlockError, match="a trace of 1 processors"):
        replay(wormhole.machine(), CHIP, events((READ, 10)), closed=True)


def test_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "t.csv.gz"
    file.write_bytes(
        gzip.compress((HEAD + "a,1,2,B,1,READ,3,4,64,7\na,1,2,B,1,READ_BARRIER_START,-1,-1,0,9\n").encode())
    )
    assert read_traces(file) == {
        "a": {Processor(1, 2, "B"): [NocEvent(READ, 1, 3, 4, 64, 7), NocEvent(START, 1, -1, -1, 0, 9)]}
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "a,1,2,B,1,ATOMIC,3,4,64,7", "t.csv:2: 'ATOMIC' is not a type of event"),
        (HEAD + "a,1,2,B,1,READ,3,4,0,7", "t.csv:2: READ of 0 bytes"),
        (HEAD + "a,1,2,B,1,READ,3,4,64,x", "t.csv:2: invalid literal"),
        (HEAD + "a,1,2,B,1,READ,3,4,64,7\na,1,2,B,1,READ,3,4,64,6", "t.csv:3: cycle 6 comes before"),
        ("trace,x\na,1", "t.csv:2: column 'type' is missing"),
        (HEAD + "a,1,2,B,1,READ,3,4,64", "t.csv:2: a cell is missing"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_traces(tmp_path / "t.csv")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
