"""What judges the times of a model on every screen: rows of ``kernbench validate``, or nothing."""

from __future__ import annotations

from collections import Counter
from functools import cache

from kernbench.api.result import Run
from kernbench.api.topologies import load_topology

STEPS = "published steps of A100s alone ('kernbench validate models'); other machines are assumptions"
"""Of a model of layers."""
LIKE = {"product": "products", "attention": "attention",
        **dict.fromkeys(("pointwise", "reduction", "persistent_reduction"), "streams")}  # fmt: skip
"""Rows of kernels, by the kind of a launch of a compiled model."""
ROWS = {"h100": ("products", "streams", "attention"), "a100": ("products",)}
"""By machine: rows that a GPU was measured for, of Triton kernels of our own."""
TABLES = {"a100": "llmcompass"}
"""Of a machine, where it does not have its name."""


@cache
def _as_shipped(machine: str) -> str:
    return str(load_topology(machine).properties["id"])


def launches(run: Run) -> str:
    """What judges the launches of a compiled model, or empty; library calls are Triton kernels of our own."""
    machine = run.topology
    rows = ROWS.get(machine, ())
    if rows and run.info["topology_id"] != _as_shipped(machine):
        rows = ()
    judged, kinds = Counter[str](), Counter[str]()
    for kind in (str(one["model_kind"]) for one in run.launches if one.get("model_kind")):
        (judged if LIKE.get(kind) in rows else kinds)[LIKE.get(kind, kind)] += 1
    table = ", ".join(f"{n} as {name}" for name, n in judged.items())
    table = f"'kernbench validate {TABLES.get(machine, machine)}': {table}"
    nothing = "nothing: " + ", ".join(f"{n} {name}" for name, n in kinds.items())
    return "; ".join(said for said, there in ((table, judged), (nothing, kinds)) if there)
