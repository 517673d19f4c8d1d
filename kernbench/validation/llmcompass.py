"""What LLMCompass timed on an A100 and an MI210, on the machines ``a100`` and ``mi210``.

Products, softmax, layer norm, GeLU, and parts of a layer on the first. It timed calls of PyTorch on the host,
so each has microseconds of the host, ``host_us``.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kernbench.api.topologies import load_topology
from kernbench.support.pgraph import PropertyGraph
from kernbench.validation import h100
from kernbench.validation.table_file import Case

ROWS, DEPTH = 128, 64
"""Size of a block."""
COLUMNS = (256, 128)
"""Columns of a block: the better of the two is taken."""
COMPARED = 20_000
"""Turns of loops beyond which the first is taken without a comparison."""


def turns(case: Case, columns: int | None = None) -> float:
    """Turns of loops of all blocks together, by default with the widest: some 0.5 ms of CPU each."""
    if "op" not in case:
        return 40_000
    if case["op"] != "matmul":
        return h100.turns({"table": "kernel", **_other(case)})
    columns = columns or _columns(case)[0]
    return -(-int(case["m"]) // ROWS) * (int(case["n"]) // columns) * (int(case["k"]) // DEPTH)


def us(case: Case) -> float:
    """Microseconds of a call, with those that the host takes to start it and to wait for its end."""
    tried = [_other(case)] if case["op"] != "matmul" else _products(case)
    machine = _machine(str(case["chip"]).lower(), json.dumps(case.get("topo", {})))
    return min(h100.us(one, machine) for one in tried) + float(case["host_us"])


def layer_us(case: Case) -> float:
    """Microseconds of a part of a layer, with the host's for each of the ``kernels`` that ran there."""
    return h100.decoder_us(case, "a100") + int(case["kernels"]) * float(case["host_us"])


@cache
def _machine(name: str, topo: str) -> str | PropertyGraph:
    """A machine of the zoo with the keys that were set otherwise where it was measured."""
    return load_topology(name, json.loads(topo)) if topo != "{}" else name


def _products(case: Case) -> list[Case]:
    """The product with each of the blocks that are tried."""
    sizes = {key: int(case[key]) for key in "mnk"}
    block = {"bm": min(ROWS, sizes["m"]), "bk": DEPTH, "group": 8, "stages": 3, "warps": 8}
    tried = _columns(case)
    if turns(case, tried[0]) > COMPARED:
        tried = tried[:1]
    return [_kernel("matmul f16", {**sizes, **block, "bn": columns}) for columns in tried]


def _other(case: Case) -> Case:
    """The kernel of an operation that is not a product: a block a row, or 2,048 elements."""
    dtype = {"dtype": case.get("dtype", "f16")}
    if case["op"] == "gelu":
        return _kernel("gelu f16", {"n": int(case["n"]), "block": 2048, **dtype})
    name = {"softmax": "softmax f16", "layernorm": "plain layernorm f16"}[case["op"]]
    return _kernel(name, {"rows": int(case["m"]), "cols": int(case["k"]), "warps": 8, **dtype})


def _kernel(name: str, params: dict[str, Any]) -> Case:
    return {"case": name, "params": json.dumps(params), **params}


def _columns(case: Case) -> list[int]:
    n = int(case["n"])
    return [columns for columns in COLUMNS if columns <= n] or [n]
