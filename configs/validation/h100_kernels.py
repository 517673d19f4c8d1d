"""Kernels whose times on one H100 are in ``h100_rows.csv``, as they ran there under Triton 3.6."""

# ruff: noqa: B007, D103, N803
import kernbench.triton as triton
import kernbench.triton.language as tl


@triton.jit
def vadd(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < n
    tl.store(o + at, tl.load(x + at, mask=ok) + tl.load(y + at, mask=ok), mask=ok)


@triton.jit
def softmax_rows(x, o, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    ok = at < cols
    v = tl.load(x + row * cols + at, mask=ok, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * cols + at, (e / tl.sum(e, axis=0)).to(o.dtype.element_ty), mask=ok)


@triton.jit
def rmsnorm_rows(x, w, o, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    ok = at < cols
    v = tl.load(x + row * cols + at, mask=ok, other=0.0).to(tl.float32)
    s = tl.rsqrt(tl.sum(v * v, axis=0) / cols + 1e-5)
    tl.store(
        o + row * cols + at,
        (v * s * tl.load(w + at, mask=ok, other=0.0).to(tl.float32)).to(tl.float16),
        mask=ok,
    )


@triton.jit
def silu_mul(g, u, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < n
    a = tl.load(g + at, mask=ok, other=0.0).to(tl.float32)
    b = tl.load(u + at, mask=ok, other=0.0).to(tl.float32)
    tl.store(o + at, (a / (1.0 + tl.exp(-a)) * b).to(tl.float16), mask=ok)


@triton.jit
def matmul_blocks(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    STAGES: tl.constexpr,
):
    pid = tl.program_id(0)
    rows_ = tl.cdiv(M, BM)
    cols_ = tl.cdiv(N, BN)
    per = GROUP * cols_
    g = pid // per
    size = min(rows_ - g * GROUP, GROUP)
    r = g * GROUP + (pid % per) % size
    q = (pid % per) // size
    m = r * BM + tl.arange(0, BM)
    n = q * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK, num_stages=STAGES):
        acc = tl.dot(tl.load(pa, mask=m[:, None] < M, other=0.0), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@triton.jit
def attend(
    q,
    k,
    v,
    o,
    T,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    STAGES: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * T * D
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(q + head + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -1e30, tl.float32)
    z = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else T
    for j in tl.range(0, end, BN, num_stages=STAGES):
        n = j + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + head + n[None, :] * D + d[:, None])) * scale
        if CAUSAL:
            s = tl.where(m[:, None] >= n[None, :], s, -1e30)
        t = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - t[:, None])
        f = tl.exp2(top - t)
        z = z * f + tl.sum(p, axis=1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + head + n[:, None] * D + d[None, :]), acc)
        top = t
    tl.store(o + head + m[:, None] * D + d[None, :], (acc / z[:, None]).to(tl.float16))


@triton.jit
def layernorm_rows(x, w, b, o, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    ok = at < cols
    v = tl.load(x + row * cols + at, mask=ok, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / cols
    d = tl.where(ok, v - mean, 0.0)
    s = tl.rsqrt(tl.sum(d * d, axis=0) / cols + 1e-5)
    tl.store(
        o + row * cols + at,
        (
            d * s * tl.load(w + at, mask=ok, other=0.0).to(tl.float32)
            + tl.load(b + at, mask=ok, other=0.0).to(tl.float32)
        ).to(tl.float16),
        mask=ok,
    )


@triton.jit
def transpose_blocks(x, o, R, C, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(o + c[:, None] * R + r[None, :], tl.trans(tl.load(x + r[:, None] * C + c[None, :])))


@triton.jit
def gemv_rows(w, x, o, K, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN, BK), tl.float32)
    for i in tl.range(0, K, BK, num_stages=STAGES):
        k = i + tl.arange(0, BK)
        acc += tl.load(w + n[:, None] * K + k[None, :]).to(tl.float32) * tl.load(x + k)[None, :].to(
            tl.float32
        )
    tl.store(o + n, tl.sum(acc, axis=1).to(tl.float16))


@triton.jit
def decode_attend(
    q, k, v, o, T, scale, D: tl.constexpr, G: tl.constexpr, BN: tl.constexpr, STAGES: tl.constexpr
):
    at = tl.program_id(0).to(tl.int64)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    x = tl.load(q + at * G * D + g[:, None] * D + d[None, :])
    top = tl.full((G,), -1e30, tl.float32)
    z = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, D), tl.float32)
    for j in tl.range(0, T, BN, num_stages=STAGES):
        n = j + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + at * T * D + n[None, :] * D + d[:, None])) * scale
        t = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - t[:, None])
        f = tl.exp2(top - t)
        z = z * f + tl.sum(p, axis=1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + at * T * D + n[:, None] * D + d[None, :]), acc)
        top = t
    tl.store(o + at * G * D + g[:, None] * D + d[None, :], (acc / z[:, None]).to(tl.float16))


# The two below did not run there: they are for what LLMCompass timed on an A100 and an MI210.
@triton.jit
def plain_layernorm_rows(x, o, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    ok = at < cols
    v = tl.load(x + row * cols + at, mask=ok, other=0.0).to(tl.float32)
    d = tl.where(ok, v - tl.sum(v, axis=0) / cols, 0.0)
    s = tl.rsqrt(tl.sum(d * d, axis=0) / cols + 1e-5)
    tl.store(o + row * cols + at, (d * s).to(o.dtype.element_ty), mask=ok)


@triton.jit
def gelu(x, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < n
    v = tl.load(x + at, mask=ok, other=0.0).to(tl.float32)
    e = tl.exp(-1.5957691 * v * (1 + 0.044715 * v * v))
    tl.store(o + at, (v / (1.0 + e)).to(o.dtype.element_ty), mask=ok)
