"""Many runs as one access, against sets of bytes: the bursts touched, flits, channels, cuts, overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.engine.program.operations import Region
from kernbench.hardware.address.runs import Form, Runs, bursts_of, dealt, joined, meet, span
from kernbench.host import DPPolicy
from kernbench.values.memory_store import SimulatedMemory
from tests.examples import examples

some_bytes = st.sets(st.integers(0, 400), min_size=1, max_size=80).map(sorted)


def runs_of(read: list[int], at: int = 0) -> Runs:
    here = set(read)
    starts = [b for b in read if b - 1 not in here]
    sizes = [next(n for n in range(500) if b + n not in here) for b in starts]
    return Runs(Form(np.array(starts) - starts[0], np.array(sizes)), at + starts[0])


def bytes_of(runs: list[Region] | Runs) -> list[int]:
    return [b for start, size in runs for b in range(start, start + size)]


@given(some_bytes, st.integers(0, 90), st.integers(2, 6), st.sampled_from([8, 16, 24, 64]))
@examples(200)
def test_each_burst_that_is_touched_is_asked_for_with_the_flit_that_brings_its_last_byte(
    read: list[int], at: int, shift: int, flit: int
) -> None:
    runs = runs_of(read, at)
    bursts = bursts_of(runs.form, runs.at, shift, flit, 3)
    moved = bytes_of(runs)
    assert sum(bursts.sizes) == len(moved) == runs.nbytes
    assert sorted({b >> shift for b in moved}) == sorted(set(bursts.places.tolist()))
    if flit >= 1 << shift:
        touched = [
            n for start, size in runs for n in range(start >> shift, ((start + size - 1) >> shift) + 1)
        ]
        assert len(bursts.places) == len(touched) or flit & (flit - 1)
    assert len(bursts.ends) == -(-len(moved) // flit)
    assert bursts.ends[-1] == len(bursts.sizes)
    first = 0
    for n, end in enumerate(bursts.ends):
        assert end > first
        assert n * flit < sum(bursts.sizes[: first + 1])
        assert sum(bursts.sizes[:end]) <= (n + 1) * flit
        first = end
    channels = (bursts.places & 3).tolist()
    assert [channels.index(c) for c in sorted(set(channels))] == sorted(
        np.flatnonzero(bursts.opens).tolist(), key=lambda i: channels[i]
    )
    assert sum(bursts.closes) == len(set(channels))


@given(some_bytes, st.integers(0, 90), st.sampled_from([4, 12, 64]), st.sampled_from([2, 3, 4]))
@examples(100)
def test_the_parts_of_members_are_the_bytes_of_the_runs(
    read: list[int], at: int, size: int, count: int
) -> None:
    runs = runs_of(read, at)
    moved = bytes_of(runs)
    found = {c: bytes_of(Runs(form, runs.at)) for c, form in dealt(runs.form, runs.at, size, count, False)}
    assert found == {c: mine for c in range(count) if (mine := [b for b in moved if b // size % count == c])}
    packed = {c: bytes_of(Runs(form, 0)) for c, form in dealt(runs.form, runs.at, size, count, True)}
    assert packed == {c: [b // size // count * size + b % size for b in mine] for c, mine in found.items()}


@given(some_bytes, some_bytes, st.integers(0, 400), st.integers(1, 200))
@examples(200)
def test_runs_meet_are_cut_and_joined_as_their_bytes_are(
    a: list[int], b: list[int], begin: int, size: int
) -> None:
    one, other = runs_of(a), runs_of(b)
    assert meet(one, other) == bool({*a} & {*b})
    assert meet(one, tuple(other)) == bool({*a} & {*b})
    assert span(one) == span(tuple(one)) == (a[0], a[-1] + 1)
    part = one.form.between(begin - one.at, begin + size - one.at)
    assert (bytes_of(Runs(part, one.at)) if part else []) == [x for x in a if begin <= x < begin + size]
    rest = [x for x in b if x not in {*a}]
    if rest:
        assert bytes_of(joined([one, runs_of(rest)])) == sorted({*a, *rest})


@given(some_bytes, st.booleans())
@examples(100)
def test_memory_gives_the_bytes_of_runs_in_order(read: list[int], whole: bool) -> None:
    memory, data = SimulatedMemory(), np.arange(512).astype(np.uint8)
    for n in range(0, 512, 512 if whole else 100):
        memory.write(n, data[n : n + (512 if whole else 100)])
    for runs in (runs_of(read), runs_of(list(range(3, 200, 7)))):
        found = memory.gather(runs, (runs.nbytes,), np.uint8)
        assert (found == data[bytes_of(runs)]).all()


@triton.jit
def rows(x: Any, out: Any, step: Any, R: tl.constexpr, C: tl.constexpr) -> None:
    r: Any
    c: Any
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    tl.store(out + r * C + c, tl.load(x + r * step + c))


@pytest.mark.daily("1-keys4", "4-keys3")
@pytest.mark.checked
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"cube.hbm.model": "dram"},
        {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"},
        {"system.address_model": "pa"},
        {"memory.interleave": "chiplet", "memory.granule_bytes": 256},
    ],
)
@pytest.mark.parametrize("pes", [1, 4])
def test_a_block_is_one_transaction_a_memory_or_channel_and_moves_its_bursts(
    keys: dict[str, Any], pes: int
) -> None:
    if pes > 1 and keys.get("system.address_model") == "pa":
        return  # shards are apart
    x, out = np.arange(16 * 96, dtype=np.float16), np.zeros((16, 32), np.float16)
    policy = DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    done = kb.run_kernel(
        rows[(1,)], x, out=out.reshape(-1), step=96, R=16, C=32,
        topology=kb.load_topology("default", keys), dp=policy,
    )  # fmt: skip
    assert (done.output == x.reshape(16, 96)[:, :32].reshape(-1)).all()
    sent = done.run.transactions
    reads = sent["bytes"][sent["kind"] == "dma_read"]
    assert reads.sum() == 16 * 64
    channels = {(b * 2) >> 8 & 7 for r in range(16) for b in range(r * 96, r * 96 + 32)}
    per_memory = len(channels) if "cube.hbm.mapping" in keys or "memory.interleave" in keys else 1
    assert per_memory <= len(reads) <= per_memory * pes
