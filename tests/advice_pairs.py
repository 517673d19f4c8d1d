"""For each rule of advice two programs that differ by what it advises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import kernbench.tl as tl
import kernbench.triton as triton
import kernbench.triton.language as triton_tl
from kernbench.host import DPPolicy

F16 = np.float16
ONE = DPPolicy(num_cubes=1, num_pes=1)


class Pair(NamedTuple):
    """A ``rule``, a program that it finds something in, and one that has followed it."""

    rule: str
    worse: Callable[..., Any]
    better: Callable[..., Any]
    topology: str = "minimal"
    topo: Mapping[str, Any] = {}
    better_topo: Mapping[str, Any] | None = None
    """Keys of the machine for ``better``, where the advice is to change the machine."""


def program(
    kernel: Callable[..., None],
    shapes: list[tuple[int, ...]],
    dps: list[DPPolicy] | None = None,
    dtypes: list[Any] | None = None,
    times: int = 1,
    **constants: Any,
) -> Callable[..., Any]:
    """A bench that makes tensors of ones and launches a kernel on them ``times`` times."""

    def bench(torch: Any) -> None:
        given = [
            torch.from_numpy(
                np.ones(shape, dtypes[i] if dtypes else F16), dp=dps[i] if dps else ONE, name=f"x{i}"
            )
            for i, shape in enumerate(shapes)
        ]
        for _ in range(times):
            torch.launch(kernel.__name__, kernel, *given, **constants).wait()

    bench.__name__ = kernel.__name__
    bench.__wrapped__ = kernel  # type: ignore[attr-defined]
    return bench


# -- one PE -----------------------------------------------------------------------------------------------


def columns(x: Any, o: Any, WIDTH: Any) -> None:
    """Blocks of columns of a row-major tensor of 256 columns."""
    for n in tl.static_range(0, 256, WIDTH):
        tl.store(o + n * 64 * 2, tl.load(x + n * 2, shape=(64, WIDTH), strides=(256, 1), dtype=x.dtype))


def in_turn(a: Any, b: Any, o: Any) -> None:
    right = tl.load(b)
    for m in tl.static_range(0, 256, 32):
        rows = tl.load(a + m * 128 * 2, shape=(32, 128), dtype=a.dtype)
        tl.store(o + m * 64 * 2, tl.dot(rows, right))


def pipelined(a: Any, b: Any, o: Any) -> None:
    right = tl.load(b)
    started = []
    for m in tl.static_range(0, 256, 32):
        rows = tl.load(a + m * 128 * 2, shape=(32, 128), dtype=a.dtype)
        started.append(tl.composite("gemm", rows, right, out_ptr=o + m * 64 * 2, out_dtype="f16"))
    tl.wait(started)


def blocks(a: Any, b: Any, o: Any, ROWS: Any) -> None:
    right, left = tl.load(b), tl.load(a)
    started = []
    for m in tl.static_range(0, 192, ROWS):
        out = o + m * 64 * 2
        started.append(tl.composite("gemm", left[m : m + ROWS], right, out_ptr=out, out_dtype="f16"))
    tl.wait(started)


def rereads(x: Any, o: Any) -> None:
    for n in tl.static_range(0, 8):
        tl.store(o + n * 8192, tl.load(x, shape=(64, 64), dtype=x.dtype))


def reads_once(x: Any, o: Any) -> None:
    value = tl.load(x, shape=(64, 64), dtype=x.dtype)
    for n in tl.static_range(0, 8):
        tl.store(o + n * 8192, value)


def streams(a: Any, b: Any, o: Any, LOADED: Any) -> None:
    """A product whose tiles are read from memory; with LOADED those of the right operand are not."""
    right = tl.load(b) if LOADED else tl.ref(b)
    tl.wait(tl.composite("gemm", tl.ref(a), right, out_ptr=o))


def copies(x: Any, o: Any, N: Any) -> None:
    for _ in tl.static_range(0, N):
        tl.store(o, tl.load(x))


def stores_in_blocks(x: Any, o: Any, ROWS: Any) -> None:
    value = tl.load(x)
    for m in tl.static_range(0, 64, ROWS):
        tl.store(o + m * 256, value[m : m + ROWS])


def pieces(x: Any, o: Any, N: Any) -> None:
    for n in tl.static_range(0, N):
        at = n * (65536 // N)
        tl.store(o + at, tl.load(x + at, shape=(1, 32768 // N), dtype=x.dtype))


def through_memory(x: Any, y: Any, o: Any) -> None:
    tl.store(y, tl.load(x) * 2.0)
    tl.store(o, tl.load(y, volatile=True) + 1.0)


def in_tcm(x: Any, y: Any, o: Any) -> None:
    tl.store(o, tl.load(x) * 2.0 + 1.0)


def jumps(x: Any, o: Any, PITCH: Any) -> None:
    """Adds up twelve blocks of 64 elements that lie PITCH bytes apart."""
    total = tl.load(x, shape=(1, 64), dtype=x.dtype)
    for n in tl.static_range(1, 12):
        total = total + tl.load(x + n * PITCH, shape=(1, 64), dtype=x.dtype)
    tl.store(o, total)


def rounds(x: Any, o: Any) -> None:
    """Adds up twelve rows of 2 KiB four times, round by round."""
    total = tl.load(x, shape=(1, 64), dtype=x.dtype)
    for n in tl.static_range(0, 48):
        block = tl.load(x + n % 12 * 2048, shape=(1, 1024), dtype=x.dtype)
        total = total + tl.sum(block, axis=1)
    tl.store(o, total)


# -- several PEs ------------------------------------------------------------------------------------------


def share(x: Any, o: Any, FIRST: Any) -> None:
    """PE 0 carries out FIRST of 16 pieces of work, the others the rest."""
    pid = tl.program_id(0)
    mine = FIRST if pid == 0 else (16 - FIRST) // 3
    value = tl.load(x)
    for _ in range(int(mine)):
        value = tl.exp(value)
    tl.store(o, value)


def shared_out(x: Any, o: Any, PES: Any, CUBES: Any) -> None:
    """So many PEs of so many cubes each work on their part of 1024 rows; others have nothing to do."""
    pid = tl.program_id(0) + PES * tl.program_id(1)
    if tl.program_id(0) < PES:
        rows = 1024 // (PES * CUBES)
        value = tl.load(x + pid * rows * 256, shape=(rows, 128), dtype=x.dtype)
        for _ in tl.static_range(0, 8):
            value = tl.exp(value)
        tl.store(o + pid * rows * 256, value)


def from_zero(x: Any, o: Any, _: Any) -> None:
    """Each of four PEs copies its part of whole tensors."""
    at = tl.program_id(0) * 65536
    tl.store(o + at, tl.load(x + at, shape=(256, 128), dtype=x.dtype))


def from_zero_only(x: Any, o: Any, _: Any) -> None:
    """Each of four PEs reads its part of a tensor and writes 1 KB."""
    at = tl.program_id(0) * 65536
    value = tl.load(x + at, shape=(256, 128), dtype=x.dtype)
    tl.store(o + tl.program_id(0) * 1024, value[0:4])


def doubled(x: Any, o: Any) -> None:
    tl.store(o, tl.load(x) * 2.0)


def halves(x: Any, o: Any, OTHER: Any) -> None:
    """Each of two cubes copies half of a tensor: its own, or that of the other one."""
    cube = tl.program_id(1)
    at = (1 - cube if OTHER else cube) * 16384
    tl.store(o + at, tl.load(x + at, shape=(64, 128), dtype=x.dtype))


def skewed(x: Any, o: Any, LATE: Any) -> None:
    """The last PE prepares something that takes LATE cycles, by itself or with three others."""
    if LATE and tl.program_id(0) == 3:
        tl.cycles(LATE)
    tl.store(o, tl.load(x))


def moved(x: Any, o: Any) -> None:
    tl.store(o, tl.load(x))


def talk(x: Any, o: Any, N: Any) -> None:
    """PE 0 sends N messages of 8 KB, PE 1 keeps the last one."""
    if tl.program_id(0) == 0:
        value = tl.load(x + 0, shape=(32, 128), dtype=x.dtype)
        for _ in tl.static_range(0, N):
            tl.send("pe_E", value)
    elif tl.program_id(0) == 1:
        for _ in tl.static_range(0, N):
            value = tl.recv("pe_W")
        tl.store(o + 32768, value)


def talking(slots: int) -> Callable[..., Any]:
    """A bench of :func:`talk` over rings of so many slots."""

    def bench(torch: Any) -> None:
        torch.install_ipcq("intracube_pe_ring", slots=slots)
        program(talk, [(512, 128)] * 2, [BLOCKED] * 2, N=16)(torch)

    bench.__name__ = "talking"
    bench.__wrapped__ = talk  # type: ignore[attr-defined]
    return bench


def gathered(x: Any, o: Any, PUSH: Any) -> None:
    """What lies with PEs 7 and 6 comes to PEs 0 and 1, which read it; with PUSH PE 6 writes its part."""
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(o + 0, tl.load(x + 7 * 65536, shape=(256, 128), dtype=x.dtype))
    elif pid == (6 if PUSH else 1):
        tl.store(o + 65536, tl.load(x + 6 * 65536, shape=(256, 128), dtype=x.dtype))


def runs_ahead(a: Any, b: Any, o: Any, STAGES: Any) -> None:
    """Products whose loads run ahead, as far as ``STAGES`` says."""
    right = tl.load(b)
    for m in tl.range(0, 512, 32, num_stages=STAGES):
        rows = tl.load(a + m * 128 * 2, shape=(32, 128), dtype=a.dtype)
        tl.store(o + m * 64 * 2, tl.dot(rows, right))


def adds(x: Any, o: Any, SIZE: Any) -> None:
    for n in tl.range(0, 8192, SIZE):
        tl.store(o + n * 2, tl.load(x + n * 2, shape=(SIZE,), dtype=x.dtype) + 1)


@triton.jit
def in_blocks(x: Any, o: Any, WIDTH: triton_tl.constexpr) -> None:
    """A block of a grid computes on its part of whole tensors."""
    at = triton_tl.program_id(0) * WIDTH + triton_tl.arange(0, WIDTH)
    value = triton_tl.load(x + at).to(triton_tl.float32)
    for _ in range(8):
        value = triton_tl.exp(value)
    triton_tl.store(o + at, value.to(triton_tl.float16))


def grid(dp: DPPolicy) -> Callable[..., Any]:
    """A bench of :func:`in_blocks`: 32 blocks, wherever the tensors lie."""

    def bench(torch: Any) -> None:
        x, o = (torch.from_numpy(np.ones((64, 256), F16), dp=dp, name=name) for name in "xo")
        in_blocks[(32,)](x, o, WIDTH=512)

    bench.__wrapped__ = in_blocks.fn  # type: ignore[attr-defined]
    return bench


def crossing(x: Any, o: Any) -> None:
    """Each of eight PEs reads what lies with the one that is farthest from it."""
    there = 7 - tl.program_id(0)
    value = tl.load(x + there * 32768, shape=(128, 128), dtype=x.dtype)
    tl.store(o + tl.program_id(0) * 1024, value[0:4])


ONE_CUBE = {"sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}
AHEAD = {"pe.pe_cpu.run_ahead": True}
BLOCKED = DPPolicy(pe="row_wise", num_cubes=1, num_pes=4)
EIGHT = DPPolicy(pe="row_wise", num_cubes=1, num_pes=8)
CUBES = DPPolicy(cube="row_wise", num_cubes=2, num_pes=1)
ALL = DPPolicy(cube="row_wise", pe="row_wise")
ROWS = [(1024, 128), (1024, 128), (4, 4)]
PAIRS = [
    Pair(
        "short-runs",
        program(columns, [(64, 256), (256, 64)], WIDTH=64),
        program(columns, [(64, 256), (256, 64)], WIDTH=128),
    ),
    Pair(
        "small-blocks",
        program(stores_in_blocks, [(64, 128), (64, 128)], ROWS=4),
        program(stores_in_blocks, [(64, 128), (64, 128)], ROWS=64),
    ),
    Pair(
        "overlap",
        program(in_turn, [(256, 128), (128, 64), (256, 64)]),
        program(pipelined, [(256, 128), (128, 64), (256, 64)]),
    ),
    Pair(
        "overlap",
        program(runs_ahead, [(512, 128), (128, 64), (512, 64)], STAGES=2),
        program(runs_ahead, [(512, 128), (128, 64), (512, 64)], STAGES=4),
        topo=AHEAD,
    ),
    Pair(
        "small-blocks",
        program(adds, [(8192,), (8192,)], SIZE=256),
        program(adds, [(8192,), (8192,)], SIZE=4096),
        topo=AHEAD,
    ),
    Pair(
        "small-tiles",
        program(blocks, [(192, 128), (128, 64), (192, 64)], ROWS=16),
        program(blocks, [(192, 128), (128, 64), (192, 64)], ROWS=32),
    ),
    Pair(
        "streamed-again",
        program(streams, [(128, 256), (256, 128), (128, 128)], LOADED=False),
        program(streams, [(128, 256), (256, 128), (128, 128)], LOADED=True),
    ),
    Pair("read-again", program(rereads, [(64, 64), (512, 64)]), program(reads_once, [(64, 64), (512, 64)])),
    Pair(
        "many-launches",
        program(copies, [(4, 64), (4, 64)], times=4, N=1),
        program(copies, [(4, 64), (4, 64)], N=4),
    ),
    Pair("round-trip", program(through_memory, [(128, 128)] * 3), program(in_tcm, [(128, 128)] * 3)),
    Pair(
        "imbalance",
        program(share, [(256, 128)] * 2, [BLOCKED] * 2, FIRST=10),
        program(share, [(256, 128)] * 2, [BLOCKED] * 2, FIRST=4),
        "default",
    ),
    Pair(
        "idle-pes",
        program(shared_out, [(1024, 128)] * 2, [EIGHT] * 2, PES=1, CUBES=1),
        program(shared_out, [(1024, 128)] * 2, [EIGHT] * 2, PES=8, CUBES=1),
        "default",
        ONE_CUBE,
    ),
    Pair(
        "idle-pes",
        program(shared_out, [(1024, 128)] * 2, [EIGHT] * 2, PES=8, CUBES=1),
        program(shared_out, [(1024, 128)] * 2, [ALL] * 2, PES=8, CUBES=16),
        "default",
    ),
    Pair(
        "one-memory",
        program(from_zero, ROWS, [ONE, ONE, BLOCKED]),
        program(from_zero, ROWS, [BLOCKED] * 3),
        "default",
    ),
    Pair(
        "hot-slice",
        program(from_zero_only, [(1024, 128), (16, 128), (4, 4)], [ONE, BLOCKED, BLOCKED]),
        program(from_zero_only, [(1024, 128), (16, 128), (4, 4)], [BLOCKED] * 3),
        "default",
    ),
    Pair(
        "wide-dtype",
        program(doubled, [(256, 128)] * 2, None, [np.float32, F16]),
        program(doubled, [(256, 128)] * 2),
    ),
    Pair(
        "start-skew",
        program(skewed, [(256, 128)] * 2, [BLOCKED] * 2, LATE=500),
        program(skewed, [(256, 128)] * 2, [BLOCKED] * 2, LATE=0),
        "default",
    ),
    Pair(
        "commands",
        program(pieces, [(32, 1024), (32, 1024)], N=32),
        program(pieces, [(32, 1024), (32, 1024)], N=1),
        "minimal",
        {"pe.pe_cpu.dispatch_cycles": 200},
    ),
    Pair(
        "remote",
        program(halves, [(128, 128)] * 2, [CUBES] * 2, OTHER=True),
        program(halves, [(128, 128)] * 2, [CUBES] * 2, OTHER=False),
        "default",
    ),
    Pair(
        "hot-link",
        program(gathered, [(2048, 128)] * 2, [EIGHT] * 2, PUSH=False),
        program(gathered, [(2048, 128)] * 2, [EIGHT] * 2, PUSH=True),
        "default",
    ),
    Pair(
        "few-pes",
        grid(ONE),
        grid(DPPolicy(pe="row_wise", num_cubes=1)),
        "default",
        ONE_CUBE,
    ),
    Pair(
        "hot-wire",
        program(crossing, [(1024, 128), (32, 128)], [EIGHT] * 2),
        program(crossing, [(1024, 128), (32, 128)], [EIGHT] * 2),
        "default",
        {**ONE_CUBE, "cube.router.link_gbs": 48},
        {**ONE_CUBE, "cube.router.link_gbs": 96},
    ),
    Pair("ring-slots", talking(slots=1), talking(slots=8), "default"),
    Pair(
        "credits",
        program(copies, [(256, 128)] * 2, N=1),
        program(copies, [(256, 128)] * 2, N=1),
        "minimal",
        {"links": {"router_to_hbm": {"buffer_flits": 1, "credit_ns": 8.0}}},
        {"links": {"router_to_hbm": {"buffer_flits": 16, "credit_ns": 8.0}}},
    ),
    Pair(
        "row-conflicts",
        program(jumps, [(96, 1024), (1, 64)], PITCH=16384),
        program(jumps, [(96, 1024), (1, 64)], PITCH=128),
        "minimal",
        {"cube.hbm.model": "dram", "cube.hbm.pseudo_channels": 2},
    ),
    Pair(
        "cache-misses",
        program(rounds, [(96, 1024), (1, 64)]),
        program(rounds, [(96, 1024), (1, 64)]),
        "minimal",
        {"memory.cache.capacity": 16384, "memory.cache.gbs": 512.0, "cube.hbm.channel_gbs": 4.0},
        {"memory.cache.capacity": 262144, "memory.cache.gbs": 512.0, "cube.hbm.channel_gbs": 4.0},
    ),
]
