"""A cache before the HBM controllers: what hits, what misses, what it costs, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.engine.components.hbm_cached import CachedSlice
from kernbench.engine.core.invariants import check_cache
from kernbench.engine.machine import transfers
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from kernbench.errors import ConfigError, InvariantError
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, parse
from kernbench.host import DPPolicy
from kernbench.support.pgraph import PropertyGraph
from tests.examples import examples
from tests.unit.test_interleaved import CHIP, moved

BURST, LINE = 64, 1024
USE = ("hits", "misses", "merged", "coalesced", "writes", "evictions", "written_back")


def cached(cache: str, memories: int = 1, wide: int = 128, burst: int = BURST) -> PropertyGraph:
    """The chip of the tests of interleaved memory, with channels that take 7 ns more, behind a cache."""
    text = CHIP.replace("block: die, memories: 1", f"block: die, memories: {memories}")
    text = text.replace("memory: interleaved", f"memory: {{interleave: package, cache: {{{cache}}}}}")
    text = text.replace("slice_bytes: 1 GiB", f"slice_bytes: 1 GiB, access_ns: 7, burst_bytes: {burst}")
    text = text.replace("[r, hbm], wire: noc", f"[r, hbm], wire: {{gbs: {wide}, delay_ns: 1}}")
    return compile_topology(parse(text, "f"))


def cache_of(running: Machine, number: int = 0) -> CachedSlice:
    """A controller with its cache."""
    found = running.component(f"die.hbm{number}")
    assert isinstance(found, CachedSlice)
    return found


def use(running: Machine, number: int = 0) -> dict[str, int]:
    """What all transactions made of a cache."""
    total = cache_of(running, number).total
    return {name: getattr(total, name) for name in USE}


def together(running: Machine, *reads: tuple[str, int, int]) -> list[float]:
    """ns of reads by several PEs that begin at once: PE, address in the memory that they share, bytes."""
    shared = running.addresses.shared_memory(0, 0)
    assert shared is not None
    sent = []
    for pe, at, nbytes in reads:
        source, traffic = transfers.endpoint(running, pe)
        sent.append(transfers.Transfer(pe, "", nbytes, is_write=False, t_submit=running.clock.now))
        transfers.start(running, sent[-1], source, traffic, Region(shared.base + at, nbytes))
    for transfer in sent:
        running.wait(transfer)
    return [transfer.ns for transfer in sent]


@pytest.mark.parametrize("keys", ["gbs: 48", "gbs: 512", "gbs: 512, write_gbs: 24"])
@pytest.mark.parametrize("nbytes", [64, 1000, 4096])
def test_misses_and_hits_take_what_the_closed_form_says(nbytes: int, keys: str) -> None:
    graph = cached(f"capacity: 64 KiB, {keys}, hit_ns: 20")
    route = router_of(graph).route("die.pe0.pe_dma", "die.hbm0", Traffic.PE_DMA)
    model, running = ZeroLoadModel(graph), Machine(graph, check=True)
    for hit in (False, True, True):
        said = model.read(route, nbytes, hit=hit).ns
        assert moved(running, nbytes, is_write=False) == pytest.approx(said, abs=1e-6)
    wrote = moved(running, nbytes, is_write=True, at=1 << 14)
    assert wrote == pytest.approx(model.write(route, nbytes).ns, abs=1e-6)


def test_writes_may_take_longer_than_reads() -> None:
    def took(keys: str, *, is_write: bool) -> float:
        running = Machine(cached(f"capacity: 64 KiB, {keys}", wide=4096), check=True)
        moved(running, 4096, is_write=False)
        return moved(running, 4096, is_write=is_write)

    usual, slow = (took(keys, is_write=True) for keys in ("gbs: 64", "gbs: 64, write_gbs: 16"))
    assert slow - usual == pytest.approx(4096 / 16 - 4096 / 64, abs=1e-6)
    assert took("gbs: 64, write_gbs: 16", is_write=False) == took("gbs: 64", is_write=False)


def test_what_was_written_is_read_from_the_cache() -> None:
    running = Machine(cached("capacity: 64 KiB, gbs: 512"), check=True)
    moved(running, 4096, is_write=True)
    moved(running, 4096, is_write=False)
    bursts = 4096 // BURST
    assert use(running) == {**dict.fromkeys(USE, 0), "hits": bursts, "writes": bursts}
    assert sum(channel.bytes for channel in cache_of(running).channels[:-1]) == 0


def test_equal_requests_in_flight_read_memory_once() -> None:
    graph = cached("capacity: 64 KiB, gbs: 4096", wide=4096)
    alone = together(Machine(graph), ("die.pe0", 0, 2048))
    running = Machine(graph, check=True)
    both = together(running, ("die.pe0", 0, 2048), ("die.pe1", 0, 2048))
    bursts = 2048 // BURST
    assert use(running) == {**dict.fromkeys(USE, 0), "misses": bursts, "merged": bursts}
    assert both == pytest.approx([*alone, *alone], abs=2.0)
    apart = together(Machine(graph), ("die.pe0", 0, 2048), ("die.pe1", 1 << 14, 2048))
    assert max(apart) > max(both) + 2048 / 128 - 2  # its channels have twice as much to do
    assert sum(channel.bytes for channel in cache_of(running).channels[:-1]) == 2048


@pytest.mark.parametrize("hit", [True, False])
@pytest.mark.parametrize(("most", "turns"), [(1, 4), (2, 2), (3, 2), (4, 1), (9, 1)])
def test_reads_that_share_a_turn_take_what_the_closed_form_says(most: int, turns: int, hit: bool) -> None:
    """Four PEs read the same 2048 bytes at once: the last has them after as many turns as they need."""
    nbytes, gbs = 2048, 16
    graph = cached(f"capacity: 64 KiB, gbs: {gbs}, hit_ns: 20, coalesce: {most}", wide=4096)
    route = router_of(graph).route("die.pe0.pe_dma", "die.hbm0", Traffic.PE_DMA)
    running = Machine(graph, check=True)
    if hit:
        moved(running, nbytes, is_write=False)
    before, passed = use(running), cache_of(running).cache.bytes
    took = together(running, *((f"die.pe{pe}", 0, nbytes) for pe in range(4)))
    alone = ZeroLoadModel(graph).read(route, nbytes, hit=hit).ns
    assert max(took) == pytest.approx(alone + (turns - 1) * nbytes / gbs, abs=2.0)
    assert cache_of(running).cache.bytes - passed == turns * nbytes
    assert use(running)["coalesced"] == (4 - turns) * nbytes // BURST
    assert use(running)["hits"] + use(running)["merged"] - before["hits"] == (3 + hit) * nbytes // BURST


@pytest.mark.parametrize("write_back", ["true", "false"])
def test_a_turn_is_shared_until_it_is_over_or_what_it_reads_is_written(write_back: str) -> None:
    graph = cached(f"capacity: 64 KiB, gbs: 16, coalesce: 4, write_back: {write_back}", wide=4096)

    def coalesced(*accesses: tuple[int, bool, float]) -> int:
        """Bursts that shared a turn: PE 0, 1 ... read or write so many bytes, so many ns after the first."""
        running = Machine(graph, check=True)
        moved(running, BURST, is_write=False)
        shared = running.addresses.shared_memory(0, 0)
        assert shared is not None
        sent = []
        for pe, (nbytes, is_write, after) in enumerate(accesses):
            source, traffic = transfers.endpoint(running, f"die.pe{pe}")
            at = running.clock.now + after
            sent.append(transfers.Transfer(source, "", nbytes, is_write=is_write, t_submit=at))
            region = Region(shared.base, nbytes)
            running.clock.call_at(at, partial(transfers.start, running, sent[-1], source, traffic, region))
        for one in sent:
            running.wait(one)
        return use(running)["coalesced"]

    turn = BURST / 16
    first = (BURST, False, 0.0)
    assert coalesced(first, (BURST, False, turn - 0.5)) == 1
    assert coalesced(first, (BURST, False, turn + 0.5)) == 0
    assert coalesced(first, (1, True, 1.0), (BURST, False, 2.0)) == 0
    assert coalesced(first, (32, False, 1.0), (32, False, 2.0)) == 2
    assert coalesced((32, False, 0.0), (BURST, False, 1.0)) == 0  # which reads more


def test_a_read_of_several_flits_of_a_burst_does_not_share_its_own_turn() -> None:
    running = Machine(cached("capacity: 64 KiB, gbs: 16, coalesce: 4", burst=4 * BURST), check=True)
    moved(running, 1000, is_write=False)
    assert use(running)["coalesced"] == 0
    assert cache_of(running).cache.bytes == 1000


PES = st.sampled_from(["die.pe0", "die.pe1", "die.pe2", "die.pe3"])
READS = st.lists(st.tuples(PES, st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=8)


@examples(60)
@given(st.lists(READS, min_size=1, max_size=4), st.integers(2, 5), st.sampled_from([1, 2]))
def test_the_cache_reads_what_was_asked_for_less_what_is_shared(rounds: Any, most: int, ways: int) -> None:
    took = []
    for coalesce in (1, most):
        keys = f"capacity: 4 KiB, line: {LINE}, ways: {ways}, gbs: 24, coalesce: {coalesce}"
        running = Machine(cached(keys, wide=4096), check=True)
        said = [
            together(running, *((pe, at * BURST, count * BURST) for pe, at, count in reads))
            for reads in rounds
        ]
        took.append([max(times) for times in said])
        asked = sum(count for reads in rounds for _, _, count in reads)
        found = use(running)
        assert found["hits"] + found["merged"] + found["misses"] == asked
        assert cache_of(running).cache.bytes == (asked - found["coalesced"]) * BURST
        assert found["coalesced"] <= found["hits"] + found["merged"]
        assert coalesce > 1 or not found["coalesced"]
    assert all(with_it <= without + 1e-6 for without, with_it in zip(*took, strict=True))


def test_what_is_dirty_is_written_back_before_its_room_is_used() -> None:
    running = Machine(cached("capacity: 4 KiB, gbs: 4096"), check=True)
    clean = moved(running, BURST, is_write=True, at=4096)
    moved(running, 4096, is_write=True)  # one burst is written back
    full = moved(running, BURST, is_write=True, at=4096)
    written = 4096 // BURST // 8 * 4  # 8 bursts of 4 ns by each of 8 channels
    assert full == pytest.approx(clean + written - BURST / 4096, abs=1e-6)
    assert use(running)["written_back"] == 1 + 4096 // BURST
    through = Machine(cached("capacity: 1 KiB, line: 1 KiB, gbs: 4096, write_back: false"), check=True)
    moved(through, LINE, is_write=True)
    assert use(through)["written_back"] == LINE // BURST
    assert use(through)["evictions"] == 0


def test_it_survives_launches_and_a_run_begins_cold() -> None:
    def reads(x: Any, tl: Any) -> None:
        tl.load(x.local)

    def thrice(torch: Any) -> None:
        x = torch.empty(64, 64, dtype="f16", dp=DPPolicy(num_pes=1), name="x")
        for _ in range(3):
            torch.launch("reads", reads, x)

    graph = cached("capacity: 64 KiB, gbs: 512")
    took = [
        [
            read["t_done"] - read["t_submit"]
            for read in run.tables["Transaction"].to_pylist()
            if read["kind"] == "dma_read"
        ]
        for run in (kb.run(thrice, graph) for _ in range(2))
    ]
    assert took[0] == took[1]
    assert took[0][0] > took[0][1] == took[0][2]
    machine = Machine(graph)
    cold, hit = (moved(machine, 4096, is_write=False) for _ in range(2))
    assert hit < cold
    machine.reset()
    assert moved(machine, 4096, is_write=False) == cold


@pytest.mark.checked
@pytest.mark.parametrize("memories", [1, 4])
def test_kernels_compute_right_values(memories: int) -> None:
    graph = cached("capacity: 64 KiB, gbs: 512, hit_ns: 20, ways: 4", memories)
    assert kb.run("gemm-multi-pe", graph, verify=True).verdict == "yes"


@pytest.mark.parametrize(
    "keys",
    ["gbs: 512, hit_ns: 20", "gbs: 100", "gbs: 512, line: 256, ways: 2", "gbs: 512, write_back: false"],
)
def test_a_probe_is_of_misses_and_of_writes_that_make_room(keys: str) -> None:
    """Writes of four times the capacity too, each on a machine whose caches are empty."""
    found = kb.probe(cached(f"capacity: 64 KiB, {keys}", 4), sizes=(64, 1000, 1 << 14, 1 << 16), check=True)
    assert found.ok, [finding.line for finding in found.violations]
    assert found.largest_difference_ns < 1e-6
    assert any("reads are misses" in note for note in found.notes)


class Model:
    """The least that a cache is: lines in the order of their use, and which bursts each has."""

    def __init__(self, lines: int, ways: int) -> None:
        self.ways, self.sets = ways, lines // ways
        self.lines: list[tuple[int, set[int], set[int]]] = []  # number, bursts there, bursts dirty
        self.use = dict.fromkeys(USE, 0)

    def access(self, burst: int, writing: bool) -> None:
        number, place = divmod(burst, LINE // BURST)
        found = [line for line in self.lines if line[0] == number]
        if not found:
            alike = [line for line in self.lines if line[0] % self.sets == number % self.sets]
            if len(alike) == self.ways:
                self.lines.remove(alike[0])
                self.use["evictions"] += 1
                self.use["written_back"] += len(alike[0][2])
            found = [(number, set(), set())]
        else:
            self.lines.remove(found[0])
        self.lines.append(found[0])
        _, there, dirty = found[0]
        if writing:
            self.use["writes"] += 1
            dirty.add(place)
        else:
            self.use["hits" if place in there else "misses"] += 1
        there.add(place)


ACCESSES = st.lists(st.tuples(st.integers(0, 95), st.integers(1, 40), st.booleans()), max_size=12)


USED_AGAIN = [(16 * line, 1, line == 2) for line in (0, 1, 2, 3, 0, 4, 0, 1, 2)]
"""The first line is used again before a fifth comes, so that the second makes room, and not the first."""


@examples(80)
@given(ACCESSES, st.sampled_from([1, 2, 4, 0]))
@example(USED_AGAIN, 0)
@example(USED_AGAIN, 2)
def test_the_least_recently_used_makes_room(accesses: list[tuple[int, int, bool]], ways: int) -> None:
    running = Machine(cached(f"capacity: 4 KiB, line: {LINE}, ways: {ways}, gbs: 512"), check=True)
    model = Model(4, ways or 4)
    for first, count, writing in accesses:
        moved(running, count * BURST, is_write=writing, at=first * BURST)
        for burst in range(first, first + count):
            model.access(burst, writing)
    assert use(running) == model.use
    held = [one for lines in cache_of(running).sets.values() for one in lines.values()]
    assert sorted(one.number for one in held) == sorted(line[0] for line in model.lines)


def test_a_cache_that_loses_bytes_is_found() -> None:
    running = Machine(cached("capacity: 4 KiB, gbs: 512"))
    moved(running, 512, is_write=False)
    memory = cache_of(running)
    check_cache(memory, 0.0)
    memory.channels[0].bytes += 1
    with pytest.raises(InvariantError, match="moved 513 bytes, 8 bursts of 64 were missed or written back"):
        check_cache(memory, 0.0)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("gbs: 512", r"memory\.cache\.gbs: is set without capacity"),
        ("write_gbs: 512", r"memory\.cache\.write_gbs: is set without capacity"),
        ("capacity: 1 MiB", r"memory\.cache: gbs is missing, expected GB/s above 0"),
        ("coalesce: 2", r"memory\.cache\.coalesce: is set without capacity"),
        ("capacity: 1 MiB, gbs: 512, coalesce: 0", r"memory\.cache\.coalesce: "),
        ("capacity: 5000, gbs: 512", r"f:\d+: memory\.cache\.capacity: is 5000, expected a multiple of 4096"),
        (
            "capacity: 1 MiB, gbs: 512, line: 96",
            r"memory\.cache\.line: is 96, expected a power of two from 64",
        ),
        ("capacity: 1 MiB, gbs: 512, ways: 3", r"a multiple of 12288: lines of 1 caches with 3 ways"),
        ("capacity: 1 MiB, gbs: 512, policy: lru", r"memory\.cache\.policy: "),
    ],
)
def test_what_is_no_cache_says_why(keys: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        cached(keys)


def test_what_can_have_none_says_why() -> None:
    cache: dict[str, object] = {"memory.cache.capacity": 1 << 20, "memory.cache.gbs": 512.0}
    with pytest.raises(ConfigError, match=r"has DRAM, expected a controller of 'builtin\.hbm_ctrl'"):
        kb.load_topology("minimal", {**cache, "cube.hbm.model": "dram"}).compile()
    one_to_one = {"cube.hbm.mapping": "one_to_one", "system.address_model": "la"}
    with pytest.raises(ConfigError, match="channels have routers of their own; use one of them"):
        kb.load_topology("minimal", {**cache, **one_to_one})
    assert kb.run("gemm-single-pe", kb.load_topology("minimal", cache), verify=True).verdict == "yes"


@examples(30)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 6), st.integers(0, 200), st.integers(1, 120)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([1, 3]),
)
def test_loads_of_blocks_ask_for_the_bursts_of_their_rows(
    blocks: list[tuple[int, int, int, int]], memories: int
) -> None:
    """Row by row of 512 bytes: each burst that a row touches, at the controller that has it."""
    # A single run goes flit by flit, as to any memory: a flit counts for the burst that it begins in.
    assume(all(rows > 1 or 2 * column % BURST == 0 for _, rows, column, _ in blocks))

    def load(x: Any, BLOCKS: Any) -> None:
        for row, rows, column, columns in BLOCKS:
            height, width = 1 << (rows - 1).bit_length(), 1 << (columns - 1).bit_length()
            r, c = tl.arange(0, height), tl.arange(0, width)
            there = (r[:, None] < rows) & (c[None, :] < min(columns, 256 - column))
            tl.load(x + (row + r[:, None]) * 256 + column + c[None, :], mask=there)

    def bench(torch: Any) -> None:
        x = torch.empty(48, 256, dtype="f16")
        triton.jit(load)[(1,)](x, BLOCKS=tuple(blocks))

    lines = 6 * memories
    graph = cached(f"capacity: {lines} KiB, line: {LINE}, gbs: 512", memories)
    run = kb.run(bench, graph, check=True)
    models = [Model(6, 6) for _ in range(memories)]
    for row, rows, column, columns in blocks:
        touched: dict[int, list[int]] = {}
        for at in range(row, row + rows):
            first, end = at * 512 + 2 * column, at * 512 + 2 * min(column + columns, 256)
            for burst in range(first // BURST, (end - 1) // BURST + 1):
                granule, within = divmod(burst * BURST, 4096)
                turn, memory = divmod(granule, memories)
                touched.setdefault(memory, []).append((turn * 4096 + within) // BURST)
        for memory, bursts in touched.items():
            for burst in bursts:
                models[memory].access(burst, False)
    said = [row for row in run.tables["CacheUse"].to_pylist() if row["txn"] < 0]
    counts = ("misses", "evictions")
    assert sum(row["hits"] + row["merged"] for row in said) == sum(m.use["hits"] for m in models)
    for count in counts:
        assert sum(row[count] for row in said) == sum(model.use[count] for model in models)


STACKS = """
name: stacks
system: {flit_bytes: 256, ns_per_mm: 0.0}
memory: {interleave: package, cache: {capacity: 1 MiB, ways: 16, line: 256, gbs: 2048, hit_ns: 30}}
wires:
  noc: {gbs: 1024, delay_ns: 1}
  d2d: {gbs: 1024, delay_ns: 4}
  pcie: {gbs: 64, delay_ns: 50, weight: 100}
defaults: {hbm_ctrl: {n_channels: 8, channel_gbs: 8, access_ns: 60, slice_bytes: 1 GiB}}
blocks:
  compute:
    level: chiplet
    port: r
    parts: {r: router, pe: {block: pe, count: 4}, m_cpu: m_cpu}
    connect:
      - {pair: [r, pe], wire: noc}
      - {pair: [r, m_cpu], wire: noc}
  base:
    level: chiplet
    port: r
    parts: {r: router, stack: {kind: hbm_ctrl, count: 2}}
    connect: [{pair: [r, stack], wire: noc}]
  package:
    level: package
    port: io
    parts: {xcd: {block: compute, count: 2}, iod: {block: base, count: 2}, io: router, io_cpu: io_cpu}
    connect:
      - {pair: [xcd, iod], wire: d2d}
      - {ring: iod, wire: d2d}
      - {pair: [io, "iod[0]"], wire: d2d}
      - {pair: [io, io_cpu], wire: noc}
parts: {host.cpu: host_cpu, package: package}
connect: [{pair: [host.cpu, package], wire: pcie}]
"""


@pytest.mark.checked
def test_a_package_with_a_cache_before_each_stack() -> None:
    """Eight PEs read 512 KiB, each its part, twice: at the rate of four stacks, then at that of the links."""

    def read(x: Any, PART: Any) -> None:
        tl.load(x + tl.program_id(0) * PART + tl.arange(0, PART))

    def bench(torch: Any) -> None:
        x = torch.empty(1 << 18, dtype="f16")
        for _ in range(2):
            triton.jit(read)[(8,)](x, PART=1 << 15)

    run = kb.run(bench, compile_topology(parse(STACKS, "f")))
    moved = 1 << 19
    rows = [row for row in run.tables["CacheUse"].to_pylist() if row["txn"] < 0]
    assert [(row["misses"], row["hits"], row["fetched_bytes"]) for row in rows] == [
        (moved // 256 // 4, moved // 256 // 4, moved // 4)
    ] * 4
    dealt = run.tables["Dealt"].to_pylist()
    at = {kind: sum(row["bytes"] for row in dealt if kind in row["resource"]) for kind in (".pc", ".cache")}
    assert at == {".pc": moved, ".cache": 2 * moved}  # memory had the first launch's alone
    cold, warm = (one["t_done"] - one["t_start"] for one in run.tables["Launch"].to_pylist())
    assert moved / (4 * 64) < cold < 1.2 * moved / (4 * 64)
    assert warm < cold / 2
