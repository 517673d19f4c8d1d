"""A question of the library: what it is called, what it takes and returns, and its text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from string import Formatter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from kernbench_graph.entities import GraphPath
from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import check_read_only, parameter_names
from kernbench_graph.query.names import used_names
from kernbench_graph.query.shared_params import with_shared
from kernbench_graph.schema import SCHEMA

Scalar = str | int | float | bool
Reference = Literal[
    "component", "link", "resource", "part", "component_kind", "link_kind", "resource_kind",
    "transaction_kind", "transaction", "operation", "run", "bench", "topology", "tag", "key", "cause",
]  # fmt: skip
"""A ``resource`` is a component or a link, a ``part`` also a group of components such as a cube, a ``key`` a
parameter or a dotted key of a topology file."""
ValueType = Literal["string", "int", "float", "bool", "list", "path"]
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "list": (list,),
    "path": (GraphPath,),
}
_RESERVED = ("store", "question", "run", "timeout_s", "explain")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")
_UNSTORED = re.compile("[\0\ud800-\udfff]")
"""The character 0 and halves of characters, which engines cut text at or refuse."""
_NAME = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parameter(_Model):
    """A parameter of a question. Without ``default`` it must be given.

    ``choices`` lists the only values allowed, ``minimum`` is the least number.
    """

    type: ValueType
    help: str = Field(min_length=3)
    default: Scalar | None = None
    choices: list[Scalar] | None = None
    minimum: int | float | None = None
    refers: Reference | None = None
    """The sort of thing that the value names; asking is an error when there is no such thing."""

    @model_validator(mode="after")
    def _fits(self) -> Parameter:
        for value in ([] if self.default is None else [self.default]) + (self.choices or []):
            if not is_a(self.type, value):
                raise ValueError(f"{value!r} is not of type {self.type}")
        if self.choices and self.default is not None and self.default not in self.choices:
            raise ValueError(f"default {self.default!r} is not among the choices")
        if self.minimum is not None:
            if self.type not in ("int", "float"):
                raise ValueError(f"a minimum is for numbers, not for {self.type}")
            if isinstance(self.default, int | float) and self.default < self.minimum:
                raise ValueError(f"default {self.default!r} is less than the minimum")
        if self.type in ("list", "path"):
            raise ValueError("a parameter is one text, number or truth, not a list or a path")
        return self

    @property
    def expected(self) -> str:
        """The values that are accepted, in words."""
        if self.choices:
            return f"one of {self.choices}"
        if self.type == "string":
            return "of type string, without the character 0 or halves of characters"
        return f"of type {self.type}" + ("" if self.minimum is None else f", {self.minimum} or more")

    def value(self, given: Any) -> Any:
        """``given`` as this type, also from text as typed on a command line; None when it does not fit."""
        value = _convert(self.type, given)
        if value is None or (self.choices and value not in self.choices):
            return None
        return None if self.minimum is not None and value < self.minimum else value


class Column(_Model):
    """A column that a question returns; ``unit`` is empty for names and counts."""

    name: str
    type: ValueType
    unit: str = ""
    help: str = ""


class Question(_Model):
    """A question in plain words, and how to ask it.

    ``scope``: ``run`` and ``topology`` questions are asked of one run (the last one by default), whose id is
    bound to ``$run``, ``history`` questions of the runs that parameters name, or else of all.
    """

    name: str
    title: str = Field(min_length=10)
    scope: Literal["run", "topology", "history"]
    params: dict[str, Parameter] = Field(default_factory=dict)
    returns: list[Column] = Field(min_length=1)
    folds: list[str] = Field(default_factory=list)
    """Columns that name parts of the machine: rows that differ in their numbers alone may be shown as one.

    Empty where the rows themselves are the answer.
    """
    cypher: str
    engine: Literal["arcadedb", "ladybug"] | None = None
    """The engine that answers where a store has it; None: the one that the store asks by default."""
    proved: bool = False
    """Whether the text is shipped, so that the conformance suite has proved it on ``engine``."""
    dialects: dict[str, str] = Field(default_factory=dict)
    """Text for one engine only, from the file's ``cypher_<engine>``."""
    works_out: str = ""
    """The analysis with parameters whose answer must be in the graph, as who asks calls it."""
    window: str = ""
    """``cypher`` where ``from_ns`` and ``to_ns`` cut a window, with ``_within`` forms of its parts; or empty.

    It reads the trace where the other text reads what is known of whole windows.
    """
    notes: str = ""
    """Omissions and assumptions of the answer."""
    advice: str = ""
    """What to do about a row, where a row is something to improve: a sentence with columns in braces.

    Such a question takes a ``launch`` and returns ``saves_ns``: time of the critical path that it saves.
    """
    advice_in: dict[str, str] = Field(default_factory=dict)
    """The sentence for kernels of another language than ``tl``, by the row's ``language``."""

    @field_validator("params", mode="before")
    @classmethod
    def _expand_shared(cls, value: Any) -> Any:
        return with_shared(value)

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError(f"'{value}' is not of the form topic/name in lower case, digits and '-'")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Question:
        for name in self.params:
            if not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
                raise ValueError(
                    f"parameter '{name}' needs another name: lower case, and none of {_RESERVED}"
                )
        texts = {"cypher": self.cypher, **{f"cypher_{name}": text for name, text in self.dialects.items()}}
        cut = {"from_ns", "to_ns"} if self.window else set()
        if self.window:
            texts["cypher within from_ns and to_ns"] = self.window
        for key, text in texts.items():
            try:
                used = parameter_names(check_read_only(text))
            except QueryError as error:
                raise ValueError(f"{key}: {error}") from error
            missing = set(self.params) - set(used)
            if text != self.window:
                missing -= cut
            if missing or not set(used) - {"run"} <= set(self.params):
                raise ValueError(
                    f"{key} uses parameters {sorted(used)}, but declared are {sorted(self.params)}"
                )
            if ("run" in used) == (self.scope == "history"):
                raise ValueError(
                    f"{key}: questions about a run start from (:Run {{id: $run}}), and only they do"
                )
        names = [column.name for column in self.returns]
        if len(set(names)) != len(names):
            raise ValueError(f"returns names a column twice: {names}")
        if self.advice:
            said = "".join((self.advice, *self.advice_in.values()))
            fields = {field for _, field, _, _ in Formatter().parse(said) if field is not None}
            fields |= {"language"} if self.advice_in else set()
            if strange := fields - set(names):
                raise ValueError(f"advice names {sorted(strange)}, which are not columns that it returns")
            if "saves_ns" not in names or "launch" not in self.params:
                raise ValueError("a question with advice takes a launch, and returns saves_ns: what it saves")
        if unknown := set(self.folds) - {column.name for column in self.returns if column.type == "string"}:
            raise ValueError(f"folds names {sorted(unknown)}, which are not columns of text that it returns")
        return self

    @property
    def reads(self) -> list[str]:
        """Labels, then relationship types, that its texts name."""
        used = [used_names(text) for text in (self.cypher, self.window) if text]
        names = {name for one in used for name in (*one.labels, *one.types, *one.either)}
        return [name for name in SCHEMA.names if name in names]

    @property
    def rests_on(self) -> list[str]:
        """The analyses that work out what its text reads, beside what a run itself has."""
        return [self.works_out] * bool(self.works_out) + SCHEMA.analyses(self.reads)

    @property
    def runs(self) -> list[str]:
        """Names of the parameters that name runs."""
        return [name for name, parameter in self.params.items() if parameter.refers == "run"]

    def text(self, engine: str, params: Mapping[str, Any] | None = None) -> str:
        """The Cypher for that engine and, where they cut a window, for these parameters."""
        given = params or {}
        if self.window and (given.get("from_ns", 0.0) > 0.0 or given.get("to_ns", -1.0) >= 0.0):
            return self.window
        return self.dialects.get(engine, self.cypher)

    def defaults(self) -> dict[str, Any]:
        """The values of the parameters that have one by default."""
        return {name: one.default for name, one in self.params.items() if one.default is not None}

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters with their values: given ones converted from text where they are text, or defaults.

        ``QueryError`` for an unknown, missing or unfit one; the message lists the known ones.
        """
        known = f"'{self.name}' takes {self._signature()}"
        for name in given:
            if name not in self.params:
                raise QueryError(f"unknown parameter '{name}': {known}")
        bound: dict[str, Any] = {}
        for name, parameter in self.params.items():
            value = given.get(name)
            if value is None:
                if parameter.default is None:
                    raise QueryError(f"parameter '{name}' is missing: {known}")
                value = parameter.default
            bound[name] = parameter.value(value)
            if bound[name] is None:
                raise QueryError(
                    f"parameter '{name}' is {value!r}, but must be {parameter.expected}: {known}"
                )
        return bound

    def _signature(self) -> str:
        shown = [
            f"{name}: {parameter.type}" + ("" if parameter.default is None else f" = {parameter.default!r}")
            for name, parameter in self.params.items()
        ]
        return ", ".join(shown) or "no parameters"


def is_a(type_: str, value: Any) -> bool:
    """Whether ``value`` is of a type of the library; whole numbers are floats too, and truths no numbers."""
    return isinstance(value, _PYTHON[type_]) and (type_ == "bool" or not isinstance(value, bool))


def _convert(type_: str, value: Any) -> Any:
    """``value`` as ``type_``, and as every store can take it; None when it does not fit."""
    if isinstance(value, str) and type_ != "string":
        try:
            if type_ == "bool":
                return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                    value.lower()
                ]
            value = int(value) if type_ == "int" else float(value)
        except (ValueError, KeyError):
            return None
    if not is_a(type_, value):
        return None
    if isinstance(value, str):
        return None if _UNSTORED.search(value) else value
    if type_ == "int":
        return value if -(2**63) <= value < 2**63 else None
    if type_ == "float":
        value = float(value)
        return value if math.isfinite(value) else None
    return value
