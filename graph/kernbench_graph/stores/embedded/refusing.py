"""The refusal of a query that LadybugDB may answer wrongly."""

from __future__ import annotations

from kernbench_graph.errors import QueryError
from kernbench_graph.extras import install


def otherwise() -> str:
    """What answers any query."""
    return f"or {install('cypher')}, whose engine answers it"


def refusal(shape: str, instead: str) -> QueryError:
    """The error for a query of that shape; ``instead`` says what to write."""
    return QueryError(f"the engine 'ladybug' may answer wrongly: {shape}; {instead}, {otherwise()}")
