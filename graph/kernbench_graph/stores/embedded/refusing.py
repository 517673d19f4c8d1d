"""The refusal of a query that LadybugDB may answer wrongly."""

from __future__ import annotations

from kernbench_graph.errors import QueryError

INSTEAD = "or pip install 'kernbench[cypher]', whose engine answers it"


def refusal(shape: str, instead: str) -> QueryError:
    """The error for a query of that shape; ``instead`` says what to write."""
    return QueryError(f"the engine 'ladybug' may answer wrongly: {shape}; {instead}, {INSTEAD}")
