"""The backend ``kernbench`` of ``torch.compile``: Inductor writes code, the machine of a run carries it out.

PyTorch itself works out the same graphs on the host: these are the values that a script goes on with, and
those of the machine are compared with them when the run ends.
"""

from __future__ import annotations

import hashlib
import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, reduce
from operator import getitem, mul
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch._functorch.config
import torch._inductor.compile_fx as compile_fx
import torch.utils._triton
from torch._inductor.fx_passes import fuse_attention
from torch._inductor.graph import GraphLowering
from torch.fx.traceback import NodeSource
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map

from kernbench.host.current import running
from kernbench.inductor.accelerators import Accelerators, autocast, replaced
from kernbench.inductor.buffers import Array, Strided, empty_strided
from kernbench.inductor.cuda import on_cuda
from kernbench.inductor.library import host_calls
from kernbench.inductor.residents import SHORT, HostOperations, device, dtype_of, untouched
from kernbench.inductor.sources import MODEL_LINES, refused
from kernbench.support import dtypes
from kernbench.support.stand_ins import standing_aside, standing_in
from kernbench.support.user_code import is_users
from kernbench.torch import TYPES
from kernbench.triton.random import integers, normals, philox, unit

try:
    import torch._functorch._aot_autograd.graph_compile as tracing
except ImportError:  # until 2.8
    import torch._functorch._aot_autograd.jit_compile_runtime_wrappers as tracing

OLDEST = (2, 6)
"""The first version of PyTorch whose grids are in the text of its kernels' code."""
_CONFIG = {
    "cpu_backend": "triton",
    "force_disable_caches": True,
    "compile_threads": 1,
    "triton.autotune_at_compile_time": False,
}
_FRAME = re.compile(r'File "(.+?)", line (\d+)')
_BACKWARD = " backward"
_KEPT_IN = re.compile(r"\._modules\['(.+?)'\]")
_NUMBERED = re.compile("^# (?:kernel path|AOT ID): .*$", re.MULTILINE)
"""Comments that are others each time."""
_DTYPES = {
    kind: found
    for name, kind in TYPES.items()
    if isinstance(found := getattr(torch, name, None), torch.dtype)
}


def kernbench(
    graph: Any, example_inputs: Sequence[Any], *, mode: str | None = None, options: Any = None
) -> Callable[..., Any]:
    """Compile a graph of Dynamo's; calls of the result run on the machine of the run that is going on.

    Args:
        graph: The graph.
        example_inputs: Its arguments, as Dynamo knows them.
        mode: Without effect: blocks are chosen for the machine.
        options: Settings of Inductor, by name.
    """
    version = torch.__version__
    if tuple(int(n) for n in version.split(".")[:2]) < OLDEST:
        raise refused(f"PyTorch {version} is too old; backend 'kernbench' needs {OLDEST[0]}.{OLDEST[1]}")
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        raise refused("torch.distributed is not carried out yet; run the model as one process")
    named = {}
    for node in graph.graph.nodes:
        if line := _line_of(node):
            named[node.name] = line, (part := _part_of(node))
            first, _ = (node.meta.get("source_fn_stack") or [(node.name, None)])[-1]  # what AOT has of it
            named[first + _BACKWARD] = line, part + _BACKWARD
    with ExitStack() as until:
        # Traced so, sizes would be divided in f64 on the machine, which no engine does.
        until.enter_context(replaced(tracing, "tensorify_python_scalars", lambda *_: None))
        # With donated buffers a backward pass would write over what its forward pass kept for it.
        until.enter_context(replaced(torch._functorch.config, "donated_buffer", False))
        if torch.is_grad_enabled() and any(getattr(one, "requires_grad", False) for one in example_inputs):
            # The backward pass of attention has no kernel of its own: products and a softmax take its place.
            until.enter_context(sdpa_kernel(SDPBackend.MATH))
            until.enter_context(replaced(fuse_attention, "_sfdp_params_check", lambda match: False))
        return compile_fx.compile_fx(  # type: ignore[no-any-return]
            graph,
            example_inputs,
            inner_compile=partial(_compiled, named),
            config_patches={**_CONFIG, **(options or {})},
        )


def _compiled(
    named: dict[str, tuple[str, str]], graph: Any, example_inputs: Sequence[Any], **how: Any
) -> Callable[..., Any]:
    """What Inductor makes of a graph of ATen's operations: forward, backward, or an optimizer's step.

    ``named``: the line of each node of the model, and what the model calls it.
    """
    for node in graph.graph.nodes:  # Inductor says where nodes are from, but not those of a backward pass
        if of := node.meta.get("fwd_source_fn_stack"):
            source = NodeSource(node)
            source.node_info.name = of[-1][0] + _BACKWARD
            node.meta["from_node"] = [source]
    copied = torch.fx.Graph()
    copied.output(copied.graph_copy(graph.graph, {}))
    for node in copied.nodes:  # strides may be others than those that it was traced with
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.reshape.default
        node.target = _DRAWN.get(str(node.target), node.target)
    plain = torch.fx.GraphModule(graph, copied)  # before Inductor changes the graph
    shorts = [one for one in SHORT if any(_type_of(node) is _DTYPES[one] for node in copied.nodes)]
    kind = "backward" if how.get("is_backward") else "forward"
    made: list[tuple[ModuleType, dict[str, Any]]] = []

    def loaded(lowering: Any) -> ModuleType:
        text, line_map = lowering.codegen()
        if not isinstance(text, str):  # as in newer versions
            text, line_map = text.value, text.line_map
        module = _module(kind, _NUMBERED.sub("#", text))
        MODEL_LINES[str(module.__file__)] = [(at, _line_of(node)) for at, node in line_map], named
        made.append((module, dict(lowering.constants)))
        return module

    with (
        standing_aside(),
        replaced(GraphLowering, "compile_to_module", loaded),
        replaced(torch.utils._triton, "triton_hash_with_backend", lambda: ""),
    ):
        as_it_is = compile_fx.compile_fx_inner(graph, example_inputs, **how)
    if not made:  # it calls nothing
        return as_it_is  # type: ignore[no-any-return]
    names = [node.name for node in plain.graph.nodes if node.op == "placeholder"]
    carried_out = partial(_call, *made[0], plain, names, shorts[0] if shorts else "")
    carried_out._boxed_call = True  # type: ignore[attr-defined]  # its arguments come in a list
    return carried_out


def _type_of(node: Any) -> Any:
    return getattr(node.meta.get("val"), "dtype", None)


def _seeds(count: int, device: object = None) -> Any:
    """Of random numbers of a graph: each call draws from PyTorch's generator."""
    return torch.randint(-(2**63), 2**63 - 1, [count])


def _random(size: Sequence[int], seed: Any, mode: str, **_: Any) -> Any:
    """``rand`` or ``randn`` with the numbers that kernels draw."""
    words = philox(int(seed), np.arange(reduce(mul, size, 1)), 10)
    found = unit(words[0]) if mode == "rand" else normals(words[:2])[0]
    return torch.from_numpy(found).reshape(size)


def _randint(low: int, high: int, size: Sequence[int], seed: Any) -> Any:
    """``randint`` with these."""
    words = philox(int(seed), np.arange(reduce(mul, size, 1)), 10)
    return torch.from_numpy(integers(words, low, high)).reshape(size)


_DRAWN = {
    "prims.inductor_seeds.default": _seeds,
    "prims.inductor_lookup_seed.default": getitem,
    "prims.inductor_random.default": _random,
    "prims.inductor_randint.default": _randint,
}


def _module(kind: str, text: str) -> ModuleType:
    """The module of a text of Inductor's, as KernBench runs such files: equal texts are of one name."""
    name = f"inductor_{kind}_{hashlib.sha256(text.encode()).hexdigest()[:6]}.py"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = ModuleType(name.removesuffix(".py"))
    module.__file__ = name
    with standing_in(without_pytorch=True):
        exec(compile(text, name, "exec", dont_inherit=True), vars(module))
    return module


def _line_of(node: Any) -> str:
    """``model.py:12``, the innermost line of the user's that a node of a graph comes from."""
    trace = getattr(node, "stack_trace", None) or ""
    frames = [(file, line) for file, line in _FRAME.findall(trace) if is_users(file)]
    return f"{frames[-1][0].rpartition('/')[2]}:{frames[-1][1]}" if frames else ""


def _part_of(node: Any) -> str:
    """``layers.3.up``, the module of PyTorch's that a node is in; elsewhere its own name, ``layers.3.h``."""
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    if not modules:
        return str(node.name)
    place, kind = modules[-1]
    path = _KEPT_IN.sub(r".\1", place).partition("]")[2].strip(".")
    if path and getattr(kind, "__module__", "").startswith("torch."):
        return path
    return f"{path}.{node.name}".strip(".")


def _call(
    module: ModuleType, constants: dict[str, Any], plain: Callable[..., Any], names: Sequence[str],
    short: str, args: list[Any],
) -> Any:  # fmt: skip
    """Launch what a graph asks for, and return tensors that hold what PyTorch makes of it."""
    given, machine = list(args), device()
    args.clear()
    machine.sweep()
    with untouched():
        machine.fetched([one for one in given if isinstance(one, torch.Tensor)], free=True)
        for name, constant in constants.items():
            setattr(module, name, machine.put(constant, name))
        placed = [
            machine.put(one, name) if isinstance(one, torch.Tensor) else one
            for one, name in zip(given, names, strict=True)
        ]
        drawn = torch.get_rng_state()
        token = host_calls.set(_on_host)
        try:
            found = module.call(list(placed))
        finally:
            host_calls.reset(token)
        torch.set_rng_state(drawn)  # the same random numbers again
        wanted = plain(*given)
        known = {
            id(there.memory): here.untyped_storage()
            for here, there in zip(given, placed, strict=True)
            if isinstance(there, Strided) and machine.holds(here, there)
        }
        for here, there in zip(given, placed, strict=True):
            if isinstance(there, Strided):
                machine.written(here, there, short)
        return [
            machine.result(one, value, known, short) if isinstance(one, Strided) else value
            for one, value in zip(found, wanted, strict=True)
        ]


def _on_host(name: str, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Have PyTorch carry out a call that has no kernel here: its operands and results are copied."""
    if name.endswith("aten.randint.low_out"):  # seeds of kernels that draw
        return named["out"].write(_seeds(args[2][0]).numpy())
    path = name.removeprefix("torch.")
    if path.startswith("extern_kernels."):
        path = f"_inductor.select_algorithm.{path}"
    function = reduce(getattr, path.split("."), torch)
    moved: dict[int, tuple[Strided, Any]] = {}

    def there(value: Any) -> Any:
        if not isinstance(value, Strided):
            return _DTYPES.get(value, value) if isinstance(value, str) else value
        made = torch.empty_strided(value.shape, value.strides, dtype=_DTYPES[value.dtype])
        made.copy_(_tensor(value.numpy(), value.dtype))
        moved[id(value)] = value, made
        return made

    def back(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        for strided, made in moved.values():
            if made is value:
                return strided
        made = empty_strided(value.shape, value.stride(), dtype_of(value), name=path.split(".")[-1])
        return made.write(_numbers_of(value, made.dtype))

    arguments, others = tree_map(there, (tuple(args), dict(named)))
    before = {key: made.clone() for key, (_, made) in moved.items()}
    found = function(*arguments, **others)
    device().count(path, sum(made.nbytes for _, made in moved.values()))
    for key, (strided, made) in moved.items():
        if not torch.equal(made, before[key]):
            strided.write(_numbers_of(made, strided.dtype))
    return tree_map(back, found)


def _tensor(values: Array, dtype: str) -> Any:
    """A tensor of PyTorch's; numpy's bf16 is not known to it."""
    bits = values.view(np.uint16) if dtype == "bf16" else values
    return torch.from_numpy(bits).view(_DTYPES[dtype])


def _numbers_of(tensor: Any, dtype: str) -> Array:
    bits = tensor.contiguous().view(torch.uint16) if dtype == "bf16" else tensor
    found: Array = bits.numpy().view(dtypes.dtype(dtype).numpy)
    return found


@contextmanager
def attached() -> Iterator[None]:
    """Meanwhile ``torch.compile`` takes this backend where it takes Inductor, and the host's work counts."""
    before = torch.compile
    torch._dynamo.reset()  # so that a run does not depend on the sizes of those before it

    def compiled(*args: Any, backend: Any = "inductor", **named: Any) -> Any:
        ours = backend == "kernbench" or (backend == "inductor" and running())  # not in other threads
        return before(*args, backend=kernbench if ours else backend, **named)

    with (
        replaced(torch, "compile", compiled),
        replaced(torch.autocast, "__init__", autocast(torch.autocast.__init__)),
        on_cuda(),
        HostOperations(),
        Accelerators(),
    ):
        yield
