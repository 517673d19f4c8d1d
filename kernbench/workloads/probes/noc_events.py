"""Events that processors of a Tenstorrent chip traced, as flows on the machine ``wormhole``.

tt-metal's profiler writes them and tt-npe reads them: a JSON list of zones, transfers and barriers. A
transfer is issued at the cycle of its event, a ns of the machine, whatever the barriers before it waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kernbench.errors import ConfigError
from kernbench.workloads.probes.traffic_flow import Where

START, END = "_BARRIER_START", "_BARRIER_END"
"""Ends of the types of events that enter and leave a barrier."""
_BARRIERS = {of + end for of in ("READ", "WRITE") for end in (START, END)}
_TRANSFERS = {"READ": "read", "WRITE": "write", "WRITE_": "write"}
_NETWORKS = {"NOC_0": 0, "NOC_1": 1}
_ELSEWHERE = {"mcast_start_x": "a multicast", "fabric_send": "a transfer between chips"}
"""Keys of events that are none of one worker and one memory of a chip."""


def is_barrier(kind: str) -> bool:
    """Whether events of a type enter or leave a barrier; else they are transfers. ``ValueError``: neither."""
    if kind in _BARRIERS or kind in _TRANSFERS:
        return kind in _BARRIERS
    raise ValueError(f"'{kind}' is not a type of event that is taken: READ, WRITE or one of their barriers")


def worker(x: int, y: int, network: int) -> str:
    """What reads and writes at column ``x`` and row ``y`` of ``wormhole``, over one of the networks."""
    return f"noc{network}.die.n{x}_{y}.src"


def memory(x: int, y: int, network: int) -> str:
    """The memory there, as one of the networks reaches it."""
    return f"noc{network}.die.n{x}_{y}.mem"


def is_trace(entries: Sequence[object]) -> bool:
    """Whether a list of a file has events, not flows."""
    return bool(entries) and isinstance(entries[0], Mapping) and "proc" in entries[0]


def entries_of(
    events: Sequence[object], where: Callable[[int], Where]
) -> Iterator[tuple[dict[str, object], Where]]:
    """The entry of a flow for each transfer, called by its number, ``event1``; ``where`` by that number.

    Zones only say when the trace begins. :class:`ConfigError` names an event that is not taken.
    """
    begin = min(_integer(event, "timestamp", where(number)) for number, event in enumerate(events, 1))
    chips: set[str] = set()
    for number, event in enumerate(events, 1):
        assert isinstance(event, Mapping)  # it has a timestamp
        at = where(number)
        if "type" not in event and "zone" in event:
            continue
        for key, what in _ELSEWHERE.items():
            if key in event:
                raise ConfigError(f"{at(key)}: is {what}, which is not taken; leave the event out")
        kind = str(event.get("type"))
        try:
            if is_barrier(kind):
                continue
        except ValueError as error:
            raise ConfigError(f"{at('type')}: {error}; leave the event out") from None
        chips.update(str(event[key]) for key in ("src_device_id", "dst_device_id") if key in event)
        if len(chips) > 1:
            raise ConfigError(f"{at('')}: is of another chip than those before; a trace has those of one")
        network = _NETWORKS.get(str(event.get("noc")))
        if network is None:
            raise ConfigError(f"{at('noc')}: is {event.get('noc')!r}, expected NOC_0 or NOC_1")
        sx, sy, dx, dy = (_integer(event, key, at) for key in ("sx", "sy", "dx", "dy"))
        yield (
            {
                "name": f"event{number}",
                "src": worker(sx, sy, network),
                "dst": memory(dx, dy, network),
                "op": _TRANSFERS[kind],
                "bytes": _integer(event, "num_bytes", at),
                "start_ns": _integer(event, "timestamp", at) - begin,
            },
            at,
        )


def _integer(event: object, key: str, where: Where) -> int:
    if not isinstance(event, Mapping):
        raise ConfigError(f"{where('')}: is {event!r}, expected an event with proc, sx, sy and timestamp")
    value = event.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        found = "is missing" if value is None else f"is {value!r}"
        raise ConfigError(f"{where(key)}: {found}, expected an integer")
    return value
