"""What a flow of traffic is: from where to where, how much, when and how often, and how one is read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from kernbench.address import ADDRESS_SPACE
from kernbench.errors import ConfigError
from kernbench.topology.problems import show

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
    (``sip0.cube0.hbm_ctrl.pe1``), an SRAM (``sip0.cube0.sram``) or a TCM (``sip0.cube0.pe1.pe_tcm``).
    ``op`` is ``write`` (the data go to ``dst``) or ``read`` (they come from there). Transfer k is handed to
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
_RANGES: Mapping[str, tuple[int, float]] = {
    "bytes": (1, ADDRESS_SPACE),
    "count": (1, MAX_TRANSFERS),
    "offset": (0, ADDRESS_SPACE),
    "start_ns": (0, LATEST_NS),
    "period_ns": (0, LATEST_NS),
}
"""Least and most of each number."""


def make_flow(entry: object, where: Where) -> Flow:
    """The flow of one entry; a text stands for the number that it spells.

    :class:`ConfigError` names the key that is unknown, missing or wrong, and what was expected.
    """
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{where('')}: is {entry!r}, expected a mapping with {', '.join(KEYS)}")
    for key in entry:
        if key not in KEYS:
            close = difflib.get_close_matches(str(key), KEYS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"expected one of {', '.join(KEYS)}"
            raise ConfigError(f"{where(str(key))}: unknown key, {hint}")
    for key in REQUIRED:
        if entry.get(key) is None:
            raise ConfigError(f"{where(key)}: is missing, expected a value")
    values: dict[str, Any] = {k: _value(k, v, where) for k, v in entry.items() if v is not None}
    flow = Flow(**values, where=where)
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


def _value(key: str, value: object, where: Where) -> str | int | float:
    if key in ("src", "dst", "name", "op"):
        if not isinstance(value, str):
            raise ConfigError(f"{where(key)}: is {value!r}, expected a text")
        if key == "op" and value not in ("read", "write"):
            raise ConfigError(f"{where(key)}: is {value!r}, expected read or write")
        return value
    number = _number(value)
    whole = key in ("bytes", "count", "offset")
    kind = "a whole number" if whole else "a number"
    least, most = _RANGES[key]
    if number is None or (isinstance(number, float) and not _is_one(number, whole)):
        raise ConfigError(f"{where(key)}: is {show(value)}, expected {kind} of at least {least}")
    if number < least:
        raise ConfigError(f"{where(key)}: is {show(number)}, expected {kind} of at least {least}")
    if number > most:
        raise ConfigError(f"{where(key)}: is {show(number)}, expected at most {most:.16g}")
    return int(number) if whole else float(number)


def _is_one(number: float, whole: bool) -> bool:
    return math.isfinite(number) and (not whole or number.is_integer())


def _number(value: object) -> int | float | None:
    if isinstance(value, str):
        try:
            return int(value.strip(), 0)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
