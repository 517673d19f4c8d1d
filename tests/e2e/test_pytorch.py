"""Models of PyTorch run as they are written. What needs it is skipped without it: see contributing.md."""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import BenchError, UsageError
from kernbench.inductor import sources
from kernbench.inductor.buffers import Strided, like
from kernbench.support.stand_ins import has_pytorch, standing_aside, standing_in

Cli = Callable[..., Any]
with_pytorch = pytest.mark.skipif(not has_pytorch(), reason="PyTorch is not installed")

MODEL = """
import argparse
import torch
from torch import nn

arguments = argparse.ArgumentParser()
arguments.add_argument("--what", default="forward")
what = arguments.parse_args().what
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, d=32, h=2):
        super().__init__()
        self.h = h
        self.norm = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.drop = nn.Dropout(0.5 if what == "dropout" else 0.0)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2)) * (d // self.h) ** -0.5
        y = self.out((a.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.drop(torch.relu(y))


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 5)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


net, x = (Pictures(), torch.randn(2, 3, 8, 8)) if what == "pictures" else (Block(), torch.randn(2, 8, 32))
compiled = torch.compile(net, backend="kernbench")
if what == "forward":
    with torch.no_grad():
        first, again = compiled(x), compiled(x)
else:
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    step = torch.compile(optimizer.step) if what == "step" else optimizer.step
    lost = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = compiled(x).pow(2).mean()
        loss.backward()
        step()
        lost.append(loss.item())
    assert lost[1] != lost[0]
"""


@pytest.fixture
def model(workdir: Path) -> str:
    (workdir / "model.py").write_text(MODEL, encoding="utf-8")
    return "model.py"


def run(model: str, what: str, topology: str = "h100", **more: Any) -> Any:
    return kb.run(model, topology, params={"what": what}, store="memory:", trace=False, **more)


def line(of: str) -> str:
    return f"model.py:{next(n for n, text in enumerate(MODEL.splitlines(), 1) if of in text)}"


@with_pytorch
@pytest.mark.parametrize("topology", ["default", "h100"])
def test_a_model_runs_as_it_is_written_with_the_values_of_pytorch(model: str, topology: str) -> None:
    done = run(model, "forward", topology)
    assert done.verdict == "yes"
    assert "on_host" not in done.info
    first, second = done.launches[: len(done.launches) // 2], done.launches[len(done.launches) // 2 :]
    names = [(one["kernel"], one["model_nodes"], one["model_line"]) for one in first]
    assert names == [(one["kernel"], one["model_nodes"], one["model_line"]) for one in second]
    lines = {where for _, _, where in names}
    assert lines == {line("self.qkv("), line("y = self.out"), line("return x +")}
    assert names[1][:2] == ("addmm", "norm, qkv")
    assert names[-1][1] == "out, relu, add"


@with_pytorch
def test_a_run_is_the_same_again_whatever_ran_before(workdir: Path) -> None:
    (workdir / "rows.py").write_text(
        "import argparse, torch\n"
        "p = argparse.ArgumentParser()\n"
        "p.add_argument('--n', type=int)\n"
        "p.add_argument('--again', type=int, default=0)\n"
        "given = p.parse_args()\n"
        "f = torch.compile(lambda x: (x @ x.T).relu().sum(0))\n"
        "f(torch.ones(given.n, 16))\n"
        "if given.again: assert f(torch.ones(given.again, 16))[0] == 16 * given.again\n",
        encoding="utf-8",
    )

    def found(**params: int) -> Any:
        done = kb.run("rows.py", "h100", params=params, store="memory:")
        rows = done.query("critical-path/by-line", limit=50).rows
        return done.sim_ns, [(one["kernel"], one["pes"]) for one in done.launches], rows

    first = found(n=24)
    assert len(found(n=40, again=56)[1]) > len(first[1])
    assert found(n=24) == first


@with_pytorch
def test_weights_are_copied_once_and_values_that_the_host_changes_again(workdir: Path) -> None:
    (workdir / "twice.py").write_text(
        "import torch\n"
        "f = torch.compile(lambda x, w: x @ w)\n"
        "x, w = torch.ones(64, 64), torch.eye(64)\n"
        "f(x, w)\n"
        "f(x, w)\n"
        "w.mul_(3)\n"
        "assert f(x, w)[0, 0] == 3\n",
        encoding="utf-8",
    )
    done = kb.run("twice.py", "h100", store="memory:")
    rows = done.cypher("MATCH (t:Transaction) WHERE t.kind = 'host_write' RETURN count(*) AS n").rows
    assert rows == [(3,)]
    assert (done.verdict, [one["name"] for one in done.info["on_host"]]) == ("yes", ["eq", "mul_"])


@with_pytorch
@pytest.mark.parametrize("what", ["train", "step", "pictures", "dropout"])
def test_a_model_is_trained(model: str, what: str) -> None:
    done = run(model, what)
    assert done.verdict == "yes"
    nodes = {one.get("model_nodes", "").rpartition(", ")[2] for one in done.launches}
    assert ("norm" if what == "pictures" else "qkv") + " backward" in nodes
    host = {one["name"]: one for one in done.info["on_host"]}
    assert host["mean"]["times"] == 2
    assert host["pow"]["nbytes"] > 0
    assert ("addcdiv_" in host) == (what != "step")
    assert not any(name.startswith("ops.aten") for name in host)


@with_pytorch
def test_attention_with_a_causal_mask_has_gradients(workdir: Path) -> None:
    (workdir / "causal.py").write_text(
        "import torch\n"
        "q, k, v = (torch.randn(1, 2, 16, 16, requires_grad=True) for _ in range(3))\n"
        "attention = torch.nn.functional.scaled_dot_product_attention\n"
        "torch.compile(lambda q, k, v: attention(q, k, v, is_causal=True).sum())(q, k, v).backward()\n",
        encoding="utf-8",
    )
    done = kb.run("causal.py", "h100", store="memory:", trace=False)
    assert done.verdict == "yes"
    assert any("backward" in one.get("model_nodes", "") for one in done.launches)


@with_pytorch
def test_strict_device_refuses_what_the_host_would_do_and_a_run_says_it(model: str, cli: Cli) -> None:
    done = cli("run", model, "what=train", "--topology", "h100", "--strict-device")
    assert done.status == 1
    assert "pow would run on the host; --strict-device" in done.err
    assert line("loss = compiled(x)") in done.err
    done = cli("run", model, "what=train", "--topology", "h100", "--no-trace")
    assert "operations of" in next(one for one in done.out.splitlines() if one.startswith("on the host"))
    assert cli("run", model, "--topology", "h100", "--strict-device", "--no-trace").status == 0


CUDA = """
import torch
from torch import nn

device = torch.device("cuda")
torch.cuda.manual_seed_all(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 4, device="cuda:0")

    def forward(self, x):
        shifted = torch.relu(self.up(x)) + torch.arange(32, device="cuda")
        return self.down(shifted)


net = Net().to(device).cuda()
x = torch.randn(8, 16, device="cuda")
host = torch.zeros(3)
there = host.to("cuda")
there += 1
back = there.cpu()
there += 1
shared = torch.as_tensor(host.numpy(), device=device)
shared += 5
assert [one.tolist() for one in (host, back, there, shared)] == [[n] * 3 for n in (0, 1, 2, 5)]
assert host.to(torch.float32) is host
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
compiled = torch.compile(net)
compiled(x).sum().backward()
optimizer.step()
torch.cuda.synchronize()
with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
    half = compiled(x)
assert half.dtype == torch.bfloat16
torch.set_default_device("cuda")
assert torch.zeros(2).sum() == 0
"""


@with_pytorch
def test_cuda_is_the_machine_and_tensors_are_copied_to_it_and_back(workdir: Path) -> None:
    (workdir / "gpu.py").write_text(CUDA, encoding="utf-8")
    done = kb.run("gpu.py", "h100", store="memory:", trace=False)
    assert done.verdict == "yes"
    first = done.launches[0]
    assert (first["kernel"], first["model_nodes"], first["model_line"]) == ("addmm", "up", "gpu.py:15")


SCRIPTS = {
    "triton": """
import torch, triton
import triton.language as tl
from torch.nn.functional import softmax

where = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    tl.store(out + at, tl.load(x + at, keep) + tl.load(y + at, keep), keep)


class Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        out = torch.empty_like(x)
        assert out.is_cuda and out.device == where
        add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), BLOCK=64)
        return out

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        found = torch.empty_like(g)
        add[(2,)](g, g, found, g.numel(), BLOCK=64)
        return found, g


x, y = (torch.randn(100, device=where, requires_grad=True) for _ in range(2))
out = Added.apply(x, y)
text, listed = repr(out), out.tolist()
assert torch.allclose(out, x + y) and listed == (x + y).tolist() and "grad_fn" in text
out.sum().backward()
assert x.grad.eq(2).all() and y.grad.eq(1).all()
rows = torch.zeros(3, 40, device=where)
add[(1,)](rows[1], x.detach()[7:47], rows[2], 40, BLOCK=64)
assert rows.numpy()[2].tolist() == x[7:47].tolist() and not rows[:2].any()
before = out.detach().clone()
add[(2,)](out, out, out, 100, BLOCK=64)
assert torch.equal(torch.compile(lambda x: x * 2)(out.detach()), before * 4)
""",
    "cuda": """
import torch

start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
generator = torch.Generator(device="cuda")
generator.manual_seed(3)
x = torch.randn(32, 64, generator=generator, device="cuda").pin_memory()
model = torch.compile(torch.nn.Linear(64, 64).cuda(), mode="max-autotune")
with torch.no_grad():
    model(x)
    torch.cuda.synchronize()
    start.record()
    model(x)
    end.record()
    assert not end.query()
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        model(x)
    torch.cuda.current_stream().synchronize()
print(start.elapsed_time(end) * 1e6)
""",
    "norm": """
import torch

torch.manual_seed(0)
for net in (torch.nn.GroupNorm(2, 8), torch.nn.BatchNorm1d(8), torch.nn.RMSNorm(5)):
    x = torch.randn(2, 8, 5, requires_grad=True)
    torch.compile(net, dynamic=True)(x).pow(2).sum().backward()
""",
    "convolution": """
import torch
from torch import nn

torch.manual_seed(0)
nets = (
    nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), nn.ConvTranspose2d(4, 2, 3, 2, 1, 1, dilation=2),
    nn.ConvTranspose2d(4, 6, 2, groups=2), nn.Conv1d(4, 2, 3, stride=2),
)
for net in nets:
    x = torch.randn(2, 4, 7, *[6] * (net.weight.ndim - 3), requires_grad=True)
    torch.compile(net)(x).backward(torch.randn_like(net(x)))
""",
    "half": """
import torch

torch.manual_seed(0)
net = torch.compile(torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.LayerNorm(32)))
with torch.autocast("cuda", dtype=torch.bfloat16):
    net(torch.randn(4, 32)).sum().backward()
""",
    "views": """
import torch

w = torch.randn(16, 8, requires_grad=True)
f = torch.compile(lambda x: (x @ w).tanh())
sum(f(x).sum() for x in torch.randn(3, 4, 16)).backward()
""",
    "random": """
import torch

f = torch.compile(lambda x: (torch.randn_like(x), torch.rand_like(x) + x, torch.randint_like(x, 9)))
a, b, c = f(torch.zeros(50, 40))
assert abs(a.std() - 1) < 0.1 and 0 <= b.min() < b.max() < 1 and len(c.unique()) == 9
assert not torch.equal(f(torch.zeros(50, 40))[0], a)
""",
    "lists": """
import torch

def chosen(x):
    return x.topk(2, 0), x.topk(2, 1, largest=False), x.sort(-1).indices, torch.zeros(
        2, 4, dtype=x.dtype, device=torch.device("cuda")
    )
values, indices = torch.compile(chosen)(torch.randn(3, 4, 5))[0]
assert values.shape == (2, 4, 5)
""",
}


@with_pytorch
@pytest.mark.parametrize("what", SCRIPTS)
def test_a_script_runs_as_tutorials_have_it(workdir: Path, what: str, capsys: Any) -> None:
    (workdir / "script.py").write_text(SCRIPTS[what], encoding="utf-8")
    done = kb.run("script.py", "h100", store="memory:", trace=False)
    assert done.verdict == "yes"
    assert not any(one["name"].startswith("ops.") for one in done.info.get("on_host", ()))
    if what == "cuda":
        one = done.launches[1]
        assert 0 <= float(capsys.readouterr().out) - (one["t_done"] - one["t_submit"]) < 10


@with_pytorch
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "torch.cuda.get_device_name(0)",
            r"torch\.cuda\.get_device_name asks for a GPU.*script.py:4",
        ),
        ("torch.cuda.Event().elapsed_time(torch.cuda.Event())", "it was not recorded; call record"),
        ("f(torch.ones(8).to(torch.float8_e8m0fnu))", "float8_e8m0fnu do not lie on the machine"),
    ],
)
def test_what_a_machine_does_not_do_is_refused_by_name_and_line(
    workdir: Path, call: str, message: str
) -> None:
    (workdir / "script.py").write_text(
        f"import torch\nf = torch.compile(torch.relu)\nf(torch.ones(8))\n{call}\n", encoding="utf-8"
    )
    with pytest.raises((BenchError, UsageError), match=message):
        kb.run("script.py", "minimal", store="memory:", trace=False)


@with_pytorch
def test_a_script_that_compiles_nothing_is_told_so(workdir: Path) -> None:
    (workdir / "eager.py").write_text(
        "import torch\ntorch.nn.Linear(4, 4)(torch.ones(2, 4))\n", encoding="utf-8"
    )
    with pytest.raises(BenchError, match=r"torch\.compile\(model\)"):
        kb.run("eager.py", "minimal", store="memory:", trace=False)


@with_pytorch
def test_a_compiled_model_is_called_in_a_run_of_python(workdir: Path) -> None:
    import torch  # type: ignore[import-not-found, unused-ignore]

    net = torch.nn.Linear(8, 4)
    compiled = torch.compile(net, backend="kernbench")
    x = torch.randn(2, 8)
    with pytest.raises(UsageError, match="no machine is running: call a model"):
        compiled(x)
    found = []
    for topology in ("h100", "minimal"):
        done = kb.run(lambda torch: found.append(compiled(x)), topology, True, store="memory:", trace=False)
        assert (done.verdict, [one["kernel"] for one in done.launches]) == ("yes", ["addmm"])
    assert all(torch.equal(one, net(x)) for one in found)


def test_a_file_says_which_of_its_lines_are_which_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    written = "inductor_test.py"
    monkeypatch.setitem(
        sources.MODEL_LINES,
        written,
        ([(2, "model.py:7"), (4, ""), (6, "model.py:9")], {"add": ("model.py:8", "out.add")}),
    )
    scope: dict[str, Any] = {"calling": sources.calling}
    text = (
        "found = [calling()]\nfound += [calling()]\n# Source Nodes: [mul, add]\n"
        + "found += [calling()]\n" * 3
    )
    monkeypatch.setitem(linecache.cache, written, (len(text), None, text.splitlines(), written))
    exec(compile(text, written, "exec"), scope)
    nodes = "out.add"
    assert scope["found"] == [
        ("", ""),
        ("", "model.py:7"),
        *[(nodes, "model.py:8")] * 2,
        (nodes, "model.py:9"),
    ]


def test_while_stand_ins_step_aside_imports_find_what_is_installed() -> None:
    with standing_in():
        import triton  # type: ignore[import-not-found, unused-ignore]

        assert triton is sys.modules["kernbench.triton"]
        with standing_aside():
            assert sys.modules.get("triton") is not triton
        assert __import__("triton") is triton
    assert sys.modules.get("triton") is not triton


def test_a_tensor_like_one_with_gaps_has_none_and_its_axes_in_the_same_order() -> None:
    found = []

    def bench(torch: Any) -> None:
        memory = torch.empty(2 * 3 * 40)
        strides = (120, 1, 40), (8, 1, 2), (60, 20, 5)
        found.extend(like(Strided(memory, (2, 3, 4), one)).strides for one in strides)
        memory.write(np.zeros(240, np.float32))

    kb.run(bench, "minimal", store="memory:", trace=False)
    assert found == [(12, 1, 3), (12, 1, 3), (12, 4, 1)]


def test_a_tensor_is_fetched_in_the_time_of_reading_it_also_where_nothing_is_worked_out() -> None:
    took = []

    def bench(torch: Any) -> None:
        tensor = torch.zeros(64, 64)
        for read in (tensor.fetch, tensor.numpy):
            torch.wait_all()
            before = torch.now
            read()
            took.append(torch.now - before)
        torch.launch("add", lambda x, tl: tl.store(x, tl.load(x) + 1), tensor)
        tensor.fetch()
        with pytest.raises(UsageError, match="--verify-data"):
            tensor.numpy()

    kb.run(bench, "minimal", store="memory:", trace=False)
    assert took[0] == pytest.approx(took[1])
    assert took[0] > 0


def test_what_the_host_did_is_in_the_summary(cli: Cli, workdir: Path) -> None:
    Path("host.py").write_text(
        "from kernbench.workloads.benches import bench\n@bench(name='host', description='d')\n"
        "def run(torch):\n"
        "    torch.zeros(4)\n    torch.on_host |= {'pow': (1, 8), 'add': (3, 40)}\n",
        encoding="utf-8",
    )
    said = "on the host   4 operations of 48 bytes, in no time: add 3, pow 1"
    assert said in cli("run", "host.py", "--topology", "minimal").out
    found = json.loads(cli("show", "--format", "json").out)["on_host"]
    assert found == [{"name": "add", "times": 3, "nbytes": 40}, {"name": "pow", "times": 1, "nbytes": 8}]
