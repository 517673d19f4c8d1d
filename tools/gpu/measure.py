"""Measure one GPU for the figures of a machine: ``python measure.py [FOLDER]`` on a computer that has it.

It needs PyTorch with Triton, CuPy and nvidia-smi, and a few minutes alone on the card; KernBench is not
needed there. It writes ``rows.csv``: table, case, parameters as JSON, bytes and flops that the case must move
and do, median, 20th and 80th percentile in us. ``figures.py`` makes figures of the rows.
"""

import csv
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import cupy as cp
import numpy as np
import torch
import triton
import triton.language as tl

ROWS = []
LINE = 128
"""Bytes of a line of the cache."""
SOURCE = r"""
extern "C" {
__global__ void walk(const unsigned* p, long long* out, int n, unsigned first) {
  unsigned i = first; long long a = clock64();
  for (int k = 0; k < n; k++) i = __ldcg(p + i);
  out[0] = clock64() - a; out[1] = i; }
__global__ void stream(const float4* p, float* out, long long n, int rounds) {
  float acc = 0; long long step = (long long)gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; r++)
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step * 4) {
      float4 a, b, c, d; a = b = c = d = make_float4(0, 0, 0, 0);
      a = __ldcg(p + i);
      if (i + step < n) b = __ldcg(p + i + step);
      if (i + 2 * step < n) c = __ldcg(p + i + 2 * step);
      if (i + 3 * step < n) d = __ldcg(p + i + 3 * step);
      acc += a.x + b.x + c.x + d.x; }
  if (acc == 1.2345f) out[0] = acc; }
__global__ void writes(float4* p, long long n) {
  long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step)
    p[i] = make_float4(1, 1, 1, 1); }
}"""


@triton.jit
def nothing(p):
    pass


@triton.jit
def sm_load(p, o, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    base = tl.program_id(0).to(tl.int64) * n
    for i in tl.range(0, n, BLOCK, num_stages=STAGES):
        acc += tl.load(p + base + i + at).to(tl.float32)
    tl.store(o + tl.program_id(0) * BLOCK + at, acc)


@triton.jit
def sm_dot(a, b, c, rounds, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x, y = tl.load(a + m * K + k[None, :]), tl.load(b + k[:, None] * N + n)
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(rounds):
        acc = tl.dot(x, y, acc)
    tl.store(c + tl.program_id(0) * M * N + m * N + n, acc)


@triton.jit
def sm_math(p, o, rounds, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(p + at)
    for _ in range(rounds):
        if OP == "fma":
            x = x * 1.0001 + 0.5
        if OP == "exp":
            x = tl.exp(x * 0.001)
        if OP == "exp2":
            x = tl.exp2(x * 0.001)
        if OP == "rsqrt":
            x = tl.rsqrt(x + 2.0)
        if OP == "div":
            x = 1.5 / (x + 2.0)
        if OP == "sum":
            x = x * 0.5 + tl.sum(x, axis=0) * 1e-6
        if OP == "max":
            x = x * 0.5 + tl.max(x, axis=0) * 1e-6
    tl.store(o + tl.program_id(0) * BLOCK + at, x)


@triton.jit
def sm_rows(p, o, rounds, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(p + at)
    for _ in range(rounds):
        x = x * 0.5 + tl.sum(x, axis=1)[:, None] * 1e-6
    tl.store(o + at, x)


@triton.jit
def sm_streamed(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, BK)
    left, right = a + m * K + k[None, :], b + k[:, None] * N + n
    acc = tl.zeros((M, N), tl.float32)
    for _ in tl.range(0, K, BK, num_stages=STAGES):
        acc = tl.dot(tl.load(left, mask=m < M, other=0.0), tl.load(right), acc)
        left += BK
        right += BK * N
    tl.store(c + m * N + n, acc.to(tl.float16))


@triton.jit
def sm_fill(o, n, BLOCK: tl.constexpr):
    value = tl.zeros((BLOCK,), tl.float16) + 1.0
    for i in range(0, n, BLOCK):
        tl.store(o + i + tl.arange(0, BLOCK), value)


def note(table, case, params, nbytes=0, flops=0, times=()):
    """A row; ``times`` are those of single calls, us."""
    ordered = sorted(times)
    three = [f"{ordered[len(ordered) * part // 10]:.3f}" for part in (5, 2, 8)] if ordered else [""] * 3
    ROWS.append([table, case, json.dumps(params), int(nbytes), int(flops), *three])


def in_graph(call, repeat=9, inner=None):
    """Us of one call, from replays of a graph of several: launches follow each other at once."""
    call()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    begun, ended = torch.cuda.Event(True), torch.cuda.Event(True)
    with torch.cuda.stream(stream):
        call()
        begun.record(stream)
        call()
        ended.record(stream)
        stream.synchronize()
        count = inner or max(1, min(200, int(2.0 / max(begun.elapsed_time(ended), 1e-3))))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                call()
        times = []
        for _ in range(repeat + 1):
            begun.record(stream)
            graph.replay()
            ended.record(stream)
            stream.synchronize()
            times.append(begun.elapsed_time(ended) * 1e3 / count)
    return times[1:]


def by_event(call, repeat=7):
    """Us of a call that takes long beside its launch."""
    times = []
    for _ in range(repeat + 1):
        begun, ended = cp.cuda.Event(), cp.cuda.Event()
        begun.record()
        call()
        ended.record()
        ended.synchronize()
        times.append(cp.cuda.get_elapsed_time(begun, ended) * 1e3)
    return times[1:]


def asked(what):
    command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def launches(sms):
    x = torch.zeros(1, device="cuda")
    for blocks in (1, sms, 10 * sms):
        times = in_graph(lambda n=blocks: nothing[(n,)](x), 20, inner=100)
        note("launch", "empty kernel, in a graph", {"blocks": blocks}, times=times)


def walks(kernels, cache):
    """Latency: each line of a footprint says which is next; what fits into the cache was walked before."""
    out, random = cp.zeros(2, dtype=cp.int64), np.random.default_rng(1)
    for kib in (1024, 8192, 24576, 40960, 65536, 131072, 524288, 2097152):
        lines = kib * 1024 // LINE
        order = random.permutation(lines)
        after = np.zeros(lines * LINE // 4, np.uint32)
        after[order * (LINE // 4)] = np.roll(order, -1) * (LINE // 4)
        steps, once, first, seen = min(lines, 16384), kib * 1024 > cache, 0, []
        placed = cp.asarray(after)
        if not once:
            kernels["walk"]((1,), (1,), (placed, out, np.int32(lines), np.uint32(0)))
        for _ in range(7):
            kernels["walk"]((1,), (1,), (placed, out, np.int32(steps), np.uint32(first)))
            cp.cuda.Device().synchronize()
            first = int(out[1])
            seen.append(int(out[0]) / steps)
        params = {"footprint_kib": kib, "cycles": sorted(seen)[3], "sm_mhz_after": int(asked("clocks.sm"))}
        note("latency", "walk, each line once" if once else "walk again", params)
        del placed
    cp.get_default_memory_pool().free_all_blocks()


def bandwidths(kernels, sms):
    big, out = cp.zeros(2 << 28, dtype=cp.float32), cp.zeros(1, dtype=cp.float32)

    def read(case, params, blocks, threads, mib, rounds):
        given = (big, out, np.int64((mib << 20) // 16), np.int32(rounds))
        times = by_event(lambda: kernels["stream"]((blocks,), (threads,), given))
        note("bandwidth", case, params, (mib << 20) * rounds, times=times)

    for blocks in (1, 2, 8, sms // 4, sms // 2, sms, 2 * sms, 4 * sms):
        read("read HBM", {"blocks": blocks, "threads": 1024}, blocks, 1024, min(1024, 8 * blocks), 1)
    for mib in (4, 8, 16, 24, 32, 40, 64, 128):
        read("read again", {"footprint_mib": mib, "rounds": 16}, 2 * sms, 1024, mib, 16)
    for blocks in (1, 8):
        for mib in (1, 4):
            params = {"blocks": blocks, "footprint_mib": mib, "rounds": 64}
            read("read again, few blocks", params, blocks, 1024, mib, 64)
    for mib in (1, 16, 256):
        given = (big, np.int64((mib << 20) // 16))
        times = by_event(lambda g=given: kernels["writes"]((4 * sms,), (1024,), g))
        note("bandwidth", "write", {"mib": mib}, mib << 20, times=times)
    cp.get_default_memory_pool().free_all_blocks()


def one_multiprocessor(sms):
    table, n = "one multiprocessor", 1 << 21
    source = torch.randn(1 << 22, device="cuda", dtype=torch.float16)
    out = torch.empty(sms * 256 * 256, device="cuda")
    for block, stages, warps in (
        (1024, 1, 4),
        (1024, 4, 4),
        (4096, 1, 4),
        (4096, 4, 4),
        (8192, 4, 8),
        (16384, 3, 8),
    ):
        params = {"block": block, "stages": stages, "warps": warps, "elements": n}
        call = lambda b=block, s=stages, w=warps: sm_load[(1,)](source, out, n, b, s, num_warps=w)  # noqa: E731
        note(table, "stream f16 from HBM", params, 2 * n, times=in_graph(call))
    a = torch.randn(256 * 256, device="cuda", dtype=torch.float16) * 0.01
    tiles = (
        *((16, 16, 16, 1), (32, 32, 32, 4), (64, 64, 32, 4), (64, 64, 64, 4), (64, 128, 64, 4)),
        *((128, 64, 64, 4), (128, 128, 32, 4), (128, 128, 64, 4), (128, 128, 64, 8)),
        *((128, 256, 64, 8), (256, 128, 64, 8)),
    )
    for m, k_n, k, warps in tiles:
        for blocks in (1, sms):
            for rounds in (200, 1200):
                params = {"m": m, "n": k_n, "k": k, "warps": warps, "blocks": blocks, "rounds": rounds}
                call = lambda g=blocks, r=rounds, t=(m, k_n, k), w=warps: sm_dot[(g,)](  # noqa: E731
                    a, a, out, r, *t, num_warps=w
                )
                flops = 2 * m * k_n * k * rounds * blocks
                note(table, "dot f16, operands on chip", params, 0, flops, in_graph(call))
    x = torch.rand(1 << 16, device="cuda")
    for op in ("fma", "exp", "exp2", "rsqrt", "div", "sum", "max"):
        for block, warps in ((1024, 4), (4096, 8)):
            for rounds in (64, 512):
                params = {"block": block, "warps": warps, "rounds": rounds}
                call = lambda r=rounds, o=op, b=block, w=warps: sm_math[(1,)](x, out, r, o, b, num_warps=w)  # noqa: E731
                note(table, f"math f32 {op}", params, 0, block * rounds, in_graph(call))
    for rows, cols, warps in (
        (16, 64, 4),
        (64, 64, 4),
        (128, 64, 4),
        (128, 64, 8),
        (64, 128, 4),
        (128, 128, 8),
    ):
        for rounds in (64, 512):
            params = {"rows": rows, "cols": cols, "warps": warps, "rounds": rounds}
            call = lambda n=rounds, r=rows, c=cols, w=warps: sm_rows[(1,)](x, out, n, r, c, num_warps=w)  # noqa: E731
            note(table, "rows f32 sum", params, 0, rows * cols * rounds, in_graph(call))
    half = torch.empty(1 << 20, device="cuda", dtype=torch.float16)
    wide = torch.randn(1 << 21, device="cuda", dtype=torch.float16)
    k = 8192
    for m, k_n, bk, warps in (
        (64, 128, 64, 4),
        (128, 64, 64, 8),
        (64, 64, 128, 4),
        (256, 64, 64, 8),
        (64, 32, 64, 4),
    ):
        for stages in (1, 2, 3, 4):
            params = {"m": m, "n": k_n, "k": k, "bk": bk, "stages": stages, "warps": warps}
            call = lambda t=(m, k_n, bk), s=stages, w=warps: sm_streamed[(1,)](  # noqa: E731
                wide, wide, half, k, *t, s, num_warps=w
            )
            moved, flops = 2 * k * (m + k_n), 2 * m * k_n * k
            note(table, "dot f16, operands streamed", params, moved, flops, in_graph(call))
    for block, warps in ((1024, 4), (4096, 8), (16384, 8)):
        params = {"block": block, "warps": warps, "elements": 1 << 20}
        call = lambda b=block, w=warps: sm_fill[(1,)](half, 1 << 20, b, num_warps=w)  # noqa: E731
        note(table, "fill f16", params, 2 << 20, 0, in_graph(call))


def power(sms):
    """Watts under a steady load of two seconds, and the clock beside them."""
    samples, load = [], ["idle"]
    command = "nvidia-smi --query-gpu=power.draw.instant,clocks.sm --format=csv,noheader,nounits -lms 25"
    watcher = subprocess.Popen(command.split(), stdout=subprocess.PIPE, text=True)

    def watch():
        samples.extend((time.time(), load[0], line.strip().split(", ")) for line in watcher.stdout)

    threading.Thread(target=watch, daemon=True).start()
    big = torch.randn(1 << 29, device="cuda", dtype=torch.float16)
    a, x = torch.randn(256 * 256, device="cuda", dtype=torch.float16), torch.rand(1 << 16, device="cuda")
    out = torch.empty(sms * 256 * 256, device="cuda")
    far, near = ((size // (8 * sms * 4096)) * 4096 for size in (1 << 29, 1 << 23))
    loads = (
        ("read HBM", lambda: sm_load[(8 * sms,)](big, out, far, 4096, 3, num_warps=8), 0, 16 * sms * far),
        ("read cache 16 MiB",
         lambda: [sm_load[(8 * sms,)](big, out, near, 4096, 3, num_warps=8) for _ in range(20)],
         0, 320 * sms * near),
        ("dot on chip 128x256x64", lambda: sm_dot[(sms,)](a, a, out, 4000, 128, 256, 64, num_warps=8),
         2 * 128 * 256 * 64 * 4000 * sms, 0),
        ("fma on chip", lambda: sm_math[(4 * sms,)](x, out, 20000, "fma", 4096, num_warps=8),
         80000 * 4096 * sms, 0),
        ("idle after", lambda: time.sleep(0.02), 0, 0),
    )  # fmt: skip
    for case, call, flops, nbytes in loads:
        call()
        torch.cuda.synchronize()
        load[0], begun, count = case, time.time(), 0
        while time.time() - begun < 2.2:
            call()
            torch.cuda.synchronize()
            count += 1
        seconds = time.time() - begun
        load[0] = ""
        steady = [said for at, name, said in samples if name == case and at - begun > 0.8]
        watts, clock = (sorted(float(said[n]) for said in steady)[len(steady) // 2] for n in (0, 1))
        params = {"watts": watts, "sm_mhz": clock, "samples": len(steady), "seconds": round(seconds, 3)}
        note("power", case, params, nbytes * count, flops * count, [seconds / count * 1e6])
    watcher.terminate()


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    card = torch.cuda.get_device_properties(0)
    sms, module = card.multi_processor_count, cp.RawModule(code=SOURCE)
    kernels = {name: module.get_function(name) for name in ("walk", "stream", "writes")}
    sections = (
        ("launch", lambda: launches(sms)),
        ("latency", lambda: walks(kernels, card.L2_cache_size)),
        ("bandwidth", lambda: bandwidths(kernels, sms)),
        ("one multiprocessor", lambda: one_multiprocessor(sms)),
        ("power", lambda: power(sms)),
    )
    for name, section in sections:
        section()
        with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["table", "case", "params", "bytes", "flops", "median_us", "p20_us", "p80_us"])
            table.writerows(ROWS)
        print(f"{card.name}, {sms} multiprocessors: {name}, {len(ROWS)} rows", flush=True)


if __name__ == "__main__":
    main()
