"""Scenarios of the openCypher TCK, read from the feature files in an archive."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parents[2] / "tests" / "conformance" / "tck" / "openCypher-tck.tar.gz"
Table = list[list[str]]


@dataclass
class Step:
    """A line such as ``When executing query:`` with the text or the table below it."""

    line: str
    text: str = ""
    table: Table = field(default_factory=list)


@dataclass
class Scenario:
    """One example: steps in order."""

    feature: str
    name: str
    steps: list[Step] = field(default_factory=list)

    def step(self, *beginnings: str) -> Step | None:
        """The first step that begins so."""
        return next((step for step in self.steps if step.line.startswith(beginnings)), None)


def scenarios() -> Iterator[Scenario]:
    """All scenarios of the archive, in order; of an outline, one for each of its examples."""
    with tarfile.open(ARCHIVE) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.name.endswith(".feature"):
                file = archive.extractfile(member)
                assert file is not None
                yield from _read(member.name.removeprefix("./"), file.read().decode())


def _read(feature: str, text: str) -> Iterator[Scenario]:
    background: list[Step] = []
    lines = iter(text.splitlines())
    current: Scenario | None = None
    examples: Table | None = None
    target: list[Step] = background
    for raw in lines:
        line = raw.strip()
        if line.startswith(("Scenario:", "Scenario Outline:")):
            if current is not None:
                yield from _examples(current, examples)
            current, examples = Scenario(feature, line.partition(": ")[2], list(background)), None
            target = current.steps
        elif line.startswith("Background:"):
            target = background
        elif line.startswith("Examples:"):
            examples = []
        elif line.startswith('"""'):
            body = []
            for inner in lines:
                if inner.strip() == '"""':
                    break
                body.append(inner)
            target[-1].text = "\n".join(body)
        elif line.startswith("|"):
            row = [re.sub(r"\\([|\\])", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            (examples if examples is not None else target[-1].table).append(row)
        elif re.match(r"(Given|When|Then|And|But) ", line):
            target.append(Step(line.partition(" ")[2]))
    if current is not None:
        yield from _examples(current, examples)


def _examples(scenario: Scenario, examples: Table | None) -> Iterator[Scenario]:
    if not examples:
        yield scenario
        return
    names, *rows = examples
    for number, row in enumerate(rows, 1):
        values = dict(zip(names, row, strict=True))

        def filled(text: str, values: dict[str, str] = values) -> str:
            return re.sub(r"<(\w+)>", lambda found: values.get(found[1], found[0]), text)

        steps = [
            replace(step, line=filled(step.line), text=filled(step.text),
                    table=[[filled(cell) for cell in cells] for cells in step.table])
            for step in scenario.steps
        ]  # fmt: skip
        yield Scenario(scenario.feature, f"{scenario.name} example {number}", steps)
