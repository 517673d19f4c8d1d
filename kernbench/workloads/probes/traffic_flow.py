"""A flow of traffic: its ends, its size, its times, and how an entry of a file becomes one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.address import ADDRESS_SPACE
from kernbench.hardware.topology.problems import from_pydantic
from kernbench.support.sizes import read_size

Where = Callable[[str], str]
"""Gives the beginning of an error about a key of a flow: file, line or entry, and key."""

MAX_TRANSFERS = 1_000_000
"""Most transfers of one run: each is kept with all its hops."""
LATEST_NS = 1e12
"""Latest start of a transfer, ns. Time is a double: later than that it no longer tells picoseconds apart."""


def _in_code(key: str) -> str:
    return f"flow: {key}" if key else "flow"


@dataclass(frozen=True, slots=True)
class Flow:
    """``count`` transfers of ``bytes`` between ``src`` and byte ``offset`` of memory ``dst``.

    ``src`` is a PE (``sip0.cube0.pe0``), ``host`` or an M_CPU (``sip0.cube0.m_cpu``); ``dst`` an HBM slice
    (``sip0.cube0.hbm_ctrl.pe1``), an SRAM (``sip0.cube0.sram``) or a TCM (``sip0.cube0.pe1.pe_tcm``). ``op``
    is ``write`` (the data go to ``dst``) or ``read`` (they come from there). Transfer k is submitted to
    ``src`` at ``start_ns + k * period_ns``, whether the one before is answered or not; all of them use the
    same bytes of ``dst``. ``where`` says where a flow was read, for errors about it.
    """

    src: str
    dst: str
    bytes: int
    op: str = "write"
    start_ns: float = 0.0
    count: int = 1
    period_ns: float = 0.0
    name: str = ""
    offset: int = 0
    where: Where = field(default=_in_code, compare=False, repr=False)

    @property
    def is_write(self) -> bool:
        """Whether the data go to ``dst``."""
        return self.op == "write"

    @property
    def total_bytes(self) -> int:
        """Bytes of all its transfers."""
        return self.bytes * self.count

    def entry(self) -> dict[str, Any]:
        """The flow as an entry of a file: what differs from the defaults."""
        return {f.name: getattr(self, f.name) for f in fields(self)
                if f.name != "where" and getattr(self, f.name) != f.default}  # fmt: skip


KEYS = tuple(f.name for f in fields(Flow) if f.name != "where")
"""Keys of an entry of a file."""
REQUIRED = tuple(f.name for f in fields(Flow) if f.default is MISSING and f.name != "where")


def _number(value: object) -> object:
    """The number that a text spells (``4e3``, ``0x100``); anything else as it is."""
    if isinstance(value, str):
        for read in (lambda text: int(text.strip(), 0), float):
            try:
                number = read(value)
            except ValueError:
                continue
            return number if isinstance(number, int) or math.isfinite(number) else value
    return value


def _whole(value: object) -> object:
    """As :func:`_number`, and an int where a float is whole."""
    number = _number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _size(value: object) -> object:
    """As :func:`_whole`, and the bytes that a text with a unit writes (``64 KiB``)."""
    nbytes = read_size(value) if isinstance(value, str) else None
    return _whole(value) if nbytes is None else nbytes


_Whole = Annotated[int, BeforeValidator(_whole)]
_Size = Annotated[int, BeforeValidator(_size)]
_Number = Annotated[float, BeforeValidator(_number)]


class _Entry(BaseModel):
    """One entry of a file: the fields of :class:`Flow` with their types and bounds."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    src: str
    dst: str
    bytes: _Size = Field(ge=1, le=ADDRESS_SPACE)
    op: Literal["read", "write"] = "write"
    start_ns: _Number = Field(default=0.0, ge=0, le=LATEST_NS)
    count: _Whole = Field(default=1, ge=1, le=MAX_TRANSFERS)
    period_ns: _Number = Field(default=0.0, ge=0, le=LATEST_NS)
    name: str = ""
    offset: _Size = Field(default=0, ge=0, le=ADDRESS_SPACE)


def make_flow(entry: object, where: Where) -> Flow:
    """The flow of one entry; a text stands for the number that it spells, an empty value for the default.

    :class:`ConfigError` names the key that is unknown, missing or wrong, and what was expected.
    """
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{where('')}: is {entry!r}, expected a mapping with {', '.join(KEYS)}")
    try:
        values = _Entry.model_validate({str(k): v for k, v in entry.items() if v is not None})
    except ValidationError as error:
        problems = from_pydantic(error, _Entry)
        # A misspelt key explains the one that is missing.
        misspelt = [problem for problem in problems if problem.message.startswith("unknown key")]
        problem = (misspelt or problems)[0]
        raise ConfigError(f"{where(str(problem.path[-1]))}: {problem.message}") from None
    flow = Flow(**values.model_dump(), where=where)
    latest = flow.start_ns + (flow.count - 1) * flow.period_ns
    if latest > LATEST_NS:
        raise ConfigError(
            f"{where('period_ns')}: is {flow.period_ns:g}, so the last of {flow.count} transfers starts at "
            f"{latest:g} ns, expected {LATEST_NS:g} ns at the latest"
        )
    return flow


def make_flows(entries: Iterable[tuple[object, Where]]) -> list[Flow]:
    """The flows of all entries. One without a name is called by its number, ``flow1``; names are unique."""
    made: list[Flow] = []
    known: dict[str, int] = {}
    for number, (entry, where) in enumerate(entries, 1):
        flow = make_flow(entry, where)
        name = flow.name or f"flow{number}"
        if name in known:
            raise ConfigError(
                f"{where('name')}: '{name}' is the name of flow {known[name]}, expected another"
            )
        known[name] = number
        made.append(replace(flow, name=name))
    return made
