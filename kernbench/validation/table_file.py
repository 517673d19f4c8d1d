"""Reads the tables of ``configs/validation``: groups of cases with references, sources and limits."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kernbench.errors import ConfigError
from kernbench.hardware.topology.marked_yaml import load_marked
from kernbench.support.data_files import data_dir
from kernbench.support.input_files import input_text

EXACT, NINE_IN_TEN, OF_SET = "exact", " for 9 in 10", "that of its set"
"""How a limit of rounding alone is shown, what follows one that nine in ten rows keep, and none of a row."""
Case = dict[str, Any]
"""What is measured: settings of the measure by name, and columns of the reference's file."""
Extent = Literal["short", "usual", "all"]
"""Which cases are measured: a sample of those that take seconds, all of those, or every one."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Source(_Keys):
    """Where figures are from."""

    name: str
    url: str
    version: str = Field(description="commit, or release")
    licence: str
    note: str = Field(default="", description="how the figures were made")


class Limit(_Keys):
    """How far our figure may lie from the reference's: ``by`` how much, as the ``kind`` has it."""

    kind: Literal["exact", "relative", "absolute", "nine_in_ten", "of_set"] = Field(
        description="nine_in_ten: relative, and kept by at least nine in ten rows of the group; "
        "one beyond it needs to be 'explained' too. of_set: none but those of statistics of its set"
    )
    by: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _given(self) -> Limit:
        if (self.kind in ("exact", "of_set")) == (self.by is not None):
            raise ValueError("an exact limit has no 'by', nor has that of a set, and any other needs one")
        return self

    def holds(self, ours: float, reference: float) -> bool:
        """Whether ours is within the limit."""
        return self.kind == "of_set" or abs(ours - reference) <= self._allowed(reference)

    def used(self, ours: float, reference: float) -> float | None:
        """Share of the limit that the difference takes, with its sign; None beyond an exact one."""
        if self.by is None:
            return 0.0 if self.holds(ours, reference) else None
        return (ours - reference) / self._allowed(reference)

    def _allowed(self, reference: float) -> float:
        allowed = 1e-9 * max(1.0, abs(reference)) if self.by is None else self.by
        return allowed * (abs(reference) if self.kind in ("relative", "nine_in_ten") else 1.0)

    def shown(self, unit: str) -> str:
        """``5 %``, ``2 ns``, ``exact``."""
        if self.by is None:
            return EXACT if self.kind == "exact" else OF_SET
        if self.kind == "absolute":
            return f"{self.by:g} {unit}".rstrip()
        return f"{100 * self.by:g} %" + (NINE_IN_TEN if self.kind == "nine_in_ten" else "")


class Explained(_Keys):
    """A mechanism that the model lacks, and the deviations from a reference that it accounts for."""

    why: str = Field(description="the mechanism")
    least: float = Field(description="deviation at least, a share of the reference: -0.3 is 30 % below it")
    most: float = Field(description="deviation at most")
    size: str = Field(description="where these two are from; never figures of the model")

    @model_validator(mode="after")
    def _ordered(self) -> Explained:
        if self.least >= self.most:
            raise ValueError(f"'least' ({self.least:g}) must be below 'most' ({self.most:g})")
        return self

    def holds(self, ours: float, reference: float) -> bool:
        """Whether the mechanism accounts for the deviation."""
        return bool(reference) and self.least <= (ours - reference) / abs(reference) <= self.most

    @property
    def text(self) -> str:
        """``silu is a launch of its own; accounts for -29 % to 0 %: rows of the GPU``."""
        least, most = (f"{100 * share:+g} %" if share else "0 %" for share in (self.least, self.most))
        return f"{self.why}; accounts for {least} to {most}: {self.size}"


class Range(_Keys):
    """Numbers of at least ``least`` and below ``below``."""

    least: float | None = None
    below: float | None = None

    def __contains__(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.below is None or value < self.below)


class CaseGroup(_Keys):
    """Cases that are measured alike."""

    name: str = Field(description="of a row, with a field in braces for each setting that tells rows apart")
    source: str = Field(description="a key of the table's sources")
    unit: str
    limit: Limit
    reference: float | str = Field(description="the figure, or the column or setting that holds it")
    measure: str = Field(default="", description="function of the table's module; empty: it cannot be yet")
    set: str = Field(default="", description="name that statistics have for these rows")
    statistic: bool = Field(
        default=False,
        description="in place of a measure: cases have 'of', a set above or several, and 'what' of its rows",
    )
    most_turns: dict[Literal["short", "usual"], float] = Field(
        default={}, description="turns of loops above which a case is left out"
    )
    sample: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="cases of --short at most, chosen by a hash of their names"
    )
    settings: Case = {}
    file: str = Field(default="", description="CSV file with a case on each line")
    where: dict[str, list[Any] | Range] = Field(
        default={}, description="values of a column, or a range of them: lines with others are left out"
    )
    cases: list[Case] = []
    needs: str = Field(default="", description="what the model lacks for it")
    note: str = Field(default="", description="what the difference is due to, or how the case is modelled")
    see: str = Field(default="", description="heading in limits.md under which the difference is explained")
    explained: Explained | None = None
    fitted: str = Field(default="", description="what was chosen so that ours comes close; empty: nothing")

    @model_validator(mode="after")
    def _measurable(self) -> CaseGroup:
        if not self.measure and not self.statistic and not self.needs:
            raise ValueError("give a measure, or in 'needs' what the model lacks")
        return self


class FigureTable(_Keys):
    """One table of figures."""

    title: str
    about: str
    sources: dict[str, Source]
    groups: list[CaseGroup]
    see: str = Field(default="", description="as that of a group, for groups that name none")
    left_out: list[str] = Field(default=[], description="figures of the sources that are not here, and why")

    @model_validator(mode="after")
    def _known_sources(self) -> FigureTable:
        for group in self.groups:
            if group.source not in self.sources:
                raise ValueError(f"'{group.source}' is not one of the sources {', '.join(self.sources)}")
        return self

    @model_validator(mode="after")
    def _known_sets(self) -> FigureTable:
        above: set[str] = set()
        for group in self.groups:
            above.add(group.set)
            for case in group.cases if group.statistic else ():
                for name in sets_of(case):
                    if name not in above:
                        raise ValueError(f"'{name}' is not a set of rows above '{group.name}'")
        return self


def sets_of(case: Case) -> list[str]:
    """The sets of rows that a statistic is of."""
    of = case.get("of")
    return [str(name) for name in of] if isinstance(of, list) else [str(of)]


def folder() -> Path:
    """Where the tables lie."""
    return data_dir("configs") / "validation"


def read(name: str) -> FigureTable:
    """A table; :class:`ConfigError` of one line where its file is wrong."""
    return parse(input_text(folder() / f"{name}.yaml", "a table of figures"), f"{name}.yaml")


def parse(text: str, source: str) -> FigureTable:
    """As :func:`read`, of the text of a file that errors call ``source``."""
    try:
        return FigureTable.model_validate(load_marked(text, source).data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{source}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def cases(group: CaseGroup) -> Iterator[tuple[str, float, Case]]:
    """Name, reference and settings of each case of a group, in order."""
    for case in _lines(group):
        settings = {**group.settings, **case}
        figure = group.reference
        if isinstance(figure, str):
            figure = settings[figure]
        yield group.name.format_map(settings), float(figure), settings


def _lines(group: CaseGroup) -> Iterator[Case]:
    if not group.file:
        yield from group.cases or [{}]
        return
    for case in lines_of(group.file):
        if all(key in case and case[key] in values for key, values in group.where.items()):
            yield case


def lines_of(file: str) -> Iterator[Case]:
    """The lines of a CSV file beside the tables, numbers as numbers.

    ``params`` is JSON of more columns, which ``told`` has as text.
    """
    with (folder() / file).open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            more = json.loads(line["params"]) if "params" in line else {}
            if more:
                more["told"] = " ".join(f"{key}={value}" for key, value in more.items())
            yield {**more, **{key: _value(text) for key, text in line.items()}}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
