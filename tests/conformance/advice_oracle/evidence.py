"""A run as the rules of advice see it: its critical path and raw rows."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import kernbench as kb
from kernbench.analysis.path.path_steps import Step

Rows = list[dict[str, Any]]
MOVES = ("queue", "hbm", "cache_hit", "cache_miss", "link", "component")
LOCAL = ("pe_to_router", "router_to_hbm", "hbm_ctrl", "pe_dma")


class Evidence:
    """A run of launches as the rules see it."""

    def __init__(self, run: kb.Run) -> None:
        self.run = run
        self.steps = run.critical_path("all").steps
        self.ops = {row["number"]: row for row in run.tables["Op"].to_pylist()}
        self.transactions = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
        machine = run.topology_record().tables
        self.parts = {
            row["name"]: {**row, **json.loads(row["attributes"] or "{}")}
            for row in machine["Component"].to_pylist()
        }
        self.links = {row["name"]: row for row in machine["Link"].to_pylist()}
        self.used = {r: i for i, r in enumerate(run.use("all")["resource"].tolist())}

    @cached_property
    def accesses(self) -> list[dict[str, Any]]:
        """Accesses to tensors, each with its ``tensor`` and the ``op`` as rows."""
        tensors = {row["number"]: row for row in self.run.tables["Tensor"].to_pylist()}
        return [
            {**row, "tensor": tensors[row["tensor"]], "op": self.ops[row["op"]]}
            for row in self.run.tables["Access"].to_pylist()
        ]

    def runs_ahead(self, line: str) -> bool:
        """Whether no command of a line waits for the one before it in the text."""
        issued = (row for row in self.run.tables["DependsOn"].to_pylist() if row["hazard"] == "issue")
        return line not in {self.ops[row["op"]]["source"] for row in issued}

    def in_kernels(self, *causes: str) -> list[Step]:
        return [step for step in self.steps if step.line and step.cause in causes]

    def op(self, step: Step) -> dict[str, Any] | None:
        return self.ops.get(step.op)

    def kind(self, name: str) -> str:
        return str((self.parts.get(name) or self.links.get(name) or {"kind": ""})["kind"])

    def touched(self, kind: str) -> dict[str, dict[str, Any]]:
        """Use within the launches of the parts of a kind that served something then."""
        use = self.run.use("all")
        return {
            name: {"bytes": int(use["bytes"][i]), "utilisation": float(use["utilisation"][i])}
            for name, i in self.used.items()
            if use["kind"][i] == kind and use["transactions"][i] > 0
        }


def summed(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    found: dict[Any, list[float]] = defaultdict(list)
    for key, ns in pairs:
        found[key].append(ns)
    return {key: math.fsum(values) for key, values in found.items()}
