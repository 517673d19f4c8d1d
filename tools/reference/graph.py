"""Writes the reference pages, and a style: ``python -m tools.reference.graph [FOLDER]``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from kernbench_graph.projection import HISTORY
from kernbench_graph.query.library import load_library
from kernbench_graph.query.question import Column, Parameter, Question
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Property, Relationship, Table
from kernbench_graph.stores.neo4j.style import style

from tools.reference.schema_pictures import schema_pictures

STYLE = "neo4j-browser.grass"
PICTURE = "schema-{}.svg"

_ROOT = Path(__file__).resolve().parents[2]
_GENERATED = "<!-- Written by `python -m tools.reference.graph`; change the source, not this page. -->\n"


def schema_page() -> str:
    """The page about labels, relationship types and archive files, as Markdown."""
    out = [
        "# The property graph\n",
        _GENERATED,
        f"Schema version {SCHEMA.version}. Times are float nanoseconds, sizes bytes, bandwidths GB/s",
        "(10^9 bytes/s). `id` is text that no other node of any run or topology has; `name` is for people.",
        "Causal relationships point from the effect to its cause.\n",
        "Every relationship, drawn from the label that it leads from:\n",
        *(
            f"![Relationships from {', '.join(labels)}]({PICTURE.format(number)})"
            for number, (labels, _) in enumerate(schema_pictures(), start=1)
        ),
        "",
        "## Node labels\n",
    ]
    for label in SCHEMA.labels:
        out += [f"### {label.name}\n", f"{label.doc}\n", *_properties(label.properties)]
    out.append("## Relationship types\n")
    plain = [rel for rel in SCHEMA.relationships if not rel.properties]
    out += ["Without properties:\n", "| type | | from, to |", "|---|---|---|"]
    out += [f"| {rel.type} | {rel.doc} | {_pairs(rel)} |" for rel in plain]
    out.append("")
    for rel in SCHEMA.relationships:
        if rel.properties:
            out += [f"### {rel.type}\n", f"{rel.doc} {_pairs(rel)}\n", *_properties(rel.properties)]
    out += [
        "## The graph over all runs\n",
        "Questions of scope `history` that name runs see these whole, all others every run at once. In",
        f"memory or in a folder that graph has {_list(HISTORY)}, and so it has on Neo4j.\n",
        "## Declared gaps\n",
        "- LadybugDB gives a node one label: a component's second label is its property `label` there. Nodes",
        "  in results have both labels.",
        "- Free Cypher on LadybugDB is refused where its answer could differ: patterns of variable length or",
        "  without direction, patterns outside of MATCH, two relationships of one type in one MATCH,",
        "  aggregates after LIMIT, subqueries, CASE, UNION, literal lists and maps, null and empty texts in",
        "  conditions, and most functions. ArcadeDB answers all of these.",
        "- LadybugDB takes a name after ORDER BY for a variable: give columns names that no variable has.",
        "- In Neo4j an unknown property is an error only when nothing in the database has one of that name.",
        "- On Neo4j all runs are in one graph: a query of one run that does not use `$run` is refused.\n",
        "## The archive\n",
        "A run is a folder `runs/<id>`, a topology a folder `topologies/<id>`: a `manifest.json` (schema",
        "version, row counts, checksums, properties) and one Parquet file per table. No value is empty. A",
        "column without a row here is described above, as a property of its label or relationship.\n",
    ]
    above = {(label.name, one.name, one.doc) for label in SCHEMA.labels for one in label.properties}
    for rel in SCHEMA.relationships:
        above |= {(rows.table, one.name, one.doc) for rows in rel.rows for one in rel.properties}
    for table in (*SCHEMA.record_tables("topology"), *SCHEMA.record_tables("run")):
        columns = ", ".join(f"`{column.name}`" for column in table.columns)
        out += [f"### {table.name}.parquet ({table.record})\n", f"{table.doc}{_references(table)}"]
        out += [f"Columns: {columns}.\n"]
        out += _properties(one for one in table.columns if (table.name, one.name, one.doc) not in above)
    return "\n".join(out).rstrip() + "\n"


def questions_page(library: Mapping[str, Question]) -> str:
    """The page about the questions of a library, as Markdown: each with its columns and its text."""
    out = ["# Questions\n", _GENERATED]
    out += [
        "Ask one with `kernbench query NAME`, with parameters as `limit=3`; `--print neo4j` shows its text",
        "with the values in it, ready to be pasted into Neo4j Browser.\n",
    ]
    out += ["| question | what it answers |", "|---|---|"]
    out += [f"| [{one.name}](#{one.name.replace('/', '')}) | {one.title} |" for one in library.values()]
    out.append("")
    for question in library.values():
        out.append(f"## {question.name}\n")
        notes = f" {question.notes}" if question.notes else ""
        out.append(f"{question.title} Asked of {_SCOPES[question.scope]}.{notes}\n")
        if question.params:
            out.append(f"- Parameters: {'; '.join(_parameter(*one) for one in question.params.items())}.")
        columns = (f"`{one.name}`{_unit(one)}{one.help and ': '}{one.help}" for one in question.returns)
        out.append(f"- Columns: {'; '.join(text.removesuffix('.') for text in columns)}.\n")
        out += ["```cypher", question.cypher.rstrip(), "```\n"]
    return "\n".join(out).rstrip() + "\n"


def _parameter(name: str, parameter: Parameter) -> str:
    default = "required" if parameter.default is None else f"`{parameter.default!r}`"
    choices = f" One of {_list(map(str, parameter.choices))}." if parameter.choices else ""
    return f"`{name}` ({default}): {parameter.help}{choices}".removesuffix(".")


def _unit(column: Column) -> str:
    """The unit of a column where its name does not end in it."""
    return f" ({column.unit})" if column.unit and not column.name.endswith(f"_{column.unit}") else ""


def main(folder: Path = _ROOT / "docs" / "reference") -> None:
    """Write both pages, the drawn schema and the style of Neo4j Browser into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.md").write_text(schema_page(), encoding="utf-8")
    for number, (_, picture) in enumerate(schema_pictures(), start=1):
        (folder / PICTURE.format(number)).write_text(picture, encoding="utf-8")
    (folder / STYLE).write_text(style(), encoding="utf-8")
    (folder / "questions.md").write_text(questions_page(load_library(_ROOT / "queries")), encoding="utf-8")


_SCOPES = {
    "run": "one run",
    "topology": "the topology of one run",
    "history": "all runs, or those that parameters name",
}


def _properties(properties: Iterable[Property]) -> list[str]:
    rows = [f"| `{p.name}` | {p.type} | {p.unit} | {p.doc} |" for p in properties]
    return ["| property | type | unit | |", "|---|---|---|---|", *rows, ""] if rows else []


def _pairs(rel: Relationship) -> str:
    return ", ".join(f"`({source})-[:{rel.type}]->({target})`" for source, target in rel.pairs)


def _references(table: Table) -> str:
    return "".join(f" `{column.name}` is in `{column.to}`." for column in table.columns if column.to)


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
