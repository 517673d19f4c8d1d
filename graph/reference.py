"""Writes the reference pages of schema and questions: ``python -m graph.reference [FOLDER]``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from graph.question import Question
from graph.questions import load_library
from graph.schema import SCHEMA, Property, Table
from graph.stores.ladybug_ddl import PLACE_KEY
from graph.stores.run_parts import HISTORY_LABELS, HISTORY_TYPES

_ROOT = Path(__file__).resolve().parent.parent
_GENERATED = "<!-- Written by `python -m graph.reference`; change the source, not this page. -->\n"


def schema_page() -> str:
    """The page about labels, relationship types and archive files, as Markdown."""
    out = [
        "# The property graph\n",
        _GENERATED,
        f"Schema version {SCHEMA.version}. Times are float nanoseconds, sizes bytes, bandwidths GB/s",
        "(10^9 bytes/s). Every label has a property `id`, unique among its nodes in the graph of one run.\n",
        "## Node labels\n",
    ]
    for label in SCHEMA.labels:
        out += [f"### {label.name}\n", f"{label.doc}\n", *_properties(label.properties)]
    out.append("## Relationship types\n")
    for rel in SCHEMA.relationships:
        pairs = ", ".join(f"`({source})-[:{rel.type}]->({target})`" for source, target in rel.pairs)
        out += [f"### {rel.type}\n", f"{rel.doc} {pairs}\n", *_properties(rel.properties)]
    out += [
        "## The graph over all runs\n",
        "Questions of scope `history` see every run at once, in a graph of "
        f"{_list(HISTORY_LABELS)} nodes joined by {_list(HISTORY_TYPES)}. There, components and links have a "
        f"further property `{PLACE_KEY.name}`, because their ids repeat from topology to topology.\n",
        "## Declared gaps\n",
        "- LadybugDB gives a node one label: a component's second label is its property `label` there.",
        "- LadybugDB takes a name after ORDER BY for a variable: give columns names that no variable has.",
        "- LadybugDB reads `IN` and `ON` as keywords: write them in backticks, ``-[:`IN`]->``.",
        "- Neo4j Community has no weighted shortest paths: `WSHORTEST` is LadybugDB's alone.",
        "- In Neo4j an unknown property is an error only when nothing in the database has one of that name.",
        "- In Neo4j every node has a further label, `InRun<n>` or `InHistory<n>`, and a property `_run` or "
        "`_key`.\n",
        "## The archive\n",
        "A run is a folder `runs/<id>`, a topology a folder `topologies/<id>`: a `manifest.json` (schema",
        "version, row counts, checksums, properties) and one Parquet file per table. No value is empty.\n",
    ]
    for table in SCHEMA.tables:
        out += [f"### {table.name}.parquet ({table.record})\n", f"{table.doc}{_references(table)}\n"]
        out += _properties(table.columns)
    return "\n".join(out).rstrip() + "\n"


def questions_page(library: Mapping[str, Question]) -> str:
    """The page about the questions of a library, as Markdown."""
    out = ["# Questions\n", _GENERATED]
    for question in library.values():
        out += [f"## {question.name}\n", f"{question.title}\n"]
        out += [f"Asked of: {_SCOPES[question.scope]}.{' ' + question.notes if question.notes else ''}\n"]
        if question.params:
            out += ["| parameter | type | default | |", "|---|---|---|---|"]
            for name, parameter in question.params.items():
                if parameter.derived:
                    continue
                default = "required" if parameter.default is None else f"`{parameter.default!r}`"
                choices = f" One of {_list(map(str, parameter.choices))}." if parameter.choices else ""
                out.append(f"| `{name}` | {parameter.type} | {default} | {parameter.help}{choices} |")
            out.append("")
        out += ["| column | type | unit | |", "|---|---|---|---|"]
        out += [f"| `{c.name}` | {c.type} | {c.unit} | {c.help} |" for c in question.returns]
        out += ["", "```cypher", question.cypher.rstrip(), "```\n"]
    return "\n".join(out).rstrip() + "\n"


def main(folder: Path = _ROOT / "docs" / "reference") -> None:
    """Write both pages into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.md").write_text(schema_page(), encoding="utf-8")
    (folder / "questions.md").write_text(questions_page(load_library(_ROOT / "queries")), encoding="utf-8")


_SCOPES = {"run": "one run", "topology": "the topology of one run", "history": "all runs"}


def _properties(properties: Iterable[Property]) -> list[str]:
    rows = [f"| `{p.name}` | {p.type} | {p.unit} | {p.doc} |" for p in properties]
    return ["| property | type | unit | |", "|---|---|---|---|", *rows, ""] if rows else []


def _references(table: Table) -> str:
    notes = [f" `{column}` is in {_list(targets)}." for column, targets in table.references.items()]
    return "".join(notes)


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
