"""Products of matrices and parts of a layer on the machine ``a100``, beside what LLMCompass timed."""

from __future__ import annotations

import json

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
    if "m" not in case:
        return 40_000
    columns = columns or _columns(case)[0]
    return -(-int(case["m"]) // ROWS) * (int(case["n"]) // columns) * (int(case["k"]) // DEPTH)


def us(case: Case) -> float:
    """Microseconds of a product, with those that the host takes to start it and to wait for its end."""
    sizes = {key: int(case[key]) for key in "mnk"}
    block = {"bm": min(ROWS, sizes["m"]), "bk": DEPTH, "group": 8, "stages": 3, "warps": 8}
    tried = _columns(case)
    if turns(case, tried[0]) > COMPARED:
        tried = tried[:1]
    products = (json.dumps({**sizes, **block, "bn": columns}) for columns in tried)
    found = (h100.us({"case": "matmul f16", "params": params}, "a100") for params in products)
    return min(found) + float(case["host_us"])


def layer_us(case: Case) -> float:
    """Microseconds of a part of a layer, with the host's for each of the ``kernels`` that ran there."""
    return h100.decoder_us(case, "a100") + int(case["kernels"]) * float(case["host_us"])


def _columns(case: Case) -> list[int]:
    n = int(case["n"])
    return [columns for columns in COLUMNS if columns <= n] or [n]
