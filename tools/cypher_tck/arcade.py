"""Scenarios on ArcadeDB, as free Cypher in memory and in a folder asks it."""

from __future__ import annotations

import tempfile
from typing import Any

from kernbench_graph.query.columns import has_path
from kernbench_graph.stores.arcade.dialect import dialect
from kernbench_graph.stores.arcade.worker import Worker

from tools.cypher_tck.values import normal

UNLABELLED = "NO_LABEL"
"""The engine's type of nodes without labels."""


class Arcade:
    """One database, emptied between scenarios, and made anew where names mean other things."""

    name = "ArcadeDB"

    def __init__(self) -> None:
        self.worker = Worker()
        self._folder = tempfile.TemporaryDirectory()
        self._made = 0
        self._renew()

    def _renew(self) -> None:
        self.worker.close()
        self._made += 1
        self.worker.create(f"{self._folder.name}/graph{self._made}")

    def prepare(self, statements: list[str]) -> None:
        """Have the graph that these statements make, and nothing else."""
        self._run(["MATCH (n) DETACH DELETE n"])
        try:
            self._run(statements)
        except Exception:  # a label of this one is a type of another
            self._renew()
            self._run(statements)

    def _run(self, statements: list[str]) -> None:
        for text in statements:
            self.worker._database.command("opencypher", text).to_list()
            self.worker.know_types()

    def ask(self, text: str, params: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows, in the form of :mod:`tools.cypher_tck.values`."""
        columns, rows = self.worker.query(dialect(text), params, has_path(text))
        return columns, [[normal(value, UNLABELLED) for value in row] for row in rows]

    def close(self) -> None:
        """Remove everything."""
        self.worker.close()
        self._folder.cleanup()
