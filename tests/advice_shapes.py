"""Kernels as users write them: a fused norm and product, attention, experts of ranks, one product a PE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import kernbench.tl as tl
from kernbench.host import DPPolicy

F16 = np.float16
ROWS = DPPolicy(pe="row_wise", num_cubes=1)
COPIES = DPPolicy(num_cubes=1)


class Shape(NamedTuple):
    """A program, and for each rule that may speak of it one that has followed what it says."""

    name: str
    program: Callable[[Any], None]
    followed: Mapping[str, Callable[[Any], None]] = {}
    topology: str = "default"
    topo: Mapping[str, Any] = {}


def norm_product(x: Any, w: Any, o: Any, BN: Any, KEPT: Any) -> None:
    """Rows of x, each divided by its norm, times panels of w; with KEPT x is read once."""
    (rows, k), columns = tl.local_shape(x), tl.local_shape(w)[1]
    kept: dict[int, Any] = {}
    for n in range(0, columns, BN):
        panel = tl.load(tl.make_block_ptr(w.local, (k, columns), (columns, 1), (0, n), (k, BN)))
        for m in range(0, rows, 32):
            block = kept.get(m) if m in kept else tl.load(x.local + m * k * 2, shape=(32, k))
            if KEPT:
                kept[m] = block
            scale = tl.rsqrt(tl.sum(block * block, axis=1) / k + 1e-5).to(tl.float16)
            out = tl.make_block_ptr(o.local, (rows, columns), (columns, 1), (m, n), (32, BN))
            tl.store(out, tl.dot(block * scale, panel))


def norm_in_turn(x: Any, w: Any, o: Any) -> None:
    """The same with all of w in TCM: each product waits for its norm, and the next norm for it."""
    (rows, k), columns = x.shape, w.shape[1]
    right = tl.load(w)
    for m in range(0, rows, 32):
        block = tl.load(x + m * k * 2, shape=(32, k))
        scale = tl.rsqrt(tl.sum(block * block, axis=1) / k + 1e-5).to(tl.float16)
        tl.store(o + m * columns * 2, tl.dot(block * scale, right))


def norm_streamed(x: Any, w: Any, o: Any, LOADED: Any, WIDE: Any) -> None:
    """Composites: LOADED has w in TCM, WIDE moves rows of tiles that fill a burst."""
    (rows, k), columns = x.shape, w.shape[1]
    right = tl.load(w) if LOADED else tl.ref(w)
    started = []
    for m in range(0, rows, 32):
        block = tl.load(x + m * k * 2, shape=(32, k))
        scale = tl.rsqrt(tl.sum(block * block, axis=1) / k + 1e-5).to(tl.float16)
        tiles = (32, 64, 128) if WIDE else None
        out = o + m * columns * 2
        started.append(
            tl.composite("gemm", block * scale, right, out_ptr=out, out_dtype="f16", tile_shape=tiles)
        )
    tl.wait(started)


def attend(q: Any, k: Any, v: Any, o: Any, KEYS: Any, KEPT: Any, EVEN: Any) -> None:
    """Causal attention of blocks of queries a PE, KEYS at a time; with EVEN an early and a late block."""
    keys, width = k.shape
    pe, kept = tl.program_id(0), {}
    for m in range(tl.local_shape(q)[0] // 32):
        at = (15 - pe if m else pe) if EVEN else 2 * pe + m
        rows = tl.load(q.local + m * 32 * width * 2, shape=(32, width))
        most = tl.full((32, 1), float("-inf"), dtype=tl.float32)
        total = tl.zeros((32, 1), dtype=tl.float32)
        acc = tl.zeros((32, width), dtype=tl.float32)
        for n in range(0, min(keys, at * 32 + 32), KEYS):
            if n not in kept:
                block = (tl.load(one + n * width * 2, shape=(KEYS, width), dtype=one.dtype) for one in (k, v))
                kept[n] = tuple(block)
            left, right = kept[n] if KEPT else kept.pop(n)
            score = tl.dot(rows, tl.trans(left), out_dtype="f32")
            now = tl.maximum(most, tl.max(score, axis=1))
            weight, less = tl.exp(score - now), tl.exp(most - now)
            total = total * less + tl.sum(weight, axis=1)
            acc = acc * less + tl.dot(weight.to(tl.float16), right, out_dtype="f32")
            most = now
        tl.store(o.local + m * 32 * width * 2, (acc / total).to(tl.float16))


def expert(x: Any, w: Any, o: Any, LOADED: Any, WIDE: Any) -> None:
    left, right = (tl.load(one) if LOADED else tl.ref(one) for one in (x, w))
    tiles = (32, 128, 128) if WIDE else None
    tl.wait(tl.composite("gemm", left, right, out_ptr=o, epilogue=[{"op": "gelu"}], tile_shape=tiles))


def one_product(x: Any, w: Any, o: Any) -> None:
    tl.store(o.local, tl.dot(tl.load(x.local), tl.load(w.local)))


def squares(x: Any, o: Any) -> None:
    value = tl.load(x.local)
    for _ in range(8):
        value = value * value
    tl.store(o.local, value)


def normed(kernel: Callable[..., None], dp: tuple[Any, Any, Any] = (None, None, None), **how: Any) -> Any:
    """A launch of one of the kernels above on x, w and a result."""

    def bench(torch: Any) -> None:
        x = torch.from_numpy(np.ones((256, 256), F16), dp=dp[0])
        w = torch.from_numpy(np.ones((256, 256), F16), dp=dp[1])
        torch.launch(kernel.__name__, kernel, x, w, torch.empty(256, 256, dp=dp[2]), **how)

    return bench


def attention(where: DPPolicy | None, queries: int, KEYS: int, KEPT: bool = False, EVEN: bool = False) -> Any:
    """Queries over the PEs of a cube; ``where`` 512 keys and values are."""

    def bench(torch: Any) -> None:
        rng = np.random.default_rng(1)
        q, k, v = (rng.standard_normal((rows, 64)).astype(F16) for rows in (queries, 512, 512))
        tensors = [torch.from_numpy(one, dp=dp) for one, dp in ((q, ROWS), (k, where), (v, where))]
        torch.launch(
            "attend", attend, *tensors, torch.empty(queries, 64, dp=ROWS), KEYS=KEYS, KEPT=KEPT, EVEN=EVEN
        )

    return bench


def experts(LOADED: bool = False, WIDE: bool = False) -> Any:
    """Two ranks exchange tokens in parts that differ, and each has one expert."""

    def bench(torch: Any) -> None:
        dist = torch.distributed
        dist.init_process_group("ahbm")
        counts = [[48, 16], [32, 32]]

        def worker(rank: int) -> None:
            torch.ahbm.set_device(rank)
            given = [torch.from_numpy(np.ones((n, 128), F16)) for n in counts[rank]]
            got = [torch.empty(counts[other][rank], 128) for other in range(2)]
            dist.all_to_all(got, given)
            w = torch.from_numpy(np.ones((128, 128), F16))
            done = [torch.empty(*one.shape) for one in got]
            for one, out in zip(got, done, strict=True):
                torch.launch("expert", expert, one, w, out, LOADED=LOADED, WIDE=WIDE)
            dist.all_to_all([torch.empty(*one.shape) for one in given], done)

        torch.multiprocessing.spawn(worker, nprocs=2)

    return bench


def squared(for_pes: int) -> Any:
    def bench(torch: Any) -> None:
        x = torch.from_numpy(np.ones((1024, 128), F16), dp=ROWS)
        torch.launch("squares", squares, x, torch.empty(1024, 128, dp=ROWS), for_pes=for_pes)

    return bench


ON_CUBE = (ROWS, COPIES, ROWS)
BY_ROWS = {"pe.pe_scheduler.tile_transfers": "rows"}
SHAPES = [
    Shape(
        "norm and product over a cube",
        normed(norm_product, ON_CUBE, BN=128, KEPT=False),
        {"read-again": normed(norm_product, ON_CUBE, BN=128, KEPT=True)},
    ),
    Shape(
        "norm and product in turn",
        normed(norm_in_turn),
        {"overlap": normed(norm_streamed, LOADED=True, WIDE=True)},
        "minimal",
        BY_ROWS,
    ),
    Shape(
        "norm and streamed product",
        normed(norm_streamed, LOADED=False, WIDE=False),
        {
            "short-runs": normed(norm_streamed, LOADED=False, WIDE=True),
            "streamed-again": normed(norm_streamed, LOADED=True, WIDE=False),
        },
        "minimal",
        BY_ROWS,
    ),
    Shape(
        "norm and product with nothing left",
        normed(norm_streamed, LOADED=True, WIDE=True),
        {},
        "minimal",
        BY_ROWS,
    ),
    Shape(
        "attention, all keys with one PE",
        attention(None, 256, KEYS=512),
    ),
    Shape(
        "attention, keys with each PE",
        attention(COPIES, 512, KEYS=256),
        {
            "read-again": attention(COPIES, 512, KEYS=256, KEPT=True),
            "imbalance": attention(COPIES, 512, KEYS=256, EVEN=True),
        },
    ),
    Shape(
        "experts of ranks",
        experts(),
        {"short-runs": experts(WIDE=True), "streamed-again": experts(LOADED=True)},
        topo=BY_ROWS,
    ),
    Shape("one product a PE", normed(one_product, ON_CUBE)),
    Shape("meant for a cube", squared(for_pes=8)),
]
