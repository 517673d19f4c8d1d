"""Has PyTorch's Inductor write Triton for small models, without a GPU: the files in tests/inductor.

    python tools/torch_outputs.py [NAME ...]

Needs PyTorch, and no Triton: nothing is compiled, what Inductor would compile is taken as it is. NAME.npz has
the arguments of the file's ``call`` in order (``arg0``, ...; bf16 as its bits) and what eager PyTorch gives
for them (``want0``, ...).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_GLOBAL)

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch._dynamo.utils  # noqa: E402
import torch._inductor.codegen.triton_utils  # noqa: E402
import torch._inductor.compile_fx  # noqa: E402
import torch._inductor.config as config  # noqa: E402
import torch.nn.functional as F  # noqa: E402, N812
from torch import nn  # noqa: E402
from torch._inductor.codegen.common import init_backend_registration  # noqa: E402
from torch._inductor.graph import GraphLowering  # noqa: E402
from torch.func import vjp  # noqa: E402

OUT = Path(__file__).parents[1] / "tests" / "inductor"
MODELS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {}


def model(function: Callable[[], tuple[Any, tuple[Any, ...]]]) -> Any:
    MODELS[function.__name__] = function
    return function


class Block(nn.Module):
    """A layer of a GPT with causal attention written out."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        score = (q @ k.transpose(-1, -2)) * (d // self.heads) ** -0.5
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = score.masked_fill(hidden, float("-inf")).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.n2(x))))


@model
def gpt_block() -> Any:
    return Block(64, 2), (torch.randn(1, 16, 64),)


class Llama(nn.Module):
    """A layer of a Llama: RMS norms, rotary positions, two heads of q to one of k and v."""

    def __init__(self, d: int = 64, heads: int = 4, kv: int = 2, f: int = 88) -> None:
        super().__init__()
        self.heads, self.kv, width = heads, kv, d // heads
        self.w1, self.w2 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.ones(d))
        self.q, self.o = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k, self.v = (nn.Linear(d, kv * width, bias=False) for _ in range(2))
        self.gate, self.up = nn.Linear(d, f, bias=False), nn.Linear(d, f, bias=False)
        self.down = nn.Linear(f, d, bias=False)

    def norm(self, x: Any, w: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w

    def turned(self, x: Any) -> Any:
        t, width = x.shape[-2], x.shape[-1]
        angle = torch.arange(t)[:, None] * (1.0 / 10000 ** (torch.arange(0, width, 2) / width))
        a, b = x[..., ::2], x[..., 1::2]
        pairs = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
        return torch.stack(pairs, -1).flatten(-2)

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        width, y = d // self.heads, self.norm(x, self.w1)
        q = self.turned(self.q(y).view(b, t, self.heads, width).transpose(1, 2))
        k = self.turned(self.k(y).view(b, t, self.kv, width).transpose(1, 2))
        v = self.v(y).view(b, t, self.kv, width).transpose(1, 2)
        k, v = (one.repeat_interleave(self.heads // self.kv, 1) for one in (k, v))
        hidden = torch.full((t, t), float("-inf")).triu(1)
        seen = (q @ k.transpose(-1, -2) / width**0.5 + hidden).softmax(-1) @ v
        x = x + self.o(seen.transpose(1, 2).reshape(b, t, d))
        y = self.norm(x, self.w2)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


@model
def llama_layer() -> Any:
    return Llama(), (torch.randn(1, 16, 64),)


@model
def conv_net() -> Any:
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip
    return net.eval(), (torch.randn(2, 3, 8, 8),)


class Norms(nn.Module):
    """Several norms, and reductions of what they give."""

    def __init__(self) -> None:
        super().__init__()
        self.g, self.i = nn.GroupNorm(4, 16), nn.InstanceNorm1d(16, affine=True)

    def forward(self, x: Any) -> Any:
        y = self.g(x)
        return self.i(y).softmax(-1), y.var(-1), y.argmax(-1), torch.logsumexp(y, -1)


@model
def norms() -> Any:
    return Norms(), (torch.randn(2, 16, 100),)


class Loss(nn.Module):
    """Embedding, a linear layer, cross entropy."""

    def __init__(self) -> None:
        super().__init__()
        self.e, self.head = nn.Embedding(100, 32), nn.Linear(32, 100)

    def forward(self, x: Any, y: Any) -> Any:
        return F.cross_entropy(self.head(self.e(x)).view(-1, 100), y.view(-1))


@model
def loss() -> Any:
    return Loss(), (torch.randint(0, 100, (2, 20)), torch.randint(0, 100, (2, 20)))


class Sorting(nn.Module):
    """Sort, running sum, topk."""

    def forward(self, x: Any) -> Any:
        values, indices = x.sort(-1)
        return values, indices, x.cumsum(-1), x.topk(5).values, torch.where(x > 0, x, x.exp())


@model
def sorting() -> Any:
    return Sorting(), (torch.randn(4, 64),)


class Experts(nn.Module):
    """The two best of four experts, all of which are calculated."""

    def __init__(self, d: int = 32, n: int = 4, f: int = 48) -> None:
        super().__init__()
        self.r = nn.Linear(d, n)
        self.a, self.b = (nn.Parameter(torch.randn(*one) * 0.1) for one in ((n, d, f), (n, f, d)))

    def forward(self, x: Any) -> Any:
        weights, chosen = self.r(x).softmax(-1).topk(2)
        y = torch.einsum("td,edf->etf", x, self.a).relu()
        z = torch.einsum("etf,efd->etd", y, self.b)
        return torch.einsum("etd,te->td", z, torch.zeros(x.shape[0], 4).scatter_add_(1, chosen, weights))


@model
def experts() -> Any:
    return Experts(), (torch.randn(20, 32),)


class Half(nn.Module):
    """Two linear layers in bf16."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x: Any) -> Any:
        return self.b(F.gelu(self.a(x), approximate="tanh")) + x


@model
def half() -> Any:
    return Half().to(torch.bfloat16), (torch.randn(32, 64, dtype=torch.bfloat16),)


class Of(nn.Module):
    """A model that is a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


class Steps(nn.Module):
    """Three steps of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 32)

    def forward(self, x: Any, h: Any, c: Any) -> Any:
        for one in x:
            h, c = self.cell(one, (h, c))
        return h, c


class Vision(nn.Module):
    """A small vision transformer: patches, a class token, a layer with attention, a head."""

    def __init__(self, d: int = 32) -> None:
        super().__init__()
        self.patch, self.head = nn.Conv2d(3, d, 4, stride=4), nn.Linear(d, 5)
        self.token, self.at = nn.Parameter(torch.zeros(1, 1, d)), nn.Parameter(torch.randn(1, 17, d))
        self.n1, self.n2, self.n3 = (nn.LayerNorm(d) for _ in range(3))
        self.attend = nn.MultiheadAttention(d, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x: Any) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.at
        y = self.n1(x)
        x = x + self.attend(y, y, y, need_weights=False)[0]
        return self.head(self.n3(x + self.mlp(self.n2(x)))[:, 0])


class Unet(nn.Module):
    """Down and up again, beside what went in."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.up = nn.Conv2d(12, 4, 3, padding=1)

    def forward(self, x: Any) -> Any:
        return self.up(torch.cat([x, F.interpolate(F.relu(self.down(x)), scale_factor=2)], 1))


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (nn.Conv2d(8, 8, 3, padding=1) for _ in range(2))
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x: Any) -> Any:
        return F.relu(x + self.b(F.relu(self.norm(self.a(x)))))


def recurrent(a: Any, b: Any) -> Any:
    """The recurrence of a state space model, a step after the other."""
    state, found = torch.zeros_like(a[:, 0]), []
    for n in range(6):
        state = a[:, n].sigmoid() * state + b[:, n]
        found.append(state)
    return torch.stack(found, 1)


def adam(p: Any, g: Any, m: Any, v: Any) -> Any:
    """A step of Adam."""
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


MODELS |= {
    "adam": lambda: (Of(adam), tuple(torch.rand(1000) for _ in range(4))),
    "any_max": lambda: (
        Of(lambda x: ((x > 2.9).any(-1), x.min(-1).values, x.min(-1).indices, x.clamp(-1, 1))),
        (torch.randn(16, 200),),
    ),
    "big_norm": lambda: (Of(lambda x: F.layer_norm(x, (3000,))), (torch.randn(2, 3000),)),
    "big_softmax": lambda: (
        Of(lambda x: (x.softmax(-1), x.argmax(-1), x.std(-1))),
        (torch.randn(2, 3000),),
    ),
    "columns": lambda: (Of(lambda x: (x.var(0), x.amax(0), x.prod(0))), (torch.rand(2500, 4) + 0.5,)),
    "conv1d": lambda: (nn.Conv1d(8, 16, 5, stride=2, padding=2), (torch.randn(2, 8, 50),)),
    "cumsum": lambda: (Of(lambda x: x.cumsum(-1)), (torch.randn(2, 700),)),
    "depthwise": lambda: (
        nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.SiLU(), nn.Conv2d(8, 16, 1)),
        (torch.randn(2, 8, 12, 12),),
    ),
    "integers": lambda: (
        Of(lambda x: (x // 7, x % 7, torch.div(x, 5, rounding_mode="trunc"))),
        (torch.randint(-50, 50, (100,)),),
    ),
    "int8_weights": lambda: (
        Of(lambda x, w, scale: x @ (w.to(torch.float32) * scale)),
        (torch.randn(20, 64), torch.randint(-127, 127, (64, 48), dtype=torch.int8), torch.rand(48)),
    ),
    "lstm": lambda: (Steps(), (torch.randn(3, 4, 16), torch.zeros(4, 32), torch.zeros(4, 32))),
    "mlp": lambda: (
        nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)),
        (torch.randn(20, 64),),
    ),
    "residual": lambda: (Residual().eval(), (torch.randn(1, 8, 10, 10),)),
    "scan": lambda: (Of(recurrent), (torch.randn(2, 6, 40), torch.randn(2, 6, 40))),
    "sdpa": lambda: (
        Of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        tuple(torch.randn(1, 2, 40, 32) for _ in range(3)),
    ),
    "vit": lambda: (Vision().eval(), (torch.randn(2, 3, 16, 16),)),
    "topk": lambda: (Of(lambda x: (*x.softmax(-1).topk(5), *x.topk(2, 0))), (torch.randn(4, 50),)),
    "norm_backward": lambda: (
        Of(lambda g, x, w: vjp(lambda *one: F.layer_norm(one[0], (48,), one[1]), x, w)[1](g)),
        (torch.randn(8, 48), torch.randn(8, 48), torch.rand(48)),
    ),
    "conv_backward": lambda: (
        Of(lambda g, x, w, b: vjp(lambda *one: F.conv2d(*one, stride=2, padding=1), x, w, b)[1](g)),
        (torch.randn(2, 8, 4, 4), torch.randn(2, 4, 8, 8), torch.randn(8, 4, 3, 3), torch.rand(8)),
    ),
    "dropout": lambda: (nn.Sequential(nn.Linear(32, 64), nn.Dropout(0.3)), (torch.randn(20, 32),)),
    "unet": lambda: (Unet(), (torch.randn(1, 4, 12, 12),)),
}


class Called(Exception):  # noqa: N818, no error: the arguments are there
    """What Inductor has written was called."""


def array(value: Any) -> Any:
    value = value.detach()
    return (value.view(torch.uint16) if value.dtype == torch.bfloat16 else value).numpy()


def written(net: Any, args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """What Inductor writes for a model, and the arguments of its ``call``."""
    texts: list[str] = []
    given: list[Any] = []

    def call(args: list[Any]) -> None:
        given.extend(one for one in args if isinstance(one, torch.Tensor))
        raise Called

    def kept(self: Any) -> Any:
        made = self.codegen()
        text = made[0] if isinstance(made, tuple) else made
        texts.append(getattr(text, "value", text))
        return SimpleNamespace(call=call, __file__="output.py", recursively_apply_fns=None)

    GraphLowering.compile_to_module = GraphLowering._compile_to_module = kept  # type: ignore[method-assign]
    torch._dynamo.reset()
    with suppress(Called):
        torch.compile(net)(*args)
    return texts[-1], given


def divisible(divisible_by_16: Any = (), *_: Any) -> dict[Any, Any]:
    """What is known of arguments, as of Triton 3.3."""
    return {(n,): [["tt.divisibility", 16]] for n in divisible_by_16}


def main(names: list[str]) -> None:
    torch.utils._triton.triton_hash_with_backend = lambda: ""  # there is no compiler to be told from others
    torch._inductor.codegen.triton_utils.AttrsDescriptorWrapper = divisible
    config.cpu_backend = "triton"
    config.cpp.fallback_scatter_reduce_sum = False  # as for a GPU
    config.force_disable_caches = True
    config.compile_threads = 1
    init_backend_registration()
    OUT.mkdir(exist_ok=True)
    for name in names or MODELS:
        torch.manual_seed(0)
        net, args = MODELS[name]()
        with torch.no_grad():
            wanted = net(*args)
            text, given = written(net, args)
        head = (
            f"# Written by Inductor of PyTorch {torch.__version__}; tools/torch_outputs.py has the model.\n"
        )
        (OUT / f"{name}.py").write_text(head + text, encoding="utf-8")
        listed = wanted if isinstance(wanted, tuple) else (wanted,)
        arrays = {f"arg{n}": array(one) for n, one in enumerate(given)}
        arrays |= {f"want{n}": array(one) for n, one in enumerate(listed)}
        np.savez_compressed(OUT / f"{name}.npz", **arrays)
        print(name, len(text), sum(one.nbytes for one in arrays.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
