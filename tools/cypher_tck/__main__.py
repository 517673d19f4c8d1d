"""Runs the TCK's reading scenarios on ArcadeDB: ``python -m tools.cypher_tck [--check]``.

Writes ``docs/reference/cypher-engines.md``; with ``--check`` it only says whether that page is true, and
fails where an answer is wrong.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from kernbench_graph.errors import StoreError
from kernbench_graph.query.columns import columns_of, has_path
from kernbench_graph.query.guard import check_read_only
from kernbench_graph.stores.arcade.dialect import dialect
from kernbench_graph.stores.arcade.worker import Worker

from tools.cypher_tck.features import Scenario, scenarios
from tools.cypher_tck.values import key, normal, parsed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cypher-engines.md"
_UNLABELLED = "NO_LABEL"
"""The engine's type of nodes without labels."""
_TEMPORAL = re.compile(r"\b(date|time|localtime|localdatetime|datetime|duration)(\(|\.)")
OUTCOMES = ("passed", "refused", "wrong", "accepted though invalid")


class Tck:
    """One database, emptied between scenarios, and made anew where names mean other things."""

    def __init__(self, folder: str) -> None:
        self.worker = Worker()
        self.folder, self.made = folder, 0
        self.renew()

    def renew(self) -> None:
        """An empty database without types."""
        self.worker.close()
        self.made += 1
        self.worker.create(f"{self.folder}/graph{self.made}")

    def prepare(self, scenario: Scenario) -> None:
        """The graph of a scenario."""
        for step in scenario.steps:
            if step.line == "having executed:":
                self.command(step.text)

    def command(self, text: str) -> None:
        """Run a statement that writes."""
        self.worker._database.command("opencypher", text).to_list()
        self.worker.know_types()

    def outcome(self, scenario: Scenario) -> tuple[str, str]:
        """How the scenario ends, one of ``OUTCOMES``, and the reason; empty where it is left out."""
        query = scenario.step("executing query:")
        if query is None or any("procedure" in step.line or "-tree-" in step.line for step in scenario.steps):
            return "", "needs what is not here"
        if any(_TEMPORAL.search(step.text) for step in scenario.steps):
            return "", "is about temporal types"
        error = next((step for step in scenario.steps if "should be raised" in step.line), None)
        try:
            text = check_read_only(query.text)
        except StoreError:
            return "", "writes"
        self.command("MATCH (n) DETACH DELETE n")
        try:
            self.prepare(scenario)
        except Exception:  # a label of this one is a type of another
            self.renew()
            try:
                self.prepare(scenario)
            except Exception as failed:
                return "refused", f"its graph: {failed}".splitlines()[0]
        params: dict[str, Any] = {}
        if given := scenario.step("parameters are:"):
            params = {name: parsed(value) for name, value in given.table}
        try:
            found, rows = self.worker.query(dialect(text), params, has_path(text))
        except Exception as refusal:
            return ("passed" if error else "refused"), str(refusal).splitlines()[0]
        if error:
            return "accepted though invalid", error.line
        return self.compared(scenario, columns_of(text) or found, rows)

    def compared(self, scenario: Scenario, columns: list[str], rows: list[list[Any]]) -> tuple[str, str]:
        """Whether the rows are those of the scenario."""
        wanted = scenario.step("the result should be")
        if wanted is None:
            return "", "says nothing of its result"
        names, *cells = wanted.table or [[]]
        in_order, lists = "in order" in wanted.line, "ignoring element order" not in wanted.line
        if rows and sorted(names) != sorted(columns):
            return "wrong", f"columns {columns}, not {names}"
        places = [columns.index(name) for name in names] if rows else []
        got = [tuple(key(normal(row[place], _UNLABELLED), lists) for place in places) for row in rows]
        expected = [tuple(key(parsed(cell), lists) for cell in row) for row in cells]
        same = got == expected if in_order else Counter(got) == Counter(expected)
        return ("passed", "") if same else ("wrong", f"{got[:3]}, not {expected[:3]}")


def main() -> int:
    """Run all scenarios; 1 when an answer is wrong or the page is not true."""
    counts: dict[str, Counter[str]] = {}
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        tck = Tck(folder)
        for scenario in scenarios():
            outcome, reason = tck.outcome(scenario)
            if outcome:
                counts.setdefault(scenario.feature.rpartition("/")[0], Counter())[outcome] += 1
            if outcome not in ("", "passed"):
                bad.append(f"{outcome}: {scenario.feature} {scenario.name}: {reason}")
        tck.worker.close()
    print("\n".join(bad))
    text = page(counts)
    if "--check" in sys.argv:
        wrong = sum(found["wrong"] for found in counts.values())
        stale = PAGE.read_text(encoding="utf-8") != text
        print(f"{wrong} wrong" + ("; run python -m tools.cypher_tck" if stale else ""))
        return int(bool(wrong) or stale)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def page(counts: dict[str, Counter[str]]) -> str:
    """The table, as Markdown."""
    total: Counter[str] = Counter()
    for found in counts.values():
        total += found
    rows = [
        f"| {name} | {' | '.join(str(found[outcome]) for outcome in OUTCOMES)} |"
        for name, found in [*sorted(counts.items()), ("**all**", total)]
    ]
    return "\n".join([
        "# Cypher engines\n",
        "<!-- Written by `python -m tools.cypher_tck`; change the source, not this page. -->\n",
        "Free Cypher in memory and in a folder is answered by ArcadeDB. The reading scenarios of the",
        "openCypher Technology Compatibility Kit, without temporal types, procedures and generated trees,",
        "end on it so:\n",
        f"| scenarios | {' | '.join(OUTCOMES)} |",
        "|---|" + "---:|" * len(OUTCOMES),
        *rows,
        "",
        "Refused is an error where the scenario has rows; the one has a label and a relationship type of one",
        "name. LadybugDB, where it answers instead, is asked nothing",
        "but shapes that were found to agree: see the declared gaps in [the schema](schema.md).",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
