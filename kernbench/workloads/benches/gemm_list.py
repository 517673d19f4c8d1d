"""Products of a list, one after the other: a file as SCALE-Sim has them, with columns Layer, M, N, K."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernbench.errors import UsageError
from kernbench.support.input_files import input_text
from kernbench.workloads.benches._inputs import SEED, activations, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench
from kernbench.workloads.models.layout import BY_ROWS, Array, Strips
from kernbench.workloads.models.products import Products, widest

if TYPE_CHECKING:
    from kernbench.host import Context

NATIVE = 32
"""Sizes are filled up with zeros to a multiple of it: tiles of the matrix engine are as wide."""


class Gemm(NamedTuple):
    """(m, k) times (k, n)."""

    layer: str
    m: int
    n: int
    k: int


COLUMNS = ["layer", "m", "n", "k"]
SMALL = [Gemm("first", 48, 96, 64), Gemm("second", 48, 64, 100)]


def read(path: str) -> list[Gemm]:
    """The products of a file; :class:`UsageError` with its line for what is not taken."""
    try:
        text = input_text(path, "a list of products (CSV)", UsageError)
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
    except csv.Error as error:
        raise UsageError(f"{path}: {error}") from None
    names = [name.lower() for name in rows[0]] if rows else []
    while names and not names[-1]:
        names.pop()
    if names != COLUMNS:
        raise UsageError(
            f"{path}, line 1: these are not its columns; gemm-list takes Layer, M, N, K, "
            "SCALE-Sim's list of products (not its convolutions, and no sparsity)"
        )
    found = []
    for number, row in enumerate(rows[1:], 2):
        if not any(row):
            continue
        try:
            sizes = [int(cell) for cell in row[1:4]]
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
        if len(sizes) < 3 or min(sizes) < 1 or any(row[4:]):
            raise UsageError(f"{path}, line {number}: {','.join(row)} is not Layer, M, N, K, each 1 or more")
        found.append(Gemm(row[0] or f"line {number}", *sizes))
    if not found:
        raise UsageError(f"{path}: lists no products")
    return found


@bench(
    name="gemm-list",
    description="The products of a list as SCALE-Sim has them, each over all PEs of a package.",
    params=[
        Param("file", str, "", "a csv with columns Layer, M, N, K; two small products without"),
        Param("resident", bool, False, "matrices are there already: nothing is written or verified"),
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Columns are dealt to cubes, rows to the PEs of each; a launch is named as its layer."""
    p = torch.params
    if torch.address_model == "pa":
        raise UsageError(
            "bench 'gemm-list' needs address_model va or la: a PE reads from several memories at once"
        )
    cubes, pes = torch.cubes_per_sip, torch.pes_per_cube
    rng = np.random.default_rng(p.seed)
    for number, gemm in enumerate(read(p.file) if p.file else SMALL):
        given, made = (
            Strips.of_tokens(gemm.m, columns, widest(columns, cubes, pes), cubes, pes)
            for columns in (-(-size // NATIVE) * NATIVE for size in (gemm.k, gemm.n))
        )
        products = Products(torch, cubes, [(made, 1)])
        make = torch.empty if made.full or p.resident else torch.zeros
        out = make(*made.shape, dp=BY_ROWS, name=f"out{number}")
        shape = made.weights(given.columns, cubes)
        if p.resident:
            x = torch.empty(*given.shape, dp=BY_ROWS, name=f"x{number}")
            w = torch.empty(*shape, dp=BY_ROWS, name=f"w{number}")
        else:
            a, b = activations(rng, (gemm.m, gemm.k), "f16"), weights(rng, (gemm.k, gemm.n), "f16")
            x = torch.from_numpy(given.laid(a), dp=BY_ROWS, name=f"x{number}")
            filled = np.pad(b, ((0, given.columns - gemm.k), (0, made.columns - gemm.n)))
            w = torch.from_numpy(made.packed(filled, cubes), dp=BY_ROWS, name=f"w{number}")
        products.launch(gemm.layer, x, given, w, out, made)
        torch.wait_all()
        if not p.resident:
            torch.check(gemm.layer, out, partial(_product, made, a, b))


def _product(made: Strips, a: Array, b: Array) -> Array:
    return made.laid(a.astype(np.float64) @ b.astype(np.float64))
