"""Messages by the column, read back by the protobuf library."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

from kernbench.export import wire


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.floats(allow_nan=False)), min_size=1, max_size=20))
def test_columns_are_the_messages_of_the_library(rows: list[tuple[int, float]]) -> None:
    numbers = np.array([row[0] for row in rows], np.int64)
    values = np.array([row[1] for row in rows])
    event = wire.message(11, len(rows), wire.varints(11, numbers), wire.doubles(44, values))
    data = wire.beside(len(rows), wire.message(1, len(rows), wire.varints(8, numbers), event)).tobytes()
    packets = schema.Trace.FromString(data).packet
    assert [(p.timestamp, p.track_event.double_counter_value) for p in packets] == rows
    assert [p.track_event.track_uuid for p in packets] == numbers.tolist()


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=4), min_size=1, max_size=10))
def test_rows_may_have_different_lengths(flows: list[list[int]]) -> None:
    counts = np.array([len(ids) for ids in flows], np.int64)
    ids = np.array([one for some in flows for one in some], np.uint64)
    between = wire.beside(len(ids), wire.fixed(47, ids)) if len(ids) else np.zeros((0, 10), np.uint8)
    event = wire.open_message(11, len(flows), 2, 10 * counts)
    packet = wire.open_message(1, len(flows), 4 + event.shape[1], 10 * counts)
    head = wire.beside(len(flows), packet, event, wire.field(9, 1))
    tail = wire.beside(len(flows), wire.field(13, 2))
    packets = schema.Trace.FromString(wire.splice(head, between, counts, tail)).packet
    assert [list(p.track_event.flow_ids) for p in packets] == flows
    assert {p.sequence_flags for p in packets} == {2}
