"""The answer to a query: columns and rows, as text, as a graph and as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query.

    Values are plain Python (str, int, float, bool, None, list, dict), and nodes, relationships and paths as
    :mod:`kernbench_graph.entities` has them.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Remarks on the query, such as a property that the label in question never has."""
    engine: str = ""
    """Name of the engine that answered; empty where none had to be asked."""

    def dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary keyed by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def graph(self) -> nx.MultiDiGraph[str]:
        """The nodes, relationships and paths of all rows as one networkx graph.

        Nodes are keyed by ``id`` and carry ``labels``, joined by ``:``, and their properties, edges ``type``
        and theirs.
        """
        from kernbench_graph.networkx_view import result_graph

        return result_graph(self.rows)

    def to_svg(self) -> str:
        """A picture of the nodes, relationships and paths of all rows, as the text of an SVG file.

        Empty where there are none of them, or too many for a picture.
        """
        from kernbench_graph.drawing import entities_svg
        from kernbench_graph.entities import entities_in

        return entities_svg(*entities_in(self.rows))

    def _repr_html_(self) -> str:
        from kernbench_graph.entities import entities_in
        from kernbench_graph.notebook import html_table

        table = html_table(self.columns, self.rows, "; ".join(self.notes))
        joined = entities_in(self.rows)[1]
        return f"<div>{self.to_svg()}</div>{table}" if joined else table

    def __len__(self) -> int:
        return len(self.rows)
