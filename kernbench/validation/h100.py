"""Triton kernels on the machine ``h100``, as they are written, beside what one H100 took for them.

What a figure of the machine was fitted on is not among these rows. A case was measured again and again: what
fits into the cache is there before it begins.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from kernbench.analysis.energy.energy_tables import clock_share
from kernbench.api.running import run
from kernbench.host.launching import LaunchHandle
from kernbench.support.pgraph import PropertyGraph, run_times
from kernbench.support.user_modules import load_file
from kernbench.validation.table_file import Case, folder
from kernbench.workloads.models.config import Model
from kernbench.workloads.models.layout import Share
from kernbench.workloads.models.triton_step import TritonStep

MACHINE = "h100"
SCALE = 0.1275
"""Of scores of attention."""
SIZES = {
    "gpt-3": {"hidden": 12288, "heads": 96, "kv_heads": 96, "ffn": 49152},
    "llama-70b": {"hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672},
    "llama-8b": {"hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336},
}
Params = Mapping[str, Any]
Launch = Callable[[], LaunchHandle]


def us(case: Case, machine: str | PropertyGraph = MACHINE) -> float:
    """Microseconds that a case takes on a machine."""
    return _us(str(case["case"]), str(case["params"]), machine)


def decoder_us(case: Case, machine: str = MACHINE) -> float:
    """Microseconds of a layer by ``llama-decoder`` with its own Triton kernels, a shard of ``tp`` alone.

    Or of one part of it, as measured: again, so that what fits into the cache is read from there.
    """
    p, name = json.loads(str(case["params"])), str(case.get("case"))
    like, tp = SIZES[p["model"]], p["tp"]
    heads, kv_heads, ffn = (like[key] // tp for key in ("heads", "kv_heads", "ffn"))
    model = Model("", like["hidden"], ffn, heads, kv_heads, 128, 1)
    one = case.get("table") == "layer part"

    def bench(torch: Any) -> None:
        share = Share(heads, kv_heads, 128, model.hidden, ffn, torch.cubes_per_sip, torch.pes_per_cube)
        step = TritonStep(torch, share, model, p.get("batch") or p["tokens"], p.get("kv", 0))
        w = step.layer(0)
        for _ in range(2 if one else 1):
            if one:
                step.steps(w)[name]()
            else:
                step.run(w)
            torch.wait_all()

    done = run(bench, machine, trace=False)
    count = len(done.launches)
    return run_times(done.properties, range(count // 2 if one else 0, count))["latency_ns"] / 1e3


def watts(case: Case) -> float:
    """W that the machine draws on average in the loops of a product, at the clock ``at_mhz``.

    As that falls so does the voltage, and dynamic power with the third power of both.
    """
    static, dynamic = _power()
    return static + dynamic * (float(case["at_mhz"]) / float(case["mhz"])) ** 3


def silu_us(case: Case) -> float:
    """Microseconds of the gated activation of a layer, by a kernel of its own."""
    p = json.loads(str(case["params"]))
    n = (p.get("batch") or p["tokens"]) * SIZES[p["model"]]["ffn"] // p["tp"]
    return us({"case": "silu mul f16", "params": json.dumps({"n": n, "block": 2048})})


def limited_mhz(case: Case) -> float:
    """The clock at which it draws no more than its limit."""
    return float(case["mhz"]) * clock_share(float(case["limit_w"]), *_power())


@cache
def _power() -> tuple[float, float]:
    """Static and dynamic W in the loops of a product that fills the machine: deep less shallow."""

    def bench(torch: Any) -> None:
        for k in (1024, 2048):
            blocks = {"bm": 128, "bn": 256, "bk": 64, "group": 8, "stages": 3, "warps": 8}
            for launch in matmul(torch, {"m": 2048, "n": 2048, "k": k, **blocks}):
                launch().wait()

    done = run(bench, MACHINE, store="memory:")
    rows = sorted(done.energy("launch", power_limit_w=1.0)["rows"], key=lambda row: row["launch"])[-2:]
    ns = [row["energy_pj"] / row["watts"] / 1e3 for row in rows]
    static, dynamic = ((rows[1][key] - rows[0][key]) / (ns[1] - ns[0]) for key in ("static_pj", "dynamic_pj"))
    return static / 1e3, dynamic / 1e3


@cache
def _us(name: str, params: str, machine: str | PropertyGraph) -> float:
    p = json.loads(params)
    took: list[float] = []

    def bench(torch: Any) -> None:
        for launch in PROBLEMS[name](torch, p):
            handle = launch()
            handle.wait()
            took.append(handle.record.latency_ns)

    run(bench, machine, trace=False)
    return sum(took) / 1e3


@cache
def _kernels() -> ModuleType:
    return sys.modules[load_file(str(folder() / "h100_kernels.py"), "kernels")]


def turns(case: Case) -> float:
    """Turns of loops, all blocks together: 0.5 to 1 ms of CPU each.

    Of kernels without a loop blocks; of layers those of products; of power of two products.
    """
    if "case" not in case:
        return 2048
    p, name = case, str(case["case"])
    if case["table"] in ("layer", "layer part"):
        return max(float(p["bytes"]) / 2**12, float(p["flops"]) / 2**18)
    if case["table"] == "own layer":
        return float(p["flops"]) / (2 * int(p["bm"]) * int(p["bn"]) * int(p["bk"]))
    if name.startswith("matmul"):
        m, n, k, bk = (int(p[key]) for key in ("m", "n", "k", "bk"))
        return -(-m // int(p.get("bm", m))) * (n // int(p.get("bn", n))) * k // bk
    if name.startswith("attention"):
        tokens, bm, bn = int(p["tokens"] if "tokens" in p else p["keys"]), int(p["bm"]), int(p["bn"])
        blocks = int(p["heads"]) * tokens // bm if "heads" in p else 1
        return 3 * blocks * tokens // bn
    if name.startswith("decode a"):
        return 3 * int(p["sequences"]) * int(p["keys"]) // int(p["bn"])
    if name.startswith("gemv"):
        return int(p["n"]) // int(p["bn"]) * int(p["k"]) // int(p["bk"])
    if name.startswith("transpose"):
        return (int(p["n"]) // int(p["block"])) ** 2
    if "cols" in p:
        return 2 * int(p.get("rows", 1))
    return int(p["n"]) // int(p["block"])


def _matmul(x: Any, w: Any, y: Any, p: Params, group: int = 8) -> Launch:
    (m, k), n = x.shape, w.shape[1]
    bm, bn, bk = (p.get(key, default) for key, default in (("bm", m), ("bn", n), ("bk", k)))
    grid = (-(-m // bm) * (n // bn),)
    kernel = _kernels().matmul_blocks[grid]
    return lambda: kernel(x, w, y, m, n, k, bm, bn, bk, group, p["stages"], num_warps=p["warps"])


def matmul(torch: Any, p: Params) -> list[Launch]:
    """A product of two matrices."""
    m, n, k = (p[key] for key in "mnk")
    x, w, y = torch.zeros(m, k), torch.zeros(k, n), torch.zeros(m, n)
    return [_matmul(x, w, y, p, p.get("group", 1))]


def attention(torch: Any, p: Params) -> list[Launch]:
    """Attention of all heads to all tokens."""
    tokens, heads = p.get("tokens", p.get("keys")), p.get("heads", 1)
    q, k, v, o = (torch.zeros(heads, tokens, 128) for _ in range(4))
    grid = (tokens // p["bm"] if "heads" in p else 1, heads)
    causal = p.get("causal", False)
    kernel = _kernels().attend[grid]
    return [
        lambda: kernel(
            q, k, v, o, tokens, SCALE, 128, p["bm"], p["bn"], causal, p["stages"], num_warps=p["warps"]
        )
    ]


def decode_attention(torch: Any, p: Params) -> list[Launch]:
    """Attention of one token of each sequence."""
    n, keys, group = p["sequences"], p["keys"], p["group"]
    q, o = torch.zeros(n, group, 128), torch.zeros(n, group, 128)
    k, v = torch.zeros(n, keys, 128), torch.zeros(n, keys, 128)
    kernel = _kernels().decode_attend[(n,)]
    return [lambda: kernel(q, k, v, o, keys, SCALE, 128, group, p["bn"], p["stages"], num_warps=4)]


def by_rows(name: str, others: int) -> Callable[[Any, Params], list[Launch]]:
    """A kernel that takes a row a block, beside ``others`` vectors of weights."""

    def problem(torch: Any, p: Params) -> list[Launch]:
        rows, cols = p.get("rows", 1), p["cols"]
        x, o = (torch.zeros(rows, cols, dtype=p.get("dtype", "f16")) for _ in range(2))
        weights = [torch.zeros(cols) for _ in range(others)]
        kernel = getattr(_kernels(), name)[(rows,)]
        block = 1 << (cols - 1).bit_length()
        return [lambda: kernel(x, *weights, o, cols, block, num_warps=p["warps"])]

    return problem


def vector_add(torch: Any, p: Params) -> list[Launch]:
    """A sum of two vectors."""
    n, block = p["n"], p["block"]
    x, y, o = (torch.zeros(n, dtype="f32") for _ in range(3))
    kernel = _kernels().vadd[(-(-n // block),)]
    return [lambda: kernel(x, y, o, n, block, num_warps=8 if n == block else 4)]


def by_elements(name: str, vectors: int) -> Callable[[Any, Params], list[Launch]]:
    """A kernel that takes elements of ``vectors`` vectors, the last of them its result."""

    def problem(torch: Any, p: Params) -> list[Launch]:
        n, block = p["n"], p["block"]
        given = [torch.zeros(n, dtype=p.get("dtype", "f16")) for _ in range(vectors)]
        kernel = getattr(_kernels(), name)[(-(-n // block),)]
        return [lambda: kernel(*given, n, block)]

    return problem


def transpose(torch: Any, p: Params) -> list[Launch]:
    """A matrix turned round."""
    n, block = p["n"], p["block"]
    x, o = torch.zeros(n, n), torch.zeros(n, n)
    kernel = _kernels().transpose_blocks[(n // block, n // block)]
    return [lambda: kernel(x, o, n, n, block, num_warps=8)]


def gemv(torch: Any, p: Params) -> list[Launch]:
    """A matrix times a vector."""
    n, k = p["n"], p["k"]
    w, x, o = torch.zeros(n, k), torch.zeros(k), torch.zeros(n)
    kernel = _kernels().gemv_rows[(n // p["bn"],)]
    return [lambda: kernel(w, x, o, k, p["bn"], p["bk"], p["stages"], num_warps=4)]


def layer(torch: Any, p: Params) -> list[Launch]:
    """A decoder layer of these kernels alone, on one of ``tp`` shards: decode of ``batch``, or prefill."""
    like, tp, kernels = SIZES[p["model"]], p["tp"], _kernels()
    hidden = like["hidden"]
    heads, kv_heads, ffn = (like[key] // tp for key in ("heads", "kv_heads", "ffn"))
    decode = "batch" in p
    t = p["batch"] if decode else p["tokens"]
    wide = 1 << (hidden - 1).bit_length()
    pair = p if decode else {**p, "bn": 128}

    def made(*shape: int) -> Any:
        return torch.zeros(*shape)

    weights = [
        made(hidden, (heads + 2 * kv_heads) * 128), made(heads * 128, hidden),
        made(hidden, ffn), made(hidden, ffn), made(ffn, hidden),
    ]  # fmt: skip
    x, normed, scale, at = made(t, hidden), made(t, hidden), made(hidden), made(t, heads * 128)
    qkv, r, g, u, a, y = (made(t, n) for n in (weights[0].shape[1], hidden, ffn, ffn, ffn, hidden))
    if decode:
        middle = decode_attention(
            torch, {"sequences": t * kv_heads, "keys": p["kv"], "group": 16, "bn": 64, "stages": 3}
        )
    else:
        middle = attention(
            torch,
            {"heads": heads, "tokens": t, "causal": True, "bm": 128, "bn": 64, "stages": 2, "warps": 8},
        )
    norm, silu = kernels.rmsnorm_rows[(t,)], kernels.silu_mul[(-(-t * ffn // 2048),)]
    return [
        lambda: norm(x, scale, normed, hidden, wide, num_warps=8),
        _matmul(normed, weights[0], qkv, p),
        *middle,
        _matmul(at, weights[1], r, p),
        lambda: norm(r, scale, normed, hidden, wide, num_warps=8),
        _matmul(normed, weights[2], g, pair),
        _matmul(normed, weights[3], u, pair),
        lambda: silu(g, u, a, t * ffn, 2048),
        _matmul(a, weights[4], y, p),
    ]


PROBLEMS: dict[str, Callable[[Any, Params], list[Launch]]] = {
    "matmul f16": matmul,
    "attention f16 d128": attention,
    "decode attention f16 d128": decode_attention,
    "vector add f32": vector_add,
    "softmax f16": by_rows("softmax_rows", 0),
    "rmsnorm f16": by_rows("rmsnorm_rows", 1),
    "layernorm f16": by_rows("layernorm_rows", 2),
    "plain layernorm f16": by_rows("plain_layernorm_rows", 0),
    "silu mul f16": by_elements("silu_mul", 3),
    "gelu f16": by_elements("gelu", 2),
    "transpose f16": transpose,
    "gemv f16": gemv,
    "decode": layer,
    "prefill": layer,
}
