"""Runs the TCK's reading scenarios: ``python -m tools.cypher_tck [--check] [--engine NAME ...]``.

On every engine that answers free Cypher, as the stores ask it: ArcadeDB, LadybugDB, and Neo4j, for which a
server is started unless one is named. Writes ``docs/reference/cypher-engines.md``; with ``--check`` it only
says whether what that page says of these engines is true, and fails where an answer is wrong that the page
does not list.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kernbench_graph.errors import StoreError
from kernbench_graph.query.columns import columns_of
from kernbench_graph.query.guard import check_read_only

from tools.cypher_tck.features import Scenario, scenarios
from tools.cypher_tck.values import key, parsed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cypher-engines.md"
_TEMPORAL = re.compile(r"\b(date|time|localtime|localdatetime|datetime|duration)(\(|\.)")
OUTCOMES = ("passed", "refused", "wrong", "accepted though invalid")
_BAD = OUTCOMES[2:]
_SHAPE = re.compile(r"may answer wrongly: (.*?); ")


class Engine(Protocol):
    """An engine, asked as the store that has it asks it."""

    name: str

    def prepare(self, statements: list[str]) -> None:
        """Have the graph that these statements make, and nothing else."""

    def ask(self, text: str, params: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows."""

    def close(self) -> None:
        """Let go of everything."""


def _arcade() -> Engine:
    from tools.cypher_tck.arcade import Arcade

    return Arcade()


def _ladybug() -> Engine:
    from tools.cypher_tck.ladybug import Ladybug

    return Ladybug()


def _neo4j(url: str | None = None) -> Engine:
    from tools.cypher_tck.neo4j import Neo4j

    return Neo4j(url)


ENGINES: dict[str, Callable[[], Engine]] = {"arcadedb": _arcade, "ladybug": _ladybug, "neo4j": _neo4j}


@dataclass
class Found:
    """The outcomes of an engine: by folder of scenarios, the reasons of refusals, and what went badly."""

    name: str
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)


def left_out(scenario: Scenario) -> bool:
    """Whether it needs what is not here: procedures, generated trees, temporal types, writing."""
    query = scenario.step("executing query:")
    if query is None or any("procedure" in step.line or "-tree-" in step.line for step in scenario.steps):
        return True
    if any(_TEMPORAL.search(step.text) for step in scenario.steps):
        return True
    try:
        check_read_only(query.text)
    except StoreError:
        return True
    return not any(step.line.startswith("the result should be") or "should be raised" in step.line
                   for step in scenario.steps)  # fmt: skip


def outcome(engine: Engine, scenario: Scenario) -> tuple[str, str]:
    """How the scenario ends on the engine, one of ``OUTCOMES``, and the reason."""
    query = scenario.step("executing query:")
    assert query is not None
    error = next((step for step in scenario.steps if "should be raised" in step.line), None)
    text = check_read_only(query.text)
    try:
        engine.prepare([step.text for step in scenario.steps if step.line == "having executed:"])
    except Exception as refusal:
        return "refused", f"its graph: {_line(refusal)}"
    params: dict[str, Any] = {}
    if given := scenario.step("parameters are:"):
        params = {name: parsed(value) for name, value in given.table}
    try:
        columns, rows = engine.ask(text, params)
    except Exception as refusal:
        return ("passed" if error else "refused"), _line(refusal)
    except BaseException as died:
        if isinstance(died, KeyboardInterrupt | SystemExit):
            raise
        return "wrong", str(died)
    if error:
        return "accepted though invalid", error.line
    return compared(scenario, columns_of(text) or columns, rows)


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def compared(scenario: Scenario, columns: list[str], rows: list[list[Any]]) -> tuple[str, str]:
    """Whether the rows are those of the scenario."""
    wanted = scenario.step("the result should be")
    assert wanted is not None
    names, *cells = wanted.table or [[]]
    in_order, lists = "in order" in wanted.line, "ignoring element order" not in wanted.line
    if rows and sorted(names) != sorted(columns):
        return "wrong", f"columns {columns}, not {names}"
    places = [columns.index(name) for name in names] if rows else []
    got = [tuple(key(row[place], lists) for place in places) for row in rows]
    expected = [tuple(key(parsed(cell), lists) for cell in row) for row in cells]
    same = got == expected if in_order else Counter(got) == Counter(expected)
    return ("passed", "") if same else ("wrong", f"{got[:3]}, not {expected[:3]}")


def measured(make: Callable[[], Engine]) -> Found:
    """All scenarios on one engine."""
    engine = make()
    found = Found(engine.name)
    try:
        for number, scenario in enumerate(scenarios()):
            if left_out(scenario):
                continue
            ended, reason = outcome(engine, scenario)
            found.counts.setdefault(scenario.feature.rpartition("/")[0], Counter())[ended] += 1
            if ended == "refused":
                shape = _SHAPE.search(reason)
                of_graph = reason.startswith("its graph: ")
                found.refusals[shape[1] if shape else reason if of_graph else "not valid here"] += 1
            if ended in _BAD:
                found.bad.append(f"{scenario.feature}: {scenario.name} ({ended})")
            if ended != "passed":
                print(f"{engine.name}: {ended}: {scenario.feature} {scenario.name}: {reason}")
            if number % 500 == 0:
                print(f"{engine.name}: {number} scenarios", file=sys.stderr)
    finally:
        engine.close()
    return found


def main() -> int:
    """Run all scenarios; 1 when the page is not true, or an answer is wrong that it does not list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES), help="default: all")
    parser.add_argument(
        "--neo4j", metavar="URL", help="a Neo4j server whose graph may go (default: one is started)"
    )
    given = parser.parse_args()
    engines = ENGINES | {"neo4j": lambda: _neo4j(given.neo4j)}
    if not given.check and set(given.engine) != set(ENGINES):
        parser.error("the page is about all engines: leave --engine out, or give --check")
    written = PAGE.read_text(encoding="utf-8") if given.check else ""
    sections, wrong = [], 0
    for name in given.engine:
        found = measured(engines[name])
        sections.append(section(name, found))
        wrong += sum(one not in written for one in found.bad)
    if not given.check:
        PAGE.write_text("\n".join([_HEAD, *sections]), encoding="utf-8")
        return 0
    stale = any(one not in written for one in sections)
    print(f"{wrong} wrong" + ("; run python -m tools.cypher_tck" if stale else ""))
    return int(bool(wrong) or stale)


_HEAD = """# Cypher engines

<!-- Written by `python -m tools.cypher_tck`; change the source, not this page. -->

The reading scenarios of the openCypher Technology Compatibility Kit, without temporal types, procedures and
generated trees, on each engine as its store asks it. *Refused* is an error where the scenario has rows.
"""
_ABOUT = {
    "arcadedb": "Free Cypher in memory and in a folder. The one that it refuses has a label and a\n"
    "relationship type of one name. Three faults that no scenario shows are known: it forgets the order of\n"
    "a WITH that orders by what it does not pass on, and gives a row for each row that it counts where a\n"
    "condition, a function in a map or a key of ORDER BY has an aggregate (both are rewritten\n"
    "first); and it looks for a shortest path without the conditions on it (refused).",
    "ladybug": "Free Cypher with `--engine ladybug`, and where ArcadeDB has no wheels. It is asked nothing\n"
    "but shapes that were found to agree; the others are refused, with what to write instead.",
    "neo4j": "Runs on a server: the queries go to it as they are.",
}


def section(engine: str, found: Found) -> str:
    """The part of the page about one engine, as Markdown."""
    total: Counter[str] = Counter()
    for counts in found.counts.values():
        total += counts
    lines = [f"## {found.name}\n", _ABOUT[engine], "", f"| scenarios | {' | '.join(OUTCOMES)} |"]
    lines.append("|---|" + "---:|" * len(OUTCOMES))
    for name, counts in [*sorted(found.counts.items()), ("**all**", total)]:
        lines.append(f"| {name} | {' | '.join(str(counts[ended]) for ended in OUTCOMES)} |")
    if len(found.refusals) > 1:
        lines += ["", "| refused because of | scenarios |", "|---|---:|"]
        by_count = sorted(found.refusals.items(), key=lambda entry: (-entry[1], entry[0]))
        lines += [f"| {reason.replace('|', '&#124;')} | {count} |" for reason, count in by_count]
    if found.bad:
        lines += ["", "Wrong, or accepted though invalid:", "", *(f"- {one}" for one in found.bad)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    raise SystemExit(main())
