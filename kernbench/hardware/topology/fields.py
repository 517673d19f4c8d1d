"""Field types that the topology's models share: sizes, rates, and the base of all parts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from kernbench.support import sizes

Scalar = str | int | float | bool
LARGEST, SMALLEST = 1e19, 1e-19
"""Magnitudes of numbers other than 0: products of two are far from what floating point has no room for."""


def out_of_range(value: object) -> str:
    """What is expected of a number that no figure of a machine can be; empty for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if value == 0 or SMALLEST <= abs(value) <= LARGEST:
        return ""
    if value != value or abs(value) == math.inf:
        return "a finite number"
    return f"0 or a number from {SMALLEST:g} to {LARGEST:g}"


def _size(value: object) -> object:
    if isinstance(value, str):
        if (nbytes := sizes.read_size(value)) is not None:
            return nbytes
        raise ValueError(f"is {value!r}, expected bytes as an integer or with a unit such as '2 MiB'")
    return value


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"is {value}, expected a power of two")
    return value


def _scalars(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"is {value!r}, expected a mapping of names to numbers, texts or booleans")
    for key, item in value.items():
        if not isinstance(key, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            raise ValueError(f"has the key {key!r}, expected snake_case names")
        if not isinstance(item, str | int | float | bool):
            raise ValueError(f"has {key!r} set to {item!r}, expected a number, a text or a boolean")
        if isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"has {key!r} set to {item}, expected a finite number")
    return value


_SIZE_SCHEMA = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": rf"^\s*{sizes.PATTERN}\s*$"}]}

Size = Annotated[int, BeforeValidator(_size), WithJsonSchema(_SIZE_SCHEMA)]
"""Bytes: an integer, or a text with a binary unit such as ``"48 GiB"``."""
PowerOfTwo = Annotated[int, AfterValidator(_power_of_two)]
Gbs = Annotated[float, Field(gt=0)]
"""Bandwidth in GB/s (10^9 bytes per second, so bytes / GB/s are ns)."""
Ns = Annotated[float, Field(ge=0)]
"""Nanoseconds."""
Mm = Annotated[float, Field(ge=0)]
"""Millimetres."""
Attributes = Annotated[dict[str, Any], BeforeValidator(_scalars)]


class Section(BaseModel):
    """A mapping of the topology file: keys that it does not know are errors, values are not coerced."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False,
        defer_build=True,  # only the whole topology validates anything: the sections need no validators
    )  # fmt: skip


def section(description: str, **values: object) -> Any:
    """The field of a section that the file may leave out, as if it gave ``values`` there.

    They are validated with the whole file: a default made of the section's class would need a validator of
    that class, and thirty of those take longer to build than the one of all.
    """
    return Field(default_factory=values.copy, validate_default=True, description=description)


class Point(Section):
    """A location in a cube."""

    x: Mm = Field(description="mm from the west edge")
    y: Mm = Field(description="mm from the north edge")


class Part(Section):
    """The keys that the section of every kind of component has."""

    overhead_ns: Ns = Field(default=0.0, description="ns that the component adds once per transaction")
    impl: str = Field(
        default="",
        description="implementation, a name from components.yaml; empty is 'builtin.<kind>'",
        max_length=200,
    )
    attributes: Attributes = Field(
        default_factory=dict,
        description="further properties for the implementation: a number, text or boolean by name",
    )


Worker = Literal["serial", "pipelined"]
"""How a part that passes messages on treats several at a time: one after the other, or all at once."""


class PassingPart(Part):
    """The keys of a part that passes messages of others on, as routers and ports do."""

    issue_ns: Ns = Field(
        default=0.0, description="ns for which a message takes an output port beyond the time of its bytes"
    )
    worker: Literal["", "serial", "pipelined"] = Field(
        default="", description="serial: one worker serves all messages in turn; empty is system.worker"
    )


class MemoryPart(Part):
    """The keys of a memory."""

    access_ns: Ns = Field(
        default=0.0, description="ns of latency of every access, during which others are served"
    )


FIFO = "fifo"
"""The arbiter of links that name none."""


class LinkPart(Section):
    """What can be said of a link, or of all links of a kind."""

    arbiter: str = Field(
        default=FIFO,
        description="who is next: fifo, round_robin, oldest_first, priority, or your own module:Class",
        min_length=1,
        max_length=200,
    )
    buffer_flits: int | None = Field(
        default=None,
        ge=1,
        le=1 << 20,
        description="flits that each virtual channel has room for at the far end; left out: without limit",
    )
    vcs: int = Field(default=1, ge=1, le=64, description="virtual channels, with buffer_flits")
    credit_ns: Ns | None = Field(
        default=None,
        description="ns until the sender knows that a flit has left the buffer; left out: the link's delay",
    )
    allocation_ns: Ns = Field(
        default=0.0, description="ns that a message at its turn takes to get a virtual channel"
    )
    dateline: bool = Field(
        default=False,
        description="from this link on messages take the upper half of the vcs of links of its kind",
    )
    attributes: Attributes = Field(
        default_factory=dict,
        description="properties for the arbiter: a number, text or boolean by name",
    )


def written(table: Mapping[str, float]) -> str:
    """A table as a property of a part, ``name=number`` each."""
    return " ".join(f"{name}={number}" for name, number in sorted(table.items()))


def numbers(text: object) -> dict[str, float]:
    """The table that :func:`written` wrote; nothing is an empty one."""
    return {
        name: float(number) for name, _, number in (one.partition("=") for one in str(text or "").split())
    }
