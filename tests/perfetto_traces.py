"""Reads a trace of Perfetto back with Perfetto's own messages, as its importer does."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


@dataclass
class Slice:
    path: tuple[str, ...]
    track: int
    name: str
    begin: int
    args: dict[str, Any]
    flows: list[int]
    end: int = -1


@dataclass
class Trace:
    slices: list[Slice] = field(default_factory=list)
    counters: dict[tuple[str, ...], list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    units: dict[tuple[str, ...], str] = field(default_factory=dict)
    order: dict[tuple[str, ...], int] = field(default_factory=dict)

    def of(self, argument: str) -> list[Slice]:
        """The slices that have an argument of this name."""
        return [one for one in self.slices if argument in one.args]

    def arrows(self) -> set[tuple[int, int]]:
        """Pairs of positions in ``slices`` that arrows join, the earlier first."""
        ends: dict[int, list[int]] = defaultdict(list)
        for number, one in enumerate(self.slices):
            for flow in one.flows:
                ends[flow].append(number)
        found = set()
        for numbers in ends.values():
            numbers.sort(key=lambda number: self.slices[number].begin)
            found |= set(pairwise(numbers))
        return found


def read(file: Path | str) -> Trace:
    """The trace in ``file``; fails where Perfetto's importer would drop an event."""
    packets = schema.Trace.FromString(Path(file).read_bytes()).packet
    tracks: dict[int, tuple[str, ...]] = {}
    texts: dict[tuple[str, int], str] = {}
    open_on: dict[int, list[Slice]] = defaultdict(list)
    trace = Trace()
    for packet in packets:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("interned_data"):
            data = packet.interned_data
            assert packet.sequence_flags == schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
            texts |= {("name", one.iid): one.name for one in data.event_names}
            texts |= {("argument", one.iid): one.name for one in data.debug_annotation_names}
            texts |= {("value", one.iid): one.str.decode() for one in data.debug_annotation_string_values}
        elif packet.HasField("track_descriptor"):
            about = packet.track_descriptor
            assert about.uuid not in tracks
            tracks[about.uuid] = (*(tracks[about.parent_uuid] if about.parent_uuid else ()), about.name)
            trace.order[tracks[about.uuid]] = about.sibling_order_rank
            if about.HasField("counter"):
                trace.units[tracks[about.uuid]] = about.counter.unit_name
    # Perfetto sorts by time and keeps the order of packets of one time.
    for packet in sorted((p for p in packets if p.HasField("track_event")), key=lambda p: p.timestamp):
        event, now = packet.track_event, packet.timestamp
        assert packet.sequence_flags == schema.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        path = tracks[event.track_uuid]
        if event.type == schema.TrackEvent.TYPE_COUNTER:
            trace.counters[path].append((now, event.double_counter_value))
        elif event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
            args = {texts["argument", a.name_iid]: _value(a, texts) for a in event.debug_annotations}
            made = Slice(
                path, event.track_uuid, texts["name", event.name_iid], now, args, list(event.flow_ids)
            )
            assert not open_on[event.track_uuid], "slices of one track overlap"
            open_on[event.track_uuid].append(made)
            trace.slices.append(made)
        else:
            assert event.type == schema.TrackEvent.TYPE_SLICE_END
            open_on[event.track_uuid].pop().end = now
    assert not any(open_on.values())
    return trace


def _value(argument: Any, texts: dict[tuple[str, int], str]) -> Any:
    kind = argument.WhichOneof("value")
    found = getattr(argument, kind)
    return texts["value", found] if kind == "string_value_iid" else found
