"""A style for Neo4j Browser (GraSS), made from the schema: every node is captioned by its ``name``.

Labels of a topology, of a run's summary and of what it did have a hue each, so that a picture shows at a
glance where the machine ends and the trace begins.
"""

from __future__ import annotations

from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import NodeLabel

_HUES = {"topology": ("#4C8EDA", "#2870C2"), "run": ("#57C7E3", "#23B3D7"), "summary": ("#F79767", "#F36924")}
_WIDE = ("Run", "Topology", "Launch")
_CAUSES = ("WAITED_FOR", "CAUSED_BY", "SENT_FOR", "AWAITED", "DEPENDS_ON")
"""Relationships from an effect to its cause; they stand out."""
_BEGIN = """node {
  diameter: 50px;
  color: #A5ABB6;
  border-color: #9AA1AC;
  border-width: 2px;
  text-color-internal: #FFFFFF;
  font-size: 10px;
}

relationship {
  color: #A5ABB6;
  shaft-width: 1px;
  font-size: 8px;
  padding: 3px;
  text-color-external: #000000;
  text-color-internal: #FFFFFF;
  caption: "<type>";
}
"""


def style() -> str:
    """The text of the style.

    >>> print(style()[style().index("node.Link"):].split("}")[0] + "}")
    node.Link {
      diameter: 50px;
      color: #4C8EDA;
      border-color: #2870C2;
      text-color-internal: #FFFFFF;
      caption: "{name}";
    }
    """
    parts = [_BEGIN, *(_node(label) for label in SCHEMA.labels)]
    parts += [
        f'relationship.{rel.type} {{\n  color: #DA7194;\n  shaft-width: 3px;\n  caption: "<type>";\n}}\n'
        for rel in SCHEMA.relationships
        if rel.type in _CAUSES
    ]
    return "\n".join(parts)


def _node(label: NodeLabel) -> str:
    hue = _HUES["summary" if label.name in ("Run", "Use", "Launch") else label.record]
    return (
        f"node.{label.name} {{\n  diameter: {80 if label.name in _WIDE else 50}px;\n  color: {hue[0]};\n"
        f'  border-color: {hue[1]};\n  text-color-internal: #FFFFFF;\n  caption: "{{name}}";\n}}\n'
    )
