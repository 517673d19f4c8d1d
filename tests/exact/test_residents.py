"""How many blocks of a grid a PE has at once: as its warps, its scratch and what they load allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language.residents import Room

OF_FOUR: dict[str, Any] = {"cube.pes": {"count": 4, "corners": ["NW"]}, "memory.interleave": "package"}


@triton.jit
def squares(x, out):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    a = tl.load(x + at)
    tl.store(out + at, a * a)


def blocks_at_once(blocks: int, keys: dict[str, Any], kernel: Any = squares, **launch: Any) -> list[int]:
    """Of each PE how many blocks it had at once: loads issued before its first store."""
    x = np.arange(blocks * 256, dtype=np.float32) % 50
    machine = kb.load_topology("minimal", {**OF_FOUR, "pe.pe_dma.outstanding": 64, **keys})
    done = kb.run_kernel(kernel[(blocks,)], x, out=x.copy(), topology=machine, **launch)
    np.testing.assert_array_equal(done.output, x * x)
    ops, found = done.run.ops, {}
    rows = list(zip(ops["component"], ops["name"], ops["t_ready"], strict=True))
    for pe in sorted({at for at, name, _ in rows if name == "dma_write"}):
        first = min(ready for at, name, ready in rows if (at, name) == (pe, "dma_write"))
        found[pe] = sum(at == pe and name == "dma_read" and ready < first for at, name, ready in rows)
    return list(found.values())


@pytest.mark.daily("64-3-*", "4-64-*", "6-64-*")
@pytest.mark.parametrize(
    ("blocks", "warps", "launch", "expected"),
    [
        (64, 0, {}, [1] * 4),
        (64, 16, {}, [4] * 4),
        (64, 16, {"num_warps": 8}, [2] * 4),
        (64, 3, {}, [1] * 4),
        (64, 16, {"residents": 3}, [3] * 4),
        (4, 64, {}, [1] * 4),
        (6, 64, {}, [2, 2, 1, 1]),
    ],
)
def test_a_pe_has_the_blocks_that_its_warps_allow(
    blocks: int, warps: int, launch: dict[str, int], expected: list[int]
) -> None:
    assert blocks_at_once(blocks, {"pe.warps": warps}, **launch) == expected


def test_and_those_that_its_scratch_has_room_for() -> None:
    """A block keeps 1 KiB that it loads and 1 KiB that it makes of it, and a quarter more is asked for."""
    keys = {"pe.warps": 64, "pe.pe_tcm.scratch_bytes": 3 * 2560}
    assert blocks_at_once(64, keys) == [3] * 4
    assert blocks_at_once(64, {**keys, "pe.pe_tcm.scratch_bytes": 3 * 2560 - 16}) == [2] * 4


def test_where_a_block_depends_on_what_it_loads_a_pe_has_one() -> None:
    @triton.jit
    def looking(x, turns, out):  # type: ignore[no-untyped-def]
        at = tl.program_id(0) * 256 + tl.arange(0, 256)
        for _ in range(tl.load(turns)):
            tl.store(out + at, tl.load(x + at))

    x, two = np.ones(64 * 256, np.float32), np.array([2], np.int32)
    took = []
    for warps in (0, 64):
        machine = kb.load_topology("minimal", {**OF_FOUR, "pe.warps": warps})
        done = kb.run_kernel(looking[(64,)], x, two, out=0 * x, topology=machine)
        assert (done.output == 1).all()
        took.append(done.latency_ns)
    assert took[0] == took[1]


@pytest.mark.daily("2-4")
@pytest.mark.parametrize(("stages", "expected"), [(1, 4), (2, 4), (3, 3), (5, 2)])
def test_buffers_of_a_loop_count_and_nothing_is_printed_twice(
    stages: int, expected: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block keeps the sums, one more while they are added to, and n - 1 buffers, of 1 KiB each."""

    @triton.jit
    def sums(x, out):  # type: ignore[no-untyped-def]
        at = tl.program_id(0) * 256 + tl.arange(0, 256)
        tl.device_print("block", tl.program_id(0))
        total = tl.zeros((256,), tl.float32)
        for _ in range(8):
            total += tl.load(x + at)
        tl.store(out + at, total * total / 64)

    counts, count = [], Room.count
    monkeypatch.setattr(Room, "count", lambda *of: counts.append(count(*of)) or counts[-1])
    blocks_at_once(64, {"pe.warps": 64, "pe.pe_tcm.scratch_bytes": 16 << 10}, sums, num_stages=stages)
    assert counts == [expected] * 4
    assert capfd.readouterr().err.count("block (") == 64
