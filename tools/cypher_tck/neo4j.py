"""Scenarios on a Neo4j server, started for them, read as the store reads."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kernbench_graph.stores.neo4j.entities import convert
from kernbench_graph.stores.neo4j.server import Neo4jServer, parse

from tools import run_neo4j
from tools.cypher_tck.ladybug import plain


class Neo4j:
    """One database, emptied where a scenario has another graph than the one before."""

    name = "Neo4j"

    def __init__(self, url: str | None = None) -> None:
        """On the server at ``url``, whose graph goes, or on one of its own."""
        self._open = ExitStack()
        if url is None:
            folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
            password = secrets.token_urlsafe(12)
            running = run_neo4j.running(folder / "home", password, 0, 0, True)
            bolt, *_ = self._open.enter_context(running)
            os.environ |= {"KERNBENCH_NEO4J_USER": "neo4j", "KERNBENCH_NEO4J_PASSWORD": password}
            url = f"bolt://127.0.0.1:{bolt}"
        self._server = Neo4jServer(parse(url), url)
        self._open.callback(self._server.close)
        self._made: list[str] | None = None

    def prepare(self, statements: list[str]) -> None:
        """Have the graph that these statements make, and nothing else."""
        if statements == self._made:
            return  # queries only read

        def work(tx: Any) -> None:
            for text in ("MATCH (n) DETACH DELETE n", *statements):
                tx.run(text).consume()

        self._made = None
        self._server.write(work)
        self._made = statements

    def ask(self, text: str, params: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows, in the form of :mod:`tools.cypher_tck.values`."""

        def work(tx: Any) -> tuple[list[str], list[list[Any]]]:
            result = tx.run(text, params)
            columns, rows = list(result.keys()), [list(record.values()) for record in result]
            return columns, [[plain(value) for value in row] for row in convert(rows, tx)]

        return self._server.read(work)

    def close(self) -> None:
        """Stop the server."""
        self._open.close()
